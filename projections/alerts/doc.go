// Package alerts is the read model of alerts: the list, one alert with its history, the counts
// of open alerts, and the history by bucket.
//
// The projection folds the alerts of the fleet's log into one row each. It keeps the names of
// instances and databases for them, also of removed ones. It counts the alerts by the hour in
// which they were last triggered, and those of each instance by the month, so a page can show a
// total without counting a million rows.
//
// # The time that is not in the log
//
// While an alert fires, the time at which it was last seen moves every minute. An event records
// it only once an hour, because a thousand firing alerts would otherwise add a gigabyte of log a
// day. The commands keep that time in alert_last_seen. For an open alert, every reader here
// takes the later of the two times (seenLater). A closed alert is final: its last event has the
// time, and a row left beside the log is ignored.
//
// So a page by last triggered is merged from two branches (page_whole.sql): alerts whose event has the
// later time, in the order of an index, and alerts whose row beside the log has it. The rows
// beside the log are sorted for each page, which takes 1 ms for 4,000. An index on a time that
// moves every minute would make each move write to every index, and a day of a thousand firing
// alerts would write three times as much WAL. A total is the value of the counters, which follow
// the events, plus the alerts that the rows beside the log move into the window, minus those
// that they move out of it (Query.total). Of some instances, the counters tell about whole months:
// the alerts between an end of the window and the nearest begin of a month are counted, and those of
// other instances that concern these. 40,000 of 200,000 alerts took 15 ms to count, and the counters
// of 200 of 1,000 instances and 13 months take 1.2 ms, less than those of all instances by the hour. By any other order, each branch is sorted, which reads
// every matching row.
//
// A page of some instances by last triggered is first looked for among the alerts of all instances
// (page_near.sql), 20 for each instance of the filter. If these do not suffice, the alerts of each
// instance are read. Of 200 of 1,000 instances with 200,000 alerts, a page took 10 ms when each
// instance was read, and takes 1.3 ms, as long as a page of all.
//
// # The counts and the history
//
// The counts of seven days ago are today's rows as of then, with today's mute flag. The history
// is a sweep: the database says how many firing windows start and end in each bucket, in one
// pass over a range of an index, and History computes the sums over time (history.sql). Its cost
// grows with the number of alerts between the window's start and now, and not with the number of
// buckets (figures are in docs/performance.md). An organization and a part of its instances are
// counted by two SQL texts that are made from one (scoped), because each is read from its own
// index.
//
// # What may go wrong
//
//   - An alert is closed: its row beside the log is deleted in that transaction, and the event
//     arrives here a moment later. In between, the alert reads as open and last triggered as of
//     the previous event, up to an hour ago. Writers wait until this projection has passed their
//     event; others may see that state.
//   - A row beside the log exists before its alert does: it is joined to nothing until the alert
//     exists. A rebuild does not touch these rows.
//   - The same applies to the history: for that moment, its last active buckets miss such an
//     alert. The numbers of one count or history come from one statement, and so from one
//     moment. In an overview, the numbers of instances and of alerts come from two.
//   - The page and its total are two statements: they differ by the events in between, and the
//     page is the later one.
//   - An event of an alert whose raise was dropped cannot be applied. It is parked with its
//     stream (projections.UnknownStream).
//   - An event is never applied twice: the checkpoint moves in the same transaction, and the
//     counters rely on that. A rebuild counts them anew and reports a difference.
//   - The registration of an instance or database was dropped, or belongs to another
//     organization (which no command allows): its alerts show its id without a name.
//   - A search, or a filter that few alerts pass, without a window: every alert is read, which
//     takes some hundred milliseconds for a million.
package alerts
