// Package truth compares the figures of several monitors with the true values on simulated
// servers: seventeen hostile scenes and a calm one, on three engines.
//
// # How it works
//
// A world is a simulated server, a quarter of an hour of executions on it, and all its monitors.
// The server keeps its statistics as its vendor documents them: entries of pg_stat_statements,
// the plan cache and the query store of SQL Server, V$SQLSTATS and V$SQL of Oracle. It answers
// the queries of our real readers, which it recognizes by their first lines, through the real
// loop (package measure) and a store of measurements. Our figure is the store's answer for the
// tile. Other monitors see the same statistics through their published algorithms, which are
// reimplemented here (sources has repository, commit and file of each).
//
// The true values come from the log of executions (Log), which is summed and never read from a
// counter. Muster has to agree with it in executions, time, maximum and waiting sessions, or say
// what it lacks. If it lacks something, each sample is compared with the executions of its
// interval: it contains no execution that did not happen, and no average or maximum that no
// execution had.
//
// A stage is the same for sessions: what each of them does and for whom it waits, added up from one change to
// the next. A staging plays one of eleven scenes on it, which the simulated server tells our readers, and
// watching compares who holds others up, the average sessions of each application, deadlocks, sign-ins and
// temporary space. e2e plays the scenes on PostgreSQL itself.
//
// docs/truth.md has the tables; a test compares the page with them.
//
// # What may go wrong
//
//   - The simulated servers are as wrong as the documents from which they were written. None of
//     the figures comes from a live server.
//   - Muster's own statement in the quiet server is told as the engines list it, and not executed by anything here.
//   - The worlds are small. Limits of other monitors (10,000 rows, 1,000 rows, the hundred most
//     expensive) have no effect there, and would have one on a large server.
//   - Our query of a query store groups rows on the server. Here the rows are returned one by
//     one, and the reader adds them.
//   - The first line of a query changes: the simulated server does not recognize it, and every
//     scene of its engine fails.
package truth
