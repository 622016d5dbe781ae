// Package alertmanager reads the alerts that Prometheus' tools send: webhook messages of
// Alertmanager (payload version 4), and messages that Prometheus and vmalert post to the
// Alertmanager API (version 2).
//
// DecodeWebhook and DecodeAlerts open a body, whose alerts are read some at a time. They return
// firings for commands.RecordFirings, each with the labels that say where it belongs (package
// places resolves them). Nothing here does I/O or has a clock: the time of receipt is an
// argument.
//
// The identity of an alert is its label fingerprint, FNV-1a over the labels in order, as
// Alertmanager computes it. So an alert that comes by both routes, or from both of a pair of
// Prometheus servers without their replica label, is one alert. The fingerprint that a webhook
// states is ignored, because its sender could state that of another alert.
//
// Senders are told apart by their address, if the message has one: the external URL of an
// Alertmanager, or the host of generatorURL for a sender of the API.
//
// Some messages give an end. Alertmanager tells a webhook when an alert is over and how long it
// lasted; a firing alert has no end. For senders of the API, each message is valid until its
// endsAt, or for five minutes.
//
// # What may go wrong
//
// Senders repeat refused messages, so refusing a message for one bad alert would block the
// others forever:
//
//   - An alert cannot be used (it is no object, has no labels, ends before it starts, or lies in
//     a year that Muster's calendar does not have): it is left out and counted by reason, and
//     the others are used.
//   - The body is no message at all: there is an error before the first alert is read, and
//     nothing is used.
//   - A message holds a million alerts: the first 10,000 are read as they are requested, and the
//     rest is counted as left out. Reading all of 700,000 took 31 seconds, after which the
//     sender got an error and sent them again.
//   - An alert has megabytes, of a million labels or of unused members: it is left out and
//     counted (too_long). Reading one of 32 MiB took 1.4 GiB.
//   - Text contains U+0000, which PostgreSQL does not store: the character is removed. The
//     fingerprint covers the labels as they came. Commands cut text that is too long.
//   - A message comes twice, or late, or in parts: commands decide by what they know under the
//     fingerprint.
//   - The sender's clock is ahead: times are used as they are. Commands replace a time in the
//     future with the time of receipt.
//   - Alertmanager cut the message (max_alerts): it says by how many alerts, and these count as
//     left out.
//   - Fingerprints of two label sets collide (64 bits, not cryptographic): they are one alert,
//     as they are to Alertmanager.
package alertmanager
