package measuretest

import (
	"context"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/cluster"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

// Watched is a PostgreSQL that is measured: a role that may read statistics, the
// extension in two of its databases, and a load on another.
type Watched struct {
	*pgtest.Server
	Admin *sqlx.DB // in database postgres, which our load is not on
	DSN   string   // of the role
}

// NewWatched starts one of a major version.
func NewWatched(t testing.TB, major int) *Watched {
	t.Helper()
	w := &Watched{Server: pgtest.Cluster(t, pgtest.Options{Major: major, Settings: map[string]string{
		"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.max": "200", "autovacuum": "off",
	}})}
	w.Admin = pgtest.Connect(t, w.Superuser())
	w.Admin.SetMaxOpenConns(1)
	for _, statement := range []string{
		`CREATE DATABASE app`, `CREATE DATABASE tools`, `CREATE ROLE watcher LOGIN`, `GRANT pg_monitor TO watcher`,
		`CREATE ROLE guest LOGIN SUPERUSER`, `ALTER ROLE guest SET pg_stat_statements.track = none`, // its statements do not count
	} {
		w.Admin.MustExec(statement)
	}
	w.Run(t, "tools", 1, `CREATE SCHEMA "Statistics"`, `CREATE EXTENSION pg_stat_statements SCHEMA "Statistics"`)
	w.Admin.MustExec(`CREATE EXTENSION pg_stat_statements`)
	w.DSN = w.TCPURL("watcher", "postgres")
	return w
}

// Load runs pgbench, or something similar if it is not installed.
func (w *Watched) Load(t testing.TB) {
	t.Helper()
	if pgbench, _, err := cluster.FindClient(t.Context(), "pgbench", 0); err == nil {
		w.pgbench(t, pgbench, "-n", "-c", "4", "-t", "50")
		return
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			w.Run(t, "app", 50, `SELECT count(*) FROM pg_class WHERE relname > 'a'`)
		})
	}
	wg.Wait()
}

// Prepare makes what the load needs, and has it executed once: it is not new then.
func (w *Watched) Prepare(t testing.TB) {
	t.Helper()
	if pgbench, _, err := cluster.FindClient(t.Context(), "pgbench", 0); err == nil {
		w.pgbench(t, pgbench, "-i", "-s", "1", "-q")
	}
	w.Load(t)
}

func (w *Watched) pgbench(t testing.TB, program string, arguments ...string) {
	t.Helper()
	arguments = append(arguments, w.URL(pgtest.Superuser, "app"))
	if out, err := exec.CommandContext(t.Context(), program, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("pgbench %v: %v: %s", arguments, err, out)
	}
}

// Run executes statements so many times.
func (w *Watched) Run(t testing.TB, database string, times int, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), w.URL(pgtest.Superuser, database))
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for range times {
		for _, statement := range statements {
			if _, err := conn.Exec(context.Background(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Errorf("%s: %v", statement, err)
			}
		}
	}
}

// Executed is what the server itself says of a database's statements.
func (w *Watched) Executed(t testing.TB, database string) (calls int64, totalMs float64) {
	t.Helper()
	err := w.Admin.QueryRowx(`SELECT coalesce(sum(s.calls), 0), coalesce(sum(s.total_exec_time), 0)
		FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = $1`, database).Scan(&calls, &totalMs)
	if err != nil {
		t.Fatal(err)
	}
	return calls, totalMs
}

// Session opens a session that does something until the test ends or stops it.
func (w *Watched) Session(t testing.TB, database string, statements ...string) (stop func()) {
	t.Helper()
	return w.session(t, pgtest.Superuser, database, statements...)
}

// Guest is Session of one whose statements are not counted.
func (w *Watched) Guest(t testing.TB, database string, statements ...string) (stop func()) {
	t.Helper()
	return w.session(t, "guest", database, statements...)
}

func (w *Watched) session(t testing.TB, role, database string, statements ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	conn, err := pgx.Connect(ctx, w.URL(role, database))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, statement := range statements {
			_, _ = conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol) // some are to fail, some to be cancelled
		}
		<-ctx.Done()
		_ = conn.Close(context.Background())
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-ended
	})
	t.Cleanup(stop)
	return stop
}

// Until waits for what a query counts; the server does the waiting.
func (w *Watched) Until(t testing.TB, want int, query string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		var n int
		if err := w.Admin.Get(&n, query); err != nil {
			t.Fatal(err)
		}
		if n == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is %d, not %d", query, n, want)
		}
		w.Admin.MustExec(`SELECT pg_sleep(0.01)`)
	}
}

// MeasuredIn is the database that our session is in.
func (w *Watched) MeasuredIn(t testing.TB) (database string) {
	t.Helper()
	err := pgtest.Connect(t, w.Superuser()).Get(&database, `SELECT string_agg(datname, ' ') FROM pg_stat_activity WHERE application_name = $1`, servers.ApplicationName)
	if err != nil {
		t.Fatal(err)
	}
	return database
}
