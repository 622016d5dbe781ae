package bench_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// growthSizes are of the table in docs/scale.md.
var growthSizes = []int{100, 1000, 5000, 10_000}

// growthReads is how often each tile is read in each scope.
const growthReads = 20

// BenchmarkGrowth prints the table of docs/scale.md: fleets of four sizes that have been
// measured for a day (250 of their servers every minute, the others every ten) are
// measured every minute, for three of them or MUSTER_BENCH_MINUTES, as BenchmarkTenThousand
// does it, and then their tiles are read. MUSTER_MEASUREMENTS_URL says where, or
// MUSTER_BENCH_CLICKHOUSE=1 that they go to a ClickHouse that it starts; else in PostgreSQL.
func BenchmarkGrowth(b *testing.B) {
	var rows strings.Builder
	for _, size := range growthSizes {
		if size > 10*tilesInstances() {
			continue
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				rows.WriteString(growthRow(b, size))
			}
		})
	}
	tell(b, "How it grows, measurements in "+measurementsIn(), `| Servers | Calls, samples and deltas taken in, a second | Behind, at most | Tile of all, p50 / p95 | of 200 | of 10 | Disk, server and day | WAL, server and day | serve, at most | PostgreSQL, at most | Cores: serve, PostgreSQL, ClickHouse |
|---|---|---|---|---|---|---|---|---|---|---|
`+rows.String())
}

func growthRow(b *testing.B, size int) string {
	b.Helper()
	l := newLiving(start(b), size)
	l.m.fill(min(size, wholeServers), daySparse, l.m.end.Add(-time.Duration(hours(b))*time.Hour), l.m.end, time.Minute)
	l.m.roll()
	l.live(minutes(b, 3))
	l.report()
	took := l.to.at.Sub(l.from.at).Seconds()
	calls := float64(l.to.calls) / took
	row := fmt.Sprintf("| %d | %.0f, %.0f, %.0f | %.1f s |", size, calls, calls*(1+2*minuteDatabases), calls*minuteDatabases*minuteStatements, l.behind.Seconds())
	for _, of := range filters() {
		reads := l.readDay(of)
		row += fmt.Sprintf(" %.1f / %.1f ms |", quantile(reads, 0.5), quantile(reads, 0.95))
	}
	reckoned := " – | – |" // in less than two minutes there is nothing to reckon from
	if wal, disk := l.perServerDay(); wal > 0 {
		reckoned = fmt.Sprintf(" %.2f MB | %.2f MB |", disk, wal)
	}
	serve, postgres := slices.Max(l.serve), slices.Max(l.postgres)
	return row + reckoned + fmt.Sprintf(" %.0f MiB | %.0f MiB | %.2f, %.2f, %.2f |\n", serve, postgres,
		(l.to.by.serve.cpu-l.from.by.serve.cpu).Seconds()/took, (l.to.by.postgres.cpu-l.from.by.postgres.cpu).Seconds()/took,
		(l.to.by.clickhouse.cpu-l.from.by.clickhouse.cpu).Seconds()/took)
}

// readDay reads the tiles of a day of some servers, one after the other, and none twice.
func (l *living) readDay(of int) (took []time.Duration) {
	b := l.p.b
	b.Helper()
	w := tileWindows()[0]
	for n := range growthReads {
		for _, tile := range tileNames() {
			begin := time.Now()
			if _, _, err := l.reader.ask(b.Context(), l.m.path(tile, w, n, of), nil); err != nil {
				b.Fatal(err)
			}
			if n > 0 { // the first finds nothing in memory
				took = append(took, time.Since(begin))
			}
		}
	}
	return took
}
