package history_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
	"muster/projections"
	"muster/projections/history"
)

// reportsIn is how many reports a benchmark's log holds, four events each;
// MUSTER_BENCH_REPORTS makes it smaller for a quick look.
func reportsIn(b *testing.B, usual int) int {
	if n, err := strconv.Atoi(os.Getenv("MUSTER_BENCH_REPORTS")); err == nil && n > 0 {
		return n
	}
	return usual
}

// plant fills the reports log of one organization; the chain is left empty,
// which no projection looks at.
const plant = `INSERT INTO events
SELECT 'reports', 4 * (r - 1) + v, $1, 'report', ('0199' || lpad(to_hex(r), 8, '0') || '700080000000' || lpad(to_hex(r), 8, '0'))::uuid,
       v, (ARRAY['report.queued', 'report.build_started', 'report.ready', 'report.email_sent'])[v], 1,
       t, t, convert_to(CASE v
         WHEN 1 THEN format('{"kind":%s,"scope":{"instanceIds":[],"databaseId":null,"from":null,"to":null},"scopeLabel":"All active instances","fingerprint":"%s","requesterId":"%s","recipientIds":["%s"]}',
             to_json((ARRAY['Security','InstanceScorecard','DataInventory'])[1 + r % 3]), md5(r::text), m, m)
         WHEN 2 THEN '{"worker":"bench","attempt":1}'
         WHEN 3 THEN format('{"asOf":"%s","inputsSha256":"%s","inputsKey":"inputs/%s","pdfSha256":"%s","pdfKey":"pdf/%s","fileName":"security-2026-11-20.pdf","sizeBytes":412331,"pages":14,"renderer":{"version":"1","commit":"abc","goVersion":"go1.26","assets":"%s"},"witness":{"log":"reports","position":1,"hash":"00"},"recipientIds":["%s"],"retentionSeconds":2592000,"expiresAt":"2999-01-01T00:00:00Z","inputsErasedOn":"2999-01-01T00:00:00Z"}',
             to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), md5(r::text) || md5(r::text), r, md5('p' || r) || md5('q' || r), r, md5('a'), m)
         ELSE format('{"memberId":"%s","messageId":"<%s@muster>","smtpCode":250}', m, r) END, 'UTF8'),
       '{"actorId":"system:worker"}', '', ''
FROM generate_series($2::int, $3::int) r, generate_series(1, 4) v,
     LATERAL (SELECT ('0199000000007000800000000000' || lpad(to_hex(r % 50), 4, '0'))::uuid AS m,
                     timestamptz '2026-01-01' + r * interval '1 second' AS t) x`

type bench struct {
	db     *sqlx.DB
	url    string
	runner *projections.Runner
	reader *history.Reader
	org    uuid.UUID
}

// newBench starts a server with fsync and a log of so many reports, and waits
// until the history has caught up.
func newBench(b *testing.B, reports int) *bench {
	b.Helper()
	server := pgtest.Cluster(b, pgtest.Options{Fsync: true, Settings: map[string]string{
		"shared_buffers": "256MB", "max_wal_size": "4GB",
	}})
	x := &bench{url: server.Superuser(), org: uuid.New()}
	x.db = pgtest.Connect(b, x.url)
	if err := postgres.Migrate(b.Context(), x.db, slog.New(slog.DiscardHandler)); err != nil {
		b.Fatal(err)
	}
	for from := 1; from <= reports; from += 50_000 {
		if _, err := x.db.Exec(plant, x.org, from, min(from+49_999, reports)); err != nil {
			b.Fatal(err)
		}
	}
	x.exec(b, `UPDATE log_head SET position = `+strconv.Itoa(4*reports)+` WHERE log = 'reports'`)
	x.exec(b, `VACUUM ANALYZE events`)
	x.runner = projections.NewRunner(x.db, x.url, slog.New(slog.DiscardHandler), history.Projection(registry(b).Decode))
	x.reader = history.NewReader(x.db)
	if err := x.runner.Prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	done := make(chan struct{})
	go func() { defer close(done); _ = x.runner.Run(ctx) }()
	b.Cleanup(func() { cancel(); <-done })
	start := time.Now()
	for !x.runner.Wait(b.Context(), eventstore.Reports, int64(4*reports)) {
		if b.Context().Err() != nil {
			b.Fatal(b.Context().Err())
		}
	}
	b.Logf("first filling: %.0f events/s", float64(4*reports)/time.Since(start).Seconds())
	return x
}

