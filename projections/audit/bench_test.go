package audit_test

import (
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/eventstore"
	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
	"muster/projections"
	"muster/projections/audit"
	"muster/projections/projectionstest"
)

// alarms is how many events of alerts the fleet's log holds;
// MUSTER_BENCH_ALERTS makes it smaller for a quick look.
func alarms(b *testing.B) int {
	b.Helper()
	if n, err := strconv.Atoi(os.Getenv("MUSTER_BENCH_ALERTS")); err == nil && n > 0 {
		return n
	}
	return 500_000
}

// plantAlarms fills the fleet's log with what machines say, and every thousandth
// event is a person's. The chain is left empty, which no projection looks at.
const plantAlarms = `INSERT INTO events
SELECT 'fleet', n, $1, 'alert', ('0199' || lpad(to_hex(n / 4), 8, '0') || '700080000000' || lpad(to_hex(n / 4), 8, '0'))::uuid,
       n % 4 + 1, (ARRAY['alert.raised', 'alert.triggered_again', 'alert.still_firing', 'alert.auto_resolved'])[n % 4 + 1], 1, now(), now(),
       convert_to(format('{"key":"alertmanager/%s","title":"HighCPU on db-%s","description":"%s","severity":"warning","rule":{"id":"HighCPU","name":"HighCPU"},"createdAt":"2026-11-20T10:00:00Z","firstTriggeredAt":"2026-11-20T10:00:00Z","lastTriggeredAt":"2026-11-20T10:00:00Z"}',
           left(md5(n::text), 16), n % 10000, repeat('text ', 20)), 'UTF8'),
       convert_to(format('{"actorId":"%s","requestId":"%s","correlationId":"%s"}',
           CASE WHEN n % 1000 = 0 THEN gen_random_uuid()::text ELSE 'system:ingest' END, gen_random_uuid(), gen_random_uuid()), 'UTF8'),
       '', ''
FROM generate_series(1, $2::int) n`

// BenchmarkPassingMachines is what a flood of machines' events costs the audit
// list: passing over a page by itself, and filling a generation with it, page by
// page out of PostgreSQL, and comparing. Goal of the first: ≥ 300,000 events/s.
func BenchmarkPassingMachines(b *testing.B) {
	b.Run("a page", func(b *testing.B) {
		page := make([]projections.Event, 1000)
		for i := range page {
			page[i].Event = eventstore.Event{Log: eventstore.Fleet, Position: int64(i + 1), Type: "alert.still_firing", Metadata: []byte(
				`{"actorId":"system:ingest","requestId":"` + uuid.NewString() + `","correlationId":"` + uuid.NewString() + `"}`)}
		}
		apply, start := audit.Projection().Apply, time.Now()
		for b.Loop() {
			if err := apply(b.Context(), nil, page); err != nil { // nothing is written
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N*len(page))/time.Since(start).Seconds(), "events/s")
	})
	b.Run("a rebuild", func(b *testing.B) {
		server, events := pgtest.Cluster(b, pgtest.Options{Fsync: true, Settings: map[string]string{"shared_buffers": "256MB", "max_wal_size": "4GB"}}), alarms(b)
		db := pgtest.Connect(b, server.Superuser())
		if err := postgres.Migrate(b.Context(), db, slog.New(slog.DiscardHandler)); err != nil {
			b.Fatal(err)
		}
		db.MustExec(plantAlarms, uuid.New(), events)
		db.MustExec(`UPDATE log_head SET position = $1 WHERE log = 'fleet'`, events)
		db.MustExec(`VACUUM ANALYZE events`)
		stage := projectionstest.Run(b, db, server.Superuser(), audit.Projection())
		start := time.Now()
		for !stage.Wait(b.Context(), eventstore.Fleet, int64(events)) {
			if b.Context().Err() != nil {
				b.Fatal(b.Context().Err())
			}
		}
		b.Logf("first filling: %.0f events/s", float64(events)/time.Since(start).Seconds())
		for b.Loop() {
			start := time.Now()
			difference, err := stage.Rebuild(b.Context(), audit.Name, projections.RebuildOptions{StopOnDifference: true}, nil)
			if err != nil || !difference.Empty() {
				b.Fatalf("%+v %v", difference, err)
			}
			b.ReportMetric(float64(events)/time.Since(start).Seconds(), "events/s")
		}
	})
}
