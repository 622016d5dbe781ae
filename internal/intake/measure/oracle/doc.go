// Package oracle reads what an Oracle database from 12.2 on does.
//
// # How it works
//
// A database of Muster is a container: the root and each pluggable database that the account
// sees, or the one database where there are no containers. Register the root to measure all of
// them (with a common user and CONTAINER_DATA), or a pluggable database by itself.
//
// Sessions are grouped on the server (V$SESSION). The counters of statements come from
// V$SQLSTATS_PLAN_HASH, whole, every 20 seconds (readings, 17). In a cluster of more than one
// instance all views are the GV$ ones. Nothing is read that needs the Diagnostics or the
// Tuning Pack; a test holds every query to that.
//
// Sessions of the scheduler's jobs count as client sessions do; servers of a parallel execution
// do not. A block of PL/SQL has the time of the statements in it, and these count as well, as
// the dictionary's and ours do: the view tells none of them apart.
//
// # Which entry a counter is, and what it is called
//
// An entry is what the server counts by: instance and when it was started, container, SQL_ID
// and plan. V$SQLSTATS would have one row a statement, with its latest plan: compared by plan,
// a statement that changes its plan would have all it ever did counted as the new plan's, and
// compared without, what the old plan did would be told as the new one's. Outside, an entry is
// of a statement: the signature without literals (FORCE_MATCHING_SIGNATURE; a statement that
// has none, as PL/SQL, goes by its SQL_ID) and the plan. Entries are compared first and added
// then, so that a thousand statements that differ in a literal are one, and none of them makes
// a false difference as it comes and goes.
//
// An entry that was not on the last list was made since, for the list is whole. How the server
// fills one that it had evicted is documented nowhere: perhaps with what the cursor did before.
// So it counts at once only where the cursors that have this plan were all loaded since
// (V$SQL); else it is a basis, and stays marked as begun at an unknown time for as long as it
// is listed, also by the next process where an agent kept the list. LAST_ACTIVE_TIME would not do: it says that an entry was used,
// not that it is new.
//
// Clocks: the server's time is SYSTIMESTAMP in UTC. V$SQL has local times without a zone; they
// are turned by what the zone is now, and for two hours after the zone changed by nothing, as
// an hour may be there twice.
//
// # What may go wrong
//
//   - A grant is missing: the part that needs it is missing, and the statement that gives it
//     is named. Without V$SESSION there are no samples of sessions, and without V$INSTANCE
//     neither: whether there are other instances is then unknown. In a cluster without the
//     GV$ views nothing is sampled, rather than one instance told as all.
//   - An instance of a cluster does not answer, which GV$ views do not say: a list without
//     one of its statements, or fewer instances than V$ACTIVE_INSTANCES counts, are a part
//     and not compared. When it is back within ten minutes nothing is missing. Its sessions
//     are missing, and the sample does not show it.
//   - An instance is started again: its entries are others. Those whose cursors were loaded
//     since, which all were, count.
//   - A cursor ages out before its first look: its entry is a basis, and what it had done is
//     not counted. A statement that is executed once in a while and evicted at once is missing
//     from the counters then.
//   - TIME_AT_DBTIMEZONE lets a pluggable database have another SYSDATE: nothing here reads
//     SYSDATE. Does V$SQL follow it, loads look older or younger by the difference, and with a
//     zone behind the server's none is proven to be new.
//   - A statement that runs for long has its time counted every five seconds and its execution
//     once: an interval in which it ends has all that was not counted, one without an end
//     nothing.
//   - Texts end after 1,000 characters: the view has no more.
//
// No live Oracle was met: columns are from Oracle's Database Reference, rows in the tests are
// written from it.
package oracle
