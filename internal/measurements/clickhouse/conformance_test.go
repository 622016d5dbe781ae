package clickhouse_test

import (
	"context"
	"testing"

	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/measurements/measurementstest"
	"muster/internal/measurements/pgstore"
	"muster/internal/measurements/pgstore/pgstoretest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// TestConformance holds measurements whose blocks are on two shards to the definitions: an eighth of them, because
// pgstore's own tests have all, and ClickHouse computes for 0.1 s for each.
func TestConformance(t *testing.T) {
	t.Parallel()
	measurementstest.RunEach(t, measured, 8)
}

// TestLongConformance has all definitions.
func TestLongConformance(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	measurementstest.Run(t, measured)
}

// TestProperty compares them with a plain reading over raw samples.
func TestProperty(t *testing.T) {
	t.Parallel()
	measurementstest.RunProperty(t, measured)
}

// measured is a store on a ledger and a database of the test's own.
func measured(t testing.TB) measurementstest.Harness {
	ledger := pgtest.DB(t)
	c := clickhousetest.Shared(t)
	store := pgstore.NewOn(ledger, open(t, c.URL(c.Database(t)), ledger, clickhouse.Limits{}), quiet())
	return pgstoretest.Harness(t, ledger, store, func(ctx context.Context) error {
		_, err := store.Roll(ctx)
		return err
	})
}
