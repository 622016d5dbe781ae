package postgres

import (
	"context"
	"io/fs"
	"log/slog"

	"github.com/jmoiron/sqlx"
)

// MigrateFiles is Migrate with other files than the binary's.
func MigrateFiles(ctx context.Context, db *sqlx.DB, files fs.FS, logger *slog.Logger) error {
	return migrate(ctx, db, files, logger)
}
