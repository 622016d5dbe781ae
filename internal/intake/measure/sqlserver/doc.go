// Package sqlserver reads what a SQL Server from 2016 on does, or a database of Azure SQL.
// It has not met a live server: its queries read documented columns, and its tests answer
// them with rows written from the documentation.
//
// Every look asks first what the server is and what we may see of it, and lists the
// databases: a permission may have been taken, or a database have gone. Which query is
// taken depends on that, and on the version only where a permission's name does. Sessions are
// grouped on the server (sys.dm_exec_sessions); each counts once, in the database that it
// works in. master and msdb count, for clients are in them; who is in tempdb, model or a
// snapshot is in no figure. Databases that nobody can be on have no sample: those that are
// offline, being restored or recovered, and those of a secondary replica that takes no
// readers. Missing says the latter.
//
// # Statements
//
// A database's come from its query store where that counts what is executed now, and else
// from the plan cache (sys.dm_exec_query_stats); never from both. They are told apart by
// query_hash, which both have. An entry is what is counted by itself:
//
//	query store  a plan in an interval. Its rows, flushed and in memory and one for each
//	             way that an execution ended, are added. It begins with the interval, or
//	             with the end of its first execution there, so what is new says so.
//	plan cache   a statement of a plan, as it was compiled at a time. Compiled anew, it is
//	             another entry. It begins when it was compiled or, where it was executed
//	             once, when that ended: a report that runs for an hour is counted.
//
// An entry that was not there the last time and began before it is a basis, and no more: the
// plan cache is read while it changes, and may skip one. The query store is not read where
// it is off, full, read-only, broken or takes no new statements, nor on a secondary replica,
// where it is a copy of what the primary did. sys.dm_exec_procedure_stats, of triggers and
// of functions are not read: what a procedure took, its statements have taken.
//
// The longest execution is the query store's of an interval of up to a day. It is told
// where it rose since the last look, or where its entry began since (package measure has
// that rule); else it may have been before. The plan cache tells only of all time.
//
// # Clocks
//
// Whether something is new is judged in UTC by the server's clock. The views of the plan
// cache tell local time, which is converted with the offset of the moment. So a time that
// was written down before a change to or from summer time would be an hour off. Therefore
// an entry keeps the time that it was first seen with, its identity has the time as the
// server wrote it down, and for two hours after a change what is new in the plan cache is a
// basis.
//
// # What may go wrong
//
//   - The login may not see other sessions: SQL Server then shows ours and says nothing. It is
//     asked beforehand, and samples are missing, not zero. A query store that we may not
//     read is replaced by the plan cache, which a permission of the server opens.
//   - The query store in mode AUTO leaves out what is rare and cheap, and the plan cache
//     what it does not keep (OPTION (RECOMPILE), evicted plans): the sums are of what they
//     have.
//   - What a query store begins to show late, after its time, is not counted where it was
//     new then. It counts from the next look on.
//   - The server crashes: what a query store had in memory is gone. Its entries are left
//     out for that interval. Azure SQL Database does not say when it was started: there
//     that shows only where a counter fell.
//   - The availability group fails over: the start of another server is another one.
//   - A query store is turned off, or fills up: the plan cache takes over, and the first
//     interval of that database has no sample; likewise when it is back.
//   - Muster starts within two hours after a change of local time, and the plan cache skipped
//     an entry of the hour before it at the very look before: it could count as new.
//   - A change to a database locks their list: it is what it was, for a look.
//   - Azure SQL Database is measured a database a connection. Azure Synapse is not.
package sqlserver
