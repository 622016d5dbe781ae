package projections

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/eventstore/topic"
	"muster/internal/postgres/statement"
)

// Event is an event with the fact that Projection.Decode makes of it.
type Event = topic.Event

// Decode turns a recorded event into the domain's, as eventstore.Registry does.
type Decode func(eventstore.Event) (any, error)

// SortedIDs returns the keys in order, so that two writers meet rows in the same one.
func SortedIDs[V any](rows map[uuid.UUID]V) []uuid.UUID {
	return slices.SortedFunc(maps.Keys(rows), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
}

// Fact decodes an event that must belong to a domain; what names its subject in the error ("an
// alert").
func Fact[E any](decode Decode, e eventstore.Event, about string) (fact E, err error) {
	decoded, err := decode(e)
	if err != nil {
		return fact, err
	}
	fact, ok := decoded.(E)
	if !ok {
		return fact, fmt.Errorf("%s is no event of %s but %T", e.Type, about, decoded)
	}
	return fact, nil
}

// Streams is the Decode of a projection of one type of stream, whose facts are E. about is
// for the error ("a schedule").
func Streams[E any](decode Decode, streamType, about string) Decode {
	return func(e eventstore.Event) (any, error) {
		if e.StreamType != streamType {
			return nil, nil
		}
		return Fact[E](decode, e, about)
	}
}

// OneByOne is the Apply of a projection whose events are few: it writes the facts that
// Decode gave, one after the other. doing is for the error ("write schedule").
func OneByOne[F any](doing string, write func(context.Context, *sqlx.Tx, eventstore.Event, F) error) func(context.Context, *sqlx.Tx, []Event) error {
	return func(ctx context.Context, tx *sqlx.Tx, events []Event) error {
		for _, e := range events {
			if e.Fact == nil {
				continue
			}
			if err := write(ctx, tx, e.Event, e.Fact.(F)); err != nil {
				return fmt.Errorf("%s %s: %w", doing, e.Stream, err)
			}
		}
		return nil
	}
}

// UnknownStream is the error of an event of something whose first event is not known,
// because it was dropped.
func UnknownStream(e eventstore.Event) error {
	return fmt.Errorf("%s %s is not known", e.StreamType, e.Stream)
}

// copiedAtOnce is from how many rows on COPY pays.
const copiedAtOnce = 40

// Write stores what a page made of a table's rows: those that it added, and those that it
// found and changed. The statement, upsert, takes an array for each field of R, whose db
// tags name its column.
func Write[R any](ctx context.Context, tx *sqlx.Tx, table, upsert string, added, changed []R) error {
	if len(added) < copiedAtOnce {
		changed, added = append(changed, added...), nil
	}
	if len(added) > 0 {
		if err := statement.Copy(ctx, tx, "add "+table, table, added); err != nil {
			return err
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return statement.Exec(ctx, tx, "write "+table, upsert, statement.Columns(changed)...)
}

// Tally says how many of some rows each counter counts.
func Tally[C comparable, R any](rows map[uuid.UUID]R, counter func(R) C) map[C]int64 {
	counts := make(map[C]int64)
	for _, row := range rows {
		counts[counter(row)]++
	}
	return counts
}

// Count writes by how much a page moved each counter: the statement takes an array
// for each field of C, and one of the differences. Of those that went down forget
// takes the same arrays, and deletes what has come to nothing, so that two generations
// hold the same rows however their pages were cut.
func Count[C comparable](ctx context.Context, tx *sqlx.Tx, what, query, forget string, before, after map[C]int64) error {
	delta := after
	for c, n := range before {
		delta[c] -= n
	}
	var counters, fewer []C
	var numbers []int64
	for c, n := range delta {
		if n == 0 {
			continue
		}
		if n < 0 {
			fewer = append(fewer, c)
		}
		counters, numbers = append(counters, c), append(numbers, n)
	}
	if len(numbers) == 0 {
		return nil
	}
	err := statement.Exec(ctx, tx, what, query, append(statement.Columns(counters), numbers)...)
	if err != nil || len(fewer) == 0 {
		return err
	}
	return statement.Exec(ctx, tx, "forget counts of nothing", forget, statement.Columns(fewer)...)
}
