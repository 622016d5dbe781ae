// Package maintenance has the use cases of maintenance windows: announce one, change it, end the time
// that is running, remove it. Package maintenance of the domain has their rules.
//
// Rows hold the terms of each window with the time in which they held (holds_from, holds_until). A
// change closes one row and opens the next. So the time that a server was in windows (Versions,
// domain's Covered) is the same however a window is changed later. Ending a time opens a row that
// begins to hold when that time would have ended.
//
// The log has an event of each change, with the terms. The name lies in the row, because it is free
// text.
//
// # What may go wrong
//
//   - Two administrators change a window at once: the second waits for the first. With If-Match, it
//     is refused, because its state has changed.
//   - A window ends while somebody ends it: nothing is running, and the answer is invalid_state.
//   - A server loses the tags of a window while it is in it: it is in the window no longer. How long it
//     was in windows is judged by the tags that it has now.
//   - An alert is raised at the moment in which a window is announced: the alert counts as raised before,
//     or in the window, and is told or waits accordingly.
//   - This machine does not know the time zone of a window: the window has no times until it does. An
//     alert at night is better than none.
//   - A removed server stays in the selector of a window, and matches nothing.
package maintenance
