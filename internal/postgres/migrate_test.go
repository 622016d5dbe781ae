package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"

	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
	"muster/migrations"
)

var quiet = slog.New(slog.DiscardHandler)

func up(statements string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte("-- +goose Up\n" + statements + "\n")}
}

func TestReplicasMigrateTogether(t *testing.T) {
	t.Parallel()
	url := pgtest.EmptyURL(t)
	// Slow enough that the others find the first at work.
	files := fstest.MapFS{
		"00001_first.sql":  up("CREATE TABLE first (n int); SELECT pg_sleep(0.2);"),
		"00002_second.sql": up("CREATE TABLE second (n int);"),
	}
	var all sync.WaitGroup
	for range 4 {
		db := pgtest.Connect(t, url)
		before := setting(t, db, "lock_timeout")
		all.Go(func() {
			if err := postgres.MigrateFiles(context.Background(), db, files, quiet); err != nil {
				t.Error(err)
			}
			if after := setting(t, db, "lock_timeout"); after != before {
				t.Errorf("lock_timeout was %s and is left at %s", before, after)
			}
		})
	}
	all.Wait()
	var applied int
	if err := pgtest.Connect(t, url).Get(&applied, `SELECT count(*) FROM goose_db_version WHERE version_id > 0`); err != nil || applied != 2 {
		t.Errorf("%d migrations applied, %v", applied, err)
	}
}

func TestABrokenMigrationIsNamedAndEarlierOnesStay(t *testing.T) {
	t.Parallel()
	db := pgtest.Connect(t, pgtest.EmptyURL(t))
	files := fstest.MapFS{
		"00001_first.sql":  up("CREATE TABLE first (n int);"),
		"00002_second.sql": up("CREATE TABLE second (n int); CREATE TABLE nonsense (;"),
	}
	err := postgres.MigrateFiles(context.Background(), db, files, quiet)
	var failed *postgres.MigrationError
	if !errors.As(err, &failed) || failed.File != "00002_second.sql" {
		t.Fatalf("got %v", err)
	}
	var kept struct {
		First  bool `db:"first"`
		Second bool `db:"second"`
	}
	err = db.Get(&kept, `SELECT to_regclass('first') IS NOT NULL AS first, to_regclass('second') IS NOT NULL AS second`)
	if err != nil || !kept.First || kept.Second {
		t.Errorf("kept %+v, %v", kept, err)
	}
	files["00002_second.sql"] = up("CREATE TABLE second (n int);")
	if err := postgres.MigrateFiles(context.Background(), db, files, quiet); err != nil {
		t.Errorf("after it was mended: %v", err)
	}
}

