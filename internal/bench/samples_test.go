package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore"
	"muster/internal/pgtest"
	"muster/internal/postgres"
)

const (
	// deltasPerSecond are sent, spread evenly, whatever an answer takes.
	deltasPerSecond = 20_000
	// deltasEach are in a sample, one of a database and a minute.
	deltasEach = 400
	// deltaServers are measured once a minute each, at that rate.
	deltaServers = deltasPerSecond * 60 / deltasEach / databasesEach
)

// BenchmarkStatementsOverHTTP sends 20,000 statement deltas a second to
// /ingest/v1/samples for as long as -benchtime says, and watches how far the series
// are behind. Goal: 15 s at most, and every delta taken in.
func BenchmarkStatementsOverHTTP(b *testing.B) {
	p := start(b)
	m := newMeasured(p, deltaServers)
	feed := p.agent(strings.TrimSpace(p.run("token", "create", "--kind=ingest", "--email="+admin)))
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	var behind time.Duration
	var watching sync.WaitGroup
	watching.Go(func() { behind = m.watchBehind(ctx) })

	calls := make(chan *call, 64)
	var sending sync.WaitGroup
	for range senders {
		sending.Go(func() {
			for c := range calls {
				if err := c.send(b.Context(), feed); err != nil {
					b.Error(err)
				}
			}
		})
	}
	var sent []*call
	begin := time.Now()
	interval := time.Duration(databasesEach*deltasEach) * time.Second / deltasPerSecond
	for b.Loop() {
		c := m.deltas(len(sent))
		sent = append(sent, c)
		time.Sleep(time.Until(begin.Add(time.Duration(len(sent)) * interval)))
		calls <- c
	}
	close(calls)
	sending.Wait()
	took := time.Since(begin)
	m.p.until("everything is rolled up", 50*time.Millisecond, time.Minute, func() bool {
		left, err := m.store.Behind(b.Context())
		return err == nil && left == 0
	})
	caughtUp := time.Since(begin) - took
	stop()
	watching.Wait()

	var answered []time.Duration
	for _, c := range sent {
		answered = append(answered, c.took)
	}
	deltas := float64(len(sent) * databasesEach * deltasEach)
	b.ReportMetric(deltas/took.Seconds(), "deltas/s")
	b.ReportMetric(behind.Seconds(), "behind-s")
	b.ReportMetric(caughtUp.Seconds(), "caught-up-s")
	b.ReportMetric(quantile(answered, 0.5), "call-p50-ms")
	b.ReportMetric(quantile(answered, 0.95), "call-p95-ms")
	var bytes float64
	if err := m.db.Get(&bytes, `SELECT pg_total_relation_size('raw_samples')`); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(bytes/deltas, "bytes/delta")
	b.ReportMetric(took.Seconds(), "seconds")
	b.ReportMetric(p.memory(), "memory-MiB")
}

// watchBehind is how far the series were behind at most until ctx ends.
func (m *measured) watchBehind(ctx context.Context) (most time.Duration) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return most
		case <-ticker.C:
		}
		behind, err := m.store.Behind(ctx)
		if err != nil && ctx.Err() == nil {
			m.p.b.Error(err)
			return most
		}
		most = max(most, behind)
	}
}

// call is a body on its way.
type call struct {
	body []byte
	took time.Duration
}

// deltas are the samples of one server, in turn, as of now.
func (m *measured) deltas(i int) *call {
	s := m.servers[i%len(m.servers)]
	var samples []map[string]any
	for d := range s.databases {
		var statements []map[string]any
		for k := range deltasEach {
			calls := 1 + rand.IntN(1000)
			statements = append(statements, map[string]any{
				"key": fmt.Sprintf("10:16384:%d:true", 1_000_003*(k+1)), "calls": calls, "totalMs": float64(calls) * 20 * rand.Float64(),
			})
		}
		samples = append(samples, map[string]any{
			"instance": s.name, "database": strconv.Itoa(d), "at": time.Now().UTC(), "intervalSeconds": 60, "statements": statements,
		})
	}
	body, err := json.Marshal(map[string]any{"statements": samples})
	if err != nil {
		m.p.b.Fatal(err)
	}
	return &call{body: body}
}

func (c *call) send(ctx context.Context, feed agent) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, feed.base+"/ingest/v1/samples", bytes.NewReader(c.body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+feed.token)
	request.Header.Set("Content-Type", "application/json")
	begin := time.Now()
	response, err := feed.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	c.took = time.Since(begin)
	if err == nil && response.StatusCode != http.StatusAccepted {
		err = fmt.Errorf("%s %.500s", response.Status, content)
	}
	return err
}

// dayServers are measured in the simulated day; its figures are scaled to 1,000.
const dayServers = 50

