// Package findings stores the current findings of each server, and since when each is open.
//
// A finding is one object that fails one check on one database or instance, as analysis.Findings
// lists it for a report. The checks that could not be run are stored beside the findings. Keep
// is called in the transaction that records an assessment. The table is a function of the
// assessments of an instance in their order, so Replay makes the same rows from the stored
// assessments. A report does not touch them.
//
// FirstSeen is the first assessment in an unbroken series of assessments that found it. An
// assessment that no longer finds it ends the series and sets Gone. If the finding comes back, a
// new series begins under the same id, so a link that somebody was sent stays valid;
// EarlierFirst and EarlierGone say when it was first found and when it had gone. An
// assessment that could not look changes nothing: the finding stays as it was, including
// LastSeen, and Reason says why the check was not possible. That happens if a check was not
// assessed, if the monitoring role may not read an object, and for objects beyond
// snapshot.MaxViolations. An assessment that did not reach the server changes nothing at all.
//
// An id is made from the subject of a finding, and its first half from the check. So findings of
// one check lie together when rows are ordered by id.
//
// New compares an assessment with the previous one, for the log and for notifications of new
// findings. A finding that the previous assessment could not have seen is not new.
//
// Whether a finding is accepted is not stored, because exceptions lapse by the clock. List
// decides it by the rules that analysis uses for documents; a test compares the two.
//
// The due date is not stored either. It follows from FirstSeen and the organization's days for
// the severity (Due). The assignee and the ticket are stored in a table of their own
// (Assignment), which commands write.
//
// # What may go wrong
//
//   - Two processes record the same instance: the first locks the row of its target, and the
//     other's claim is lost.
//   - The catalog changes: severity is that of the catalog at the time of the assessment; titles
//     and texts are today's.
//   - A check left the catalog: its findings end with the next assessment.
//   - A server sends text that PostgreSQL does not store (U+0000, half of a surrogate pair): it
//     is shown as U+FFFD, and Muster gives no statement for it.
package findings
