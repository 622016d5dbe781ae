// Package cli is the command line of muster: the tree of its commands, and how a command line
// is run. Package serve has the server and the workers, operate the commands of operators, prove
// those of auditors, and agent those of the agent. Package installation opens what they work
// with, and command has what they share.
//
// All of it is wiring and no rules. Each subject has one file. Its subcommands open the
// installation (database, key, blob store), call one use case or query, and print the result.
// The exit status is 0 for success, 1 for a failure with one line on standard error, and 2 for
// wrong usage; `reports rebuild --verify` and `fleet apply` add 3 and 4.
//
// Subcommands attach to the private PostgreSQL of a running serve through the data directory, or
// start it for as long as they run.
//
// # What may go wrong
//
// A subcommand is killed at any line: it writes in one transaction. Backup, restore and keys
// rotate write to more than the database, and fleet apply writes change by change; their
// packages say what happens then. If the reader of the output goes away, the command ends with
// status 1 and stops a server that it started.
//
// # What ends serve
//
// No background loop ends it: a loop that returns or panics is started again
// (internal/concurrency/supervise). These end the process, on purpose:
//
//   - SIGTERM and SIGINT.
//   - A listener that fails, of the API or for operators: nobody could reach the process.
//   - A failure at the start: wrong settings or files, an address or a data directory that
//     another process uses, a key of another installation, a newer schema, or too few
//     connections in PostgreSQL. After the start, a newer schema makes the process unready and
//     does not end it.
//   - The Go runtime: memory that is used up, or concurrent writes to a map.
package cli
