// Package fleet answers for what is watched: instances and their databases, alerts and
// their history, exceptions, and the counts over the dashboard.
//
// # What may go wrong
//
//   - Instances are sorted by how they fare: what they are sorted by is read of all that
//     match, and the other figures of those on the page. Two pages that are asked for one after the other may overlap, for
//     the figures move between them.
//   - The answer to an action on an alert is lost: whoever asks again is told
//     invalid_state, and finds the alert as they left it.
//   - A projection lags behind a change: the answer shows the change all the same, and
//     the list says X-Muster-Lagging.
//   - A server cannot be reached with the DSN that came: it is told in a class and a
//     sentence, and nothing of the driver's text, which may hold the password.
package fleet
