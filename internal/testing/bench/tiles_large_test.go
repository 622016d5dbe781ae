package bench_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"testing"
	"time"
)

const (
	// wholeServers of a large fleet are measured at every step; tiles of a part of it are
	// read of these.
	wholeServers = 250
	// daySparse and monthSparse are how many minutes, and hours, lie between two samples
	// of the others.
	daySparse, monthSparse = 10, 24
)

// BenchmarkTilesTenThousand reads the tiles of 10,000 instances of one database each, a
// day of minutes and a month of hours, none of the answers kept from before. 250 are
// measured every minute of the day and every hour of the month, the others every ten
// minutes and every day, in turn. Goals, p95: 15 ms for the organization, 30 ms for 200
// instances, 10 ms for 10.
func BenchmarkTilesTenThousand(b *testing.B) {
	p := start(b)
	m := newMeasuredWith(p, 10*tilesInstances(), 1)
	day, whole := m.end.Add(-24*time.Hour), min(wholeServers, len(m.servers)/10)
	before := p.spent()
	days := min(tilesDays, 2*hours(b)) // two of them for a quick look
	wrote := m.fill(whole, monthSparse, m.end.AddDate(0, 0, -days), day, time.Hour) + m.fill(whole, daySparse, day, m.end, time.Minute)
	rolled := m.roll()
	filled := p.spent().since(before)
	m.checkWaits(day)
	reader := p.agent(p.token)
	for _, tile := range tileNames() {
		for _, w := range tileWindows() {
			for _, n := range filters() {
				b.Run(fmt.Sprintf("%s/%s/instances=%d", tile, w.name, n), func(b *testing.B) {
					m.report(b, reader, func(i int) string { return m.path(tile, w, i, n) })
					b.ReportMetric((wrote + rolled).Seconds(), "filled-s")
					b.ReportMetric(filled.Seconds(), "filled-cpu-s")
				})
			}
		}
	}
}

// checkWaits holds the last hour of what waits in the whole organization against the sum
// of what was sampled since a time.
func (m *measured) checkWaits(since time.Time) {
	b := m.p.b
	b.Helper()
	from := m.end.Add(-time.Hour)
	var answer struct {
		Series map[string][]*float64
	}
	m.p.get("/metrics/wait-events?"+url.Values{
		"from": {from.Format(time.RFC3339)}, "to": {m.end.Format(time.RFC3339)}, "bucketSize": {"1m"},
	}.Encode(), &answer)
	for minute := range 60 {
		at := from.Add(time.Duration(minute) * time.Minute)
		var want [4]int64
		for n, s := range m.servers {
			if n < m.whole || int(at.Sub(since)/time.Minute)%daySparse == n%daySparse {
				for i, waiting := range s.values(at).waits[0] {
					want[i] += waiting
				}
			}
		}
		for i, name := range []string{"locks", "lightweightLocks", "io", "clientNetwork"} {
			got := answer.Series[name][minute]
			if got == nil || math.Abs(*got-float64(want[i])) > 1e-6*float64(want[i]) {
				told, _ := json.Marshal(got)
				b.Fatalf("%s of all instances at %s: %s, want %d, the sum of what was sampled", name, at, told, want[i])
			}
		}
	}
}
