// Package schedules is the read model of the schedules of every organization, and of what
// became of each due time.
//
// It reads the organization log and takes from it the streams of schedules, which it folds
// as package domain/schedule does. People are in it by id. What is due next, whether a due
// time waits and whether the owner may request reports is judged at every read by whoever
// reads: nothing is written when a time comes.
//
// # What may go wrong
//
//   - The projection lags: a due time that has its fact already is shown as waiting for a
//     moment.
//   - A schedule is removed: its rows go with it. The log keeps what became of it.
//   - An event of a schedule whose creation was dropped cannot be applied and is parked
//     with its stream.
package schedules
