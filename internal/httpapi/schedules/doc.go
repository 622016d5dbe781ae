// Package schedules answers for schedules: what they are, when they are due next, and what
// became of each due time.
//
// # What may go wrong
//
//   - The read model lags behind a change: the answer carries X-Muster-Lagging, and shows
//     what was there before; a schedule that was just created is shown as it was asked for.
//   - A due time has come and a worker is about to record what becomes of it: it is listed
//     as waiting, which nothing records.
//   - The zone of a schedule is one that this machine's time zone database does not have
//     any more: it is shown without next due times, and can be changed.
package schedules
