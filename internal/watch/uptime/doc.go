// Package uptime remembers when servers were up and down, and judges objectives by it.
//
// # How it works
//
// The watch judges the state of every server every ten seconds (package status). A Recorder keeps it as spans:
// a server was up, or down, from one time to another. Silent and unknown servers have no span, so time
// without a span is unknown. A span begins when the state began by the sources' observations, which is
// up to a minute before the judgment that finds it. It grows once a minute (grows), so a judgment
// that finds nothing new asks the database nothing, and readers take a span that still grows as lasting until now.
//
// A server that was restarted between two judgments is up at both, and its observations have the time of
// the fall (Status.Fell). It was down from then until it was up again.
//
// Sum adds the spans of a period up: up, down, in maintenance windows, and the rest, which is unknown.
// Where spans overlap, down counts. Time in a window counts as maintenance whatever the state. Judge puts
// that together with the mean latency and an objective; the API and reports ask it.
//
// # What may go wrong
//
//   - No process judges for some time: that time is unknown, unless the sources' observations say that the
//     state was the same throughout.
//   - Two processes record at once: a span changes only if it is still as read, so one of them
//     records.
//   - An agent delivers what it buffered: that says nothing of the present (package status), so the time stays unknown.
//   - A server is switched off: its span ends, and the time is unknown, unless the caller says when it
//     was off (Server.Off): that time counts as nothing. The spans of a server that is
//     removed stay as long as others: a month in which it was there is judged as before.
//   - A server restarts every 20 seconds for a month: it has 260,000 spans. All others have a few.
//   - Windows are recorded by their announcement: a window that was announced after an outage covers
//     nothing of it (package maintenance).
package uptime
