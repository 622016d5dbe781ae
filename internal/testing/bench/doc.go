// Package bench measures the whole program as its users meet it: the shipped binary, over HTTP,
// on a PostgreSQL with fsync on.
//
// The promises of one package are measured beside that package (eventstore, projections/history,
// projections/alerts). This package has the figures that need the whole program:
//
//   - the time from the request of a report to the file that can be downloaded;
//   - a flood of alerts until they can be read;
//   - what a day of firing alerts adds to the log;
//   - the tiles of a thousand and of ten thousand servers, their list and their statements;
//   - a flood of statements until the series show it;
//   - the WAL and the disk space of a day of measuring;
//   - three hundred servers of three engines that one process measures while some hang;
//   - ten thousand servers that send every minute;
//   - how all of this grows with the fleet;
//   - a start on logs of a million events;
//   - one organization beside another whose slow servers hold all slots that they get, or that
//     sends the worst body of every door;
//   - the memory of an idle server.
//
// scripts/bench.sh runs them all and compares them with their goals. docs/performance.md says
// how to read them.
//
// # How it works
//
// A benchmark builds the binary and starts `muster serve` on a fresh data directory and a
// database server of its own.
//
// For reports it registers fourteen servers by DSN over the API. The yardsticks come from the
// same run: a plain GET of the same report, and rendering the same inputs with nothing around
// it. The parts of a report's time are read from its audit trail; both sides of the comparison
// use the same clock.
//
// For the flood, a feed registers a hundred servers, and four senders post batches of alerts,
// each waiting for its answer. The yardstick is the rate of appends to the log of reports before
// the flood. The day of firing alerts needs a clock that moves by the minute, which a process
// cannot be given, so this benchmark calls the commands.
//
// For the tiles, it writes a month of samples directly to the store, which over HTTP would take
// longer than reading them. It requests windows that were not requested before. The yardsticks
// hold the same samples: tables with one row for each sample on the same server, read by one
// statement (testdata), a Prometheus with blocks made by promtool, and a VictoriaMetrics that
// imports them. Prometheus and VictoriaMetrics are asked for all lines of a tile at once, and
// their answers are compared with the tile. Writing 45 million statements one by one would take
// too long: BenchmarkStatements writes the first interval of each server through the store, and
// copies the others in the store's encoding. For the same reason, ten thousand servers are not
// measured at every step: 250 are, and the others every tenth minute and every day, so that
// every row exists and was made by Roll.
//
// The sender for ten thousand servers shares the processors with serve and PostgreSQL. So it
// writes its bodies by hand, and its own processor time is reported beside theirs.
//
// Results with a table of their own go to the file that MUSTER_BENCH_TABLES names: which writes
// make the WAL, how a fleet grows, and, with MUSTER_BENCH_TOP=1, what PostgreSQL spends its time
// on.
//
// # What may go wrong
//
// The benchmark is killed: the server's standard input ends, and the process that waits for that
// stops the server. The machine does other work at the same time: every figure here is a
// duration, so read it beside its yardsticks, which slow down alike. The clock steps: durations
// of the trail come from the wall clock.
package bench
