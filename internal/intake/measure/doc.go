// Package measure measures database servers, whatever their engine: their sessions, their
// statements, their databases and what the watch judges beside.
//
// # How it works
//
// A Server has a goroutine and one connection of its own, so one that is slow delays itself
// alone; a process opens a bounded number of connections at once, those that have hung for a
// second aside (Gate). A server's turn is a phase of the minute that follows from its id,
// the first one at once. What is read of an engine, a Reader knows: packages postgresql,
// sqlserver and oracle, each with a folder of queries (package servers says what stands in
// them); which one is taken depends on what the server has, not on its version. What is
// made of it is decided here, once for all of them, and where it goes a Home knows: the
// database of serve (package monitor), or the directory of an agent.
//
// Sessions that we may not look at make the sample of their database fail; a database
// that nobody is on has a sample of zeros. Of statements the whole list is read, without
// their texts, and compared with the last one (deltasBetween has the rules). A list has
// entries, one a plan or whatever the engine counts by, and an entry is of a statement,
// which is what is told apart outside: entries are compared, and then added. With the list
// may come how long each database was executing, over the same interval. Every look at the
// sessions lists the databases too, and a home is told where they are others.
//
// Texts are read where they are kept, of what was executed and has not been told of, the
// dearest first, and go through package sqltext before anything else sees them. Which ones
// were told is kept with the list, and holds if the list does. A server that takes long to
// give them is asked seldom: they cost it one percent of a core at most.
//
// Our own sessions are left out; our own statements, a few a minute, are not, where the
// server does not tell them from those of others who use our account.
//
// # What may go wrong, and what then happens
//
//   - Nobody knows whether an interval was kept: the home says it at the next round, and
//     the interval is then either the basis of the next or a part of it. After ten minutes
//     it is lost.
//   - Counters are reset, entries are evicted and come back, the server is restarted:
//     what is not certain to be new is left out for that interval. Who was not on the
//     last list, which is whole, is new, and so is everybody after a reset of all that
//     the server tells of; where an entry says since when it is there, that decides. A
//     reset that nobody tells of shows where most counters fell or the list is short, and
//     costs the interval; one of some entries shows only where a counter fell.
//   - A database could not be read the last time, or was read from another view: what is
//     on its list now is a basis, unless an entry says that it was begun since.
//   - The longest execution is told of a longer time than ours: it counts where it rose, or
//     where its entry was begun since; else nothing is said.
//   - Texts cannot be read: the counters are kept without, and ten minutes later they
//     are asked for again.
//   - Texts are switched off: they are not asked for from the next minute on, and the
//     store takes none. Switched on again within that minute, what was told before is
//     told again after a day at the latest.
//   - How long a server executed is unknown over a reset and a restart, which may have
//     been a crash. What runs is counted when it ends, as in the statements.
//   - The account loses its privileges: samples are missing, not zero, and the interval
//     of statements goes on when it has them again within ten minutes.
//   - The server hangs in the middle of an answer: ten seconds later the connection is
//     given up. What was read before is kept, the next round has a new one.
//   - The server is out of reach: it is tried again after a second, then ever later,
//     up to a minute. One line of the log says that it went, and one that it is back.
//   - The server is started again and is back before anybody tries it: another process of it
//     answers on the next connection, and it is reported to have been down in between.
//   - The server takes nine seconds for each answer: it is let take them, at sign-in and in each
//     statement, and is said to answer before its round is over.
//   - This process stands still while it connects: the attempt failed for that, and is not
//     reported.
//   - Another agent looks at the same counters, and takes the turn over from this one: the
//     store tells by our clocks which of its samples follow ours (package pgstore, "Whose
//     turn it is"). So a sample spans both looks, each from its beginning to its end: one
//     that follows is of later counters, if the clocks agree. Clocks that differ count
//     again, or lose, what was executed in the difference.
//   - Clocks: samples bear ours. Whether an entry is new is judged by the server's
//     alone, and a list that is not later than the last one is a basis.
package measure
