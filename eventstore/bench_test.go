package eventstore_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/testing/pgtest"
)

// The benchmarks run on servers of their own with fsync on. Ratios compare two
// things measured alternately in one run, so that a busy machine slows both.

// payload has the size of a report's usual event.
var payload = fmt.Appendf(nil, `{"step":2,"totalSteps":5,"label":%q}`, "gather inputs as of one instant, none older than a day")

// life is how many events a report has before the next begins.
const life = 5

// lifeOfReports appends one event after the other, five to a stream.
func lifeOfReports(ctx context.Context, store *eventstore.Store, log eventstore.Log) func() error {
	n, stream := 0, uuid.New()
	return func() error {
		if n == life {
			n, stream = 0, uuid.New()
		}
		_, err := store.Append(ctx, log, eventstore.Append{
			Organization: ours, StreamType: "report", Stream: stream, Expected: int64(n),
			Events:   []eventstore.NewEvent{{Type: "report.step", OccurredAt: noon, Data: payload}},
			Metadata: eventstore.Metadata{ActorID: ours.String(), RequestID: theirs.String(), CorrelationID: stream.String()},
		})
		n++
		return err
	}
}

// Both scripts write a stream of five events, each in a transaction of its own,
// and send the event's bytes as parameters, as a client does that has them. The
// bare insert writes a row of the same columns, width and indexes and does
// nothing else: no order, no chain, no version checked.
const (
	newStream = `\set n random(1, 100000000000000)
`
	bareInsert = `INSERT INTO bare_events SELECT :log, :n::bigint + %[2]d, :organization::uuid, 'report', ` + streamOfN + `, %[2]d, :type, 1, now(), now(), :data::bytea, :metadata::bytea, :digest::bytea, :digest::bytea;
`
	appendStatement = `SELECT append_event(:log, :organization::uuid, 'report', ` + streamOfN + `, %[1]d, :type, 1, now(), :data::bytea, :metadata::bytea, :digest::bytea);
`
	streamOfN = `('0199f0d2-0000-7000-8000-' || lpad(to_hex(:n::bigint), 12, '0'))::uuid`
)

// pgbench runs PostgreSQL's own benchmark over a script of prepared statements
// and returns statements a second.
func pgbench(b *testing.B, url, script string, clients int, d time.Duration) float64 {
	b.Helper()
	binary := findPgbench(b)
	out, err := exec.CommandContext(b.Context(), binary, "-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", "1",
		"-T", strconv.Itoa(max(int(d.Seconds()), 1)), "-f", script,
		"-D", "log=reports", "-D", "type=report.step", "-D", "organization="+ours.String(),
		"-D", fmt.Sprintf(`data=\x%x`, payload), "-D", `metadata=\x`+strings.Repeat("7c", 150),
		"-D", `digest=\x`+strings.Repeat("a7", 32), url).CombinedOutput()
	if err != nil {
		b.Fatalf("pgbench: %v\n%s", err, out)
	}
	m := regexp.MustCompile(`tps = ([0-9.]+)`).FindSubmatch(out)
	if m == nil {
		b.Fatalf("pgbench said:\n%s", out)
	}
	tps, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return tps * life
}

// script is a file with one statement for each event of a stream, which gets the
// version before it and its own.
func script(b *testing.B, name, statement string) string {
	b.Helper()
	text := newStream
	for version := range life {
		text += fmt.Sprintf(statement, version, version+1)
	}
	file := filepath.Join(b.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}

func findPgbench(b *testing.B) string {
	b.Helper()
	if path, err := exec.LookPath("pgbench"); err == nil {
		return path
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil || len(found) == 0 {
		b.Skip("pgbench is not installed: Debian's postgresql package has it")
	}
	return found[len(found)-1]
}

// BenchmarkAppend compares appends of one event each with pgbench's bare
// prepared insert. ratio is that of Append's statement sent by pgbench too, so
// that both have the same client; store-ratio is that of Store.Append itself,
// which pays for Go's network poller besides. Goal at 1 client: ratio ≥ 0.8. 32 clients
// queue at the log's head row.
func BenchmarkAppend(b *testing.B) {
	for _, clients := range []int{1, 32} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			server := pgtest.Cluster(b, pgtest.Options{Fsync: true, Settings: map[string]string{"max_wal_size": "8GB"}})
			db := migrated(b, server)
			db.MustExec(`CREATE TABLE bare_events (LIKE events INCLUDING ALL)`)
			bareScript, appendScript := script(b, "bare.sql", bareInsert), script(b, "append.sql", appendStatement)
			url := server.URL(pgtest.Superuser, "muster")
			const slice = time.Second
			var bare, statement, store []float64
			for b.Loop() {
				bare = append(bare, pgbench(b, url, bareScript, clients, slice))
				statement = append(statement, pgbench(b, url, appendScript, clients, slice))
				store = append(store, appendFor(b, db, clients, slice))
			}
			b.ReportMetric(median(bare), "bare/s")
			b.ReportMetric(median(store), "append/s")
			b.ReportMetric(median(statement)/median(bare), "ratio")
			b.ReportMetric(median(store)/median(bare), "store-ratio")
		})
	}
}

