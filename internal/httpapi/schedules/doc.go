// Package schedules serves schedules: their settings, their next due times, and the outcome of
// each due time.
//
// # What may go wrong
//
//   - The read model lags behind a change: the answer has the header X-Muster-Lagging and shows
//     the previous state. A schedule that was just created is shown as it was requested.
//   - A due time has passed and a worker is about to record its outcome: it is listed as
//     waiting, a state that is never recorded.
//   - This machine's time zone database no longer has the zone of a schedule: the schedule is
//     shown without next due times, and can be changed.
package schedules
