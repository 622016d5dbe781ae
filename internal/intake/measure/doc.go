// Package measure measures database servers of every engine: their sessions, their statements,
// their databases, and further signals for the watch.
//
// # How it works
//
// A Server has a goroutine and one connection of its own, so a slow server delays only itself. The statements of SQL Server
// and Oracle have another goroutine and another connection (ApartReader): their lists may take seconds, and the sessions
// are read in time beside them. After a list that took long, turns are left out, so that lists take five seconds a minute at
// most (untilRested). The second connection is opened only while the first one works, beside each new one of
// those, and to the same server: after a failover, statements of one server never stand beside sessions of another. A
// process opens a limited number of connections at once, not counting those that have hung for a
// second (Gate). Each server has its own phase of the minute, derived from its id; its first
// look comes at once. A Reader knows how to read an engine: packages postgresql, sqlserver and
// oracle, each with a folder of queries (package servers describes it). The choice of a query
// depends on what the server has, not on its version. This package decides, once for all
// engines, what is made of the rows. A Home knows where the result goes: the database of serve
// (package monitor), or the directory of an agent.
//
// If the account may not see sessions, there is no sample of their database. A database without
// sessions has a sample of zeros. The whole list of statements is read without their texts, and
// compared with the previous list (deltasBetween has the rules). A list has entries, one for
// each plan or for whatever the engine counts by. Each entry belongs to a statement, which is
// the unit that users see. Entries are compared first, and then added up. The list may also have
// the execution time of each database over the same interval. Every look at the sessions also
// lists the databases, and the home is told if the list changed.
//
// The look at the sessions says what those do that are on the CPU or wait, and whose they are, as far
// as the server tells (Database.Count); PostgreSQL tells how many deadlocks there were, too. SQL Server and
// Oracle are asked for those once a minute (DeadlockReader). The sides of a deadlock are told where the
// server reports them, or where a look sees sessions wait for each other in a circle.
//
// Texts are read where the organization stores them, for executed statements whose texts were
// not sent yet, the most expensive first. They pass package sqltext before any other code sees
// them. The set of sent texts is stored with the list, and is valid if the list is. A server
// that takes long to return them is asked rarely: they cost it one percent of a core at most.
//
// While a session waits for a lock, and only then, a look also asks who waits for whom (package
// blocking), for statements with their texts where the organization stores these. While the same
// sessions wait for the same ones, every second look asks (standing). Once nobody waits any more,
// that is reported once.
//
// Once a minute the server is asked what it tells about its transactions, temporary files, checkpoints
// and new connections (Figure). A figure that it does not tell, or not to the account, is said to be
// so. Counts are compared with those of the last look.
//
// A server that pauses while nobody is connected is left alone for six hours once nobody but Muster was on it for ten minutes,
// if its connection string wants that (Pauser). Nobody knows how it is then, and it is said why.
//
// Muster's own sessions are left out. Its own statements, a few a minute, are not left out if
// the server cannot tell them from those of other users of the same account.
//
// # What may go wrong, and what then happens
//
//   - It is not known whether an interval was stored: the home says so in the next round. The
//     interval is then either the basis of the next one or a part of it. After ten minutes it is
//     lost.
//   - Counters are reset, entries are evicted and come back, the server is restarted: what is
//     not certain to be new is left out for that interval. A statement missing from the previous
//     (complete) list is new, and so is every statement after a complete reset that the server
//     reports. If an entry has a creation time, that decides. An unreported reset shows if most
//     counters fell or the list is short, and costs the interval. An unreported reset of some
//     entries shows only where a counter fell.
//   - A database could not be read the last time, or was read from another view: its current
//     list is a basis, unless an entry says that it was created since.
//   - The longest execution covers a longer time than the interval: it counts if it rose, or if
//     its entry was created since. Otherwise nothing is reported.
//   - A sample with deadlocks is lost, or the process starts again: the deadlocks until the next
//     look are not counted.
//   - A count of a figure was reset, or is of another process of the server: nothing is known of the
//     whole server for that interval. A look that fails leaves no figures, and the next one is
//     compared with the one before, for ten minutes.
//   - Texts cannot be read: the counters are stored without them, and ten minutes later the
//     texts are requested again.
//   - Who waits for whom cannot be read: nothing is reported of it, neither that somebody waits nor
//     that nobody does. The rest of the round goes on.
//   - Texts are switched off: they are not requested from the next minute on, and the store
//     accepts none. If they are switched on again within that minute, texts that were sent
//     before are sent again after a day at the latest.
//   - The execution time of a server is unknown across a reset and a restart, which may have
//     been a crash. A running execution is counted when it ends, as in the statements.
//   - The connection for statements is refused, or leads to another server than that for sessions, as behind a name with
//     several addresses: the statements are missing, and say why. They are tried again when they have their turn.
//   - The account loses its privileges: samples are missing, not zero. The interval of
//     statements continues if the account has them again within ten minutes.
//   - The server hangs in the middle of an answer: the connection is given up after ten seconds.
//     What was read before is stored, and the next round has a new connection.
//   - The server cannot be reached: it is tried again after a second, then less and less often,
//     up to once a minute. One line in the log says that it went away, and one that it is back.
//   - The server is restarted and is back before anybody tries it: another process of it answers
//     on the next connection, and it is reported to have been down in between.
//   - The server takes nine seconds for each answer: sign-in and each statement may take that
//     long, and it is reported as answering before its round is over.
//   - This process stands still while it connects: the attempt failed for that reason, and is
//     not reported.
//   - The server is given another certificate: a connection keeps the one that it began with, so another
//     connection is opened once an hour to see what the server presents (certificate.go). It has a goroutine and
//     15 seconds of its own, so a server that hangs in TLS delays no samples.
//   - Another agent looks at the same counters and takes over from this one: the store decides
//     by our clocks which of its samples follow ours (package pgstore, "Whose turn it is"). So a
//     sample spans both looks, each from its beginning to its end: a sample that follows has
//     later counters, if the clocks agree. If the clocks differ, executions during the
//     difference count twice or are lost.
//   - Clocks: samples have Muster's time. Whether an entry is new is judged by the server's
//     clock alone. A list that is not later than the previous one is a basis.
package measure
