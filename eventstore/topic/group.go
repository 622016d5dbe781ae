package topic

import (
	"context"

	"github.com/jmoiron/sqlx"

	"muster/eventstore"
)

// Apply writes the effect of some events of one log, in order of position. It
// runs inside the group's transaction and under a savepoint; it must write
// through tx only and keep nothing between calls, because the same events come
// again after a failure.
type Apply func(ctx context.Context, tx *sqlx.Tx, events []Event) error

// Group is a consumer group: one reader of one log with a checkpoint row of its
// own, which AddGroup makes.
type Group struct {
	// Name keys the checkpoint and the dead letters.
	Name string
	// Handler is the name under which dropped events are remembered; groups
	// that succeed one another share it.
	Handler string
	Log     eventstore.Log
	// Follow is a group that this one never overtakes; empty: none.
	Follow   string
	PageSize int // the most events applied at once
	// Decode makes the Fact of an event; nil: it has none. Several run at once, and
	// what fails here is that event's fault.
	Decode func(eventstore.Event) (any, error)
	Apply  Apply
}

// AddGroup makes the group's checkpoint at the beginning of the log.
func AddGroup(ctx context.Context, tx sqlx.ExecerContext, group, handler string, log eventstore.Log) error {
	_, err := tx.ExecContext(ctx,
		`INSERT INTO checkpoints (consumer_group, handler, log) VALUES ($1, $2, $3)`, group, handler, log)
	return err
}

// RemoveGroup forgets a group's checkpoints and dead letters; a subscriber that
// is still running for it finds nothing to do from then on.
func RemoveGroup(ctx context.Context, tx sqlx.ExecerContext, group string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM checkpoints WHERE consumer_group = $1`, group); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM dead_letters WHERE consumer_group = $1`, group)
	return err
}

// Lock takes the group's checkpoint and returns its position: from here to the end of the
// transaction no other transaction applies events to the group.
func (g Group) Lock(ctx context.Context, tx *sqlx.Tx) (position int64, err error) {
	err = tx.GetContext(ctx, &position, `SELECT position FROM checkpoints WHERE consumer_group = $1 AND log = $2 FOR UPDATE`, g.Name, g.Log)
	return position, err
}

// touch takes the group's checkpoint by writing it unchanged. A transaction that read the dead
// letters in an earlier snapshot, as a comparison of two generations does, then gets 40001 from
// Lock instead of parking behind letters that have gone.
func (g Group) touch(ctx context.Context, tx *sqlx.Tx) error {
	var position int64
	return tx.GetContext(ctx, &position, `UPDATE checkpoints SET position = position
WHERE consumer_group = $1 AND log = $2 RETURNING position`, g.Name, g.Log)
}

// Advance applies everything up to and including the position in the caller's
// transaction.
func (g Group) Advance(ctx context.Context, tx *sqlx.Tx, upTo int64) error {
	position, err := g.Lock(ctx, tx)
	if err != nil {
		return err
	}
	for position < upTo {
		events, err := readPage(ctx, tx, g.Log, selectRange, g.Log, position, upTo, g.PageSize)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			return nil
		}
		if err := g.deliver(ctx, tx, g.decode(events)); err != nil {
			return err
		}
		position = events[len(events)-1].Position
		if _, err := tx.ExecContext(ctx, moveCheckpoint, position, g.Name, g.Log); err != nil {
			return err
		}
	}
	return nil
}

// readPage reads the events that a statement returns as one array of bytes.
func readPage(ctx context.Context, q sqlx.QueryerContext, log eventstore.Log, query string, args ...any) ([]eventstore.Event, error) {
	var page []byte
	if err := q.QueryRowxContext(ctx, query, args...).Scan(&page); err != nil {
		return nil, err
	}
	return eventstore.DecodeRecords(log, page)
}

const moveCheckpoint = `UPDATE checkpoints SET position = $1, updated_at = now(), last_error = NULL
WHERE consumer_group = $2 AND log = $3`
