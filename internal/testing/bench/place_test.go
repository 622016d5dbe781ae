package bench_test

import (
	"cmp"
	"log/slog"
	"os"
	"testing"

	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/measurements/pgstore"
)

// measurementsURL is where measurements are to be that are over; "": in PostgreSQL.
const measurementsURL = "MUSTER_MEASUREMENTS_URL"

// measurementsPlace is what the environment says of it. MUSTER_BENCH_CLICKHOUSE is how
// many shards on this machine a benchmark starts for itself.
func measurementsPlace(b *testing.B) (address string, own *clickhousetest.Cluster) {
	b.Helper()
	if shards := setting(b, "MUSTER_BENCH_CLICKHOUSE", 0); shards > 0 {
		own = clickhousetest.Start(b, clickhousetest.Options{Shards: shards, Replicas: 1})
		return own.URL("measured"), own
	}
	return os.Getenv(measurementsURL), nil
}

// measurementsIn names the engine.
func measurementsIn() string {
	if cmp.Or(os.Getenv(measurementsURL), os.Getenv("MUSTER_BENCH_CLICKHOUSE")) == "" {
		return "PostgreSQL"
	}
	return "ClickHouse"
}

// openStore opens the store that serve has, for whoever writes past it.
func openStore(b *testing.B, db *sqlx.DB, place string) *pgstore.Store {
	b.Helper()
	log := slog.New(slog.DiscardHandler)
	if place == "" {
		return pgstore.New(db, log)
	}
	address, err := clickhouse.ParseAddress(place)
	if err != nil {
		b.Fatal(err)
	}
	kept, err := clickhouse.Open(b.Context(), address, db, log, clickhouse.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(kept.Close)
	return pgstore.NewOn(db, kept, log)
}

// diskElsewhere is what the benchmark's own ClickHouse has on disk.
func (p *program) diskElsewhere() (bytes int64) {
	p.b.Helper()
	if p.clickhouse == nil {
		return 0
	}
	for _, s := range p.clickhouse.Servers {
		bytes += int64(s.Number(p.b, "SELECT toUInt64(sum(bytes_on_disk)) FROM system.parts WHERE active AND database = 'measured'"))
	}
	return bytes
}
