package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres"
)

// The servers of this test binary, and the databases of its tests. Package state is what
// a test binary has: tests share nothing else.
var (
	shared  = lazily{start: func() (*Server, error) { return startSeeded(context.Background(), Options{Settings: withoutVacuum}) }}
	watched = lazily{start: func() (*Server, error) { return start(Options{}) }}

	mu        sync.Mutex
	databases = make(map[testing.TB]string)
	filled    = make(map[string]error) // further templates
	made      int
)

// withoutVacuum leaves tables to their tests. Autovacuum locks a table that it has come to, and
// some statements wait for locks no longer than 100 ms: TestDaysAreDropped failed when it came.
var withoutVacuum = map[string]string{"autovacuum": "off"}

// lazily is a server that the first test which asks for it starts.
type lazily struct {
	start  func() (*Server, error)
	once   sync.Once
	server *Server
	admin  *pgxpool.Pool // connects when it is used first
	err    error
}

func (l *lazily) get(t testing.TB) *Server {
	t.Helper()
	l.once.Do(func() {
		if l.server, l.err = l.start(); l.err == nil {
			l.admin, l.err = pgxpool.New(context.Background(), l.server.Superuser())
		}
	})
	if l.err != nil {
		t.Fatalf("start PostgreSQL for the tests: %v", l.err)
	}
	return l.server
}

func (l *lazily) close() {
	l.once.Do(func() {}) // no test asked for it: none will
	if l.admin != nil {
		l.admin.Close()
	}
	if l.server != nil {
		l.server.close()
	}
}

const template = "muster_template"

// Run runs the tests and ends the shared server. Use it as TestMain's body.
func Run(m *testing.M) int {
	code := m.Run()
	endCommon()
	shared.close()
	watched.close()
	return code
}

// Shared is the server that all tests of this binary share. Do not stop it,
// and change nothing in it that another test could see.
func Shared(t testing.TB) *Server {
	t.Helper()
	return shared.get(t)
}

// Watched is a second server that the tests of this binary share: one for Muster to
// look at, for it does not look at the one that keeps its own data. Do not stop it,
// and change nothing in it that another test could see.
func Watched(t testing.TB) *Server {
	t.Helper()
	return watched.get(t)
}

func makeTemplate(ctx context.Context, s *Server) error {
	if err := execute(ctx, s.Superuser(), "CREATE DATABASE "+template); err != nil {
		return err
	}
	db, pool, err := postgres.Connect(ctx, s.URL(Superuser, template), postgres.PoolOptions{Name: "pgtest"})
	if err != nil {
		return err
	}
	err = postgres.Migrate(ctx, db, slog.New(slog.NewTextHandler(io.Discard, nil)))
	pool.Close()
	if err != nil {
		return err
	}
	return closeTemplate(ctx, s, template)
}

// CreateMigrated makes a migrated database in a server that began as one.
func (s *Server) CreateMigrated(t testing.TB, name string) {
	t.Helper()
	if err := execute(t.Context(), s.Superuser(), "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY file_copy"); err != nil {
		t.Fatal(err)
	}
}

// closeTemplate keeps everybody out. A test that assesses the shared server would connect
// to every database, and PostgreSQL copies no template that somebody is connected to.
func closeTemplate(ctx context.Context, s *Server, name string) error {
	return execute(ctx, s.Superuser(), "ALTER DATABASE "+name+" IS_TEMPLATE true ALLOW_CONNECTIONS false")
}

// URL is the connection string of the test's own, migrated database. Within one
// test URL and DB always mean the same database.
func URL(t testing.TB) string {
	t.Helper()
	server := Shared(t)
	mu.Lock()
	defer mu.Unlock()
	return copyOnce(t, server, template)
}

// FilledURL is URL of a database copied from a further template: a migrated database that
// the first test to name it has filled. fill closes what it opens.
func FilledURL(t testing.TB, name string, fill func(url string) error) string {
	t.Helper()
	server := Shared(t)
	mu.Lock()
	defer mu.Unlock()
	if _, tried := filled[name]; !tried {
		filled[name] = errors.New("the test that filled it has failed") // with t.Fatal, makeFilled does not return
		filled[name] = makeFilled(t.Context(), server, name, fill)
	}
	if err := filled[name]; err != nil {
		t.Fatalf("fill the template %s: %v", name, err)
	}
	return copyOnce(t, server, name)
}

func makeFilled(ctx context.Context, s *Server, name string, fill func(url string) error) error {
	if err := execute(ctx, s.Superuser(), "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY file_copy"); err != nil {
		return err
	}
	if err := fill(s.URL(Superuser, name)); err != nil {
		return err
	}
	// Whoever connects first writes down what the system tables look like, which every
	// connection to a copy then need not find out.
	if err := execute(ctx, s.URL(Superuser, name), "SELECT 1"); err != nil {
		return err
	}
	return closeTemplate(ctx, s, name)
}

// copyOnce makes the test's own database unless it has one. The caller holds the lock:
// PostgreSQL refuses to copy a template that is being copied no more than it has to wait,
// and the copies would only share the disk. file_copy, because it takes half of what it
// takes to log every page.
func copyOnce(t testing.TB, server *Server, from string) string {
	t.Helper()
	name, ok := databases[t]
	if !ok {
		made++
		name = fmt.Sprintf("test_%d", made)
		create(t, name, "TEMPLATE "+from+" STRATEGY file_copy")
		databases[t] = name
		t.Cleanup(func() {
			mu.Lock()
			delete(databases, t)
			mu.Unlock()
		})
	}
	return server.URL(Superuser, name)
}

// EmptyURL is the connection string of a further database that holds nothing.
func EmptyURL(t testing.TB) string {
	t.Helper()
	server := Shared(t)
	mu.Lock()
	made++
	name := fmt.Sprintf("empty_%d", made)
	mu.Unlock()
	create(t, name, "")
	return server.URL(Superuser, name)
}

const (
	// poolSize lets a test run sixteen writers and look on.
	poolSize = 20
	// patience is for programs that the race detector slows down on a busy machine:
	// there it took 29 s to decide about 10,000 alerts under their locks.
	patience = 2 * time.Minute
)

// DB is a pool on the test's own, migrated database. Each call opens a pool, as
// each process of an installation would.
func DB(t testing.TB) *sqlx.DB {
	t.Helper()
	return Connect(t, URL(t))
}

// Connect is a pool on any database, closed with the test.
func Connect(t testing.TB, url string) *sqlx.DB {
	t.Helper()
	db, pool, err := postgres.Connect(context.Background(), url, postgres.PoolOptions{Name: "test", Max: poolSize, Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return db
}

func create(t testing.TB, name, from string) {
	t.Helper()
	ctx := context.Background()
	if err := administer(ctx, "CREATE DATABASE "+name+" "+from); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := administer(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Log(err)
		}
	})
}

// administer executes a statement in the shared server, on connections that the tests of a binary
// share: one of its own would cost the server as much as the statement.
func administer(ctx context.Context, statement string) error {
	if _, err := shared.admin.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

func execute(ctx context.Context, url, statement string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// Unguard takes away what keeps events from being changed and deleted, as whoever owns
// the database can.
func Unguard(t testing.TB, db *sqlx.DB) {
	t.Helper()
	if _, err := db.ExecContext(context.Background(), `ALTER TABLE events DISABLE TRIGGER USER`); err != nil {
		t.Fatal(err)
	}
}
