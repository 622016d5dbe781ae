package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/postgres/statement"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

func newStore(t testing.TB) *Store {
	s := New(pgtest.DB(t), slog.New(slog.DiscardHandler))
	attendSince(t, s, 30*24*time.Hour)
	return s
}

// attendSince says that samples could be sent for so long.
func attendSince(t testing.TB, s *Store, ago time.Duration) {
	t.Helper()
	_, err := s.db.ExecContext(t.Context(), `INSERT INTO intake_presence (seen_at, back_at) VALUES (now(), now() - make_interval(secs => $1))
		ON CONFLICT (one) DO UPDATE SET seen_at = excluded.seen_at, back_at = excluded.back_at`, ago.Seconds())
	if err != nil {
		t.Fatal(err)
	}
}

// lookAt is a batch that has something of everything, of one minute.
func lookAt(organization, instance uuid.UUID, host string, databases []uuid.UUID, at time.Time) measurements.Batch {
	b := measurements.Batch{Organization: organization}
	percent := float64(at.Minute())
	b.Hosts = append(b.Hosts, measurements.HostSample{Host: host, Instances: []uuid.UUID{instance}, At: at, CPUPercent: &percent})
	for _, database := range databases {
		b.Sessions = append(b.Sessions, measurements.SessionSample{Instance: instance, Engine: fleet.PostgreSQL, Database: database,
			At: at, Interval: 10 * time.Second, Active: 1, Idle: 2, Waiting: 3, IdleInTransaction: 4, Other: 5, Waits: map[string]int64{"Lock": 3, "Client": 1},
			Doing: []measurements.Doing{
				{State: measurements.OnCPU, Statement: "q", User: "ada", Application: host, Client: "10.0.0.1", Sessions: 1},
				{State: measurements.Waits, Wait: "Lock", Event: "relation", Statement: fmt.Sprint("q", at.Minute()%3), User: "ada", Application: host, Sessions: 1},
				{State: measurements.Waits, Wait: "Lock", Event: "tuple", Statement: "q", User: fmt.Sprint("user", at.Hour()), Client: "10.0.0.2", Sessions: 1},
				{State: measurements.Idle, Wait: "Client", Event: "ClientRead", User: "ada", Sessions: 1},
			}})
		b.Statements = append(b.Statements, measurements.StatementSample{Instance: instance, Engine: fleet.PostgreSQL, Database: database,
			At: at, Interval: time.Minute, Statements: []measurements.Statement{{Key: "q", Calls: 2, TotalMs: percent}}})
	}
	return b
}

