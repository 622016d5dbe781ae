// Package history is the read model of report requests: the listing of each kind, one report
// with its recipients, and each member's export tray.
//
// A page of events is folded in memory. Every report in it is then written once, with its
// recipients and the counters that give the listing its totals. AsOf folds the same events
// without any table, for the listing as of a past time.
//
// A Ready report expires by the clock. The tables hold what the events say. Readers judge expiry
// by the time that they are given, and count overdue reports with an index of their own. So
// totals and pages agree at every instant.
//
// The table export_marks, which says what a member has seen of the tray, is no projection: it
// survives every rebuild.
//
// # What may go wrong
//
//   - The sweeper is late or the clocks of readers differ: rows, totals and downloads follow the
//     time that the reader passes, not the Expired event.
//   - Events of a report whose request was dropped cannot be applied. They are parked with their
//     stream.
//   - One caller reads twice, a page and its total: they may differ by the events appended
//     between the two reads.
package history
