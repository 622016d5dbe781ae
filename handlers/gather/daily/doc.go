// Package daily counts the figures of a daily digest (package day) from the log and the samples.
//
// # How it works
//
// Reader.Digest reads facts about some servers, and the functions of this package make figures of
// them. Facts count as of the end of the day, whenever they are read:
//
//   - alerts: as the log had them at the end of the day (package alertlog). An alert of the day that is recorded
//     later is open at the start of the next digest.
//   - exceptions: their events that were recorded before the end of the day.
//   - whether servers were heard: the spans of package uptime. Time without a span is silence. A
//     silence shorter than three minutes is none (shortest).
//   - findings: since when they are there, and when they went.
//   - backups and room: the samples before the end of the day.
//   - statements: the whole hours of the day, against the same hours of the day before.
//   - messages, reports and schedules: when they ended. What ended later was waiting.
//
// Everything about the organization and not about servers (reports, schedules, jobs, tokens,
// senders) is in the digest of the whole organization only.
//
// # What may go wrong
//
//   - A server was removed since: it is left out of a digest that is made later. Its alerts stay in
//     a digest of the whole organization.
//   - Agents, senders, the CVE feed and given-up jobs have no history: they are as of the moment when
//     the digest is made, and a digest that is made later than its day says so (AsOf). The report
//     keeps them in its inputs.
//   - The day is longer ago than deliveries are kept: what could not be delivered is not known.
//   - The statements cannot be read: the digest says so, and is made all the same.
package daily
