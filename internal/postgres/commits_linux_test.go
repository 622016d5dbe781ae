package postgres_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"muster/internal/postgres"
	"muster/internal/postgres/cluster"
	"muster/internal/testing/pgtest"
)

// TestAFullDisk fails the check, though the row itself finds room, until there is some again.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	dir, err := pgtest.MkdirTemp("filled")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := syscall.Mount("muster-test", dir, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		t.Skipf("no small file system can be mounted here, which takes root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	account, err := cluster.DefaultAccount()
	if err != nil {
		t.Fatal(err)
	}
	if err := account.Own(dir); err != nil {
		t.Fatal(err)
	}
	server := pgtest.Cluster(t, pgtest.Options{Migrated: true})
	server.CreateMigrated(t, "filled")
	url := server.URL(pgtest.Superuser, "filled")
	db := pgtest.Connect(t, url)
	db.MustExec(`CREATE TABLESPACE small LOCATION '` + dir + `'`)
	db.MustExec(`ALTER DATABASE filled SET temp_tablespaces = 'small'`)
	commits := postgres.CommitsWithin(10*time.Second, url, "host/1/a", db)
	t.Cleanup(commits.Close)
	if err := commits.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	var full *pgconn.PgError
	if err := commits.Check(t.Context()); !errors.As(err, &full) || full.Code != "53100" {
		t.Errorf("the disk is full, and the check says %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := commits.Check(t.Context()); err != nil {
		t.Errorf("there is room again, and the check says %v", err)
	}
}
