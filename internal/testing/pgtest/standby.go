package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"muster/internal/postgres/cluster"
)

// StandbyName is what a standby calls itself to the server that it follows.
const StandbyName = "standby"

// Standby starts a server that follows another one and ends with the test.
func Standby(t testing.TB, of *Server, opts Options) *Server {
	t.Helper()
	opts.Major = of.Major
	s, err := startFilled(opts, func(s *Server, ctx context.Context) error { return s.copyFrom(ctx, of) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// Follow makes a server, running or not, a standby of another one. What it held is gone;
// its address stays.
func (s *Server) Follow(t testing.TB, of *Server, opts Options) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	err := s.process.Stop(ctx, cluster.Immediate)
	if err == nil {
		err = os.RemoveAll(s.Dir())
	}
	if err == nil {
		err = s.copyFrom(ctx, of)
	}
	if err == nil {
		err = s.configure(opts)
	}
	if err == nil {
		err = s.launch(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// copyFrom fills the data directory with a copy of a running server's, which when it is
// started goes on reading that server's log. The packages that scripts/with_postgres.sh fetches have no
// pg_basebackup, so without one of the server's version the files are copied one by one.
func (s *Server) copyFrom(ctx context.Context, of *Server) error {
	from := fmt.Sprintf("host=127.0.0.1 port=%d user=%s sslmode=disable application_name=%s", of.port, Superuser, StandbyName)
	program, _, err := cluster.FindClient(ctx, "pg_basebackup", s.Major)
	var missing *cluster.NoClientError
	if errors.As(err, &missing) {
		return s.copyFiles(ctx, of, from)
	} else if err != nil {
		return err
	}
	cmd := s.account.Command(ctx, program, "--dbname", from, "--pgdata", s.Dir(), "--write-recovery-conf",
		"--wal-method=stream", "--checkpoint=fast", "--no-sync")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w: %s", err, out)
	}
	// One of a newer version writes parameters into it that the server's does not know.
	settings, err := os.OpenFile(filepath.Join(s.Dir(), "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(settings, "primary_conninfo = '%s'\n", from)
	return errors.Join(err, settings.Close())
}

// copyFiles makes a base backup by the server's functions. The log is read from the server (from) later.
func (s *Server) copyFiles(ctx context.Context, of *Server, from string) (err error) {
	begin, end := `SELECT pg_backup_start('copy', true)`, `SELECT labelfile FROM pg_backup_stop(false)`
	if of.Major < 15 {
		begin, end = `SELECT pg_start_backup('copy', true, false)`, `SELECT labelfile FROM pg_stop_backup(false, false)`
	}
	conn, err := pgx.Connect(ctx, of.Superuser())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if _, err := conn.Exec(ctx, begin); err != nil {
		return err
	}
	if err := copyTree(of.Dir(), s.Dir(), true, func(string) error { return nil }); err != nil {
		return err
	}
	var label string
	if err := conn.QueryRow(ctx, end).Scan(&label); err != nil {
		return err
	}
	settings := fmt.Sprintf("primary_conninfo = '%s'\n", from)
	err = errors.Join(
		os.WriteFile(filepath.Join(s.Dir(), "backup_label"), []byte(label), 0o600),
		os.WriteFile(filepath.Join(s.Dir(), "standby.signal"), nil, 0o600),
		os.WriteFile(filepath.Join(s.Dir(), "postgresql.auto.conf"), []byte(settings), 0o600),
	)
	if err != nil {
		return err
	}
	return filepath.WalkDir(s.Dir(), func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, s.account.Own(path))
	})
}
