// Package chartmarks serves the marks on the time axis of charts: those that people and programs
// set, and those that Muster knows itself (known.go): settings, versions, releases, failovers,
// restarts, servers that came or went, and maintenance windows (windows.go).
//
// # What may go wrong
//
//   - Some of what Muster knows cannot be read: the answer has the other marks, and names the
//     missing ones in unavailable.
//   - There are more marks than an answer has: it is not complete, and says so.
package chartmarks
