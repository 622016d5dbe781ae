// Package oracle reads the activity of an Oracle database from 12.2 on.
//
// # How it works
//
// A database in Muster is a container: the root and each pluggable database that the account
// sees, or the one database if there are no containers. Register the root to measure all of them
// (with a common user and CONTAINER_DATA), or a pluggable database by itself.
//
// Sessions are grouped on the server (V$SESSION). The counters of statements come from
// V$SQLSTATS_PLAN_HASH, completely, every 20 seconds (readings, 17). In a cluster of more than
// one instance, all views are the GV$ ones. No query needs the Diagnostics or the Tuning Pack; a
// test checks every query for that.
//
// Sessions of the scheduler's jobs count as client sessions; servers of a parallel execution do
// not. A PL/SQL block includes the time of its statements, and these count as well. The
// statements of the dictionary count, too. Those by which Muster measures do not: they begin with
// a comment that says so. A session that waits in class Idle is idle, whatever its STATUS says.
//
// # The identity of an entry
//
// An entry is what the server counts by: the instance and its start time, container, SQL_ID and
// plan. V$SQLSTATS would have one row for each statement, with its latest plan. Comparing its
// rows by plan would count all earlier executions of a statement for its new plan, and comparing
// them without the plan would report the work of the old plan as the new one's. To users, an
// entry belongs to a statement: the signature without literals (FORCE_MATCHING_SIGNATURE; a
// statement without one, such as PL/SQL, is identified by its SQL_ID) and the plan. Entries are
// compared first and added up then. So a thousand statements that differ in a literal are one
// statement, and none of them makes a false difference when it appears or disappears.
//
// An entry that is missing from the previous list was created since, because the list is
// complete. It is not documented how the server fills an entry that it had evicted: perhaps with
// the cursor's earlier executions. So an entry counts at once only if all cursors with this plan
// were loaded since (V$SQL). Otherwise it is a basis, and stays marked as begun at an unknown
// time as long as it is listed, also in the next process if an agent stored the list.
// LAST_ACTIVE_TIME would not help: it says that an entry was used, not that it is new.
//
// Clocks: the server's time is SYSTIMESTAMP in UTC. V$SQL has local times without a zone. They
// are converted with the current offset. For two hours after the offset changed they are not
// used, because an hour may occur twice.
//
// # What may go wrong
//
//   - A grant is missing: the part that needs it is missing, and the statement that grants it is
//     named. There are no samples of sessions without V$SESSION, nor without V$INSTANCE, because
//     it is then unknown whether there are other instances. In a cluster without the GV$ views
//     nothing is sampled, instead of reporting one instance as all.
//   - An instance of a cluster does not answer, which GV$ views do not say: a list without one
//     of its statements, or with fewer instances than V$ACTIVE_INSTANCES counts, is incomplete
//     and not compared. If the instance is back within ten minutes, nothing is missing. Its
//     sessions are missing, and the sample does not show that.
//   - A pluggable database is open on some instances of a cluster: seen from inside it, these are all.
//   - The list of statements takes longer than five seconds twice in a row: it is left alone for ten minutes, and the reason is
//     reported. The driver gives up the session that it interrupts.
//   - A statement is executed in parallel: its time is the sum of the times of all its processes. No view of the
//     server has the time that its user waited.
//   - An instance is restarted: its entries have new identities. Those whose cursors were all
//     loaded since count, and that is every one of them.
//   - A cursor ages out before its first look: its entry is a basis, and its earlier executions
//     are not counted. A statement that is executed now and then and evicted at once is missing
//     from the counters then.
//   - TIME_AT_DBTIMEZONE gives a pluggable database another SYSDATE, by which only ages of backups
//     and statistics go.
//     If V$SQL follows it, loads look older or younger by the difference, and with a zone behind
//     the server's none is proven to be new.
//   - A statement runs for a long time: its time is counted every five seconds and its execution
//     once. The interval in which it ends has all time that was not counted yet; an interval
//     without an end has nothing.
//   - Texts end after 1,000 characters: the view has no more.
//
// None of this has run against a live Oracle: columns are from Oracle's Database Reference, and
// the rows in the tests were written from it.
package oracle
