package pgstore_test

import (
	"context"
	"log/slog"
	"testing"

	"muster/internal/measurements/measurementstest"
	"muster/internal/measurements/pgstore"
	"muster/internal/measurements/pgstore/pgstoretest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// TestConformance holds the store to the definitions where it reads the series, as of a small organization.
func TestConformance(t *testing.T) {
	t.Parallel()
	measurementstest.Run(t, func(t testing.TB) measurementstest.Harness {
		db := pgtest.DB(t)
		store := pgstore.New(db, slog.New(slog.DiscardHandler))
		return pgstoretest.Harness(t, db, store, func(ctx context.Context) error {
			_, err := store.Roll(ctx)
			return err
		})
	})
}

// TestLongConformance holds rows of whole organizations to them. make test has TestAWholeEqualsItsSeries and
// TestProperty of those: to make the rows takes as long as to roll up.
func TestLongConformance(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	measurementstest.Run(t, open)
}

// open is a store on a database of the test's own, with rows of whole organizations.
func open(t testing.TB) measurementstest.Harness {
	db := pgtest.DB(t)
	store := pgstore.New(db, slog.New(slog.DiscardHandler)).Small()
	return pgstoretest.Harness(t, db, store, store.Settle)
}

// TestProperty compares the store with a plain reading over raw samples.
func TestProperty(t *testing.T) {
	t.Parallel()
	measurementstest.RunProperty(t, open)
}
