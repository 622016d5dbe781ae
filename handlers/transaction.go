package handlers

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
)

// decisions is how often a transaction is tried again after somebody else's
// write came between; more than that is left to the job's next attempt.
const decisions = 5

// inTx commits what do decides, deciding again where another writer was faster.
func inTx(ctx context.Context, db *sqlx.DB, do func(tx *sqlx.Tx) error) error {
	var err error
	for range decisions {
		if err = once(ctx, db, do); !cameFirst(err) {
			return err
		}
	}
	return err
}

func once(ctx context.Context, db *sqlx.DB, do func(tx *sqlx.Tx) error) error {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := do(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// cameFirst recognizes what deciding again resolves: a stream that moved, a
// deadlock, a serialization failure.
func cameFirst(err error) bool {
	var conflict *eventstore.ConflictError
	var server *pgconn.PgError
	return errors.As(err, &conflict) ||
		errors.As(err, &server) && (server.Code == "40P01" || server.Code == "40001")
}
