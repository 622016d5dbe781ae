// Package fleet serves the monitored fleet: instances and their databases, alerts and their
// history, exceptions, and the counts above the dashboard.
//
// # What may go wrong
//
//   - Instances are sorted by a health figure: that figure is read for all matching instances,
//     and the others for those on the page. Two pages that are requested one after the other may
//     overlap, because the figures change in between.
//   - The answer to an action on an alert is lost: a second request gets invalid_state, and
//     finds the alert as the first left it.
//   - A projection lags behind a change: the answer shows the change anyway, and the list has
//     the header X-Muster-Lagging.
//   - A server cannot be reached with the given DSN: the answer has a class and a sentence, and
//     no text of the driver, which may contain the password.
package fleet
