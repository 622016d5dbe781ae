package bench_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"golang.org/x/sync/errgroup"

	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
)

// busyStatements is how many statements of a database are in each sample.
const busyStatements = 100

// BenchmarkStatements reads statements, and who is behind a latency, of 1,000 servers
// that execute 200 statements each, over HTTP. A day is as pages ask for it, off the
// hour, so that an hour of minutes is read with its 23 hours; days on the hour are beside
// it. Goals, p95: one bucket by any key 80 ms, a day by instance 80 ms and by statement
// 2 s, one server 15 ms; the first page of a day 2.5 s, of one server 30 ms, slower ones
// 5 s.
func BenchmarkStatements(b *testing.B) {
	m := newMeasured(start(b), tilesInstances())
	if m.end.Hour() == 0 { // two days on the hour would be read as days
		m.end = m.end.Add(-time.Hour)
	}
	begin := time.Now()
	m.execute(m.end.Add(-49*time.Hour), m.end)
	wrote := time.Since(begin)
	b.Logf("%d instances: written in %s, rolled up %s after that", len(m.servers), wrote.Round(time.Second), m.roll().Round(time.Second))
	reader := m.p.agent(m.p.token)
	const contributors = "metrics/query-performance/contributors"
	for _, c := range []struct {
		name, path, query string
		long, ago         time.Duration
		servers           int
	}{
		{"hour-by-instance", contributors, "&series=average&by=instance", time.Hour, 0, 0},
		{"hour-by-database", contributors, "&series=average&by=database", time.Hour, 0, 0},
		{"hour-by-statement", contributors, "&series=average&by=statement", time.Hour, 0, 0},
		{"hour-maximum", contributors, "&series=maximum&by=statement", time.Hour, 0, 0},
		{"minute-by-instance", contributors, "&series=average&by=instance", time.Minute, 0, 0},
		{"minute-by-database", contributors, "&series=average&by=database", time.Minute, 0, 0},
		{"minute-by-statement", contributors, "&series=average&by=statement", time.Minute, 0, 0},
		{"day-by-instance", contributors, "&series=average&by=instance", 24 * time.Hour, offTheHour, 0},
		{"day-by-statement", contributors, "&series=average&by=statement", 24 * time.Hour, offTheHour, 0},
		{"hours-by-statement", contributors, "&series=average&by=statement", 24 * time.Hour, 0, 0},
		{"day-of-one", contributors, "&series=average&by=statement", 24 * time.Hour, offTheHour, 1},
		{"list-of-a-day", "statements", "", 24 * time.Hour, offTheHour, 0},
		{"list-of-hours", "statements", "", 24 * time.Hour, 0, 0},
		{"list-of-one", "statements", "", 24 * time.Hour, offTheHour, 1},
		{"slower", "statements", "&only=slower", 24 * time.Hour, offTheHour, 0},
		{"slower-of-hours", "statements", "&only=slower", 24 * time.Hour, 0, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			m.report(b, reader, func(int) string {
				q, to := m.filter(c.servers), m.end.Add(-c.ago)
				q.Set("from", to.Add(-c.long).Format(time.RFC3339))
				q.Set("to", to.Format(time.RFC3339))
				return "/api/v1/" + c.path + "?" + q.Encode() + c.query
			})
		})
	}
}

// offTheHour is how long before the end windows end that are on no hour.
const offTheHour = 30 * time.Minute

// execute has all servers execute statements from one hour to another. Of each hour there
// is one sample, because details are as long for one as for sixty, and every minute of
// those that a window of a day off the hour begins or ends in, 49 hours being two of
// them. The first sample is written, which makes series and notes what statements are
// called; the others are copied in the store's encoding, which is ten times as fast.
func (m *measured) execute(from, to time.Time) {
	m.p.b.Helper()
	times := []time.Time{}
	for hour := from; hour.Before(to); hour = hour.Add(time.Hour) {
		step := time.Hour
		if to.Sub(hour)%(24*time.Hour) == time.Hour {
			step = time.Minute
		}
		for at := hour; at.Before(hour.Add(time.Hour)); at = at.Add(step) {
			times = append(times, at)
		}
	}
	group, ctx := errgroup.WithContext(m.p.b.Context())
	group.SetLimit(2)
	for _, s := range m.servers {
		group.Go(func() error {
			if _, err := m.store.Write(ctx, m.executed(s, times[:1])); err != nil {
				return err
			}
			return m.copyRaw(ctx, m.executed(s, times[1:]))
		})
	}
	if err := group.Wait(); err != nil {
		m.p.b.Fatal(err)
	}
	m.db.MustExec(markCopied)
}

// markCopied marks whatever is raw to be rolled up, as Write does.
const markCopied = `
WITH copied AS (
    INSERT INTO measured_hours (series_id, hour, arrived_at) SELECT DISTINCT series_id, date_trunc('hour', at), now() FROM raw_samples
    ON CONFLICT (series_id, hour) DO UPDATE SET arrived_at = excluded.arrived_at, compacted = false RETURNING series_id, hour
)
INSERT INTO dirty_hours SELECT series_id, hour, (1::bigint << 60) - 1 FROM copied
ON CONFLICT (series_id, hour) DO UPDATE SET minutes = excluded.minutes`

// executed are samples of a server's statements.
func (m *measured) executed(s measuredServer, times []time.Time) measurements.Batch {
	b := measurements.Batch{Organization: m.organization}
	busy := 1000.0
	for _, at := range times {
		slow := s.values(at).cpu / 100
		for _, database := range s.databases {
			sample := measurements.StatementSample{Instance: s.id, Engine: s.engine, Database: database, At: at, Interval: time.Minute, BusyMs: &busy}
			for n := range busyStatements {
				sample.Statements = append(sample.Statements, measurements.Statement{Key: strconv.Itoa(n), Calls: int64(n + 1), TotalMs: float64(n*n) * slow})
			}
			b.Statements = append(b.Statements, sample)
		}
	}
	return b
}

// copyRaw copies the raw samples of a batch whose series there are.
func (m *measured) copyRaw(ctx context.Context, b measurements.Batch) error {
	arrived, err := codec.Arrivals(b)
	if err != nil {
		return err
	}
	var rows [][]any
	ids := make(map[[2]string]int64)
	for _, a := range arrived {
		of := [2]string{a.Kind, a.Subject}
		if ids[of] == 0 {
			var id int64
			if err := m.db.GetContext(ctx, &id, `SELECT id FROM measured_series WHERE organization_id = $1 AND kind = $2 AND subject = $3`, m.organization, a.Kind, a.Subject); err != nil {
				return err
			}
			ids[of] = id
		}
		rows = append(rows, []any{ids[of], a.At, a.Body})
	}
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(c any) error {
		_, err := c.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{"raw_samples"}, []string{"series_id", "at", "body"}, pgx.CopyFromRows(rows))
		return err
	})
}
