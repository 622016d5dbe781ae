// Package bench measures the whole program as its users meet it: the binary as
// it is shipped, over HTTP, on a PostgreSQL with fsync on.
//
// What one package promises is measured beside that package (eventstore,
// projections/history, projections/alerts). Here are the figures that need all of
// them: from the request of a report to the file that can be downloaded, a flood
// of alerts until they can be read, what a day of firing alerts leaves in the log,
// the tiles of a thousand servers and of ten thousand, their list and their statements, a
// flood of statements until the series show it, what a day of measuring writes ahead and
// leaves on disk, three hundred servers of three engines that one process measures while
// some hang, ten thousand that send every minute, how all of it grows with the fleet,
// a start on logs of a million events, one organization beside another whose slow servers
// hold all slots that they get, or that sends the worst bodies of every door, and the memory
// of a server that has nothing to do. scripts/bench.sh runs them all and holds them to their
// goals; docs/performance.md says how to read them.
//
// # How it works
//
// A benchmark builds the binary and starts `muster serve` on a fresh data
// directory and a database server of its own.
//
// For reports it registers fourteen servers with it, by DSN, over the API. The
// yardsticks are taken in the same run: a plain GET of the same report, and
// rendering the same inputs with nothing around it. Where the time of a report
// goes is read from its audit trail, which both sides of the comparison share a
// clock with.
//
// For the flood a feed registers a hundred servers, and four senders post batches
// of alerts, each waiting for its answer. The yardstick are appends to the log of
// reports before the flood. The day of firing alerts has a clock that is moved by
// the minute, which a process cannot be given: it calls the commands.
//
// For the tiles it writes a month of samples straight to the store, which over HTTP
// would take longer than reading them, and asks for windows that nobody asked for
// before. The yardsticks hold the same samples: tables with a row a sample on the same
// server, read by one statement (testdata), a Prometheus whose blocks promtool makes, and
// a VictoriaMetrics that imports them. The two are asked for all lines of a tile at once,
// and what they answer is held against the tile. 45 million statements take the store
// too long to write one by one: BenchmarkStatements writes the first of each server and
// copies the others in the store's encoding. Nor are ten thousand servers measured at every
// step: 250 are, and the others every tenth minute and every day, so that every row is
// there, and Roll made it.
//
// Who sends for ten thousand servers shares the processors with serve and PostgreSQL, so
// it writes its bodies by hand, and what it takes is told beside what they take.
//
// What is a table of its own goes to the file that MUSTER_BENCH_TABLES names: where the
// WAL goes, how a fleet grows, and, with MUSTER_BENCH_TOP=1, where PostgreSQL's time goes.
//
// # What may go wrong
//
// The benchmark is killed: the server's standard input ends, and whoever waits
// for that stops it. A machine that does other work at the same time: every
// figure here is a duration, so read it beside its yardsticks, which slow down
// alike. Clock steps: durations of the trail come from the wall clock.
package bench
