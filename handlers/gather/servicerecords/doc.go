// Package servicerecords gathers how servers kept their objectives in a window, for a Performance & SLA Summary, as it
// was known at the window's end.
//
// Names, tags and times of servers come from the log of the fleet, up to the window's end. So do the alerts about servers
// that were down. Objectives and maintenance windows count as they were at the window's end, and every server is judged
// by package uptime, as on the page Objectives. Sizes are read up to the window's end. What happens later changes
// nothing, so a report that is built a month later says the same, as long as its samples are kept.
//
// What may go wrong:
//
//   - Samples are rolled up: latencies are of whole hours, which are kept for 400 days. Statements are kept by the hour for
//     35 days and then by the UTC day. The records say which time they cover.
//   - Samples are gone: the records have no figure, and say so.
//   - Nobody ever heard of a server: all of its time is unknown, and it is listed.
//   - A server joined or left, or was switched off: that time counts as nothing.
//   - A mass outage raises one alert for many servers: it counts as the notice of each.
//   - A store of samples cannot be read: the build fails, and is tried again.
package servicerecords
