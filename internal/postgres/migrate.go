package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"

	"muster/internal/postgres/cluster"
	"muster/internal/statement"
	"muster/migrations"
)

// MigrationError names the migration that failed; those before it are applied
// and stay so.
type MigrationError struct {
	File string
	Err  error
}

func (e *MigrationError) Error() string { return fmt.Sprintf("migration %s: %v", e.File, e.Err) }

func (e *MigrationError) Unwrap() error { return e.Err }

// NewerSchemaError says that the database was migrated by a newer binary.
type NewerSchemaError struct {
	Database, Binary int64 // schema versions
}

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("the database has schema version %d and this binary knows only up to %d: "+
		"a newer Muster has migrated it; start that version or a later one", e.Database, e.Binary)
}

// Migration is one step of the schema and whether the database has taken it.
type Migration struct {
	Version   int64
	File      string
	AppliedAt *time.Time // nil: pending
}

// Migrate brings the database to this binary's schema. Replicas may call it
// together: one migrates, the others wait. It returns *NewerSchemaError or
// *MigrationError where those apply.
func Migrate(ctx context.Context, db *sqlx.DB, logger *slog.Logger) error {
	return migrate(ctx, db, migrations.FS, logger)
}

func migrate(ctx context.Context, db *sqlx.DB, files fs.FS, logger *slog.Logger) error {
	if err := requireServer(ctx, db); err != nil {
		return err
	}
	provider, err := newProvider(db, files)
	if err != nil {
		return err
	}
	if err := refuseNewer(ctx, db, provider); err != nil {
		return err
	}
	applied, err := provider.Up(ctx)
	var partial *goose.PartialError
	if errors.As(err, &partial) {
		return &MigrationError{File: path.Base(partial.Failed.Source.Path), Err: partial.Err}
	}
	if err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	for _, result := range applied {
		logger.InfoContext(ctx, "migration applied", "file", path.Base(result.Source.Path), "took", result.Duration)
	}
	return nil
}

// MigrationStatus lists the migrations this binary knows, in order. It changes
// nothing, not even an empty database.
func MigrationStatus(ctx context.Context, db *sqlx.DB) ([]Migration, error) {
	provider, err := newProvider(db, migrations.FS)
	if err != nil {
		return nil, err
	}
	var list []Migration
	if known, err := versioned(ctx, db); err != nil || !known {
		for _, source := range provider.ListSources() {
			list = append(list, Migration{Version: source.Version, File: path.Base(source.Path)})
		}
		return list, err
	}
	steps, err := provider.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the migrations' status: %w", err)
	}
	for _, step := range steps {
		m := Migration{Version: step.Source.Version, File: path.Base(step.Source.Path)}
		if step.State == goose.StateApplied {
			m.AppliedAt = &step.AppliedAt
		}
		list = append(list, m)
	}
	return list, nil
}

// SchemaVersion is the last migration that a database has taken, as q sees it.
func SchemaVersion(ctx context.Context, q sqlx.QueryerContext) (int64, error) {
	return statement.One[int64](ctx, q, "read the schema version", `SELECT max(version_id) FROM `+goose.DefaultTablename+` WHERE is_applied`)
}

// KnownSchemaVersion is the last migration of this binary.
func KnownSchemaVersion() (int64, error) {
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil || len(names) == 0 {
		return 0, errors.Join(errors.New("this binary has no migrations"), err)
	}
	return goose.NumericComponent(names[len(names)-1])
}

// LockedError says that somebody else holds an advisory lock for longer than we
// wait for any.
type LockedError struct{ ID int64 }

func (e *LockedError) Error() string {
	return fmt.Sprintf("another process holds the advisory lock %d", e.ID)
}

// LockSession takes an advisory lock for the session of conn, which a process
// that was killed a moment ago may still hold. It returns *LockedError.
func LockSession(ctx context.Context, conn *sqlx.Conn, id int64) (unlock func(context.Context) error, err error) {
	_, err = conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, id)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "55P03" { // lock_not_available, after the pool's lock_timeout
		return nil, &LockedError{ID: id}
	}
	if err != nil {
		return nil, fmt.Errorf("take the advisory lock %d: %w", id, err)
	}
	return func(ctx context.Context) error {
		_, err := conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, id)
		return err
	}, nil
}

func newProvider(db *sqlx.DB, files fs.FS) (*goose.Provider, error) {
	provider, err := goose.NewProvider(goose.DialectPostgres, db.DB, files,
		goose.WithDisableGlobalRegistry(true), goose.WithSessionLocker(migrationLock{}))
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	return provider, nil
}

func requireServer(ctx context.Context, db *sqlx.DB) error {
	type server struct {
		Number  int    `db:"number"`
		Version string `db:"version"`
	}
	s, err := statement.One[server](ctx, db, "ask the database for its version",
		`SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version`)
	if err == nil && s.Number/10000 < cluster.OldestMajor {
		err = fmt.Errorf("the database server is PostgreSQL %s, and Muster needs %d or newer", s.Version, cluster.OldestMajor)
	}
	return err
}

// refuseNewer looks before the lock is taken, which is enough: versions only rise,
// and a binary that migrates between the look and the lock leaves goose with a
// version it does not know and nothing to do.
func refuseNewer(ctx context.Context, db *sqlx.DB, provider *goose.Provider) error {
	known, err := versioned(ctx, db)
	if err != nil || !known {
		return err
	}
	current, target, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	if current > target {
		return &NewerSchemaError{Database: current, Binary: target}
	}
	return nil
}

// versioned says whether the database was ever migrated.
func versioned(ctx context.Context, db *sqlx.DB) (bool, error) {
	return statement.One[bool](ctx, db, "look for the schema version", `SELECT to_regclass($1) IS NOT NULL`, goose.DefaultTablename)
}

// migrationLock keeps replicas that start together from migrating together. It
// waits inside PostgreSQL, so the second goes on the moment the first is done;
// goose's own locker asks again every five seconds.
type migrationLock struct{}

// MigrationLockID is the advisory lock of whoever migrates: "muster" in ASCII.
const MigrationLockID = 0x6d7573746572

// SessionLock waits for as long as the other's migration takes.
func (migrationLock) SessionLock(ctx context.Context, conn *sql.Conn) error {
	const withoutTimeout = `SELECT pg_advisory_lock($1) FROM set_config('lock_timeout', '0', true)` // off for this statement
	return statement.Exec(ctx, conn, "take the migration lock", withoutTimeout, MigrationLockID)
}

// SessionUnlock releases the lock; a session that ended has released it already.
func (migrationLock) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	return statement.Exec(ctx, conn, "release the migration lock", `SELECT pg_advisory_unlock($1)`, MigrationLockID)
}
