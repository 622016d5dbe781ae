// Package schedules is the read model of schedules, with the outcome of each due time.
//
// It reads the organization log and uses its streams of schedules, which it folds as package
// domain/schedule does. People are in it by id. Each read judges what is due next, whether a due
// time is waiting, and whether the owner may request reports. Nothing is written when a due time
// comes.
//
// # What may go wrong
//
//   - The projection lags: a due time that already has its fact shows as waiting for a moment.
//   - A schedule is removed: its rows are deleted with it. The log keeps the outcomes of its due
//     times.
//   - An event of a schedule whose creation was dropped cannot be applied. It is parked with its
//     stream.
package schedules
