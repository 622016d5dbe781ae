package bench_test

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"muster/internal/pgtest"
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

// promServer is a Prometheus that holds the hosts' samples; nil where none is installed.
type promServer struct {
	m    *measured
	base string
}

// prometheus fills a Prometheus with the hosts' samples: blocks made by promtool.
func (m *measured) prometheus(day time.Time) *promServer {
	m.p.b.Helper()
	for _, program := range []string{"prometheus", "promtool"} {
		if _, err := exec.LookPath(program); err != nil {
			m.p.b.Logf("%s is not installed: no PromQL beside the tiles", program)
			return nil
		}
	}
	dir := m.p.b.TempDir()
	text := filepath.Join(dir, "samples.txt")
	if err := m.openMetrics(text, day); err != nil {
		m.p.b.Fatal(err)
	}
	blocks := exec.CommandContext(m.p.b.Context(), "promtool", "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=744h", "--quiet", text, filepath.Join(dir, "data"))
	if out, err := blocks.CombinedOutput(); err != nil {
		m.p.b.Fatalf("promtool: %v\n%.2000s", err, out)
	}
	if err := os.Remove(text); err != nil {
		m.p.b.Fatal(err)
	}
	return m.servePrometheus(dir)
}

// openMetrics writes the hosts' samples, series by series, as promtool takes them.
func (m *measured) openMetrics(path string, day time.Time) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	for name, of := range map[string]func(values) float64{
		"cpu": func(v values) float64 { return v.cpu }, "memory": func(v values) float64 { return v.memory },
		"disk": func(v values) float64 { return v.disk },
	} {
		fmt.Fprintf(out, "# TYPE %s gauge\n", name)
		for _, s := range m.servers {
			step := time.Hour
			for at := m.end.AddDate(0, 0, -tilesDays); at.Before(m.end); at = at.Add(step) {
				if !at.Before(day) {
					step = time.Minute
				}
				fmt.Fprintf(out, "%s{instance=\"%s\"} %v %d\n", name, s.name, of(s.values(at)), at.Unix())
			}
		}
	}
	fmt.Fprintln(out, "# EOF")
	return out.Flush()
}

func (m *measured) servePrometheus(dir string) *promServer {
	m.p.b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		m.p.b.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte("scrape_configs: []\n"), 0o600); err != nil {
		m.p.b.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(m.p.b.Context()), "/bin/sh", "-c", untilStopped, "sh", "prometheus",
		"--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--storage.tsdb.retention.time=90d",
		"--web.listen-address="+address, "--query.timeout=10m", "--query.max-samples=500000000")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		m.p.b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		m.p.b.Fatal(err)
	}
	m.p.b.Cleanup(func() { _ = stdin.Close(); _ = cmd.Wait() })
	s := &promServer{m: m, base: "http://" + address}
	m.p.until("Prometheus is ready", 50*time.Millisecond, time.Minute, func() bool {
		response, err := http.Get(s.base + "/-/ready")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return s
}

// read is how long the three lines of utilization take, one query each; 0: it does
// not hold this tile.
func (s *promServer) read(b *testing.B, tile string, w tileWindow, n int) time.Duration {
	b.Helper()
	if s == nil || tile != "utilization" {
		return 0
	}
	var names []string
	for _, server := range s.m.some(n) {
		names = append(names, server.name)
	}
	selector := ""
	if n > 0 {
		selector = `{instance=~"` + strings.Join(names, "|") + `"}`
	}
	var fastest time.Duration
	for range yardstickRuns {
		start := time.Now()
		for _, line := range []string{"avg(avg_over_time(cpu%s[%s]))", "avg(avg_over_time(memory%s[%s]))", "max(max_over_time(disk%s[%s]))"} {
			s.query(b, fmt.Sprintf(line, selector, w.size), w)
		}
		if took := time.Since(start); fastest == 0 || took < fastest {
			fastest = took
		}
	}
	return fastest
}

func (s *promServer) query(b *testing.B, query string, w tileWindow) {
	b.Helper()
	form := url.Values{
		"query": {query}, "start": {s.m.end.Add(-w.long).Format(time.RFC3339)}, "end": {s.m.end.Format(time.RFC3339)}, "step": {w.size},
	}
	response, err := http.PostForm(s.base+"/api/v1/query_range", form)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		b.Fatal(err)
	}
	var answer struct {
		Status string
		Data   struct{ Result []struct{ Values []any } }
	}
	if err := json.Unmarshal(content, &answer); err != nil || answer.Status != "success" || len(answer.Data.Result) != 1 {
		b.Fatalf("%s: %v %.500s", query, err, content)
	}
}
