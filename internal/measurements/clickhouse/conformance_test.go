package clickhouse_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/measurements/measurementstest"
	"muster/internal/measurements/pgstore"
	"muster/internal/pgtest"
)

// TestConformance holds measurements whose blocks are on two shards to the definitions.
func TestConformance(t *testing.T) {
	t.Parallel()
	measurementstest.Run(t, measured)
}

// TestProperty compares them with a plain reading over raw samples.
func TestProperty(t *testing.T) {
	t.Parallel()
	measurementstest.RunProperty(t, measured)
}

// measured is a store on a ledger and a database of the test's own, whose time passes when
// it is told. What is rolled up is put into blocks every other time, so that the head and
// blocks have some of the same hours.
func measured(t testing.TB) measurementstest.Harness {
	ledger := pgtest.DB(t)
	c := clickhousetest.Shared(t)
	store := pgstore.NewOn(ledger, open(t, c.URL(c.Database(t)), ledger, clickhouse.Limits{}), quiet())
	if _, err := ledger.ExecContext(t.Context(), `INSERT INTO intake_presence (seen_at, back_at) VALUES (now(), now() - interval '7 hours')`); err != nil {
		t.Fatal(err)
	}
	store.KeepsTexts = func(context.Context, *sqlx.Tx, uuid.UUID) (bool, error) { return true, nil }
	turn := 0
	age := func(ctx context.Context, by time.Duration) error {
		_, err := ledger.ExecContext(ctx, `WITH held AS (UPDATE statement_turns SET held_until = held_until - make_interval(secs => $1))
			UPDATE measured_hours SET arrived_at = arrived_at - make_interval(secs => $1)`, by.Seconds())
		return err
	}
	return measurementstest.Harness{
		Store: store,
		Roll: func(ctx context.Context) error {
			if _, err := store.Roll(ctx); err != nil {
				return err
			}
			if turn++; turn%2 == 0 {
				return nil
			}
			if _, err := ledger.ExecContext(ctx, `UPDATE measured_hours SET arrived_at = arrived_at - interval '11 minutes'`); err != nil {
				return err
			}
			if _, err := store.Compact(ctx); err != nil {
				return err
			}
			_, err := ledger.ExecContext(ctx, `UPDATE measured_hours SET arrived_at = arrived_at + interval '11 minutes'`)
			return err
		},
		Age: age,
		Seal: func(ctx context.Context) error {
			_, err := store.Seal(ctx)
			return err
		},
	}
}
