package postgres

import (
	"context"
	"io/fs"
	"log/slog"
	"testing"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/cluster"
)

// MigrateFiles is Migrate with other files than the binary's.
func MigrateFiles(ctx context.Context, db *sqlx.DB, files fs.FS, logger *slog.Logger) error {
	return migrate(ctx, db, files, logger)
}

// ToolOf is how a client program would be called for a database.
func ToolOf(t *testing.T, db Database) (arguments, environment []string) {
	t.Helper()
	cmd, err := db.tool(t.Context(), cluster.Client{Path: "pg_dump"})
	if err != nil {
		t.Fatal(err)
	}
	return cmd.Args, cmd.Env
}
