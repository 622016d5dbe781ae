// Package health is the read model of health: each server's score by day, and the changes
// that its assessments found.
//
// It reads the fleet's log and takes from it what assessments came to. A day (of UTC)
// has the score of its last assessment, and a day without one has none. Days and changes
// are kept for 400 days before the last assessment of their server; with the server they
// are gone. What changed is in it by digests; whoever shows a change joins the values,
// which are elsewhere and may be erased.
//
// AsOf reads the log itself and so needs no projection: the score that was known at a
// time.
//
// # What may go wrong
//
//   - The projection lags: the score of a moment ago is not shown yet. A report waits
//     for it.
//   - An assessment is recorded just after its server was removed: the rows stay, under
//     an id that nobody can ask for.
//   - Two assessments have one time: that which the log has later counts.
package health