// BenchmarkDayOfMeasuring: servers of two databases are measured for a day as the
// agents do, hosts every 15 s, sessions every 10 s, 50 statements a database every
// minute, rolled up every minute. Reported is what a thousand of them leave on disk
// and write ahead, raw samples and rollups.
func BenchmarkDayOfMeasuring(b *testing.B) {
	for b.Loop() {
		db := pgtest.Connect(b, pgtest.Cluster(b, pgtest.Options{Fsync: true}).Superuser())
		if err := postgres.Migrate(b.Context(), db, slog.New(slog.DiscardHandler)); err != nil {
			b.Fatal(err)
		}
		store := pgstore.New(db, slog.New(slog.DiscardHandler))
		d := &measuringDay{b: b, store: store, organization: uuid.New(), at: time.Now().UTC().Truncate(time.Hour).Add(-24 * time.Hour)}
		for n := range dayServers {
			d.servers = append(d.servers, measuredServer{
				host: fmt.Sprintf("host-%04d", n), engine: fleet.PostgreSQL, id: uuid.New(), databases: []uuid.UUID{uuid.New(), uuid.New()},
			})
		}
		minutes := 60 * hours(b)
		before, begin := measuringSizes(b, db), time.Now()
		for n := range minutes {
			d.minute()
			if n%60 == 59 {
				db.MustExec(`VACUUM measured_hours, rolled_minutes, rolled_hours, rolled_days, rolled_details, latest_sessions, measured_series`)
			}
		}
		took, after := time.Since(begin), measuringSizes(b, db)
		scale := 1000 / float64(dayServers) * 24 * 60 / float64(minutes) / 1e6
		b.ReportMetric(float64(after.WAL-before.WAL)*scale, "wal-MB")
		b.ReportMetric(float64(after.Raw-before.Raw)*scale, "raw-MB")
		b.ReportMetric(float64(after.Rolled-before.Rolled)*scale, "rolled-MB")
		b.ReportMetric(float64(after.Statements-before.Statements)*scale, "details-MB")
		b.ReportMetric(took.Seconds()/float64(minutes)/float64(dayServers)*1000/60, "cores")
		b.ReportMetric(took.Seconds(), "seconds")
	}
}

type measuringDay struct {
	b            *testing.B
	store        *pgstore.Store
	organization uuid.UUID
	servers      []measuredServer
	at           time.Time
}

// minute writes each server's samples as they come, in batches of one time, and
// rolls up.
func (d *measuringDay) minute() {
	d.b.Helper()
	for second := 0; second < 60; second += 5 {
		batch := measurements.Batch{Organization: d.organization}
		at := d.at.Add(time.Duration(second) * time.Second)
		for _, s := range d.servers {
			v := s.values(at)
			if second%15 == 0 {
				batch.Hosts = append(batch.Hosts, measurements.HostSample{
					Host: s.host, At: at, CPUPercent: &v.cpu, MemoryPercent: &v.memory, Volumes: []measurements.Volume{{Mount: "/data", UsedPercent: &v.disk}},
				})
			}
			for n, database := range s.databases {
				if second%10 == 0 {
					batch.Sessions = append(batch.Sessions, measurements.SessionSample{
						Instance: s.id, Engine: s.engine, Database: database, At: at, Interval: 10 * time.Second, Active: 3, Idle: 20, Waits: s.waits(v.waits[n]),
					})
				}
				if second == 0 {
					batch.Statements = append(batch.Statements, d.statements(s, database, at))
				}
			}
		}
		if batch.Len() > 0 {
			if _, err := d.store.Write(d.b.Context(), batch); err != nil {
				d.b.Fatal(err)
			}
		}
	}
	for {
		rolled, err := d.store.Roll(d.b.Context())
		if err != nil {
			d.b.Fatal(err)
		}
		if rolled == 0 {
			break
		}
	}
	d.at = d.at.Add(time.Minute)
}

func (d *measuringDay) statements(s measuredServer, database uuid.UUID, at time.Time) measurements.StatementSample {
	sample := measurements.StatementSample{Instance: s.id, Engine: s.engine, Database: database, At: at, Interval: time.Minute}
	for k := range 50 {
		calls := 1 + rand.Int64N(1000)
		sample.Statements = append(sample.Statements, measurements.Statement{Key: strconv.Itoa(k), Calls: calls, TotalMs: float64(calls) * rand.Float64()})
	}
	return sample
}

// sizes of what measurements leave, in bytes.
type measuredSizes struct {
	WAL        int64 `db:"wal"`
	Raw        int64 `db:"raw"`
	Rolled     int64 `db:"rolled"`
	Statements int64 `db:"statements"`
}

func measuringSizes(b *testing.B, db *sqlx.DB) (s measuredSizes) {
	b.Helper()
	err := db.Get(&s, `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS wal, pg_total_relation_size('raw_samples') AS raw,
		pg_total_relation_size('rolled_minutes') + pg_total_relation_size('rolled_hours') + pg_total_relation_size('rolled_days') AS rolled,
		pg_total_relation_size('rolled_details') AS statements`)
	if err != nil {
		b.Fatal(err)
	}
	return s
}
