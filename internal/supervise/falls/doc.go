// Package falls keeps which background loops of all processes fell, for the page of
// operations: the process that serves the page is seldom the one whose loop fell.
//
// # How it works
//
// Each process writes its own rows of the table loop_falls every few seconds, where a loop
// of its Supervisor has fallen and as long as one is in trouble. A row names no tenant and
// has no text of an error, which may quote data: the log has it.
//
// # What may go wrong
//
//   - A process ends while a loop is in trouble. Its rows are not written any more, and
//     after a minute the list calls them over.
//   - The database is away: the rows are written with the next turn that succeeds.
package falls
