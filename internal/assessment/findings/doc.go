// Package findings keeps the current findings of each server, and since when each is open.
//
// A finding is one object that breaks one check on one database or instance, as
// analysis.Findings lists it for a report; beside them are the checks that could not
// be run. Keep is called in the transaction that records an assessment: the table is
// a function of the assessments of an instance in their order, so Replay makes the
// same rows of what is stored already. A report does not touch them.
//
// FirstSeen is the first assessment of an unbroken row of assessments that found it.
// One that finds it gone ends the row: Gone is set, and what comes back begins anew,
// under the same id, so that an address somebody was sent stays good. An assessment
// that could not look says nothing: the finding stays as it was, LastSeen with it,
// and Reason says why nobody looked. That is so for a check that was not assessed, an
// object that the monitoring role may not read, and one behind the last of
// snapshot.MaxViolations listed. An assessment that did not reach the server changes
// nothing at all.
//
// An id is made from what a finding is about, its first half from the check: rows
// that sort alike come by id, and so the findings of a check lie together.
//
// New compares an assessment with the one before it, for the log and those who are told
// of new findings. What the one before could not have seen is not new.
//
// Whether a finding is accepted is not kept: exceptions lapse by the clock. List
// decides it as analysis does for documents, and a test holds the two together.
//
// # What may go wrong
//
//   - Two processes record the same instance: the row of its target is locked by
//     whoever records, and the other's claim is lost.
//   - The catalogue changes: severity is that of the catalogue at the time of the
//     assessment, titles and texts are today's.
//   - A check left the catalogue: its findings end with the next assessment.
//   - What a server says is no text that PostgreSQL stores (U+0000, halves of
//     letters): it is shown as U+FFFD, and no statement is given for it.
package findings