func (x *bench) exec(b *testing.B, statement string) {
	b.Helper()
	if _, err := x.db.Exec(statement); err != nil {
		b.Fatal(err)
	}
}

func (x *bench) firstPage(b *testing.B) time.Duration {
	start := time.Now()
	rows, total, err := x.reader.Page(b.Context(), history.Query{Organization: x.org, Kinds: []report.Kind{report.Security}, Page: 1, Size: 20}, time.Now())
	if err != nil || len(rows) != 20 || total == 0 {
		b.Fatalf("page of %d rows of %d: %v", len(rows), total, err)
	}
	return time.Since(start)
}

func quantile(d []time.Duration, q float64) float64 {
	slices.Sort(d)
	return float64(d[int(q*float64(len(d)-1))].Microseconds()) / 1000
}

// BenchmarkRebuild: at least 50,000 events/s, a page meanwhile p95 at most 20 ms.
func BenchmarkRebuild(b *testing.B) {
	reports := reportsIn(b, 250_000)
	x := newBench(b, reports)
	for b.Loop() {
		var pages []time.Duration
		reading, end := context.WithCancel(b.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for reading.Err() == nil {
				pages = append(pages, x.firstPage(b))
				time.Sleep(20 * time.Millisecond)
			}
		}()
		var filled time.Duration
		start := time.Now()
		difference, err := x.runner.Rebuild(b.Context(), history.Name, projections.RebuildOptions{StopOnDifference: true},
			func(p projections.RebuildProgress) {
				if filled == 0 && p.Position == p.Target {
					filled = time.Since(start)
				}
			})
		took := time.Since(start)
		end()
		<-done
		if err != nil || !difference.Empty() {
			b.Fatalf("%+v %v", difference, err)
		}
		b.ReportMetric(float64(4*reports)/took.Seconds(), "events/s")
		b.ReportMetric(quantile(pages, 0.95), "page-p95-ms")
		b.Logf("filled after %v, switched after %v, %d pages read meanwhile", filled, took, len(pages))
	}
}

// BenchmarkFirstPage: p95 at most 10 ms with 1,000,000 reports.
func BenchmarkFirstPage(b *testing.B) {
	x := newBench(b, reportsIn(b, 1_000_000))
	var pages []time.Duration
	for b.Loop() {
		pages = append(pages, x.firstPage(b))
	}
	b.ReportMetric(quantile(pages, 0.5), "p50-ms")
	b.ReportMetric(quantile(pages, 0.95), "p95-ms")
}

// BenchmarkAppendToVisible: p50 at most 10 ms, p95 at most 60 ms.
func BenchmarkAppendToVisible(b *testing.B) {
	x := newBench(b, 1000)
	store := eventstore.New(x.db)
	r := registry(b)
	var took []time.Duration
	for b.Loop() {
		queued, err := r.Encode(report.Queued{Kind: report.Security, ScopeLabel: "bench", RequesterID: x.org, RecipientIDs: []uuid.UUID{x.org}})
		if err != nil {
			b.Fatal(err)
		}
		id := uuid.Must(uuid.NewV7())
		start := time.Now()
		position, err := store.Append(b.Context(), eventstore.Reports, eventstore.Append{
			Organization: x.org, StreamType: report.StreamType, Stream: id, Events: []eventstore.NewEvent{queued},
		})
		if err != nil {
			b.Fatal(err)
		}
		if !x.runner.Wait(b.Context(), eventstore.Reports, position) {
			b.Fatal("not visible within a second")
		}
		took = append(took, time.Since(start))
		if _, ok, err := x.reader.Get(b.Context(), x.org, id, time.Now()); !ok || err != nil {
			b.Fatal(fmt.Errorf("not visible after Wait: %w", err))
		}
	}
	b.ReportMetric(quantile(took, 0.5), "p50-ms")
	b.ReportMetric(quantile(took, 0.95), "p95-ms")
}
