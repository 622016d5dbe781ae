package pgstore_test

import (
	"log/slog"
	"testing"

	"muster/internal/measurements/measurementstest"
	"muster/internal/measurements/pgstore"
	"muster/internal/measurements/pgstore/pgstoretest"
	"muster/internal/testing/pgtest"
)

// TestConformance holds the store to the definitions.
func TestConformance(t *testing.T) {
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
