package backup

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// The marker is a table that a restore makes before it writes anything else and
// drops when everything was verified. It is no migration's: it is there before
// any of them, and no installation that serves has it.
//
//go:embed sql/create_marker.sql
var createMarker string

const dropMarker = `DROP TABLE IF EXISTS muster_restore`

// UnfinishedRestoreError says that a restore into this database was begun and not
// finished: nothing else may use it.
type UnfinishedRestoreError struct {
	Backup  string    `db:"backup"` // identity
	MadeAt  time.Time `db:"made_at"`
	BegunAt time.Time `db:"begun_at"`
}

func (e *UnfinishedRestoreError) Error() string {
	return fmt.Sprintf("the restore of the backup of %s into this installation was begun at %s and is not finished: run muster restore with the same "+
		"backup and settings again, which goes on where it stopped",
		e.MadeAt.UTC().Format(time.RFC3339), e.BegunAt.UTC().Format(time.RFC3339))
}

// RequireFinished returns *UnfinishedRestoreError for a database that a restore was
// begun into.
func RequireFinished(ctx context.Context, db sqlx.QueryerContext) error {
	unfinished, err := readMarker(ctx, db)
	if err == nil && unfinished != nil {
		err = unfinished
	}
	return err
}

func readMarker(ctx context.Context, db sqlx.QueryerContext) (*UnfinishedRestoreError, error) {
	const look = "look for an unfinished restore"
	there, err := statement.One[bool](ctx, db, look, `SELECT to_regclass('muster_restore') IS NOT NULL`)
	if err != nil || !there {
		return nil, err
	}
	marker, ok, err := statement.Find[UnfinishedRestoreError](ctx, db, look, `SELECT backup, made_at, begun_at FROM muster_restore`)
	if err == nil && !ok {
		err = errors.New("the table muster_restore is empty: a restore made it and nothing else does; drop the database")
	}
	return &marker, err
}

// begin writes the marker; table and row in one transaction.
func begin(ctx context.Context, db *sqlx.DB, b *Backup) error {
	err := transact.Once(ctx, db, nil, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, createMarker); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO muster_restore (backup, made_at) VALUES ($1, $2)`, b.identity, b.MadeAt)
		return err
	})
	if err != nil {
		return fmt.Errorf("mark the database as being restored: %w", err)
	}
	return nil
}
