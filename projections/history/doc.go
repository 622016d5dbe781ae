// Package history is the read model of report requests: the listing of each
// kind, one report with its recipients, and each member's export tray.
//
// A page of events is folded in memory and every report it touches is written
// once, with its recipients and the counters that give the listing its totals.
// AsOf folds the same events without any table, for the listing as it was.
//
// A Ready report expires by the clock. The tables keep what the events say;
// readers judge by the time they are given, count what is overdue by its own
// index and so keep totals and pages in agreement at every instant.
//
// What a member has seen of the tray (export_marks) is no projection: it
// survives every rebuild.
//
// # What may go wrong
//
//   - The sweeper is late or the clocks of readers differ: rows, totals and
//     downloads follow the time the reader passes in, not the Expired event.
//   - Events of a report whose request was dropped cannot be applied and are
//     parked with their stream.
//   - A report is listed between two reads of one caller: a page and its total
//     may differ by what was appended between the two.
package history
