// Package alertmanager reads the alerts that Prometheus' tools send: what
// Alertmanager posts to a webhook receiver (payload version 4), and what
// Prometheus and vmalert post to an Alertmanager (its API, version 2).
//
// DecodeWebhook and DecodeAlerts open a body, whose alerts are read some at a time:
// firings for commands.RecordFirings, each with the labels that say where it belongs
// (package places finds that). Nothing here does I/O or has a clock: the time of receipt
// is handed in.
//
// An alert is its label fingerprint, FNV-1a over the labels in order, as
// Alertmanager computes it: so one that comes by both roads, or from both of a
// pair of Prometheus servers without their replica label, is one alert. The fingerprint
// that a webhook states is passed over: its sender could state another alert's.
//
// A sender is told from others by its address, as far as it says one: an Alertmanager by its
// external URL, a sender of the API by the host of generatorURL.
//
// A message has an end of its own where it says so. Alertmanager tells a webhook
// when an alert is over and how long it has been; what fires has no end. Of the
// API's senders each message is good until its endsAt, or for five minutes.
//
// # What may go wrong
//
// Senders repeat what they are told to repeat, so that refusing a message for
// one bad alert would keep the others out for good:
//
//   - An alert cannot be used (it is no object, has no labels, ends before it
//     starts, lies in a year that no calendar of ours has): it is left out and
//     counted by reason; the others are taken.
//   - The body is no message at all: an error before the first alert is read, so
//     that nothing is taken.
//   - A message holds a million alerts: the first 10,000 are read, as they are asked
//     for, and the rest is counted as left out. Reading all of 700,000 took 31 seconds,
//     after which the sender was refused, and sent them again.
//   - An alert is megabytes, of a million labels or of what nobody reads: it is left out and
//     counted (too_long). Reading one of 32 MiB took 1.4 GiB.
//   - Text holds U+0000, which PostgreSQL does not keep: it loses that. The
//     fingerprint is of the labels as they came. Commands cut what is too long.
//   - A message comes twice, or late, or in parts: commands decide on what they
//     know under the fingerprint.
//   - The sender's clock is ahead: times are taken as they are; commands put what
//     lies in the future at the receipt.
//   - Alertmanager cut the message (max_alerts): it says by how many, which counts
//     as left out.
//   - Fingerprints of two label sets collide (64 bits, no cryptography): they are
//     one alert, as they are to Alertmanager.
package alertmanager
