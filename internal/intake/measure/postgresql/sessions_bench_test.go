package postgresql_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

// counted is the query of the sessions as it was before they were read with their people: their numbers alone.
const counted = `SELECT d.oid, d.datname, d.datallowconn, coalesce(pg_has_role('pg_read_all_stats', 'USAGE'), false), quote_ident(current_user),
       coalesce(s.split, ''), coalesce(s.wait, ''), coalesce(s.sessions, 0)
FROM pg_database d
LEFT JOIN (
    SELECT datid, wait_event_type AS wait, count(*) AS sessions,
           CASE WHEN backend_type IS NULL THEN 'hidden'
                WHEN state = 'active' AND wait_event_type IS NULL THEN 'active'
                WHEN state = 'active' THEN 'waiting'
                WHEN state = 'idle' THEN 'idle'
                WHEN state IN ('idle in transaction', 'idle in transaction (aborted)') THEN 'in transaction'
                ELSE 'other'
           END AS split
    FROM pg_stat_activity
    WHERE datid IS NOT NULL AND (backend_type = 'client backend' OR backend_type IS NULL)
      AND pid <> pg_backend_pid() AND NOT (application_name = '@application@' AND usename = current_user)
    GROUP BY datid, split, wait
) s ON s.datid = d.oid
WHERE NOT d.datistemplate OR d.datallowconn AND d.datname NOT IN ('template0', 'template1')
ORDER BY d.oid`

// BenchmarkSessions takes what a sample of 200 sessions costs a server on each major version: as it is, and with the numbers
// of sessions alone, by turns on one connection each. Half of the sessions work, and each has an application of its own, so
// that no two are one row. server-µs is the CPU time of our backend for a sample; six a minute are "% of a core" (goal: 0.02
// more than the numbers alone).
func BenchmarkSessions(b *testing.B) {
	text, err := os.ReadFile("sql/sessions.sql")
	if err != nil {
		b.Fatal(err)
	}
	for _, major := range pgtest.Majors(b) {
		server := pgtest.Cluster(b, pgtest.Options{Major: major, Settings: map[string]string{"max_connections": "300", "autovacuum": "off", "compute_query_id": "on"}})
		for n := range 200 {
			conn := dial(b, server.Superuser()+fmt.Sprintf("&application_name=shop-%d", n))
			if n%2 == 0 {
				go func() { _, _ = conn.Exec(b.Context(), `SELECT pg_sleep(3600)`) }()
			}
		}
		people := strings.NewReplacer("@query_id@", "query_id", "@application@", servers.ApplicationName).Replace(string(text))
		looks := map[string]*sampler{"numbers": sampled(b, server, counted), "people": sampled(b, server, people)}
		b.Run(fmt.Sprint(major), func(b *testing.B) {
			for _, s := range looks {
				s.look(b)
				s.before, s.looks = cpuTime(b, s.pid), 0
			}
			for b.Loop() {
				for _, s := range looks {
					s.look(b)
				}
			}
			percent := func(name string) float64 { return looks[name].report(b, name) }
			b.ReportMetric(percent("people")-percent("numbers"), "%-of-a-core-more")
		})
	}
}

// sampler asks one query on a connection of its own.
type sampler struct {
	conn       *pgx.Conn
	pid, query string
	before     time.Duration
	looks      int
}

func dial(b *testing.B, url string) *pgx.Conn {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func sampled(b *testing.B, server *pgtest.Server, query string) *sampler {
	b.Helper()
	s := &sampler{conn: dial(b, server.Superuser()), query: query}
	if err := s.conn.QueryRow(b.Context(), `SELECT pg_backend_pid()::text`).Scan(&s.pid); err != nil {
		b.Fatal(err)
	}
	return s
}

func (s *sampler) look(b *testing.B) {
	b.Helper()
	if _, err := s.conn.Exec(b.Context(), s.query, pgx.QueryExecModeSimpleProtocol); err != nil {
		b.Fatal(err)
	}
	s.looks++
}

// report says what a sample costs, and returns the part of a core that six a minute are.
func (s *sampler) report(b *testing.B, name string) float64 {
	cost := (cpuTime(b, s.pid) - s.before) / time.Duration(s.looks)
	b.ReportMetric(float64(cost.Microseconds()), name+"-µs")
	return 100 * 6 * float64(cost) / float64(time.Minute)
}
