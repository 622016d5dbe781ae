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
	"muster/internal/postgres/statement"
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

// NewerSchemaError says that a newer binary has migrated the database to where this one must
// not run any more.
type NewerSchemaError struct {
	Database, Binary int64 // schema versions
}

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("the database has schema version %d and this binary knows only up to %d: "+
		"a newer Muster has migrated it; start that version or a later one, "+
		"or restore the backup from before it (docs/runbooks/upgrade.md)", e.Database, e.Binary)
}

// Migration is one step of the schema and whether the database has taken it.
type Migration struct {
	Version   int64
	File      string
	Step      Step
	AppliedAt *time.Time // nil: pending
}

// Waits says that a migration is left to Finish, for as long as nothing behind it is due.
func (m Migration) Waits() bool { return m.Step == Contract && m.AppliedAt == nil }

// Migrate brings the database to this binary's schema, except for a Contract at its end: that
// one waits for Finish, so that earlier programs may run until then. A new database has no
// earlier programs, and gets all. Replicas may call it together: one migrates, the others wait.
// It returns *NewerSchemaError, *OlderProgramsError or *MigrationError.
func Migrate(ctx context.Context, db *sqlx.DB, logger *slog.Logger) error {
	return migrate(ctx, db, migrations.FS, logger)
}

// Finish is Migrate with all that waits: no earlier program may run any more.
func Finish(ctx context.Context, db *sqlx.DB, logger *slog.Logger) error {
	return finish(ctx, db, migrations.FS, logger)
}

func migrate(ctx context.Context, db *sqlx.DB, files fs.FS, logger *slog.Logger) error {
	return bring(ctx, db, files, schema.due, logger)
}

func finish(ctx context.Context, db *sqlx.DB, files fs.FS, logger *slog.Logger) error {
	return bring(ctx, db, files, schema.latest, logger)
}

func bring(ctx context.Context, db *sqlx.DB, files fs.FS, upTo func(schema) int64, logger *slog.Logger) error {
	if err := requireServer(ctx, db); err != nil {
		return err
	}
	s, err := newSchema(db, files)
	if err != nil {
		return err
	}
	known, err := versioned(ctx, db)
	if err != nil {
		return err
	}
	if !known {
		upTo = schema.latest
	} else if err := refuseOthers(ctx, db, s, upTo(s), logger); err != nil {
		return err
	}
	applied, err := s.UpTo(ctx, upTo(s))
	var partial *goose.PartialError
	if errors.As(err, &partial) {
		return &MigrationError{File: path.Base(partial.Failed.Source.Path), Err: partial.Err}
	}
	if err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	for _, result := range applied {
		logger.InfoContext(ctx, "migration applied", "file", path.Base(result.Source.Path),
			"step", string(s.steps[result.Source.Version]), "took", result.Duration)
	}
	return nil
}

// MigrationStatus lists the migrations this binary knows, in order. It changes nothing, not
// even an empty database, and does not wait for a running migration: /readyz of a serving
// program calls it meanwhile.
func MigrationStatus(ctx context.Context, db *sqlx.DB) ([]Migration, error) {
	return migrationStatus(ctx, db, migrations.FS)
}

func migrationStatus(ctx context.Context, db *sqlx.DB, files fs.FS) ([]Migration, error) {
	s, err := newSchema(db, files)
	if err != nil {
		return nil, err
	}
	applied := map[int64]time.Time{}
	if known, err := versioned(ctx, db); err != nil {
		return nil, err
	} else if known {
		if applied, err = appliedMigrations(ctx, db); err != nil {
			return nil, err
		}
	}
	var list []Migration
	for _, source := range s.sources {
		m := Migration{Version: source.Version, File: path.Base(source.Path), Step: s.steps[source.Version]}
		if at, ok := applied[source.Version]; ok {
			m.AppliedAt = &at
		}
		list = append(list, m)
	}
	return list, nil
}

