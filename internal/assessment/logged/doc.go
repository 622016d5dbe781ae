// Package logged checks assessments against their events in the fleet's log, so that no
// assessment is used after it was changed in the database.
//
// Each assessment has an event: fleet.InstanceAssessed if it found something new, else
// fleet.AssessmentKept. The event has the assessment's instance, its time, the SHA-256 of its
// facts and of its answers, and the program's mark. A person who has the database but not the
// secret key can append an event, and cannot make its mark. An event without a mark counts as
// none. Terms.Before says up to where events and assessments may come from programs that made no
// marks (package secrets). Such a program recorded the first assessment of a day and each one
// that differed from the previous one.
//
// The event also has a digest of the stored classification of the server's databases, which is
// written in the same transaction. So a report uses the classification that was known with its
// assessment, or one recorded since.
//
// Bind serves a report, which uses one assessment of each server: it reads the newest events of
// all servers in one query. Book serves a control, which uses all assessments of a period, and
// keeps no others. For 40,000 attempts at a server, Bind holds 0.2 MB; before it held all of
// them, 75 MB.
//
// # What may go wrong
//
//   - A person with access to the database appends a copy of an event, whose mark is genuine:
//     the first event of an assessment counts.
//   - An assessment is recorded while a report is gathered: its event is newer than the one in
//     use, and its row exists. That is no fault.
//   - An earlier version records a classification: its event has no digest of it. The report
//     accepts the classification until an assessment by this version follows.
//   - All classifications of a server are deleted: the event has the digest of the former ones.
//     If the server was removed meanwhile, the report is built again (handlers).
//   - Stored facts cannot be decoded: the program never writes such facts, so they were altered,
//     whether or not the log has their digest.
//   - Facts were erased after History: an event of that age has no facts, and that is no fault.
//   - A replica of the previous version stores assessments without events: the note of marks is
//     open while one runs, and then closes after the last of its events.
//   - The secret key was lost, or a backup is older than the note: the operator says so
//     (secrets.Ring.AcceptUnmarked), and earlier events count without their marks.
//   - A person with access to the database also deletes events and computes the log anew:
//     checkpoints reveal that (package checkpoint), and this package does not.
package logged
