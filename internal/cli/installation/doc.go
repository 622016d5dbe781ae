// Package installation opens what a command works with: the database, the secret key, the blob
// store, the measurements, and the stores and readers on them.
//
// With opens it for one command and closes it again. Every resource is closed in the reverse
// order of opening, also if a later one cannot be opened.
//
// # What may go wrong
//
//   - The database belongs to an installation with another key, or a restore is not finished:
//     nothing is migrated, and the error says so.
//   - The blob store is away: commands that need no file work, and serve starts and waits for it.
//   - Code of a driver panics and keeps its connection: Close stops waiting for it after two
//     seconds.
package installation
