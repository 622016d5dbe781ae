package topic

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/internal/concurrency/supervise"
)

// deliver applies a page whose checkpoint the transaction holds. An event that
// cannot be applied parks its stream; only a failure that is no event's fault
// comes back as an error, and then the transaction must not be committed.
func (g Group) deliver(ctx context.Context, tx *sqlx.Tx, events []Event) error {
	parked, dropped, err := g.exceptions(ctx, tx, events)
	if err != nil {
		return err
	}
	ready := make([]Event, 0, len(events))
	for _, e := range events {
		switch {
		case dropped[e.Position]:
		case parked[e.Stream]:
			if err := g.park(ctx, tx, e, nil); err != nil {
				return err
			}
		default:
			ready = append(ready, e)
		}
	}
	if len(ready) == 0 {
		return nil
	}
	err = g.attempt(ctx, tx, ready)
	if !isPoison(err) {
		return err
	}
	return g.deliverSingly(ctx, tx, ready, parked)
}

// deliverSingly gives every event a savepoint of its own to find the poisoned one.
func (g Group) deliverSingly(ctx context.Context, tx *sqlx.Tx, events []Event, parked map[uuid.UUID]bool) error {
	for i, e := range events {
		if parked[e.Stream] {
			if err := g.park(ctx, tx, e, nil); err != nil {
				return err
			}
			continue
		}
		err := g.attempt(ctx, tx, events[i:i+1])
		if isPoison(err) {
			parked[e.Stream] = true
			err = g.park(ctx, tx, e, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// attempt applies events under one savepoint. A *poisonError says that they
// failed by themselves and that the transaction is as it was before.
func (g Group) attempt(ctx context.Context, tx *sqlx.Tx, events []Event) error {
	if _, err := tx.ExecContext(ctx, `SAVEPOINT page`); err != nil {
		return err
	}
	applied := g.apply(ctx, tx, events)
	if applied == nil {
		_, err := tx.ExecContext(ctx, `RELEASE SAVEPOINT page`)
		return err
	}
	// A connection that cannot go back to the savepoint is what failed, not the event.
	for _, statement := range []string{`ROLLBACK TO SAVEPOINT page`, `RELEASE SAVEPOINT page`} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return errors.Join(applied, err)
		}
	}
	if ctx.Err() != nil || !blamesEvent(applied) {
		return applied
	}
	return &poisonError{applied}
}

// apply turns a panic into an error: one event must not stop the others.
func (g Group) apply(ctx context.Context, tx *sqlx.Tx, events []Event) (err error) {
	defer supervise.Recover(&err)
	for i := range events {
		if events[i].err != nil {
			return events[i].err
		}
	}
	return g.Apply(ctx, tx, events)
}

func (g Group) exceptions(ctx context.Context, tx *sqlx.Tx, events []Event) (parked map[uuid.UUID]bool, dropped map[int64]bool, err error) {
	var found []struct {
		Stream   *uuid.UUID `db:"stream_id"` // nil: an event that was dropped
		Position int64      `db:"position"`
	}
	err = tx.SelectContext(ctx, &found, selectExceptions, g.Name, g.Log, g.Handler, events[0].Position, events[len(events)-1].Position)
	parked, dropped = map[uuid.UUID]bool{}, map[int64]bool{}
	for _, f := range found {
		if f.Stream != nil {
			parked[*f.Stream] = true
		} else {
			dropped[f.Position] = true
		}
	}
	return parked, dropped, err
}

// park sets an event aside: with the error that it caused, or without one
// behind an event of its stream that is parked already.
func (g Group) park(ctx context.Context, tx *sqlx.Tx, e Event, cause error) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	var text *string
	attempts := 0
	if cause != nil {
		s := cause.Error()
		text, attempts = &s, 1
	}
	_, err = tx.ExecContext(ctx, insertLetter,
		id, g.Name, g.Handler, g.Log, e.Position, e.OrganizationID, e.StreamType, e.Stream, e.Type, text, attempts)
	if err != nil {
		return fmt.Errorf("park event %d of %s: %w", e.Position, g.Log, err)
	}
	return nil
}

// HeldError is what Apply returns where no event of the page can be applied by this program, whatever they say:
// nothing is parked, and the page is tried again, also by another program.
type HeldError struct{ Err error }

func (e *HeldError) Error() string { return e.Err.Error() }
func (e *HeldError) Unwrap() error { return e.Err }

// poisonError marks an error as caused by the events themselves.
type poisonError struct{ cause error }

func (e *poisonError) Error() string { return e.cause.Error() }
func (e *poisonError) Unwrap() error { return e.cause }

func isPoison(err error) bool {
	var p *poisonError
	return errors.As(err, &p)
}

// blamesEvent tells whether an error on a connection that still works was
// caused by the event. A lack of resources, a conflict, a shutdown or a schema
// that does not fit the code would fail any event: parking on those would empty
// the log into the dead letters.
func blamesEvent(err error) bool {
	var held *HeldError
	if errors.As(err, &held) {
		return false
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || len(pg.Code) != 5 {
		return true
	}
	switch pg.Code[:2] {
	case "08", "0A", "25", "26", "28", "3B", "3F", "40", "42", "53", "55", "57", "58", "XX":
		return false
	}
	return true
}
