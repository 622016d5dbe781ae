// Package agents has the doors of standard agents (contract, §18.4): remote_write of
// Prometheus and vmagent, OTLP of OpenTelemetry's collector, and Alertmanager's webhook
// and API.
//
// There are two kinds. Hosts take what was measured: a decoder (remotewrite, otlp) makes
// samples of the bytes, places finds the instances that labels name, the token's limit is
// held against each sample, and push keeps them. So it goes with what a collector says of
// databases, in its metrics and its logs: a sample is of a part only, and what Muster or an
// agent measures already is dropped, in the transaction that would keep it. Alerts take what fires: alertmanager
// reads the alerts some at a time, places finds where they are, and commands record them.
//
// # What may go wrong
//
//   - Agents send again what is refused, so that one bad value would keep the others out
//     for good: it is dropped and counted by its reason, as is what the token may not say.
//     Only a body that is no message is refused (*intake.UnreadableError).
//   - A message is large: it is written 5,000 samples or 250 alerts at a time. The
//     process dies between, or the agent gives up waiting: what was written stays, and
//     changes nothing more when the message comes again.
//   - A budget has no room for some of its alerts: the answer is 429 with the budget's name.
//     The other parts of the message are written, among them those that close alerts.
package agents
