package bench_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"testing"
	"time"
)

// tileWindow is a window of a tile, and how far the next one is shifted so that no
// answer is kept of it.
type tileWindow struct {
	name, size  string
	long, shift time.Duration
}

// tileWindows are those that the goals name.
func tileWindows() []tileWindow {
	return []tileWindow{
		{"24h@1m", "1m", 24 * time.Hour, time.Minute},
		{"30d@1h", "1h", tilesDays * 24 * time.Hour, time.Hour},
	}
}

// tileNames are the tiles as their paths spell them.
func tileNames() []string { return []string{"utilization", "query-performance", "wait-events"} }

// filters are how many instances a tile is asked for; 0: all.
func filters() []int { return []int{0, 200, 10} }

// BenchmarkTiles reads the tiles of 1,000 instances over HTTP: a day of minutes and
// a month of hours, none of the answers kept from before, and kept ones. Beside each
// stands what it takes to read the same out of the samples as plain rows in SQL, and
// what Prometheus and VictoriaMetrics take for the same samples by PromQL, whose answers
// are held against the tiles'. Goals, p95: 8 ms for
// the organization, 30 ms for 200 instances, 10 ms for 10, 5 ms where it is kept.
func BenchmarkTiles(b *testing.B) {
	p := start(b)
	m := newMeasured(p, tilesInstances())
	day := m.end.Add(-24 * time.Hour)
	wrote := m.load(m.end.AddDate(0, 0, -tilesDays), day, time.Hour) + m.load(day, m.end, time.Minute)
	rolled := m.roll()
	b.Logf("%d instances: written in %s, rolled up %s after that", len(m.servers), wrote.Round(time.Second), rolled.Round(time.Second))
	rows := m.plainRows(day)
	promql := map[string]*promqlStore{"promql-ms": m.prometheus(day), "victoria-ms": m.victoriaMetrics(day)}
	for _, store := range promql {
		store.compare()
	}
	reader := p.agent(p.token)

	for _, tile := range tileNames() {
		for _, w := range tileWindows() {
			for _, n := range filters() {
				b.Run(fmt.Sprintf("%s/%s/instances=%d", tile, w.name, n), func(b *testing.B) {
					plain, beside := rows.read(b, tile, w, n), make(map[string]time.Duration)
					for unit, store := range promql {
						beside[unit] = store.read(b, tile, w, n)
					}
					m.report(b, reader, func(i int) string { return m.path(tile, w, i, n) })
					b.ReportMetric(milliseconds(plain), "sql-ms")
					for unit, took := range beside {
						if took > 0 {
							b.ReportMetric(milliseconds(took), unit)
						}
					}
				})
			}
		}
		b.Run(tile+"/kept", func(b *testing.B) {
			w := tileWindow{size: "1m", long: 7 * 24 * time.Hour} // as many buckets as a preset has
			m.report(b, reader, func(int) string { return m.path(tile, w, 0, 0) })
		})
	}
	for _, n := range filters() {
		b.Run(fmt.Sprintf("connections/instances=%d", n), func(b *testing.B) {
			m.load(time.Now().UTC().Truncate(time.Minute), time.Now().UTC().Truncate(time.Minute).Add(time.Minute), time.Minute)
			m.report(b, reader, func(int) string { return "/api/v1/metrics/connections?" + m.filter(n).Encode() })
		})
	}
}

// report asks for b.N paths and reports how long that took. The first is not counted:
// it finds nothing in memory.
func (m *measured) report(b *testing.B, reader agent, path func(i int) string) {
	b.Helper()
	ask := func(i int) time.Duration {
		start := time.Now()
		if _, _, err := reader.ask(b.Context(), path(i), nil); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	ask(0)
	var took []time.Duration
	before := m.p.spent()
	for b.Loop() {
		took = append(took, ask(len(took)+1))
	}
	after := m.p.spent()
	each := func(of func(spentBy) spent) float64 {
		return milliseconds(of(after).cpu-of(before).cpu) / float64(len(took))
	}
	b.ReportMetric(each(spentBy.ofServe), "serve-cpu-ms")
	b.ReportMetric(each(spentBy.ofPostgres), "postgres-cpu-ms")
	b.ReportMetric(quantile(took, 0.5), "p50-ms")
	b.ReportMetric(quantile(took, 0.95), "p95-ms")
}

// path asks for a tile of n instances, the i-th time.
func (m *measured) path(tile string, w tileWindow, i, n int) string {
	q := m.filter(n)
	to := m.end.Add(-time.Duration(i) * w.shift)
	q.Set("from", to.Add(-w.long).Format(time.RFC3339))
	q.Set("to", to.Format(time.RFC3339))
	q.Set("bucketSize", w.size)
	return "/api/v1/metrics/" + tile + "?" + q.Encode()
}

// filter names n instances at random; 0 is no filter.
func (m *measured) filter(n int) url.Values {
	q := url.Values{}
	for _, s := range m.some(n) {
		q.Add("instanceId", s.id.String())
	}
	return q
}

// some are n servers, or none, of those that are measured at every step.
func (m *measured) some(n int) []measuredServer {
	var some []measuredServer
	among := len(m.servers)
	if m.whole > 0 {
		among = m.whole
	}
	for _, i := range rand.Perm(among)[:min(n, among)] {
		some = append(some, m.servers[i])
	}
	return some
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// BenchmarkTilesGrow reads two hours of minutes of fleets of three sizes, and says
// what writing and rolling them up took.
func BenchmarkTilesGrow(b *testing.B) {
	for _, count := range []int{100, 1000, 5000} {
		if count > 5*tilesInstances() {
			continue
		}
		p := start(b)
		m := newMeasured(p, count)
		wrote := m.load(m.end.Add(-2*time.Hour), m.end, time.Minute)
		rolled := m.roll()
		samples := float64(count * 120 * (1 + 2*databasesEach))
		reader := p.agent(p.token)
		w := tileWindow{size: "1m", long: 2 * time.Hour, shift: time.Minute}
		for _, tile := range tileNames() {
			b.Run(fmt.Sprintf("%d/%s", count, tile), func(b *testing.B) {
				m.report(b, reader, func(i int) string { return m.path(tile, w, i, 0) })
				b.ReportMetric(samples/wrote.Seconds(), "written/s")
				b.ReportMetric(samples/(wrote+rolled).Seconds(), "visible/s")
			})
		}
	}
}
