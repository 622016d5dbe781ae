package eventstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/transact"
)

// decisions is how often a transaction is tried again after somebody else's
// write came between; more than that is left to the caller's caller.
const decisions = 5

// Transact commits what decide does in one transaction, and decides again where
// the database or the log says that another writer came first. decide may so
// run several times, and keeps nothing of an earlier one. READ COMMITTED.
func Transact(ctx context.Context, db *sqlx.DB, decide func(tx *sqlx.Tx) error) error {
	var err error
	for range decisions {
		if err = transact.Once(ctx, db, nil, decide); !cameFirst(err) {
			return err
		}
	}
	return err
}

// cameFirst recognises what deciding again resolves: a stream that moved, a
// deadlock, a serialization failure.
func cameFirst(err error) bool {
	var conflict *ConflictError
	var server *pgconn.PgError
	return errors.As(err, &conflict) ||
		errors.As(err, &server) && (server.Code == "40P01" || server.Code == "40001")
}
