// Package maintenance decides about maintenance windows: times in which somebody works on servers,
// so that alerts of these servers tell nobody.
//
// A window selects servers as a team does. It has one time from and to, or it recurs as a schedule
// does and each of its times lasts for some minutes. The minutes are elapsed time: on a day on which
// clocks are moved, a window of 180 minutes lasts 180 minutes, and it starts at the first instant at
// which the clocks show its time or a later one (package schedule).
//
// Terms hold from when they were recorded until others replace them (Version). So a window covers no
// time before somebody announced it, and a change does not alter how long servers were in windows
// before the change.
//
// There is no clock and no I/O here.
package maintenance
