package pgstoretest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/measurements"
	"muster/internal/measurements/measurementstest"
	"muster/internal/measurements/pgstore"
	"muster/internal/measurements/pgstore/ledger"
)

const age = `WITH held AS (UPDATE statement_turns SET held_until = held_until - make_interval(secs => $1))
UPDATE measured_hours SET arrived_at = arrived_at - make_interval(secs => $1)`

// silence is how long nothing has come of an hour that is put into blocks, and a bit.
const silence = 11 * time.Minute

// Harness is a store on a ledger of the test's own. Roll rolls up everything that is due.
func Harness(t testing.TB, db *sqlx.DB, store *pgstore.Store, roll func(context.Context) error) measurementstest.Harness {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), `INSERT INTO intake_presence (seen_at, back_at) VALUES (now(), now() - interval '7 hours')`); err != nil {
		t.Fatal(err)
	}
	store.KeepsPeople = func(context.Context, uuid.UUID) (bool, error) { return true, nil }
	store.HoldsPeople = func(context.Context, *sqlx.Tx, uuid.UUID) (bool, error) { return true, nil }
	store.NewNameKey = func() measurements.NameKey { return measurements.NameKey{} } // as the reference
	const long = 4000 * 24 * time.Hour                                               // activity of any time is compared
	kept := ledger.Standard
	kept.Activity = ledger.Buckets{Minutes: long, Hours: long, Days: long}
	store.Retain(kept)
	store.KeepsTexts = func(context.Context, *sqlx.Tx, uuid.UUID) (bool, error) { return true, nil }
	pass := func(ctx context.Context, by time.Duration) error {
		_, err := db.ExecContext(ctx, age, by.Seconds())
		return err
	}
	turn := 0
	return measurementstest.Harness{
		Store: store,
		Roll: func(ctx context.Context) error {
			if err := roll(ctx); err != nil {
				return err
			}
			if turn++; turn%2 == 0 {
				return nil
			}
			if err := pass(ctx, silence); err != nil {
				return err
			}
			if _, err := store.Compact(ctx); err != nil {
				return err
			}
			return pass(ctx, -silence)
		},
		Age: pass,
		Seal: func(ctx context.Context) error {
			_, err := store.Seal(ctx)
			return err
		},
	}
}
