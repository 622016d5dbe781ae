// Package monitor measures the PostgreSQL servers that have a connection registered:
// their sessions every ten seconds, and every minute their statements, their databases
// and what the watch judges beside.
//
// # How it works
//
// Run looks every two seconds for what is registered and active, and claims what
// nobody measures: a lease of 20 seconds a server (monitor_leases), with a token, by
// the database's clock. None of the processes that do so holds more than its share of
// them; who has too many lets go of some. A claimed server has a goroutine and one connection of its own, so
// one that is slow delays itself alone. A process opens sixteen connections at once,
// those that have hung for a second aside, and writes four batches at once.
//
// A server's turn is a phase of the minute that follows from its id, the first one at
// once. Each query is a file in sql/ that says which versions it serves; which one
// is taken depends on what the server has, not on its version, for an extension may be
// older than its server. The connection reads only, ends statements after five seconds
// (package assessment), and moves to the database that has pg_stat_statements.
//
// Sessions are grouped on the server. Those that we may not look at make the sample of
// their database fail; a database that nobody is on has a sample of zeros. Of statements
// the whole list is read, without their texts, and compared with the last one in memory
// (deltasBetween has the rules). With it comes how long each database was executing
// (pg_stat_database, from PostgreSQL 14 on), over the same interval. Every look at the
// sessions lists the databases too, and what the fleet does not have as it is, it is told.
//
// The transaction that keeps samples holds the claim, and moves statements_at from the
// end of the last interval to the end of this one: an interval is counted once.
//
// Texts are read where the organization keeps them, of what was executed and has not
// been told of, the dearest first: the server reads its whole file of texts for that. A
// text goes through package sqltext before anything else sees it. Which ones were told
// is kept with the list in memory, and holds if the list does.
//
// What our role may not read is kept beside the lease, and the instance shows it among
// its missing grants. Our own sessions are left out; our own statements, a few a
// minute, are not, for the extension does not tell them from those of others who use
// our role.
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
//   - Counters are reset, entries are evicted and come back, the server is restarted:
//     what is not certain to be new is left out for that interval. Who was not on the
//     last list, which is whole, is new, and so is everybody after a reset of all that
//     the server tells of (version 14); from 17 on each entry says since when it is
//     there. The rest of a reset shows only where a counter fell.
//   - Texts cannot be read: bytes of one that are none in the encoding of our database
//     keep all of them back. The counters are kept without, and ten minutes later they
//     are asked for again.
//   - Texts are switched off: they are not asked for from the next minute on, and the
//     store takes none. Switched on again within that minute, what was told before is
//     told again after a day at the latest.
//   - How long a server executed is unknown over a reset and a restart, which may have
//     been a crash. What runs is counted when it ends, as in the statements.
//   - The role loses its privileges: samples are missing, not zero, and the interval
//     of statements goes on when it has them again within ten minutes.
//   - The server hangs in the middle of an answer: ten seconds later the connection is
//     given up. What was read before is kept, the next round has a new one.
//   - The server is out of reach: it is tried again after a second, then ever later,
//     up to a minute. One line of the log says that it went, and one that it is back.
//   - An assessment tells the fleet of the databases too. Both list them just before:
//     only what comes or goes within those milliseconds is told wrong, until our next
//     turn.
//   - The instance is removed or deactivated, or its connection is replaced: its
//     goroutine ends within seconds, and what begins for the new one starts afresh.
//   - Clocks: samples bear ours. Whether an entry is new is judged by the server's
//     alone, and a list that is not later than the last one is a basis.
package monitor
