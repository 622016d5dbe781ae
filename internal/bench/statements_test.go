package bench_test

import (
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"muster/internal/measurements"
)

// busyStatements is how many statements of a database are in each sample.
const busyStatements = 100

// BenchmarkStatements reads statements, and who is behind a latency, of servers that
// execute 200 statements each, over HTTP. Of the day before the last hour each hour has
// one sample, because details are as long for one as for sixty; the last hour has all.
// Goals, for 1,000 servers, p95: one bucket by any key 80 ms, a day by instance 80 ms and
// by statement 2 s, one server 15 ms; the first page of a day 2.5 s, of one server 30 ms,
// slower ones 5 s.
func BenchmarkStatements(b *testing.B) {
	m := newMeasured(start(b), tilesInstances())
	m.execute(m.end.Add(-48*time.Hour), m.end.Add(-time.Hour), time.Hour)
	m.execute(m.end.Add(-time.Hour), m.end, time.Minute)
	m.roll()
	reader := m.p.agent(m.p.token)
	for _, c := range []struct {
		name, path, query string
		long              time.Duration
		servers           int
	}{
		{"hour-by-instance", "metrics/query-performance/contributors", "&series=average&by=instance", time.Hour, 0},
		{"hour-by-database", "metrics/query-performance/contributors", "&series=average&by=database", time.Hour, 0},
		{"hour-by-statement", "metrics/query-performance/contributors", "&series=average&by=statement", time.Hour, 0},
		{"minute-by-statement", "metrics/query-performance/contributors", "&series=average&by=statement", time.Minute, 0},
		{"day-by-instance", "metrics/query-performance/contributors", "&series=average&by=instance", 24 * time.Hour, 0},
		{"day-by-statement", "metrics/query-performance/contributors", "&series=average&by=statement", 24 * time.Hour, 0},
		{"day-of-one", "metrics/query-performance/contributors", "&series=average&by=statement", 24 * time.Hour, 1},
		{"list-of-a-day", "statements", "", 24 * time.Hour, 0},
		{"list-of-one", "statements", "", 24 * time.Hour, 1},
		{"slower", "statements", "&only=slower", 24 * time.Hour, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			m.report(b, reader, func(int) string {
				q := m.filter(c.servers)
				q.Set("from", m.end.Add(-c.long).Format(time.RFC3339))
				q.Set("to", m.end.Format(time.RFC3339))
				return "/api/v1/" + c.path + "?" + q.Encode() + c.query
			})
		})
	}
}

// execute writes samples of all servers' statements, every step of a time.
func (m *measured) execute(from, to time.Time, step time.Duration) {
	m.p.b.Helper()
	group, ctx := errgroup.WithContext(m.p.b.Context())
	group.SetLimit(2)
	for _, s := range m.servers {
		group.Go(func() error {
			b := measurements.Batch{Organization: m.organization}
			for at := from; at.Before(to); at = at.Add(step) {
				for _, database := range s.databases {
					busy := 1000.0
					sample := measurements.StatementSample{Instance: s.id, Engine: s.engine, Database: database, At: at, Interval: time.Minute, BusyMs: &busy}
					for n := range busyStatements {
						sample.Statements = append(sample.Statements, measurements.Statement{Key: strconv.Itoa(n), Calls: int64(n + 1), TotalMs: float64(n*n) * s.values(at).cpu / 100})
					}
					b.Statements = append(b.Statements, sample)
				}
			}
			_, err := m.store.Write(ctx, b)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		m.p.b.Fatal(err)
	}
}
