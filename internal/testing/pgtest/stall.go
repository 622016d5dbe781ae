package pgtest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Stalling starts a migrated server whose commits Stall can stop, and returns it with the
// connection string of a database.
func Stalling(t testing.TB) (*Server, string) {
	t.Helper()
	s := Cluster(t, Options{Migrated: true, Settings: map[string]string{"synchronous_commit": "on"}})
	s.CreateMigrated(t, "stalling")
	return s, s.URL(Superuser, "stalling")
}

// Stall has every commit of a server that Stalling started wait for a standby that does
// not exist, until resume is called or the test ends.
func (s *Server) Stall(t testing.TB) (resume func()) {
	t.Helper()
	s.waitFor(t, "nobody", false)
	t.Cleanup(func() { s.waitFor(t, "", true) })
	return func() {
		t.Helper()
		s.waitFor(t, "", true)
	}
}

// waitFor names the standbys that commits wait for, and returns when commits return, or
// do not any more: it is the checkpointer that reads the name, a moment later.
func (s *Server) waitFor(t testing.TB, standbys string, returns bool) {
	t.Helper()
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '" + standbys + "'", "SELECT pg_reload_conf()"} {
		if err := execute(context.Background(), s.Superuser(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for began := time.Now(); ; {
		if s.commits(t) == returns {
			return
		}
		if time.Since(began) > startPatience {
			t.Fatalf("with synchronous_standby_names = %q commits return: %t", standbys, !returns)
		}
	}
}

// commits says whether a commit returns at once.
func (s *Server) commits(t testing.TB) bool {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), s.Superuser())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = conn.Exec(ctx, `SELECT pg_logical_emit_message(true, 'test', '')`)
	return err == nil
}
