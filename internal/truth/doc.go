// Package truth compares the figures of several monitors with the truth on simulated servers:
// twelve hostile scenes and a quiet one, on three engines.
//
// # How it works
//
// A world is a simulated server, a quarter of an hour of executions on it, and everybody who
// watches. The server keeps its statistics as its vendor documents them: entries of
// pg_stat_statements, the plan cache and the query store of SQL Server, V$SQLSTATS and V$SQL of
// Oracle. It answers the queries of our real readers, known by their first lines, through the
// real loop (package measure) and a store of measurements, and the figure is what the store
// answers for the tile. Peers see the same statistics through their published algorithms,
// reimplemented (sources has repository, commit and file of each).
//
// The oracle is the log of executions (Log), which is summed and never read from a counter.
// Ours has to agree with it in executions, time, maximum and waiting sessions, or say what it
// lacks. And where it lacks something, each sample is held against the executions of its
// interval: it has no execution that was not, and no average or maximum that none had.
//
// docs/truth.md holds the table; a test holds the page to it.
//
// # What may go wrong
//
//   - The simulated servers are as wrong as what they were written from. None of the figures
//     is from a live server.
//   - The worlds are small. Limits of peers (10,000 rows, 1,000 rows, the hundred dearest) take
//     nothing there that they would take on a large server.
//   - The grouping of our query of a query store happens on the server; here the rows are
//     handed out one by one, and added by who reads them.
//   - The first line of a query changes: the simulated server does not know it, and every
//     scene of its engine fails.
package truth
