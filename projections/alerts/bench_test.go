package alerts_test

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
	"muster/projections"
	"muster/projections/alerts"
	"muster/projections/fleet"
)

// alertsIn is how many alerts the benchmarks' log holds; MUSTER_BENCH_ALERTS
// makes it smaller for a quick look. The fleet is as large either way.
func alertsIn() int {
	if n, err := strconv.Atoi(os.Getenv("MUSTER_BENCH_ALERTS")); err == nil && n > 0 {
		return n
	}
	return 1_000_000
}

// bench is a year of a fleet of 10,000 instances and 60,000 databases, with its
// read models.
type bench struct {
	*year
	db     *sqlx.DB
	url    string
	runner *projections.Runner
	reader *alerts.Reader
	fleet  *fleet.Reader
}

// newBench starts a server with fsync, plants the log and waits until both read
// models have caught up. What firing alerts have beside the log is planted, too.
func newBench(b *testing.B) *bench {
	b.Helper()
	server := pgtest.Cluster(b, pgtest.Options{Fsync: true, Settings: map[string]string{
		"shared_buffers": "256MB", "max_wal_size": "4GB",
	}})
	x := &bench{url: server.Superuser()}
	x.db = pgtest.Connect(b, x.url)
	if err := postgres.Migrate(b.Context(), x.db, slog.New(slog.DiscardHandler)); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	types := registry(b)
	x.year = newYear(alertsIn())
	if err := x.plant(b.Context(), x.db, types); err != nil {
		b.Fatal(err)
	}
	x.db.MustExec(`VACUUM ANALYZE events`)
	b.Logf("%d events of %d alerts planted in %v", x.events, x.alerts, time.Since(start).Round(time.Second))
	x.runner = projections.NewRunner(x.db, x.url, slog.New(slog.DiscardHandler),
		fleet.Projection(types.Decode), alerts.Projection(types.Decode))
	x.fleet, x.reader = fleet.NewReader(x.db), alerts.NewReader(x.db, eventstore.New(x.db), types.Decode)
	if err := x.runner.Prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	done := make(chan struct{})
	go func() { defer close(done); _ = x.runner.Run(ctx) }()
	b.Cleanup(func() { cancel(); <-done })
	start = time.Now()
	for !x.runner.Wait(b.Context(), eventstore.Fleet, x.events) {
		if b.Context().Err() != nil {
			b.Fatal(b.Context().Err())
		}
	}
	var parked int
	if err := x.db.Get(&parked, `SELECT count(*) FROM dead_letters`); err != nil || parked > 0 {
		b.Fatalf("%d events are parked, %v", parked, err)
	}
	b.Logf("first filling of both: %.0f events/s", float64(x.events)/time.Since(start).Seconds())
	return x
}

// BenchmarkAlerts loads a year once for all its figures. Rebuilding both read
// models at the same time: at least 40,000 events/s. The digest: p95 at most 15 ms.
func BenchmarkAlerts(b *testing.B) {
	x := newBench(b)
	// Not in a sub-benchmark, which would be run twice.
	rebuilt := []struct {
		name string
		rate float64
	}{
		{"rebuild=fleet", x.rebuild(b, fleet.Name)},
		{"rebuild=alerts", x.rebuild(b, alerts.Name)},
		{"rebuild=both", x.rebuild(b, fleet.Name, alerts.Name)},
	}
	for _, r := range rebuilt {
		b.Run(r.name, func(b *testing.B) { b.ReportMetric(r.rate, "events/s") })
	}
	x.db.MustExec(`VACUUM ANALYZE`) // as autovacuum would have, in a year
	b.Run("digest=24h", x.digest(24*time.Hour, 0))
	b.Run("digest=24h,instances=10", x.digest(24*time.Hour, 10))
	b.Run("digest=30d", x.digest(30*24*time.Hour, 0))
	b.Run("digest=30d,instances=10", x.digest(30*24*time.Hour, 10))
	x.counts(b)
}

// rebuild rebuilds projections at the same time and returns how many events of
// the log were behind all of them in a second: an event that two of them pass is
// one.
func (x *bench) rebuild(b *testing.B, names ...string) float64 {
	b.Helper()
	start := time.Now()
	var all errgroup.Group
	for _, name := range names {
		all.Go(func() error {
			_, err := x.runner.Rebuild(b.Context(), name, projections.RebuildOptions{StopOnDifference: true}, nil)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		b.Fatal(err)
	}
	took := time.Since(start)
	b.Logf("%v rebuilt in %v", names, took.Round(time.Millisecond))
	return float64(x.events) / took.Seconds()
}

// digest reads the latest ten alerts of the organization, or of some instances.
func (x *bench) digest(window time.Duration, instances int) func(*testing.B) {
	return func(b *testing.B) {
		n := 0
		x.latency(b, func() error {
			n++
			rows, total, err := x.reader.Page(b.Context(), alerts.Query{
				Organization: x.organization, Scope: x.scope(n, instances), From: x.now.Add(-window),
				Order: alerts.ByLastTriggered, Descending: true, Page: 1, Size: 10,
			})
			if err == nil && int64(len(rows)) != min(total, 10) {
				b.Fatalf("%d rows of %d", len(rows), total)
			}
			return err
		})
	}
}

// scope is some instances, others for each n; with none the organization.
func (x *bench) scope(n, instances int) (s domain.Scope) {
	for i := range instances {
		s.Filtered = true
		s.Instances = append(s.Instances, x.instances[(n*instances+i)%len(x.instances)])
	}
	return s
}

// latency reports how long a read takes.
func (x *bench) latency(b *testing.B, read func() error) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if err := read(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	b.ReportMetric(quantile(took, 0.5), "p50-ms")
	b.ReportMetric(quantile(took, 0.95), "p95-ms")
}

func quantile(d []time.Duration, q float64) float64 {
	slices.Sort(d)
	return float64(d[int(q*float64(len(d)-1))].Microseconds()) / 1000
}
