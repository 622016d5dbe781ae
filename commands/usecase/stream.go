package usecase

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/instant"
	"muster/eventstore"
	"muster/internal/postgres/statement"
)

// Transact runs a use case that returns where its write ended up in a transaction of
// its own, and again where another writer came first.
func (b *Base) Transact(ctx context.Context, do func(tx *sqlx.Tx) (Mark, error)) (mark Mark, err error) {
	err = eventstore.Transact(ctx, b.DB, func(tx *sqlx.Tx) (err error) {
		mark, err = do(tx)
		return err
	})
	return mark, err
}

// NewID is a new unique id. It cannot fail: crypto/rand does not fail since Go 1.24.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// Clock is now in what PostgreSQL keeps: UTC, microseconds.
func (b *Base) Clock() time.Time { return instant.Cut(b.Now()) }

// Metadata says who caused an event. correlation joins all events of one request of a person;
// cause is the event that led here, zero if there is none.
func (a Actor) Metadata(correlation uuid.UUID, cause Mark) eventstore.Metadata {
	m := eventstore.Metadata{RequestID: a.RequestID, CorrelationID: correlation.String()}
	if cause.Position > 0 {
		m.CausationID = fmt.Sprintf("%s:%d", cause.Log, cause.Position)
	}
	switch {
	case a.MemberID != uuid.Nil:
		m.ActorID = a.MemberID.String()
	case a.Component != "":
		m.ActorID = "system:" + a.Component
	default:
		m.ActorID = "system"
	}
	return m
}

// LockStream makes every other writer of a stream wait until tx ends. The lock
// is a number made from the id: two streams that share one only wait for
// nothing.
func LockStream(ctx context.Context, tx *sqlx.Tx, stream uuid.UUID) error {
	return statement.Exec(ctx, tx, fmt.Sprintf("lock stream %s", stream), `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, stream.String())
}

// Stream is what folding needs to append behind what it read.
type Stream struct {
	Version int64
	Last    Mark // where its last event is; zero where there is none
}

// Fold applies the events of one stream. A stream that does not exist, or is
// another organization's, has version 0.
func Fold[E any](ctx context.Context, b *Base, q sqlx.ExtContext, organization, id uuid.UUID, apply func(event E, at time.Time)) (Stream, error) {
	registry, err := ourRegistry()
	if err != nil {
		return Stream{}, err
	}
	var last Mark
	version, err := eventstore.Fold(registry, b.Events.Load(ctx, q, organization, id), func(event E, recorded eventstore.Event) {
		apply(event, recorded.OccurredAt)
		last = Mark{Log: recorded.Log, Position: recorded.Position}
	})
	if err != nil {
		return Stream{}, fmt.Errorf("load stream %s: %w", id, err)
	}
	return Stream{Version: version, Last: last}, nil
}

// Append appends last thing in the transaction.
func (b *Base) Append(ctx context.Context, tx *sqlx.Tx, log eventstore.Log, batches ...eventstore.Append) (Mark, error) {
	position, err := b.Events.AppendTx(ctx, tx, log, batches...)
	if err != nil {
		return Mark{}, fmt.Errorf("append to %s: %w", log, err)
	}
	return Mark{Log: log, Position: position}, nil
}

// EncodeAll encodes what a decision returned; at is when it was decided.
func EncodeAll[E any](at time.Time, events []E) ([]eventstore.NewEvent, error) {
	registry, err := ourRegistry()
	if err != nil {
		return nil, err
	}
	encoded := make([]eventstore.NewEvent, 0, len(events))
	for _, e := range events {
		n, err := registry.Encode(e)
		if err != nil {
			return nil, err
		}
		n.OccurredAt = at
		encoded = append(encoded, n)
	}
	return encoded, nil
}

// Decide folds one aggregate, has choose decide about it, and appends what that returns. before
// runs between the two if there is anything to append, because all other writes of the
// transaction must happen before the log is locked. The caller holds the aggregate's lock.
func Decide[F, E any](
	ctx context.Context, b *Base, tx *sqlx.Tx, actor Actor, to StreamPlace, apply func(event F, at time.Time),
	choose func(now time.Time) ([]E, error), before func(events []E) error,
) (Mark, error) {
	at, err := Fold(ctx, b, tx, actor.OrganizationID, to.ID, apply)
	if err != nil {
		return Mark{}, err
	}
	now := b.Clock() // one instant for what is decided and for when it happened
	events, err := choose(now)
	if err != nil || len(events) == 0 {
		return Mark{Log: to.Log}, Refused(err)
	}
	if before != nil {
		if err := before(events); err != nil {
			return Mark{}, err
		}
	}
	return AppendAll(ctx, b, tx, actor, to, at, now, events)
}

// StreamPlace is where the facts of one aggregate go.
type StreamPlace struct {
	Log        eventstore.Log
	StreamType string
	ID         uuid.UUID
}

// AppendAll appends what was decided about one aggregate, behind what it was
// folded from; now is when it was decided.
func AppendAll[E any](ctx context.Context, b *Base, tx *sqlx.Tx, actor Actor, to StreamPlace, at Stream, now time.Time, events []E) (Mark, error) {
	batch, err := BatchOf(actor, to, at, now, events)
	if err != nil {
		return Mark{}, err
	}
	return b.Append(ctx, tx, to.Log, batch)
}

// BatchOf is what AppendAll appends, for who appends to several aggregates at once.
func BatchOf[E any](actor Actor, to StreamPlace, at Stream, now time.Time, events []E) (eventstore.Append, error) {
	encoded, err := EncodeAll(now, events)
	return eventstore.Append{
		Organization: actor.OrganizationID, StreamType: to.StreamType, Stream: to.ID,
		Expected: at.Version, Events: encoded, Metadata: actor.Metadata(to.ID, at.Last),
	}, err
}
