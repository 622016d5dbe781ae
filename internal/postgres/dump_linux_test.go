package postgres_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
)

// dumps says that this process dumps: the database's URL and its snapshot.
const dumps = "MUSTER_TEST_DUMPS"

// TestADumpEndsWithItsProcess: a process that is killed takes pg_dump with it, which waits for a table here and
// would go on for as long.
func TestADumpEndsWithItsProcess(t *testing.T) {
	if url := os.Getenv(dumps); url != "" {
		_, err := postgres.Dump(t.Context(), postgres.DumpDatabase{URL: url}, 0, os.Getenv(dumps+"_SNAPSHOT"), filepath.Join(t.TempDir(), "dump"))
		t.Fatal(err)
	}
	t.Parallel()
	pgtest.NeedsDump(t)
	url := pgtest.EmptyURL(t)
	db := pgtest.Connect(t, url)
	db.MustExec(`CREATE TABLE held (n int)`)
	db.MustExec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET client_connection_check_interval = 100', current_database()); END $$`)
	held := db.MustBegin()
	defer func() { _ = held.Rollback() }()
	var snapshot string
	if err := held.Get(&snapshot, `SELECT pg_export_snapshot()`); err != nil {
		t.Fatal(err)
	}
	held.MustExec(`LOCK TABLE held`)

	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), dumps+"="+url, dumps+"_SNAPSHOT="+snapshot)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waiting := func(want int) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		for n := -1; n != want; {
			err := db.GetContext(ctx, &n, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pg_dump' AND (wait_event_type = 'Lock' OR $1 = 0)`, want)
			if err != nil {
				t.Fatalf("%d of pg_dump are there, want %d: %v", n, want, err)
			}
		}
	}
	waiting(1)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	waiting(0)
}
