// Package health is the read model of health: each server's score by day, and the changes that
// its assessments found.
//
// It reads the fleet's log and uses the results of assessments. A day (in UTC) has the score of
// its last assessment; a day without an assessment has no score. Days and changes are kept for
// 400 days before the last assessment of their server. They are deleted with the server. Changes
// are in it as digests. A reader that shows a change joins the values, which are stored
// elsewhere and may be erased.
//
// AsOf reads the log itself and so needs no projection: it returns the score that was known at a
// time.
//
// # What may go wrong
//
//   - The projection lags: a score of a moment ago is not shown yet. A report waits for it.
//   - An assessment is recorded just after its server was removed: the rows stay, under an id
//     that no reader can request.
//   - Two assessments have the same time: the one that is later in the log counts.
package health
