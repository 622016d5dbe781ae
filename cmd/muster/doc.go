// Command muster is the whole service in one binary: the server, the workers
// and the tools of operators and auditors.
//
// It holds wiring and no rules: a file a subject, whose subcommands each open the
// installation (database, key, blob store), call one use case or query, and
// print. Exit status is 0 for done, 1 for failed with one line on standard
// error, 2 for wrong usage; `reports rebuild --verify` and `fleet apply` add 3 and 4.
//
// Subcommands attach to the private PostgreSQL of a running serve through the
// data directory, or start it for as long as they take.
//
// # What may go wrong
//
// A subcommand is killed at any line: what it writes, it writes in one
// transaction. Backup, restore and keys rotate, which write to more than the
// database, and fleet apply, which writes change by change, say in their packages
// what then happens. Whoever reads the output
// goes away: the command ends with status 1 and stops a server that it started.
//
// # What ends serve
//
// No background loop does: whatever it returns and wherever it panics, it is started again
// (internal/supervise). What still ends the process, on purpose:
//
//   - SIGTERM and SIGINT.
//   - A listener that fails, the API's or the operators': nobody could see the process.
//   - The start: settings and files that are wrong, an address or a data directory that
//     another process has, a key that is another installation's, a schema that is newer, or
//     connections that PostgreSQL does not have. Afterwards, a schema that is newer makes
//     the process unready, and does not end it.
//   - The Go runtime: memory that is used up, or concurrent writes to a map.
package main
