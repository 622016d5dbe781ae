// Package notification decides about notifications: which events a rule matches, when a rule has
// quiet hours, and which settings channels and rules may have.
//
// A channel delivers notifications: by e-mail, to a webhook, a chat or an Alertmanager. A rule
// says which events go to which channels, how they are grouped, and when they wait. Channels and
// rules each have a stream in the organization log. Rows beside the log hold what the events
// leave out: names, because they can be changed like any setting, and addresses and secrets,
// because a log is kept forever and an address may be a secret.
//
// There is no clock and no I/O here. Quiet hours follow the rules of their time zone: "22:00" is
// the minute that local clocks show. If a clock change skips the end of the quiet hours, they
// end at the time to which the clocks jump, by the rules of package time. If the end occurs
// twice, they end at the first.
package notification
