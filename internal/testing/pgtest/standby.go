package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"muster/internal/postgres/cluster"
)

// StandbyName is what a standby calls itself to the server that it follows.
const StandbyName = "standby"

// Standby starts a server that follows another one and ends with the test. It skips the
// test where pg_basebackup is not installed.
func Standby(t testing.TB, of *Server, opts Options) *Server {
	t.Helper()
	opts.Major = of.Major
	s, err := startFilled(opts, func(s *Server, ctx context.Context) error { return s.copyFrom(ctx, of) })
	var missing *cluster.NoClientError
	if errors.As(err, &missing) {
		t.Skip(missing)
	}
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
// started goes on reading that server's log.
func (s *Server) copyFrom(ctx context.Context, of *Server) error {
	program, _, err := cluster.FindClient(ctx, "pg_basebackup", s.Major)
	if err != nil {
		return err
	}
	from := fmt.Sprintf("host=127.0.0.1 port=%d user=%s sslmode=disable application_name=%s", of.port, Superuser, StandbyName)
	cmd := s.account.Command(ctx, program, "--dbname", from, "--pgdata", s.Dir(), "--write-recovery-conf",
		"--wal-method=stream", "--checkpoint=fast", "--no-sync")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w: %s", err, out)
	}
	return nil
}
