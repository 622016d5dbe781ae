package eventstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/transact"
)

// ConflictError reports that a stream was not at the version its writer expected.
type ConflictError struct {
	Stream   uuid.UUID
	Expected int64
	Actual   int64
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("stream %s is at version %d, not %d", e.Stream, e.Actual, e.Expected)
}

// ForeignStreamError reports an append to a stream that exists, but in another
// log, under another organization or with another type. Stream ids are random,
// so this is a fault of the caller and never a race.
type ForeignStreamError struct{ Stream uuid.UUID }

func (e *ForeignStreamError) Error() string {
	return fmt.Sprintf("stream %s is of another log, organization or type", e.Stream)
}

// InvalidEventError reports an event that can never be recorded, by any writer.
type InvalidEventError struct{ Type, Reason string }

func (e *InvalidEventError) Error() string { return fmt.Sprintf("event %q %s", e.Type, e.Reason) }

// States raised by the functions of 00001_eventstore.sql.
const (
	stateConflict = "MU001"
	stateForeign  = "MU002"
)

// refusal turns what the append functions raise into the store's own errors.
func refusal(err error) error {
	var server *pgconn.PgError
	if !errors.As(err, &server) || server.Code != stateConflict && server.Code != stateForeign {
		return err
	}
	var detail struct {
		Stream           uuid.UUID
		Expected, Actual int64
	}
	if parse := json.Unmarshal([]byte(server.Detail), &detail); parse != nil {
		return errors.Join(err, parse)
	}
	if server.Code == stateForeign {
		return &ForeignStreamError{Stream: detail.Stream}
	}
	return &ConflictError{Stream: detail.Stream, Expected: detail.Expected, Actual: detail.Actual}
}

// decisions is how often a transaction is tried again after another write came between; beyond
// that the error is returned.
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
