// Package projections keeps the read models filled from the event logs, and
// rebuilds them beside the ones that serve.
//
// A Projection is code with a version; a generation is one filling of its
// tables, in a PostgreSQL schema of its own with a consumer group of its own
// (eventstore/topic). Readers use the views of their version, <name>_v<version>,
// which show the live generation. A program of another version has other views
// and generations: it is not Ready until its own have caught up, the older
// program's stay for as long as it runs, and are dropped when nobody has read
// them for a day.
//
// A rebuild is a row in projection_generations. The elected process fills it
// from position 1 while the live generation serves; it follows the live one and
// never overtakes it. It does so in pages of 5,000 events, of which the next is read and
// decoded while one is applied (eventstore/topic). Once near, it is brought to exactly
// where one snapshot shows the live one, compared with it row by row in that
// snapshot, and the difference is stored. The switch locks both checkpoints, brings the
// new generation to the live one's position and moves all views in one transaction;
// the old tables stay for the grace time. Rebuilding touches nothing but these
// tables: handlers that act on the world have groups of their own.
//
// Such a handler (Runner.Handle) is a group without tables and versions: what it writes stands
// elsewhere, once, in the transaction that moves its checkpoint. Its dead letters are settled
// with those of the projections.
//
// Runner does all this. Election is by session advisory locks, one for each
// projection and version and one for each handler's log, on a connection of its own that is
// looked at every second.
//
// # What may go wrong
//
//   - The elected process dies, or its connection does: another one holds the
//     locks within a second or two and goes on from the checkpoints, also with a
//     rebuild, in whatever state it was.
//   - Two processes believe to be elected (a network that is cut in half): they
//     take turns at the checkpoint rows and neither applies what the other has.
//   - The process dies while comparing or switching: that transaction is gone
//     and is done again.
//   - The live generation cannot go on: a rebuild catches up with where it
//     stands, takes over there and goes on by itself.
//   - The log is cut off, or the database set back without its read models: the groups are set
//     to the log's end at start and within a second (topic.SetBack), so they apply what comes
//     next, and the status is ahead until a rebuild. A log that loses events and grows past a
//     group within that second is not noticed.
//   - A reader's statement runs while the views move: it finishes on the old
//     tables, which stay for the grace time.
//   - A session pooler in transaction mode takes the locks away from under us:
//     RequireSessions refuses it at the start.
//   - A version's program comes back just as its tables are dropped for disuse:
//     the row in projection_versions decides who was first. Either the tables
//     stay, or Prepare makes them anew.
//   - Clocks: grace and disuse are counted by the database's clock alone.
package projections