// BenchmarkAppendOfOne says why there are two append functions: one event through each,
// in turn on one connection, without the disk, which takes the same for both.
func BenchmarkAppendOfOne(b *testing.B) {
	db := migrated(b, pgtest.Cluster(b, pgtest.Options{}))
	db.SetMaxOpenConns(1)
	digest, none := make([]byte, 32), []*string(nil)
	call := func(query string, args ...any) time.Duration {
		began := time.Now()
		if _, err := db.ExecContext(b.Context(), query, args...); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	var one, many []time.Duration
	for b.Loop() {
		one = append(one, call(`SELECT append_event($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			"reports", ours, "report", uuid.New(), 0, "report.step", 1, noon, payload, payload, digest))
		many = append(many, call(`SELECT append_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
			"reports", []uuid.UUID{ours}, []string{"report"}, []uuid.UUID{uuid.New()}, []int64{0}, none, [][]byte(nil),
			[]int32{1}, []string{"report.step"}, []int32{1}, []time.Time{noon}, [][]byte{payload}, [][]byte{payload}, [][]byte{digest}))
	}
	b.ReportMetric(float64(quantile(one, 0.5).Microseconds()), "one-µs")
	b.ReportMetric(float64(quantile(many, 0.5).Microseconds()), "many-µs")
}

// appendFor appends from so many goroutines for a while and returns appends a second.
func appendFor(b *testing.B, db *sqlx.DB, clients int, d time.Duration) float64 {
	b.Helper()
	ctx := context.Background()
	through := eventstore.New(db)
	var group sync.WaitGroup
	counts := make([]int, clients)
	start := time.Now()
	for c := range clients {
		group.Go(func() {
			next := lifeOfReports(ctx, through, eventstore.Reports)
			for time.Since(start) < d {
				if err := next(); err != nil {
					b.Error(err)
					return
				}
				counts[c]++
			}
		})
	}
	group.Wait()
	total := 0
	for _, n := range counts {
		total += n
	}
	return float64(total) / time.Since(start).Seconds()
}

func median(of []float64) float64 { return quantile(of, 0.5) }

func quantile[T float64 | time.Duration](of []T, q float64) T {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// BenchmarkAppendBesideAFlood measures appends to the reports log while the
// fleet log takes 5,000 events a second in batches of 100. Goal: p95 ≤ 50 ms.
func BenchmarkAppendBesideAFlood(b *testing.B) {
	for _, tc := range []struct {
		name     string
		settings map[string]string
	}{{"commit=0ms", nil}, {"commit=4ms", slowCommits}} {
		b.Run(tc.name, func(b *testing.B) {
			db := migrated(b, pgtest.Cluster(b, pgtest.Options{Fsync: true, Settings: tc.settings}))
			ctx, stop := context.WithCancel(b.Context())
			flooded := make(chan float64, 1)
			go func() { flooded <- flood(ctx, b, eventstore.New(db)) }()
			next := lifeOfReports(b.Context(), eventstore.New(db), eventstore.Reports)
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if err := next(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			stop()
			b.ReportMetric(<-flooded, "flood-events/s")
			b.ReportMetric(float64(quantile(took, 0.5).Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(quantile(took, 0.95).Microseconds())/1000, "p95-ms")
		})
	}
}

// flood appends 100 events every 20 ms and returns how many a second it was.
func flood(ctx context.Context, b *testing.B, store *eventstore.Store) float64 {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	start, events := time.Now(), 0
	for {
		select {
		case <-ctx.Done():
			return float64(events) / time.Since(start).Seconds()
		case <-ticker.C:
		}
		var batches []eventstore.Append
		for range 20 {
			batches = append(batches, batch(ours, uuid.New(), eventstore.NoStream, 5))
		}
		if _, err := store.Append(ctx, eventstore.Fleet, batches...); err != nil && ctx.Err() == nil {
			b.Error(err)
			return 0
		}
		events += 100
	}
}

// BenchmarkVerify checks a log of 400,000 events. Goal: ≥ 150,000 events/s.
func BenchmarkVerify(b *testing.B) {
	db := migrated(b, pgtest.Cluster(b, pgtest.Options{}))
	store := eventstore.New(db)
	const events = 400_000
	for range events / 4000 {
		var batches []eventstore.Append
		for range 1000 {
			batches = append(batches, batch(ours, uuid.New(), eventstore.NoStream, 4))
		}
		mustAppend(b, store, eventstore.Reports, batches...)
	}
	db.MustExec(`VACUUM ANALYZE events`)
	for name, organization := range map[string]uuid.UUID{"everything": uuid.Nil, "one organization": ours} {
		b.Run(name, func(b *testing.B) {
			start := time.Now()
			for b.Loop() {
				report, err := store.Verify(b.Context(), eventstore.Reports, eventstore.VerifyOptions{Organization: organization})
				if err != nil || !report.OK() || report.Events != events {
					b.Fatal(report, err)
				}
			}
			b.ReportMetric(float64(events*b.N)/time.Since(start).Seconds(), "events/s")
		})
	}
}

// BenchmarkLockKeys locks 10,000 known keys, as an intake of 10,000 does that is
// sent for the second time.
func BenchmarkLockKeys(b *testing.B) {
	ctx := b.Context()
	db := migrated(b, pgtest.Cluster(b, pgtest.Options{Fsync: true}))
	store := eventstore.New(db)
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("instance-%05d", i)
	}
	if _, err := record(ctx, db, store, keys, "state"); err != nil {
		b.Fatal(err)
	}
	db.MustExec(`VACUUM ANALYZE stream_keys`)
	for b.Loop() {
		tx := db.MustBeginTx(ctx, nil)
		known, err := store.LockKeys(ctx, tx, ours, "report", keys)
		if err != nil || len(known) != len(keys) {
			b.Fatal(len(known), err)
		}
		if err := tx.Rollback(); err != nil {
			b.Fatal(err)
		}
	}
}
