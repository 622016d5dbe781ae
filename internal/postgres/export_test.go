package postgres

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/cluster"
)

// MigrateFiles is Migrate with other files than the binary's.
func MigrateFiles(ctx context.Context, db *sqlx.DB, files fs.FS, logger *slog.Logger) error {
	return migrate(ctx, db, files, logger)
}

// FinishFiles is Finish with other files than the binary's.
func FinishFiles(ctx context.Context, db *sqlx.DB, files fs.FS, logger *slog.Logger) error {
	return finish(ctx, db, files, logger)
}

// RequireNoOlder is for the test of whom Finish waits for.
func RequireNoOlder(ctx context.Context, db *sqlx.DB, version int64) error {
	return requireNoOlder(ctx, db, version, "")
}

// StatusOfFiles is MigrationStatus of other files than the binary's.
func StatusOfFiles(ctx context.Context, db *sqlx.DB, files fs.FS) ([]Migration, error) {
	return migrationStatus(ctx, db, files)
}

// ToolOf is how a client program would be called for a database.
func ToolOf(t *testing.T, db DumpDatabase) (arguments, environment []string) {
	t.Helper()
	cmd, err := db.tool(t.Context(), "pg_dump")
	if err != nil {
		t.Fatal(err)
	}
	return cmd.Args, cmd.Env
}

// WithoutStatistics makes a server what one is that does not count statements.
func WithoutStatistics(ctx context.Context, s *Server) error {
	err := s.asOwner(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DROP EXTENSION "+statisticsExtension)
		return err
	})
	return errors.Join(err, os.Remove(filepath.Join(s.home.cluster(), "muster.conf")))
}

// ConfigurationWith is what a server is started with by programs in dir.
func ConfigurationWith(t *testing.T, programs string) string {
	t.Helper()
	h := &home{dir: t.TempDir(), inst: cluster.Installation{Major: 18, Dir: programs}}
	if err := os.Mkdir(h.cluster(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := h.configure("/nowhere"); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(h.cluster(), "muster.conf"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Read reads the database's clock now.
func (c *Clock) Read(ctx context.Context) error { return c.read(ctx) }

// CommitsWithin is NewCommits with another patience.
func CommitsWithin(patience time.Duration, url, process string, db *sqlx.DB) *Commits {
	c := NewCommits(url, process, db)
	c.patience = patience
	return c
}

// Late returns what a check says that began while a commit was under way, when that has
// returned.
func Late(c *Commits) (func() error, error) {
	c.mu.Lock()
	w := c.pending
	c.mu.Unlock()
	if w == nil {
		return nil, errors.New("no commit is under way")
	}
	return func() error {
		<-w.done
		return c.judge(w)
	}, nil
}
