// Package marks has the use cases of marks on the time axis of charts: set one, remove one. Package
// domain/mark has their rules, and who may set which.
//
// The log has an event of each, with the time and the tags. The text lies in the table chart_marks,
// which is written in the same transaction.
//
// # What may go wrong
//
//   - A request is sent again because its answer was lost: it names the id that it had
//     (Idempotency-Key), and the mark is found. If somebody removed it, the request sets another.
//   - Two requests set the last mark of a day: the second waits for the first, and is refused.
//   - A team changes its selector: its people cannot remove the marks that they set by the old one.
//     Members and administrators can.
package marks
