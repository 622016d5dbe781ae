package pgstore

import (
	"context"
	_ "embed" // the statement
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/transact"
	"muster/internal/statement"
)

//go:embed sql/inhabit.sql
var inhabit string

// MovedError says that the blocks of this installation are not where this process has
// them. Places are cluster/database of ClickHouse; empty: PostgreSQL.
type MovedError struct{ Are, Wanted string }

func (e *MovedError) Error() string {
	name := func(place string) string {
		if place == "" {
			return "PostgreSQL"
		}
		return "ClickHouse, " + place
	}
	return fmt.Sprintf("the measurements of this installation are in %s, and this process is set to %s", name(e.Are), name(e.Wanted))
}

// Inhabit says at which place the store's blocks are, and holds the installation to it from
// its first measurement on. The error is a *MovedError where it has others elsewhere;
// so is that of whatever rolls up, compacts or seals after they have moved. A store that
// never said so is not held to anything.
func (s *Store) Inhabit(ctx context.Context, place string) error {
	s.place = &place
	return transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		if err := statement.Exec(ctx, tx, "say where blocks are", inhabit, place); err != nil {
			return err
		}
		return s.atHome(ctx, tx)
	})
}

// atHome sees that blocks are where the store has them, until tx ends. What is made of
// blocks that have moved away lacks what others put since, and what is put there nobody reads.
func (s *Store) atHome(ctx context.Context, tx *sqlx.Tx) error {
	if s.place == nil {
		return nil
	}
	are, err := statement.One[string](ctx, tx, "look where blocks are", `SELECT block_place()`)
	if err == nil && are != *s.place {
		err = &MovedError{are, *s.place}
	}
	return err
}

// hasMoved says that an error is a *MovedError.
func hasMoved(err error) bool {
	var moved *MovedError
	return errors.As(err, &moved)
}
