// Package projections keeps the read models filled from the event logs, and rebuilds them beside
// the ones in use.
//
// A Projection is code with a version. A generation is one filling of its tables, in its own
// PostgreSQL schema and with its own consumer group (eventstore/topic). Readers use the views of
// their version, <name>_v<version>, which show the live generation. A program with another
// version has other views and generations. It is not Ready until its own generations have caught
// up. The generations of the older program stay for as long as it runs, and are dropped when
// nobody has read them for a day.
//
// A rebuild is a row in projection_generations. The elected process fills it from position 1
// while the live generation serves; it follows the live one and never overtakes it. It works in
// pages of 5,000 events; the next page is read and decoded while one is applied
// (eventstore/topic). When it is close, it is brought to the exact position that the live
// generation has in one snapshot, and compared with it row by row in that snapshot. The
// difference is stored. The switch locks both checkpoints, brings the new generation to the live
// one's position and moves all views, in one transaction. The old tables stay for the grace
// time. A rebuild changes only these tables: handlers with effects outside have groups of their
// own.
//
// Such a handler (Runner.Handle) is a group without tables and versions. It writes its results
// elsewhere, once, in the transaction that moves its checkpoint. Its dead letters are settled
// with those of the projections.
//
// Runner does all this. Processes are elected with session advisory locks: one for each
// projection and version, and one for each log of a handler. The locks are held on a connection
// of their own, which is checked every second.
//
// # What may go wrong
//
//   - The elected process or its connection dies: another process gets the locks within a second
//     or two and continues from the checkpoints. It also continues a rebuild, whatever its
//     state.
//   - Two processes believe that they are elected (the network is split): they take turns at the
//     checkpoint rows, and neither applies what the other has applied.
//   - The process dies while it compares or switches: that transaction is rolled back and
//     repeated.
//   - The live generation cannot continue: a rebuild catches up to its position, takes over
//     there and continues by itself.
//   - The log loses events, or the database is set back without its read models: the groups are
//     set to the log's end at the start and within a second (topic.SetBack). So they apply new
//     events, and the status is ahead until a rebuild. If a log loses events and grows past a
//     group within that second, this is not noticed.
//   - A reader's statement runs while the views move: it finishes on the old tables, which stay
//     for the grace time.
//   - A connection pooler in transaction mode takes away the session locks: RequireSessions
//     refuses it at the start.
//   - A program of a version comes back just as its tables are dropped for disuse: the row in
//     projection_versions decides which was first. Either the tables stay, or Prepare creates
//     them anew.
//   - Clocks: grace time and disuse are measured by the database's clock alone.
package projections