func TestUnreadableMigrationIsNamed(t *testing.T) {
	t.Parallel()
	db := pgtest.Connect(t, pgtest.EmptyURL(t))
	files := fstest.MapFS{"00001_first.sql": {Data: []byte("-- +goose Up\n-- +goose StatementBegin\nSELECT 1;\n")}}
	err := postgres.MigrateFiles(context.Background(), db, files, quiet)
	if err == nil || !strings.Contains(err.Error(), "00001_first.sql") {
		t.Errorf("got %v", err)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	db := pgtest.Connect(t, pgtest.EmptyURL(t))
	newer := fstest.MapFS{"00001_first.sql": up("SELECT 1;"), "00009_later.sql": up("SELECT 1;")}
	older := fstest.MapFS{"00001_first.sql": up("SELECT 1;")}
	if err := postgres.MigrateFiles(context.Background(), db, newer, quiet); err != nil {
		t.Fatal(err)
	}
	err := postgres.MigrateFiles(context.Background(), db, older, quiet)
	var refused *postgres.NewerSchemaError
	if !errors.As(err, &refused) || refused.Database != 9 || refused.Binary != 1 {
		t.Errorf("got %v", err)
	}
}

func TestSchemaOfThisBinary(t *testing.T) {
	t.Parallel()
	db := pgtest.Connect(t, pgtest.EmptyURL(t))
	ctx := context.Background()
	before, err := postgres.MigrationStatus(ctx, db)
	if err != nil || len(before) == 0 || before[0].AppliedAt != nil {
		t.Fatalf("before: %+v, %v", before, err)
	}
	var tables int
	if err := db.Get(&tables, `SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`); err != nil || tables != 0 {
		t.Errorf("looking left %d tables behind, %v", tables, err)
	}
	if err := postgres.Migrate(ctx, db, quiet); err != nil {
		t.Fatal(err)
	}
	after, err := postgres.MigrationStatus(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range after {
		if step.AppliedAt == nil {
			t.Errorf("%s is still pending", step.File)
		}
	}
}

// objects are all that migrations make.
func objects(t *testing.T, db *sqlx.DB) (names []string) {
	t.Helper()
	err := db.Select(&names, `SELECT format('%s %s %s', c.relkind, c.relname, a.attname || ' ' || format_type(a.atttypid, a.atttypmod))
		FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relnamespace = 'public'::regnamespace AND c.relname NOT LIKE 'goose%'
		UNION ALL SELECT 'function ' || oid::regprocedure FROM pg_proc WHERE pronamespace = 'public'::regnamespace
		UNION ALL SELECT 'constraint ' || conname || pg_get_constraintdef(oid) FROM pg_constraint
			WHERE connamespace = 'public'::regnamespace AND conname NOT LIKE 'goose%'
		ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestEveryMigrationCanBeTakenBack: down to nothing, and up to the same again.
func TestEveryMigrationCanBeTakenBack(t *testing.T) {
	t.Parallel()
	db := pgtest.Connect(t, pgtest.EmptyURL(t))
	if err := postgres.Migrate(t.Context(), db, quiet); err != nil {
		t.Fatal(err)
	}
	whole := objects(t, db)
	db.MustExec(`UPDATE goose_db_version SET version_id = abs(version_id)`) // as goose itself has it
	provider, err := goose.NewProvider(goose.DialectPostgres, db.DB, migrations.FS)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.DownTo(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if left := objects(t, db); len(left) != 0 {
		t.Errorf("going down left behind: %q", left)
	}
	if err := postgres.Finish(t.Context(), db, quiet); err != nil { // to Migrate it is no new database
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, objects(t, db)); diff != "" {
		t.Errorf("up again is another schema (-first +again):\n%s", diff)
	}
}

func TestPoolsHaveTimeouts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db, pool, err := postgres.Connect(ctx, pgtest.EmptyURL(t), postgres.PoolOptions{Name: "projections", Max: 7})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if got := pool.Config().MaxConns; got != 7 {
		t.Errorf("at most %d connections", got)
	}
	known, err := postgres.KnownSchemaVersion()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"application_name": fmt.Sprint("muster/projections@", known), "TimeZone": "UTC",
		"lock_timeout": "10s", "idle_in_transaction_session_timeout": "8s",
	} {
		if got := setting(t, db, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func setting(t *testing.T, db *sqlx.DB, name string) (value string) {
	t.Helper()
	if err := db.Get(&value, `SELECT current_setting($1)`, name); err != nil {
		t.Error(err)
	}
	return value
}

func TestPoolOutlivesItsServer(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{})
	db := pgtest.Connect(t, server.Superuser())
	server.Stop(t)
	if err := db.Ping(); err == nil {
		t.Fatal("answers without a server")
	}
	server.Restart(t)
	// One attempt: a connection known to be dead is not given out again.
	if err := db.Ping(); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

func TestUnreachableServerShowsNoPassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"postgres://muster:letmein@127.0.0.1:1/muster", "postgres://muster:letmein@127.0.0.1:notaport/muster",
	} {
		_, _, err := postgres.Connect(context.Background(), url, postgres.PoolOptions{Name: "test"})
		if err == nil || strings.Contains(err.Error(), "letmein") {
			t.Errorf("%s: %v", url, err)
		}
		var refused *pgconn.ConnectError
		var unreadable *pgconn.ParseConfigError
		if !errors.As(err, &refused) && !errors.As(err, &unreadable) {
			t.Errorf("%s: %T is neither a refusal nor a wrong URL", url, err)
		}
	}
}
