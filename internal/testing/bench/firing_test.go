package bench_test

import (
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/eventstore"
	"muster/internal/postgres"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/pgtest"
)

// firing is how many alerts fire, all day.
const firing = 1000

// hours are of the simulated day; MUSTER_BENCH_HOURS makes it shorter for a quick look.
func hours(b *testing.B) int {
	b.Helper()
	if n, err := strconv.Atoi(os.Getenv("MUSTER_BENCH_HOURS")); err == nil && n > 0 {
		return n
	}
	return 24
}

// BenchmarkDayOfFiring: a thousand alerts fire for a day, and their agent says so
// every minute, in one call, with a description that changes every minute, as one
// with a measured value in it does; then it falls silent, and they end. Reported is
// what that leaves in the log, what it leaves beside it, and what it writes ahead.
// Goals of a whole day: ≤ 60 MB of log, ≤ 450 MB written ahead.
func BenchmarkDayOfFiring(b *testing.B) {
	for b.Loop() {
		d := newDay(b)
		before := d.sizes()
		begin := time.Now()
		var calls []time.Duration
		for range 60 * hours(b) {
			start := time.Now()
			d.minute()
			calls = append(calls, time.Since(start))
		}
		took := time.Since(begin)
		d.silence()
		after := d.sizes()
		b.ReportMetric(megabytes(after.Log-before.Log), "log-MB")
		b.ReportMetric(megabytes(after.Rows-before.Rows), "rows-MB")
		b.ReportMetric(float64(after.Events-before.Events), "events")
		b.ReportMetric(megabytes(after.Beside-before.Beside), "beside-MB")
		b.ReportMetric(megabytes(after.WAL-before.WAL), "wal-MB")
		b.ReportMetric(quantile(calls, 0.5), "call-p50-ms")
		b.ReportMetric(quantile(calls, 0.95), "call-p95-ms")
		b.ReportMetric(took.Seconds(), "seconds")
	}
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

// day is a simulated day of one organization.
type day struct {
	b        *testing.B
	db       *sqlx.DB
	clock    *clocktest.Clock
	commands *commands.Service
	agent    usecase.Actor
	start    time.Time
	servers  []uuid.UUID
}

func newDay(b *testing.B) *day {
	b.Helper()
	db := pgtest.Connect(b, pgtest.Cluster(b, pgtest.Options{Fsync: true}).Superuser())
	if err := postgres.Migrate(b.Context(), db, slog.New(slog.DiscardHandler)); err != nil {
		b.Fatal(err)
	}
	d := &day{
		b: b, db: db, start: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC),
		agent: usecase.Actor{OrganizationID: uuid.New(), Component: "ingest", RequestID: uuid.NewString()},
	}
	d.clock = clocktest.At(d.start)
	d.commands = commands.New(usecase.Base{DB: db, Events: eventstore.New(db).WithClock(d.clock.Now), Now: d.clock.Now}, commands.Needs{})
	for range 100 {
		d.servers = append(d.servers, uuid.New())
	}
	return d
}

// minute is what Prometheus sends every minute, and the sweep that follows.
func (d *day) minute() {
	d.b.Helper()
	now := d.clock.Now()
	firings := make([]alert.Firing, firing)
	for n := range firings {
		firings[n] = alert.Firing{
			Key: fmt.Sprintf("alertmanager/%016x", n), Title: fmt.Sprintf("High CPU on pg-%03d", n%100),
			Description: fmt.Sprintf("CPU has been above 90 %% for 10 minutes, now at %d.%d %%", 90+now.Minute()%10, n%10),
			Severity:    alert.Warning, Rule: &alert.Rule{ID: "HighCPU", Name: "HighCPU"}, InstanceID: d.servers[n%len(d.servers)],
			StartsAt: d.start, SeenAt: now, EndsAt: now.Add(5 * time.Minute),
		}
	}
	dropped, _, err := d.commands.RecordFirings(d.b.Context(), d.agent, firings)
	if err != nil || dropped > 0 {
		d.b.Fatalf("%d firings are dropped, %v", dropped, err)
	}
	if ended := d.sweep(); ended > 0 {
		d.b.Fatalf("%d alerts ended that fire", ended)
	}
	d.db.MustExec(`VACUUM alert_last_seen`) // as autovacuum does, which has no minute between two of ours
	d.clock.Advance(time.Minute)
}

// silence lets all alerts end.
func (d *day) silence() {
	d.b.Helper()
	d.clock.Advance(10 * time.Minute)
	if ended := d.sweep(); ended != firing {
		d.b.Fatalf("%d alerts ended, not %d", ended, firing)
	}
}

func (d *day) sweep() int {
	d.b.Helper()
	ended, _, err := d.commands.EndFirings(d.b.Context(), 2*firing)
	if err != nil {
		d.b.Fatal(err)
	}
	return ended
}

// sizes are in bytes, but for the number of events.
type sizes struct {
	Log    int64 `db:"log"`    // events with its indexes, and what the log keeps of streams and keys
	Rows   int64 `db:"rows"`   // the events alone
	Beside int64 `db:"beside"` // alert_last_seen with its indexes
	WAL    int64 `db:"wal"`    // position in the write-ahead log
	Events int64 `db:"events"`
}

func (d *day) sizes() (s sizes) {
	d.b.Helper()
	err := d.db.Get(&s, `SELECT pg_total_relation_size('events') + pg_total_relation_size('streams') + pg_total_relation_size('stream_keys') AS log,
       coalesce(sum(pg_column_size(e.*)), 0)::bigint AS rows, pg_total_relation_size('alert_last_seen') AS beside,
       pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint AS wal, count(*) AS events
FROM events e`)
	if err != nil {
		d.b.Fatal(err)
	}
	return s
}