func write(t testing.TB, s *Store, b measurements.Batch) measurements.Receipt {
	t.Helper()
	receipt, err := s.Write(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

// contents are the rows of all tables, but for times and numbers that the database gave.
func contents(t testing.TB, s *Store) (rows []string) {
	t.Helper()
	for _, table := range []string{"raw_samples", "head_minutes", "head_hours", "head_days", "head_hour_details", "head_day_details"} {
		of, err := statement.All[string](t.Context(), s.db, "read a table", `SELECT '`+table+` ' || s.kind || ' ' || s.subject || ' ' || (to_jsonb(r) - 'series_id')::text
			FROM `+table+` r JOIN measured_series s ON s.id = r.series_id ORDER BY 1`)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, of...)
	}
	return rows
}

// TestConcurrentOverlappingBatchesAreKeptOnce: eight senders with the same samples, in batches that overlap, in
// other orders: one of each is kept, no sender is turned away, and the rollups are those of one sender alone.
func TestConcurrentOverlappingBatchesAreKeptOnce(t *testing.T) {
	t.Parallel()
	once, often := newStore(t), newStore(t)
	organization, instance := uuid.New(), uuid.New()
	databases := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	var looks []measurements.Batch
	for minute := range 70 {
		looks = append(looks, lookAt(organization, instance, fmt.Sprintf("db%d", minute%7), databases, monday.Add(time.Duration(minute)*time.Minute)))
	}
	for _, b := range looks {
		write(t, once, b)
	}
	if _, err := once.Roll(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := contents(t, once)
	if _, err := once.db.ExecContext(t.Context(), `TRUNCATE measured_series, raw_samples, measured_hours, dirty_hours,
		head_minutes, head_hours, head_days, head_hour_details, head_day_details, head_rests, latest_sessions`); err != nil {
		t.Fatal(err)
	}
	var senders sync.WaitGroup
	most := 4
	if longtest.Asked() {
		most = 8
	}
	for sender := range most {
		senders.Go(func() {
			for i := range looks {
				var b measurements.Batch
				for j := range 3 { // three looks at once, one of them split in two
					look := looks[(i*(sender+1)+j*sender)%len(looks)]
					b.Organization = organization
					b.Hosts = append(b.Hosts, look.Hosts...)
					b.Sessions = append(b.Sessions, look.Sessions[j:]...)
					b.Statements = append(b.Statements, look.Statements[:3-j]...)
				}
				receipt, err := often.Write(t.Context(), b)
				if err != nil {
					t.Error(err)
				} else if receipt.Accepted.Hosts != len(b.Hosts) || receipt.Accepted.Sessions != len(b.Sessions) || receipt.Accepted.Statements != len(b.Statements) {
					t.Errorf("%+v of %d", receipt, b.Len())
				}
			}
			for _, b := range looks {
				if _, err := often.Write(t.Context(), b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	senders.Wait()
	if _, err := often.Roll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(want); n < 70 {
		t.Fatalf("only %d rows", n)
	}
	if diff := gocmp.Diff(merged(want), merged(contents(t, often))); diff != "" {
		t.Error(diff)
	}
}

// merged leaves out raw bodies: their databases are in the order in which they came.
func merged(rows []string) (left []string) {
	for _, row := range rows {
		if len(row) < 3 || row[:3] != "raw" {
			left = append(left, row)
		}
	}
	return left
}

// TestTheSameBatchTwice is accepted, and changes nothing.
func TestTheSameBatchTwice(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	b := lookAt(uuid.New(), uuid.New(), "db1", []uuid.UUID{uuid.New(), uuid.New()}, monday)
	first := write(t, s, b)
	if _, err := s.Roll(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := contents(t, s)
	if second := write(t, s, b); second != first || first.Accepted != (measurements.SampleCounts{Hosts: 1, Sessions: 2, Statements: 2}) {
		t.Errorf("%+v, then %+v", first, second)
	}
	if n, err := s.Roll(t.Context()); n != 0 || err != nil {
		t.Errorf("%d hours are dirty again, %v", n, err)
	}
	if diff := gocmp.Diff(before, contents(t, s)); diff != "" {
		t.Error(diff)
	}
}

// TestNothingIsKeptWithoutItsGuard, nor of a writer that goes away.
func TestNothingIsKeptWithoutItsGuard(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	b := lookAt(uuid.New(), uuid.New(), "db1", []uuid.UUID{uuid.New()}, monday)
	lost := errors.New("the claim is lost")
	b.Guard = func(context.Context, sqlx.ExtContext) error { return lost }
	if _, err := s.Write(t.Context(), b); err != lost { //nolint:errorlint // as it is
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	b.Guard = func(ctx context.Context, tx sqlx.ExtContext) error {
		_, err := tx.ExecContext(ctx, `SELECT`)
		cancel()
		return err
	}
	if _, err := s.Write(ctx, b); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if rows := contents(t, s); len(rows) != 0 {
		t.Errorf("kept: %s", rows)
	}
}

// TestOrganizationsShareNothing, not even hosts of one name.
func TestOrganizationsShareNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ours, theirs, instance, database := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	now := time.Now().UTC().Truncate(time.Microsecond)
	write(t, s, lookAt(ours, instance, "db1", []uuid.UUID{database}, now))
	write(t, s, lookAt(theirs, uuid.New(), "db1", nil, now))
	var series int
	if err := s.db.GetContext(t.Context(), &series, `SELECT count(*) FROM measured_series WHERE kind = 'host' AND subject = 'db1'`); err != nil || series != 2 {
		t.Errorf("%d series of two hosts, %v", series, err)
	}
	open, err := s.Connections(t.Context(), theirs, fleet.PostgreSQL, []uuid.UUID{database}, now)
	if err != nil || open != (measurements.OpenConnections{}) {
		t.Errorf("they see %+v, %v", open, err)
	}
}

// TestTheInstancesOfAHost are those of the newest sample that names any.
func TestTheInstancesOfAHost(t *testing.T) {
	t.Parallel()
	s, a, b := newStore(t), uuid.New(), uuid.New()
	at := func(minute int, instances []uuid.UUID) measurements.HostSample {
		return measurements.HostSample{Host: "db1", At: monday.Add(time.Duration(minute) * time.Minute), Instances: instances}
	}
	for name, c := range map[string]struct {
		samples []measurements.HostSample
		want    []uuid.UUID
	}{
		"in order":          {[]measurements.HostSample{at(1, []uuid.UUID{a}), at(2, []uuid.UUID{a, b})}, []uuid.UUID{a, b}},
		"late":              {[]measurements.HostSample{at(2, []uuid.UUID{b}), at(1, []uuid.UUID{a})}, []uuid.UUID{b}},
		"says nothing":      {[]measurements.HostSample{at(1, []uuid.UUID{a}), at(2, nil)}, []uuid.UUID{a}},
		"says there's none": {[]measurements.HostSample{at(1, []uuid.UUID{a}), at(2, []uuid.UUID{})}, nil},
		"between the same":  {[]measurements.HostSample{at(1, []uuid.UUID{a}), at(3, []uuid.UUID{a}), at(2, []uuid.UUID{b})}, []uuid.UUID{a}},
		"the first stays":   {[]measurements.HostSample{at(1, []uuid.UUID{a}), at(1, []uuid.UUID{b})}, []uuid.UUID{a}},
	} {
		for _, at := range []int{1, len(c.samples)} { // one by one, and all at once
			organization := uuid.New()
			for batch := range slices.Chunk(c.samples, at) {
				write(t, s, measurements.Batch{Organization: organization, Hosts: batch})
			}
			on, err := s.InstancesOn(t.Context(), organization, []string{"db1"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(c.want, on["db1"]); diff != "" {
				t.Errorf("%s, %d at once: %s", name, at, diff)
			}
		}
	}
}

// TestTheEngineOfASeries is that of its first sample.
func TestTheEngineOfASeries(t *testing.T) {
	t.Parallel()
	s, organization := newStore(t), uuid.New()
	sample := measurements.SessionSample{Instance: uuid.New(), Engine: fleet.Oracle, Database: uuid.New(), At: monday}
	write(t, s, measurements.Batch{Organization: organization, Sessions: []measurements.SessionSample{sample}})
	sample.Engine, sample.At = fleet.PostgreSQL, monday.Add(time.Minute)
	write(t, s, measurements.Batch{Organization: organization, Sessions: []measurements.SessionSample{sample}})
	var engine fleet.Engine
	if err := s.db.GetContext(t.Context(), &engine, `SELECT engine FROM measured_series`); err != nil || engine != fleet.Oracle {
		t.Errorf("%s, %v", engine, err)
	}
}
