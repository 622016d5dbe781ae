package topic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// Errors of the dead letters.
var (
	// ErrNoLetter: this organization has no dead letter of that id.
	ErrNoLetter = errors.New("no such dead letter")
	// ErrForeignGroup: another version of the program owns the letter's group,
	// and only that version can apply the event.
	ErrForeignGroup = errors.New("the dead letter belongs to another version of its projection")
)

// MissingEventError says that the letter's event has been deleted from its log.
type MissingEventError struct {
	Log      eventstore.Log
	Position int64
}

func (e *MissingEventError) Error() string {
	return fmt.Sprintf("event %d of log %s is not there any more", e.Position, e.Log)
}

// Letter is an event that was set aside because it could not be applied.
type Letter struct {
	ID             uuid.UUID      `db:"id"`
	Group          string         `db:"consumer_group"`
	Handler        string         `db:"handler"`
	Log            eventstore.Log `db:"log"`
	Position       int64          `db:"position"`
	OrganizationID uuid.UUID      `db:"organization_id"`
	StreamType     string         `db:"stream_type"`
	Stream         uuid.UUID      `db:"stream_id"`
	EventType      string         `db:"event_type"`
	Error          string         `db:"error"`
	Attempts       int            `db:"attempts"`
	ParkedAt       time.Time      `db:"parked_at"`
	Waiting        int64          `db:"waiting"` // later events of the stream, waiting behind this one
}

// Replay is what came of a retry or a drop.
type Replay struct {
	Applied int    // events applied
	Waiting int64  // events still set aside
	Error   string // why the first of them still fails; empty where none waits
}

// DeadLetters shows what was set aside and lets operators retry or drop it. A
// zero organization in its methods means all of them.
type DeadLetters struct {
	db    *sqlx.DB
	group func(name string, log eventstore.Log) (Group, bool)
}

// NewDeadLetters returns the dead letters on db; group finds the group that can
// apply a letter's events.
func NewDeadLetters(db *sqlx.DB, group func(name string, log eventstore.Log) (Group, bool)) *DeadLetters {
	return &DeadLetters{db: db, group: group}
}

// List returns the failing events, newest first, at most limit; the ones that
// only wait behind another are counted on it. It starts after the given id,
// uuid.Nil for the newest.
func (d *DeadLetters) List(ctx context.Context, organization, after uuid.UUID, limit int) ([]Letter, error) {
	return statement.All[Letter](ctx, d.db, "list dead letters", selectLetters+`
  AND ($2 = '00000000-0000-0000-0000-000000000000'::uuid OR d.id < $2)
ORDER BY d.id DESC LIMIT $3`, organization, after, limit)
}

// Show returns one failing event with its content.
func (d *DeadLetters) Show(ctx context.Context, organization, id uuid.UUID) (Letter, eventstore.Event, error) {
	l, ok, err := statement.Find[Letter](ctx, d.db, "show dead letter", selectLetters+` AND d.id = $2`, organization, id)
	if err != nil {
		return Letter{}, eventstore.Event{}, err
	}
	if !ok {
		return Letter{}, eventstore.Event{}, ErrNoLetter
	}
	events, err := readPage(ctx, d.db, l.Log, selectRange, l.Log, l.Position-1, l.Position, 1)
	if err != nil {
		return l, eventstore.Event{}, fmt.Errorf("read dead letter's event: %w", err)
	}
	if len(events) == 0 {
		return l, eventstore.Event{}, &MissingEventError{Log: l.Log, Position: l.Position}
	}
	return l, events[0], nil
}

// Retry applies the letter's event and those that wait behind it, in order, up
// to the first that still fails.
func (d *DeadLetters) Retry(ctx context.Context, organization, id uuid.UUID) (Replay, error) {
	l, _, err := d.Show(ctx, organization, id)
	if err != nil {
		return Replay{}, err
	}
	g, ok := d.group(l.Group, l.Log)
	if !ok {
		return Replay{}, ErrForeignGroup
	}
	var replay Replay
	err = d.inTx(ctx, func(tx *sqlx.Tx) error {
		replay, err = g.replay(ctx, tx, l.Stream)
		return err
	})
	return replay, err
}

