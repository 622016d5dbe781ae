// Package monitor measures the servers that have a registered connection.
//
// # How it works
//
// Every two seconds, Run looks for registered, active servers and claims those that nobody
// measures: a lease of 20 seconds on each server (monitor_leases), with a token, by the
// database's clock. No process holds more than its share of the servers; a process with too many
// releases some. Package measure measures a claimed server. This package stores the result
// (home): the transaction that stores samples holds the claim, and moves statements_at from the
// end of the last interval to the end of this one, so an interval is counted once. A process
// writes four batches at once.
//
// Objects that the account may not read are stored beside the lease, and the instance shows them
// among its missing grants.
//
// # What may go wrong, and what then happens
//
//   - A process dies: its leases run out, and the others have its servers within half a minute.
//     Its lists of statements are lost, so the next look is a basis, and one interval of
//     statements is missing.
//   - A process stands still and continues after its lease was taken over: its guard finds
//     another token, nothing is stored, and the goroutine ends.
//   - Two processes claim at once: one row, one lock; each gets others.
//   - Muster's database fails while an interval is written, and it is not known whether it was
//     stored: statements_at says so when the database is back. The interval is then either the
//     basis of the next one or a part of it. After ten minutes it is lost.
//   - An assessment reports the databases to the fleet, too. Both list them just before. Only a
//     database that appears or disappears within those milliseconds is reported wrongly, until
//     the next turn.
//   - The instance is removed or deactivated, or its connection is replaced: its goroutine ends
//     within seconds, and the one for the new connection starts afresh.
package monitor
