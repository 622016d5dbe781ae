// Package alertlog folds alerts from the log, as it had them at a time. All summaries read alerts with it.
//
// # How it works
//
// What is said of an alert comes from its own stream alone: from the events that were recorded before the time. So
// later events change nothing, neither does a rebuild of the read model, and a document that is made again a month
// later has the same figures.
//
// Which alerts may have been open in a window comes from three places that together miss none: the events of alerts
// recorded in the window, the ends of alerts recorded after it, and the read model's alerts that are open or were
// closed after the window's start.
//
// # What may go wrong
//
//   - A sender's clock is wrong: a time that the sender names counts as the time of its record if the latter is
//     earlier. An alert that was over before it was raised is over when it was raised.
//   - An alert is recorded after the time, and says that it began before: it is not there yet. A window that begins at
//     the time has it as open at its start.
//   - An append that began before the time is not committed yet: OpenIn waits for it.
package alertlog
