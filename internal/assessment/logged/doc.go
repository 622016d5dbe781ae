// Package logged checks assessments against their events in the fleet's log, so that no
// assessment is used after it was changed in the database.
//
// Each assessment has an event (fleet.InstanceAssessed where it came to something new, else
// fleet.AssessmentKept) with its instance, its time, the SHA-256 of its facts and of its
// answers, and the program's mark. Whoever has the database and not the secret key can append
// an event, and cannot make its mark: an event without one counts as none. Terms.Before says
// up to where events and assessments may be from programs that made no marks (package secrets):
// such a program told the log of the first assessment of a day and of each that differs from
// the one before.
//
// The event also has a digest of what is kept of the classification of the server's databases,
// which is written in the same transaction. So a report uses what was known with the assessment
// that it uses, or what was recorded since.
//
// Bind is for a report, which uses one assessment of each server: it reads the newest
// events of all servers in one query. Book is for a control, which uses all of a period, and keeps
// no others. Of 40,000 attempts at a server, Bind holds 0.2 MB; before it held all of them, 75 MB.
//
// # What may go wrong
//
//   - Somebody with the database appends a copy of an event, whose mark is genuine: the first
//     event of an assessment counts.
//   - An assessment is recorded while a report is gathered: its event is newer than the one
//     that is used, and its row is there. That is no fault.
//   - A version from before records a classification: its event has no digest of it, and the
//     report takes it, until an assessment by this version follows.
//   - All classifications of a server are deleted: the event has the digest of those that were
//     known. Where the server was removed meanwhile, the report is built again (handlers).
//   - Stored facts cannot be decoded: the program writes none such, so they were altered,
//     whether the log has their digest or not.
//   - Facts were erased after History: an event of that age has none, and is no fault.
//   - A replica of the version before keeps assessments without events: the note of marks is
//     open while one runs, and then closes behind the last of its events.
//   - The secret key was lost, or a backup is older than the note: the operator says so
//     (secrets.Ring.AcceptUnmarked), and events of before count without their marks.
//   - Somebody with the database deletes events, too, and computes the log anew: that is
//     found by checkpoints (package checkpoint), not here.
package logged
