package commands

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

// inTxMarked runs a use case that returns where its write ended up in a transaction of
// its own, and again where another writer came first.
func (s *Service) inTxMarked(ctx context.Context, do func(tx *sqlx.Tx) (Mark, error)) (mark Mark, err error) {
	err = eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) (err error) {
		mark, err = do(tx)
		return err
	})
	return mark, err
}

// newID is a new unique id. It cannot fail: crypto/rand does not fail since Go 1.24.
func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// clock is now in what PostgreSQL keeps: UTC, microseconds.
func (s *Service) clock() time.Time { return instant.Cut(s.Now()) }

// metadata says who caused an event. correlation joins all events of one request of a person;
// cause is the event that led here, zero if there is none.
func (a Actor) metadata(correlation uuid.UUID, cause Mark) eventstore.Metadata {
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

// lockStream makes every other writer of a stream wait until tx ends. The lock
// is a number made from the id: two streams that share one only wait for
// nothing.
func lockStream(ctx context.Context, tx *sqlx.Tx, stream uuid.UUID) error {
	return statement.Exec(ctx, tx, fmt.Sprintf("lock stream %s", stream), `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, stream.String())
}

// stream is what folding needs to append behind what it read.
type stream struct {
	version int64
	last    Mark // where its last event is; zero where there is none
}

// fold applies the events of one stream. A stream that does not exist, or is
// another organization's, has version 0.
func fold[E any](ctx context.Context, s *Service, q sqlx.ExtContext, organization, id uuid.UUID, apply func(event E, at time.Time)) (stream, error) {
	registry, err := ourRegistry()
	if err != nil {
		return stream{}, err
	}
	var last Mark
	version, err := eventstore.Fold(registry, s.Events.Load(ctx, q, organization, id), func(event E, recorded eventstore.Event) {
		apply(event, recorded.OccurredAt)
		last = Mark{Log: recorded.Log, Position: recorded.Position}
	})
	if err != nil {
		return stream{}, fmt.Errorf("load stream %s: %w", id, err)
	}
	return stream{version: version, last: last}, nil
}

// append appends last thing in the transaction.
func (s *Service) append(ctx context.Context, tx *sqlx.Tx, log eventstore.Log, batches ...eventstore.Append) (Mark, error) {
	position, err := s.Events.AppendTx(ctx, tx, log, batches...)
	if err != nil {
		return Mark{}, fmt.Errorf("append to %s: %w", log, err)
	}
	return Mark{Log: log, Position: position}, nil
}

// encodeAll encodes what a decision returned; at is when it was decided.
func encodeAll[E any](at time.Time, events []E) ([]eventstore.NewEvent, error) {
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

// decide folds one aggregate, has choose decide about it, and appends what that returns. before
// runs between the two if there is anything to append, because all other writes of the
// transaction must happen before the log is locked. The caller holds the aggregate's lock.
func decide[F, E any](
	ctx context.Context, s *Service, tx *sqlx.Tx, actor Actor, to streamPlace, apply func(event F, at time.Time),
	choose func(now time.Time) ([]E, error), before func(events []E) error,
) (Mark, error) {
	at, err := fold(ctx, s, tx, actor.OrganizationID, to.id, apply)
	if err != nil {
		return Mark{}, err
	}
	now := s.clock() // one instant for what is decided and for when it happened
	events, err := choose(now)
	if err != nil || len(events) == 0 {
		return Mark{Log: to.log}, refused(err)
	}
	if before != nil {
		if err := before(events); err != nil {
			return Mark{}, err
		}
	}
	return appendAll(ctx, s, tx, actor, to, at, now, events)
}

// streamPlace is where the facts of one aggregate go.
type streamPlace struct {
	log        eventstore.Log
	streamType string
	id         uuid.UUID
}

// appendAll appends what was decided about one aggregate, behind what it was
// folded from; now is when it was decided.
func appendAll[E any](ctx context.Context, s *Service, tx *sqlx.Tx, actor Actor, to streamPlace, at stream, now time.Time, events []E) (Mark, error) {
	batch, err := batchOf(actor, to, at, now, events)
	if err != nil {
		return Mark{}, err
	}
	return s.append(ctx, tx, to.log, batch)
}

// batchOf is what appendAll appends, for who appends to several aggregates at once.
func batchOf[E any](actor Actor, to streamPlace, at stream, now time.Time, events []E) (eventstore.Append, error) {
	encoded, err := encodeAll(now, events)
	return eventstore.Append{
		Organization: actor.OrganizationID, StreamType: to.streamType, Stream: to.id,
		Expected: at.version, Events: encoded, Metadata: actor.metadata(to.id, at.last),
	}, err
}
