package bench_test

import (
	_ "embed"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"muster/internal/testing/pgtest"
)

// yardstickRuns is how often each yardstick is read; the fastest counts.
const yardstickRuns = 2

//go:embed testdata/yardstick.sql
var yardstickTables string

// plainRows are the samples as anybody would keep them: a row each, with an index by
// time, in a database of their own on the same server.
type plainRows struct {
	m       *measured
	db      *sqlx.DB
	queries map[string]string
}

//go:embed testdata/utilization.sql
var plainUtilization string

//go:embed testdata/query_performance.sql
var plainQueryPerformance string

//go:embed testdata/wait_events.sql
var plainWaitEvents string

// plainRows copies all samples into tables: a day of minutes and a month of hours.
func (m *measured) plainRows(day time.Time) *plainRows {
	m.p.b.Helper()
	m.db.MustExec(`CREATE DATABASE yardstick`)
	address, err := url.Parse(m.p.url)
	if err != nil {
		m.p.b.Fatal(err)
	}
	address.Path = "/yardstick"
	r := &plainRows{m: m, db: pgtest.Connect(m.p.b, address.String()), queries: map[string]string{
		"utilization": plainUtilization, "query-performance": plainQueryPerformance, "wait-events": plainWaitEvents,
	}}
	r.db.MustExec(yardstickTables)
	for at := m.end.AddDate(0, 0, -tilesDays); at.Before(day); at = at.Add(time.Hour) {
		r.copy(at, at.Add(time.Hour), time.Hour)
	}
	for at := day; at.Before(m.end); at = at.Add(time.Hour) {
		r.copy(at, at.Add(time.Hour), time.Minute)
	}
	r.db.MustExec(`CREATE INDEX ON hosts (at); CREATE INDEX ON sessions (at); CREATE INDEX ON statements (at)`)
	r.db.MustExec(`VACUUM ANALYZE`)
	return r
}

func (r *plainRows) copy(from, to time.Time, step time.Duration) {
	var hosts, sessions, statements [][]any
	for at := from; at.Before(to); at = at.Add(step) {
		for n, s := range r.m.servers {
			v := s.values(at)
			hosts = append(hosts, []any{s.id, at, v.cpu, v.memory, v.disk})
			for d := range databasesEach {
				w := v.waits[d]
				sessions = append(sessions, []any{s.id, n*databasesEach + d, at, w[0], w[1], w[2], w[3]})
				for k, done := range v.statements[d] {
					statements = append(statements, []any{s.id, n*databasesEach + d, at, k, done.calls, done.total})
				}
			}
		}
	}
	ctx := r.m.p.b.Context()
	conn, err := r.db.Conn(ctx)
	if err != nil {
		r.m.p.b.Fatal(err)
	}
	defer conn.Close()
	err = conn.Raw(func(c any) error {
		pg := c.(*stdlib.Conn).Conn()
		for _, t := range []struct {
			table   string
			columns []string
			rows    [][]any
		}{
			{"hosts", []string{"instance", "at", "cpu", "memory", "disk"}, hosts},
			{"sessions", []string{"instance", "database", "at", "locks", "lightweight", "io", "client"}, sessions},
			{"statements", []string{"instance", "database", "at", "key", "calls", "total"}, statements},
		} {
			if _, err := pg.CopyFrom(ctx, pgx.Identifier{t.table}, t.columns, pgx.CopyFromRows(t.rows)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		r.m.p.b.Fatal(err)
	}
}

// read is how long the tile takes as one statement over the rows.
func (r *plainRows) read(b *testing.B, tile string, w tileWindow, n int) time.Duration {
	b.Helper()
	var only []uuid.UUID
	for _, s := range r.m.some(n) {
		only = append(only, s.id)
	}
	unit := map[string]string{"1m": "minute", "1h": "hour"}[w.size]
	var fastest time.Duration
	for range yardstickRuns {
		start := time.Now()
		rows, err := r.db.QueryContext(b.Context(), r.queries[tile], unit, r.m.end.Add(-w.long), r.m.end, only)
		if err != nil {
			b.Fatal(err)
		}
		found := 0
		for rows.Next() {
			found++
		}
		if err := rows.Close(); err != nil || rows.Err() != nil || found == 0 {
			b.Fatal(err, rows.Err(), found)
		}
		if took := time.Since(start); fastest == 0 || took < fastest {
			fastest = took
		}
	}
	return fastest
}