// Drop leaves the letter's event out for good, in every group of its handler
// and in later rebuilds, and applies what waited behind it.
func (d *DeadLetters) Drop(ctx context.Context, organization, id uuid.UUID) (Replay, error) {
	l, _, err := d.Show(ctx, organization, id)
	if err != nil {
		return Replay{}, err
	}
	var replay Replay
	err = d.inTx(ctx, func(tx *sqlx.Tx) error {
		replay, err = d.drop(ctx, tx, l)
		return err
	})
	return replay, err
}

func (d *DeadLetters) drop(ctx context.Context, tx *sqlx.Tx, l Letter) (replay Replay, err error) {
	// All groups of the handler stand still from here, so that none can park the
	// event after it was looked for and before the drop is visible.
	var groups []string
	err = tx.SelectContext(ctx, &groups, `SELECT consumer_group FROM checkpoints
WHERE handler = $1 AND log = $2 ORDER BY consumer_group FOR UPDATE`, l.Handler, l.Log)
	if err != nil {
		return replay, err
	}
	// The previous holder of the lock may have retried the letter with success: an applied
	// event must not be left out of the next generation.
	var waits bool
	err = tx.GetContext(ctx, &waits, `SELECT EXISTS (SELECT FROM dead_letters WHERE id = $1)`, l.ID)
	if err != nil {
		return replay, err
	}
	if !waits {
		return replay, ErrNoLetter
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO dropped_events (handler, log, position) VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING`, l.Handler, l.Log, l.Position)
	if err != nil {
		return replay, err
	}
	for _, name := range groups {
		g, ok := d.group(name, l.Log)
		if !ok {
			continue // the version that owns it finds the drop at its next retry
		}
		r, err := g.replay(ctx, tx, l.Stream)
		if err != nil {
			return replay, err
		}
		if name == l.Group {
			replay = r
		}
	}
	return replay, nil
}

func (d *DeadLetters) inTx(ctx context.Context, work func(tx *sqlx.Tx) error) error {
	err := transact.Once(ctx, d.db, nil, func(tx *sqlx.Tx) error {
		if err := work(tx); err != nil {
			return err
		}
		// A group's Apply may have said that its commit need not wait for the disk: a page
		// comes again after a crash, but an operator's decision does not.
		_, err := tx.ExecContext(ctx, `SET LOCAL synchronous_commit TO DEFAULT`)
		return err
	})
	if err != nil {
		return fmt.Errorf("replay dead letter: %w", err)
	}
	return nil
}

// replay applies a parked stream in order, up to the first event that still
// fails. Dropped ones are passed over.
func (g Group) replay(ctx context.Context, tx *sqlx.Tx, stream uuid.UUID) (r Replay, err error) {
	if err := g.touch(ctx, tx); err != nil {
		return r, err
	}
	for r.Error == "" {
		events, err := readPage(ctx, tx, g.Log, selectParked, g.Name, g.Log, stream, g.PageSize)
		if err != nil {
			return r, err
		}
		if len(events) == 0 {
			break
		}
		if err := g.replayPage(ctx, tx, g.decode(events), &r); err != nil {
			return r, err
		}
	}
	err = tx.GetContext(ctx, &r.Waiting, `SELECT count(*) FROM dead_letters
WHERE consumer_group = $1 AND log = $2 AND stream_id = $3`, g.Name, g.Log, stream)
	return r, err
}

func (g Group) replayPage(ctx context.Context, tx *sqlx.Tx, events []Event, r *Replay) error {
	_, dropped, err := g.exceptions(ctx, tx, events)
	if err != nil {
		return err
	}
	for i, e := range events {
		if !dropped[e.Position] {
			err := g.attempt(ctx, tx, events[i:i+1])
			if isPoison(err) {
				r.Error = err.Error()
				_, err = tx.ExecContext(ctx, `UPDATE dead_letters SET error = $1, attempts = attempts + 1
WHERE consumer_group = $2 AND log = $3 AND position = $4`, r.Error, g.Name, g.Log, e.Position)
				return err
			}
			if err != nil {
				return err
			}
			r.Applied++
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM dead_letters
WHERE consumer_group = $1 AND log = $2 AND position = $3`, g.Name, g.Log, e.Position)
		if err != nil {
			return err
		}
	}
	return nil
}
