// Package changes compares an assessment of a server with the previous one: the score, and the
// state of the server.
//
// An assessment sees a State: settings, roles, memberships and privileges on databases, the
// lines of pg_hba.conf, the version, the extensions of each database, whether the server is a
// primary or a standby, and since when it runs. Keep is called in the
// transaction that records the assessment. It compares the state with the previous one. It
// returns the event to append if anything differs, or if the log has no event of that day yet.
// The score of a server for a day is the last score that the log has of that day; a day without
// an assessment has no score.
//
// The event (fleet.InstanceAssessed) stays forever and holds digests: HMAC-SHA-256 under a salt
// of the organization, over the name of a thing and its value. The values are in
// instance_change_values, under the organization's inputsRetentionDays, and are erased with the
// instance. Nobody can test values against a digest without the salt.
//
// A value that may hold a secret is never stored; its digest shows that it changed. Such values
// are connection strings, commands, passphrases, custom settings, and an option of an HBA rule
// that is not known to be harmless. The list in the code names what is known to hold no secret,
// not what is known to hold one.
//
// The event also counts, by check and severity, the findings that the previous assessment did
// not have (findings.New).
//
// A thing that an assessment could not see stays as it was. A setting is compared only if both
// assessments have it, because roles see different settings, and so do versions. The privileges
// and extensions of a database count from the second assessment that finds the database enabled.
//
// The score is the scorecard's (analysis.HealthScore), with the exceptions that were in force at
// the assessment, and with its caps by the end of support, open critical alerts, backups, volumes
// and tablespaces (Standing). An exception that is granted or lapses later counts from the next
// assessment, and so does an alert that is raised or resolved. A late assessment has only the cap
// by the end of support.
//
// What feeds send of an instance (Item.Sent) is compared in the same way. The log has digests of
// the names of settings, too, because the sender chooses these names. An assessment that arrives
// after a later one sets the score of its day and reports no change (Late).
//
// # What may go wrong
//
//   - What caps a score cannot be read: the assessment is kept, and it has no score.
//   - Two processes record the same instance: the first locks the row of its target, and the
//     other's claim is lost.
//   - Assessments are older than this package: they have no event. The first assessment after
//     them gives the first score, and later ones are compared with it.
//   - A thing changed and changed back between two assessments: no assessment saw it.
//   - Somebody writes into the row of an instance what cannot be decoded: this is reported
//     (Look.Altered, muster_facts_altered_total), and the next assessment counts as the first.
//   - A server has more than 20,000 things of a kind: that kind is not compared.
//   - There are more than 500 differences at once: the event counts the rest, and their values
//     are not stored.
//   - Privileges on schemas, tables and functions are not compared; findings report which of
//     them are wrong.
//   - A server sends text that PostgreSQL does not store (U+0000, half of a surrogate pair): it
//     is compared as it is, and shown with U+FFFD.
//   - The retention ends between two runs of Prune: values are shown for up to six more hours.
//   - A person who may read the database has the salt, and can test guessed values against
//     digests until the organization's salt is deleted.
package changes
