// Package falls records which background loops failed, of all processes, for the page of
// operations: the process that serves the page is seldom the one whose loop failed.
//
// # How it works
//
// Each process writes its own rows of the table loop_falls every few seconds, if a loop of its
// Supervisor has failed and as long as one is in trouble. A row names no tenant and has no text
// of an error, which may quote data: the log has it.
//
// # What may go wrong
//
//   - A process ends while a loop is in trouble: its rows are no longer written, and after a
//     minute the list shows them as over.
//   - The database is away: the rows are written with the next turn that succeeds.
package falls
