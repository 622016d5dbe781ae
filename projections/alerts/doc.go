// Package alerts is the read model of alerts: the list, one alert with what
// happened to it, the counts of what is open, and the history by bucket.
//
// The projection folds the alerts of the fleet's log into one row each, keeps the
// names of instances and databases for them, removed ones too, and counts them by
// the hour in which they were last triggered, so that a page can say how many
// there are without counting a million rows.
//
// # The time that is not in the log
//
// While an alert fires, the time until which it was seen moves every minute, and
// an event says so only once an hour (a thousand firing alerts would otherwise
// cost a gigabyte of log a day). The commands keep that time in alert_last_seen,
// and every reader here takes the later of both for an alert that is open
// (seenLater). What is closed is final: its last event has the time, and a row
// left beside it counts nothing.
//
// A page by last triggered therefore comes from two branches, merged (page.sql):
// alerts whose event is the later, in the order of an index, and those whose row
// beside the log is. Those rows are sorted for each page, 1 ms for 4,000, because an
// index on a time that moves every minute makes each move an entry in every index,
// and a day of a thousand firing alerts three times as much to write ahead. A total
// is what the counters say by the events, plus what the rows beside the log bring
// into the window and less what they take out of it (Query.total). By another order
// each branch is sorted, which reads all that matches.
//
// # The counts and the history
//
// The counts of seven days ago are today's rows as of then, with today's mute
// flag. The history is a sweep: the database says in which bucket how many firing
// windows start and end, in one pass over a range of an index, and the sums over
// time are History's (history.sql). It costs what lies between the
// window's start and now, and nothing for the number of buckets (figures are in
// docs/performance.md). An organization and some of its instances are counted by
// texts of their own, made of one (scoped), for each is read from an index of its
// own.
//
// # What may go wrong
//
//   - An alert is closed: its row beside the log goes in that transaction, and the
//     event comes here a moment later. In between it reads as open and last
//     triggered as of the event before, up to an hour ago. Writers wait until this
//     projection has passed them; others may see it.
//   - A row beside the log is there before its alert is: it is joined to nothing
//     until the alert is. A rebuild does not touch these rows.
//   - The same holds for the history, whose last active buckets such an alert
//     misses for that moment. The numbers of one count or history are of one
//     statement, and so of one moment; those of instances and of alerts in an
//     overview are of two.
//   - The page and its total are two statements: they differ by what came in
//     between, and the page is the later.
//   - An event of an alert whose raise was dropped cannot be applied and is parked
//     with its stream (projections.UnknownStream).
//   - An event is applied twice: it is not; the checkpoint moves in the same
//     transaction, on which the counters rely. A rebuild counts them anew and says
//     whether they differ.
//   - The registration of an instance or database was dropped, or it is another
//     organization's, which no command lets in: its alerts show its id without a
//     name.
//   - A search, and a filter that little passes, without a window: every alert is
//     read, some hundred milliseconds for a million.
package alerts
