// Package changes compares an assessment of a server with the one before it: the score,
// and the state of the server.
//
// A look sees a State: settings, roles, memberships and privileges on databases, the
// lines of pg_hba.conf, the version and the extensions of each database. Keep is called
// in the transaction that records the assessment. It compares the state with the last
// one, and returns the event that is to be appended where anything differs, or where
// the log has nothing of the day yet: the daily score of a server is the last one that
// the log has of that day, and a day on which it was not assessed has none.
//
// The event (fleet.InstanceAssessed) stays for ever and holds digests: HMAC-SHA-256
// under a salt of the organization, over what the thing is and its value. The values lie
// in instance_change_values, under the organization's inputsRetentionDays, and are erased
// with the instance. Without its salt nobody can try values against a digest.
//
// A value that may hold a secret (connection strings, commands, passphrases, whatever
// somebody made up himself, an option of an HBA rule that is not known to be harmless) is
// never kept: its digest says that it changed. What is known not to hold one is listed,
// not what is known to.
//
// The event also counts what the assessment found that the one before did not
// (findings.New), by check and severity.
//
// What a look could not see says nothing: it stays as it was. A setting is compared where
// both looks have it, for roles see different settings, and so do versions. Privileges
// and extensions of a database count from the second look that finds the database on.
//
// The score is the scorecard's (analysis.HealthScore), with the exceptions that were in
// force at the assessment: one that is granted or lapses later counts from the next.
//
// What feeds send of an instance (Item.Sent) is compared alike; the log has digests of the
// names of settings, too, for they are the sender's words. An assessment that comes after
// a later one has a score for its day and tells no change (Late).
//
// # What may go wrong
//
//   - Two processes record the same instance: the row of its target is locked by
//     whoever records, and the other's claim is lost.
//   - Assessments from before there was this room: they have no event. The first look
//     after them is the first score, and what later looks are compared with.
//   - A thing changed and changed back between two looks: nobody saw it.
//   - Somebody writes into the row of an instance what cannot be decoded: that is told
//     (Look.Altered, muster_facts_altered_total), and the next look counts as the first one.
//   - A server has more than 20,000 things of a kind: that kind is not compared.
//   - More than 500 differences at once: the event counts those beyond, and their
//     values are not kept.
//   - Privileges on schemas, tables and functions are not compared; findings tell
//     which of them are wrong.
//   - What a server says is no text that PostgreSQL stores (U+0000, halves of letters):
//     it is compared as it is, and shown with U+FFFD.
//   - The retention ends between two runs of Prune: values are shown up to six hours longer.
//   - Whoever may read the database has the salt, and can try values that they guess
//     against digests, until the organization's salt is deleted.
package changes
