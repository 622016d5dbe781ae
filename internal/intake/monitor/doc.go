// Package monitor measures the servers that have a connection registered.
//
// # How it works
//
// Run looks every two seconds for what is registered and active, and claims what
// nobody measures: a lease of 20 seconds a server (monitor_leases), with a token, by
// the database's clock. None of the processes that do so holds more than its share of
// them; who has too many lets go of some. Package measure measures a claimed server;
// here is where it goes (home): the transaction that keeps samples holds the claim, and
// moves statements_at from the end of the last interval to the end of this one: an
// interval is counted once. A process writes four batches at once.
//
// What our role may not read is kept beside the lease, and the instance shows it among
// its missing grants.
//
// # What may go wrong, and what then happens
//
//   - A process dies: its leases run out, and the others have its servers within half
//     a minute. The lists of statements died with it, so their next look is a basis,
//     and one interval of statements is missing.
//   - A process stands still and goes on after its lease was taken over: its guard
//     finds another token, nothing is kept, and the goroutine ends.
//   - Two processes claim at once: one row, one lock; each gets others.
//   - Our database fails as an interval is written, and nobody knows whether it was:
//     statements_at says so when it is back, and the interval is then either the
//     basis of the next or a part of it. After ten minutes it is lost.
//   - An assessment tells the fleet of the databases too. Both list them just before:
//     only what comes or goes within those milliseconds is told wrong, until our next
//     turn.
//   - The instance is removed or deactivated, or its connection is replaced: its
//     goroutine ends within seconds, and what begins for the new one starts afresh.
package monitor
