// Package sqlserver reads the activity of a SQL Server from 2016 on, or of a database of Azure
// SQL. It has never run against a live server: its queries read documented columns, and its
// tests answer them with rows written from the documentation.
//
// Every look first asks what the server is and what the login may see, and lists the databases:
// a permission may have been revoked, or a database may be gone. The choice of a query depends
// on that, and on the version only if a permission has another name there. Sessions are grouped
// on the server (sys.dm_exec_sessions); each counts once, in the database in which it works.
// master and msdb count, because clients use them. Sessions in tempdb, model or a snapshot are
// in no figure. Databases that accept no sessions have no sample: databases that are offline,
// being restored or recovered, and databases of a secondary replica that accepts no readers.
// Missing reports the latter.
//
// # Statements
//
// The statements of a database come from its query store if that counts current executions,
// otherwise from the plan cache (sys.dm_exec_query_stats), and never from both. They are told
// apart by query_hash, which both have. An entry is what is counted by itself:
//
//	query store  a plan in an interval. Its rows, flushed and in memory and one for each
//	             way that an execution ended, are added. It begins with the interval, or
//	             with the end of its first execution there, so what is new says so.
//	plan cache   a statement of a plan, as it was compiled at a time. Compiled anew, it is
//	             another entry. It begins when it was compiled or, where it was executed
//	             once, when that ended: a report that runs for an hour is counted.
//
// An entry that was missing the last time and began before it is a basis only: the plan cache is
// read while it changes, and may skip an entry. The query store is not read if it is off, full,
// read-only, broken or accepts no new statements, nor on a secondary replica, where it is a copy
// of the primary's. sys.dm_exec_procedure_stats and the views of triggers and of functions are
// not read: the statements of a procedure already have its time.
//
// Muster's own statements are in no list. They are known by the settings that each begins with. Without the
// permission to see the plan cache, they are counted as those of others.
//
// # What a look costs
//
// The views of a query store are functions with guessed numbers of rows: joined, they take minutes on a store
// of 80,000 plans, and each alone takes a tenth of a second. So a look reads the counters alone, and plans and
// queries only as they come; the reader keeps which plan is of which statement.
//
// Texts are read by their numbers, from one view likewise.
//
// The lists and texts of a look have five seconds together (lookBudget): query stores a half of them, the plan cache what is
// left of four, and texts the rest. Each statement may take what is left. Stores that were read at the
// last look come first, so their lists can be compared. What the budget leaves out counts by the plan cache,
// which is one query for all. A store that does not answer in time is left alone for ten minutes, and reported
// by the name of its database (measure.DatabaseError). Nothing opens a database with AUTO_CLOSE. An Azure SQL
// database that pauses when nobody uses it (serverless) does not pause while it is measured, unless that is wanted: then it
// is left alone (measure.Pauser).
//
// The plan cache is read by what was executed since the last look (last_execution_time and last_elapsed_time); the
// other plans have the counters that they had. All are read at first and every ten minutes. If that takes too long,
// plans count from the second look on that lists them, and the reason is reported; the next look reads recent plans alone. The server goes through all of
// its plans either way: what is spared is a function and a hash for each, and the way.
//
// The longest execution comes from the query store, for an interval of up to a day. It is
// reported if it rose since the last look, or if its entry began since (package measure has that
// rule). Otherwise it may be older. The plan cache has only the maximum of all time.
//
// # Clocks
//
// Whether something is new is judged in UTC by the server's clock. The views of the plan cache
// return local time, which is converted with the current offset. A time from before a change to
// or from daylight saving time would be an hour off. Therefore an entry keeps the time that was
// first seen for it, its identity has the time as the server wrote it, and for two hours after a
// change, new entries of the plan cache are a basis.
//
// # What may go wrong
//
//   - The login may not see other sessions: SQL Server then shows only its own, without an
//     error. The permission is checked beforehand, and samples are missing, not zero. A query
//     store that the login may not read is replaced by the plan cache, which needs a permission
//     of the server.
//   - The database of a plan is being restored, or on a replica that accepts no readers: the server refuses the
//     plan cache as a whole (errors 927, 976, 978). It is then read without what was executed ad hoc, which has
//     no database in the other view, and the reason is reported.
//   - sys.databases says that a query store is off, and it is on, as on Azure or after a failover: the store
//     itself is asked every ten minutes, on Azure at each look.
//   - A query store is cleared: its intervals begin anew, and what is known of its plans is dropped.
//   - The query store in mode AUTO leaves out rare and cheap statements, and the plan cache
//     leaves out what it does not keep (OPTION (RECOMPILE), evicted plans): the sums cover what
//     they have.
//   - A query store shows an execution late, after its time: it is not counted if it was new
//     then. The entry counts from the next look on.
//   - The server crashes: data that a query store had in memory is lost. Its entries are left
//     out for that interval. Azure SQL Database does not say when it was started: there, a crash
//     shows only where a counter fell.
//   - The availability group fails over: another server has another start time.
//   - A query store is turned off, or fills up: the plan cache takes over, and the first
//     interval of that database has no sample. The same happens when the query store is back.
//   - Muster starts within two hours after a change of local time, and the plan cache skipped an
//     entry of the previous hour at exactly the previous look: that entry could count as new.
//   - A change to a database locks the list of databases: for one look, the previous list is
//     used.
//   - Azure SQL Database is measured with one connection for each database. Azure Synapse is not
//     measured.
package sqlserver
