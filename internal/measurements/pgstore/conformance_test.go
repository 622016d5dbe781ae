package pgstore_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/measurementstest"
	"muster/internal/measurements/pgstore"
	"muster/internal/pgtest"
)

// TestConformance holds the store to the definitions.
func TestConformance(t *testing.T) {
	t.Parallel()
	measurementstest.Run(t, open)
}

// open is a store on a database of the test's own, whose time passes when it is told.
func open(t testing.TB) measurementstest.Harness {
	db := pgtest.DB(t)
	store, turn := pgstore.New(db, slog.New(slog.DiscardHandler)).Small(), 0
	if _, err := db.ExecContext(t.Context(), `INSERT INTO intake_presence (seen_at, back_at) VALUES (now(), now() - interval '7 hours')`); err != nil {
		t.Fatal(err)
	}
	store.KeepsTexts = func(context.Context, *sqlx.Tx, uuid.UUID) (bool, error) { return true, nil }
	return measurementstest.Harness{
		Store: store,
		Roll: func(ctx context.Context) error {
			if err := store.Settle(ctx); err != nil {
				return err
			}
			// What is over may be in blocks or not.
			if turn++; turn%2 == 0 {
				return nil
			}
			if _, err := db.ExecContext(ctx, `UPDATE measured_hours SET arrived_at = arrived_at - interval '11 minutes'`); err != nil {
				return err
			}
			if _, err := store.Compact(ctx); err != nil {
				return err
			}
			_, err := db.ExecContext(ctx, `UPDATE measured_hours SET arrived_at = arrived_at + interval '11 minutes'`)
			return err
		},
		Age: func(ctx context.Context, by time.Duration) error {
			_, err := db.ExecContext(ctx, `WITH held AS (UPDATE statement_turns SET held_until = held_until - make_interval(secs => $1))
				UPDATE measured_hours SET arrived_at = arrived_at - make_interval(secs => $1)`, by.Seconds())
			return err
		},
		Seal: func(ctx context.Context) error {
			_, err := store.Seal(ctx)
			return err
		},
	}
}

// TestProperty compares the store with a plain reading over raw samples.
func TestProperty(t *testing.T) {
	t.Parallel()
	measurementstest.RunProperty(t, open)
}
