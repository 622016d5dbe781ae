// Package alertrecords gathers the alerts of a window for an Alerts Summary, as the log had them at the window's end.
//
// What is said of alerts comes from package alertlog, so later events change nothing, and neither does a rebuild of the
// read model.
//
// Notifications are the exception: deliveries are rows beside the log, kept for 90 days. A delivery counts as it was
// at the window's end as far as its row says when it ended. If an alert is older than 90 days and has no delivery, what
// became of its notification is not known.
//
// What may go wrong:
//
//   - An alert is recorded after the window with a time in it: it is not in this report. The next report has it as
//     open at its start.
//   - There are more alerts than a document may have: the latest ones are listed, and the others are counted in one
//     sum, so the balance still holds.
//   - The log cannot be read: the build fails, and is tried again.
package alertrecords
