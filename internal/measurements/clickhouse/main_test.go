package clickhouse_test

import (
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/blocks/blockstest"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// TestMain has each property tried a few times: reading from blocks gives what pgstore reads,
// whose own tests try more.
func TestMain(m *testing.M) {
	longtest.Checks(2, 100)
	os.Exit(clickhousetest.Run(func() int { return pgtest.Run(m) }))
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// open opens a store in a ledger, closed with the test.
func open(t testing.TB, url string, ledger *sqlx.DB, limits clickhouse.Limits) *clickhouse.Store {
	t.Helper()
	address, err := clickhouse.ParseAddress(url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := clickhouse.Open(t.Context(), address, ledger, quiet(), limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestAStore is on two shards.
func TestAStore(t *testing.T) {
	t.Parallel()
	blockstest.Run(t, func(t testing.TB) blockstest.Backend {
		c := clickhousetest.Shared(t)
		ledger := pgtest.DB(t)
		return blockstest.Backend{Store: open(t, c.URL(c.Database(t)), ledger, clickhouse.Limits{}), Ledger: ledger}
	})
}

func TestLongAStoreOnOneServer(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	blockstest.Run(t, func(t testing.TB) blockstest.Backend {
		c := clickhousetest.Shared(t)
		ledger := pgtest.DB(t)
		return blockstest.Backend{Store: open(t, c.Servers[0].URL(c.Database(t)), ledger, clickhouse.Limits{}), Ledger: ledger}
	})
}
