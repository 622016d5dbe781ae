// Package maintenance serves maintenance windows: their terms, the time that is running and the next
// one, and how many servers they select.
//
// # What may go wrong
//
//   - The servers cannot be counted: instanceCount is null. Somebody with the role team gets an error,
//     because what they see cannot be decided.
//   - This machine's time zone database no longer has the zone of a window: the window is shown without
//     times, and can be changed.
package maintenance
