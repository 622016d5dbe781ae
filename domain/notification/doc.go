// Package notification decides about notifications: which events a rule matches, when a
// rule is quiet, and which settings channels and rules may have.
//
// A channel is a way to tell somebody: e-mail, a webhook, a chat, an Alertmanager. A rule
// says which events are told through which channels, how they are grouped, and when they
// wait. Channels and rules have a stream each in the organization log. What their events
// leave out lies in rows beside it: names, for they may be changed like any setting;
// addresses and secrets, for a log is kept for ever and an address may be a secret.
//
// There is no clock and no I/O here. Quiet hours are those of a time zone by its own
// rules: "22:00" is the minute that its clocks show. Where a clock skips the end of the
// quiet hours they end at the instant that it jumps to, by the rules of package time, and where
// it shows the end twice they end at the first.
package notification
