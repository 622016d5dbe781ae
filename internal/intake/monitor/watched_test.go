package monitor

import (
	"context"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"

	"muster/internal/pgtest"
	"muster/internal/postgres/cluster"
	"muster/internal/servers"
)

// watchedServer is one that is measured: a role that may read statistics, the
// extension in one of its databases, and a load on another.
type watchedServer struct {
	*pgtest.Server
	admin *sqlx.DB // in database postgres, which our load is not on
	dsn   string
}

func newWatchedServer(t *testing.T, major int) *watchedServer {
	t.Helper()
	w := &watchedServer{Server: pgtest.Cluster(t, pgtest.Options{Major: major, Settings: map[string]string{
		"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.max": "200", "autovacuum": "off",
	}})}
	w.admin = pgtest.Connect(t, w.Superuser())
	w.admin.SetMaxOpenConns(1)
	for _, statement := range []string{
		`CREATE DATABASE app`, `CREATE DATABASE tools`, `CREATE ROLE watcher LOGIN`, `GRANT pg_monitor TO watcher`,
	} {
		w.admin.MustExec(statement)
	}
	w.run(t, "tools", 1, `CREATE SCHEMA "Statistics"`, `CREATE EXTENSION pg_stat_statements SCHEMA "Statistics"`)
	w.admin.MustExec(`CREATE EXTENSION pg_stat_statements`)
	w.dsn = w.TCPURL("watcher", "postgres")
	return w
}

// load runs pgbench, or where there is none the like of it.
func (w *watchedServer) load(t *testing.T) {
	t.Helper()
	if pgbench, _, err := cluster.FindClient(t.Context(), "pgbench", 0); err == nil {
		w.pgbench(t, pgbench, "-n", "-c", "4", "-t", "50")
		return
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			w.run(t, "app", 50, `SELECT count(*) FROM pg_class WHERE relname > 'a'`)
		})
	}
	wg.Wait()
}

// prepare makes what the load needs, and has it executed once: it is not new then.
func (w *watchedServer) prepare(t *testing.T) {
	t.Helper()
	if pgbench, _, err := cluster.FindClient(t.Context(), "pgbench", 0); err == nil {
		w.pgbench(t, pgbench, "-i", "-s", "1", "-q")
	}
	w.load(t)
}

func (w *watchedServer) pgbench(t *testing.T, program string, arguments ...string) {
	t.Helper()
	arguments = append(arguments, w.URL(pgtest.Superuser, "app"))
	if out, err := exec.CommandContext(t.Context(), program, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("pgbench %v: %v: %s", arguments, err, out)
	}
}

// run executes statements so many times.
func (w *watchedServer) run(t *testing.T, database string, times int, statements ...string) {
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

// executed is what the server itself says of a database's statements.
func (w *watchedServer) executed(t *testing.T, database string) (calls int64, totalMs float64) {
	t.Helper()
	err := w.admin.QueryRowx(`SELECT coalesce(sum(s.calls), 0), coalesce(sum(s.total_exec_time), 0)
		FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = $1`, database).Scan(&calls, &totalMs)
	if err != nil {
		t.Fatal(err)
	}
	return calls, totalMs
}

// session opens one that does something until the test ends or it is told to stop.
func (w *watchedServer) session(t *testing.T, database string, statements ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	conn, err := pgx.Connect(ctx, w.URL(pgtest.Superuser, database))
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

// until waits for what a query counts; the server does the waiting.
func (w *watchedServer) until(t *testing.T, want int, query string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		var n int
		if err := w.admin.Get(&n, query); err != nil {
			t.Fatal(err)
		}
		if n == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is %d, not %d", query, n, want)
		}
		w.admin.MustExec(`SELECT pg_sleep(0.01)`)
	}
}

// measuredIn is the database that our session is in.
func (w *watchedServer) measuredIn(t *testing.T) (database string) {
	t.Helper()
	err := pgtest.Connect(t, w.Superuser()).Get(&database, `SELECT string_agg(datname, ' ') FROM pg_stat_activity WHERE application_name = $1`, servers.ApplicationName)
	if err != nil {
		t.Fatal(err)
	}
	return database
}