// appliedMigrations are the numbers of a database's migrations, and when it took each.
func appliedMigrations(ctx context.Context, db *sqlx.DB) (map[int64]time.Time, error) {
	return statement.Map[int64, time.Time](ctx, db, "read the migrations' status",
		`SELECT abs(version_id), max(tstamp) FROM `+goose.DefaultTablename+` WHERE is_applied GROUP BY 1`)
}

// CheckSchema returns a *NewerSchemaError where this binary must not run on the database
// any more: it may have been migrated, and finished, since this one started.
func CheckSchema(ctx context.Context, db *sqlx.DB) error {
	latest, err := KnownSchemaVersion()
	if err != nil {
		return err
	}
	return refuseNewer(ctx, db, latest, slog.New(slog.DiscardHandler))
}

// SchemaVersion is the last migration of a database that a program has to know to run on
// it, as q sees it.
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

// LockedError says that another process holds an advisory lock for longer than we wait for any.
type LockedError struct{ ID int64 }

func (e *LockedError) Error() string {
	return fmt.Sprintf("another process holds the advisory lock %d", e.ID)
}

// LockSession takes an advisory lock for the session of conn, which a process
// that was killed a moment ago may still hold. It returns *LockedError.
func LockSession(ctx context.Context, conn *sqlx.Conn, id int64) (unlock func(context.Context) error, err error) {
	_, err = conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, id)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == lockNotAvailable { // after the pool's lock_timeout
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

func newSchema(db *sqlx.DB, files fs.FS) (schema, error) {
	s := schema{steps: make(map[int64]Step)}
	table, err := newVersions(s.steps) // which are read below, before anybody asks
	if err != nil {
		return s, fmt.Errorf("read the migrations: %w", err)
	}
	s.Provider, err = goose.NewProvider(goose.DialectCustom, db.DB, files, goose.WithStore(table),
		goose.WithDisableGlobalRegistry(true), goose.WithSessionLocker(migrationLock{}))
	if err != nil {
		return s, fmt.Errorf("read the migrations: %w", err)
	}
	s.sources = s.ListSources()
	for _, source := range s.sources {
		if s.steps[source.Version], err = stepOf(files, source.Path); err != nil {
			return s, err
		}
	}
	return s, nil
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

// refuseOthers refuses if a newer program has migrated the database, or if a program runs that
// is older than a migration about to be applied, which would break it.
func refuseOthers(ctx context.Context, db *sqlx.DB, s schema, upTo int64, logger *slog.Logger) error {
	if err := refuseNewer(ctx, db, s.latest(), logger); err != nil {
		return err
	}
	applied, err := appliedMigrations(ctx, db)
	if err != nil {
		return err
	}
	if breaks := s.breaking(upTo, applied); breaks != nil {
		return requireNoOlder(ctx, db, breaks.Version, path.Base(breaks.Path))
	}
	return nil
}

// refuseNewer looks before the lock is taken, which is enough: versions only rise, and a binary
// that migrates between the look and the lock leaves goose with an unknown version and nothing
// to do. It reports additions of a newer binary beside which this one may run.
func refuseNewer(ctx context.Context, db *sqlx.DB, latest int64, logger *slog.Logger) error {
	type reached struct {
		Needed int64 `db:"needed"`
		All    int64 `db:"reached"`
	}
	at, err := statement.One[reached](ctx, db, "read the schema version",
		`SELECT max(version_id) AS needed, max(abs(version_id)) AS reached FROM `+goose.DefaultTablename)
	if err != nil {
		return err
	}
	if at.Needed > latest {
		return &NewerSchemaError{Database: at.Needed, Binary: latest}
	}
	if at.All > latest {
		logger.InfoContext(ctx, "a newer Muster has migrated the database; this one may run beside it", "schema", at.All, "known", latest)
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

// MigrationLockID is the advisory lock of a running migration: "muster" in ASCII.
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
