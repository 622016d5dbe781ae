package placement

import (
	"context"
	_ "embed" // the statement
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

//go:embed sql/inhabit.sql
var inhabit string

// MovedError says that the blocks of this installation are not where this process has
// them. Places are cluster/database of ClickHouse; empty: PostgreSQL.
type MovedError struct{ Are, Wanted string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("the measurements of this installation are in %s, and this process is set to %s", PlaceName(e.Are), PlaceName(e.Wanted))
}

// PlaceName is what people call a place.
func PlaceName(place string) string {
	if place == "" {
		return "PostgreSQL"
	}
	return "ClickHouse, " + place
}

// Placement is where the blocks of an installation are, and where this process has them.
type Placement struct {
	db    *sqlx.DB
	place *string // where this process has them; nil: nobody has said (Inhabit)
}

// In returns the placement that a ledger has.
func In(db *sqlx.DB) *Placement { return &Placement{db: db} }

// Place is where the blocks are.
func (p *Placement) Place(ctx context.Context) (string, error) {
	return statement.One[string](ctx, p.db, "look where blocks are", `SELECT place FROM block_home`)
}

// Inhabit says at which place this process has the blocks, and binds the installation to it from
// its first measurement on. The error is a *MovedError if it has others elsewhere; rollup,
// compaction and sealing return it too after the blocks have moved. A process without Inhabit is
// not bound to a place.
func (p *Placement) Inhabit(ctx context.Context, place string) error {
	p.place = &place
	return transact.Once(ctx, p.db, nil, func(tx *sqlx.Tx) error {
		if err := statement.Exec(ctx, tx, "say where blocks are", inhabit, place); err != nil {
			return err
		}
		return p.AtHome(ctx, tx)
	})
}

// AtHome makes sure that blocks are where this process has them, until tx ends. Data made from
// blocks that have moved away lacks later ones, and nobody reads blocks that are put there.
func (p *Placement) AtHome(ctx context.Context, tx *sqlx.Tx) error {
	if p.place == nil {
		return nil
	}
	are, err := statement.One[string](ctx, tx, "look where blocks are", `SELECT block_place()`)
	if err == nil && are != *p.place {
		err = &MovedError{are, *p.place}
	}
	return err
}

// HasMoved says that an error is a *MovedError.
func HasMoved(err error) bool {
	var moved *MovedError
	return errors.As(err, &moved)
}

// BeginHere records that a process has begun to use blocks at this place: the copy elsewhere is
// not needed any more (Drop).
func (p *Placement) BeginHere(ctx context.Context) error {
	if p.place == nil {
		return nil
	}
	return statement.Exec(ctx, p.db, "note that blocks are used where they are", `UPDATE block_home SET begun = true WHERE place = $1 AND NOT begun`, *p.place)
}

// NeededError says that what is somewhere must not be dropped yet.
type NeededError struct {
	Place string // where it is
	Are   string // where the installation's blocks are
}

func (e *NeededError) Error() string {
	are := "the measurements of this installation are in " + PlaceName(e.Are)
	if (e.Place == "") == (e.Are == "") { // another name may be the same database
		return are + ": what is in " + PlaceName(e.Place) + " is not dropped"
	}
	return are + ", and no serve has been started there yet: restart all of them first"
}

// Drop drops the copy that a move left in a home, and frees its disk. The error is a
// *NeededError if that is the current home, or if no process with workers has been started at
// the new one, and a *ForeignError if it is another installation's. A process that still reads
// there finds nothing.
func (p *Placement) Drop(ctx context.Context, left Home) error {
	return p.alone(ctx, func(ctx context.Context, tx *sqlx.Tx) error {
		type home struct {
			Place string
			Begun bool
		}
		is, err := statement.One[home](ctx, tx, "look where blocks are", `SELECT place, begun FROM block_home`)
		if err != nil {
			return err
		}
		if !is.Begun || (is.Place == "") == (left.Place == "") {
			return &NeededError{left.Place, is.Place}
		}
		if err := (&mover{to: left}).leaveOut(ctx, tx); err != nil {
			return err
		}
		// Of a copy that goes there now nothing would be left.
		if err := statement.Exec(ctx, tx, "overtake a copy", `UPDATE block_home SET copy = NULL`); err != nil {
			return err
		}
		return left.Store.Drop(ctx)
	})
}
