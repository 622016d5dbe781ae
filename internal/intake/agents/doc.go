// Package agents has the doors of standard agents (API contract, §18.4): remote_write of
// Prometheus and vmagent, OTLP of OpenTelemetry's collector, and Alertmanager's webhook and API.
//
// There are two kinds of doors. Hosts accepts measurements: a decoder (remotewrite, otlp) makes
// samples from the bytes, places finds the instances that labels name, each sample is checked
// against the token's limit, and push stores them. A collector's metrics and logs about
// databases take the same path, with two differences. Such a sample covers only a part. If
// Muster or an agent already measures the instance, the sample is dropped in the transaction
// that would store it. Alerts accepts firing alerts: alertmanager reads some alerts at a time,
// places finds where they belong, and commands record them.
//
// # What may go wrong
//
//   - Agents send refused messages again, so one bad value would block the others forever: it is
//     dropped and counted by its reason, and so are items beyond the token's limit. Only a body
//     that is no message is refused (*intake.UnreadableError).
//   - A message is large: it is written 5,000 samples or 250 alerts at a time. If the process
//     dies in between, or the agent gives up waiting, the written part stays, and changes
//     nothing more when the message comes again.
//   - A budget has no room for some of its alerts: the answer is 429 with the budget's name. The
//     other parts of the message are written, among them those that close alerts.
package agents
