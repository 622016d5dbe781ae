// Package objectives has the use case of objectives: set the list. Package objective of the domain has
// their rules.
//
// Rows hold each list with the time in which it held. A change closes one row and opens the next, so a
// period is judged by the list that held at its end (At), whatever changed since. The log has both lists of
// each change.
//
// # What may go wrong
//
//   - Two administrators set the list at once: the second waits for the first. With If-Match, it is
//     refused, because its state has changed.
//   - A removed server stays in the selector of an objective, and matches nothing.
//   - A list is set twice in one microsecond: the second replaces the first, and the log has both.
package objectives
