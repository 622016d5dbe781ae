package e2e

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/testing/linetest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/pgtest/failover"
)

// writesAgainWithin is how long after a standby became primary a write may be refused.
const writesAgainWithin = 5 * time.Second

// TestAFailoverLosesNothing that was acknowledged: requests for reports and samples come
// in, builds are under way, the primary dies, and its standby takes over.
func TestAFailoverLosesNothing(t *testing.T) {
	t.Parallel()
	pair := failover.Plain(t, failover.Migrated("muster"))
	f := newFailing(t, pair.URL("muster")+"&connect_timeout=30") // on a busy machine; who is dead refuses at once
	f.load(t)
	f.survives(t, pair.Kill(t))
}

// TestLongASilentPrimary is one that loses its power: it closes no connection, and says
// nothing on any, old or new.
func TestLongASilentPrimary(t *testing.T) {
	t.Parallel()
	longtest.Only(t)
	pair := failover.Plain(t)
	var lines []*linetest.Line
	var addrs []string
	for _, addr := range pair.Addrs() {
		line := linetest.New(t, addr)
		lines, addrs = append(lines, line), append(addrs, line.Addr())
	}
	f := newFailing(t, pair.URL("postgres", addrs...))
	f.load(t)
	line := lines[pair.Primary(t)]
	line.HalfOpen()
	line.Cut() // our kernel gives up what is not acknowledged, which takes it ten seconds,
	line.HalfOpen()
	failed := pair.Kill(t)
	f.writesAgain(t, failed) // and whoever connects anew hears nothing
	line.Cut()
	f.survives(t, failed)
}

// TestLongPostgreSQLFailsOverByItself does what TestAFailoverLosesNothing does with
// pg_auto_failover, there and back.
func TestLongPostgreSQLFailsOverByItself(t *testing.T) {
	t.Parallel()
	longtest.Only(t)
	pair := failover.Start(t)
	f := newFailing(t, pair.URL("postgres"))
	f.load(t)
	for range 2 {
		f.writesAgain(t, pair.Kill(t))
		pair.Return(t)
	}
	f.survives(t, pair.Kill(t))
}

// failing is an installation whose database fails over.
type failing struct {
	installed
	ana, sends client
	instance   uuid.UUID
	end        context.CancelFunc
	writers    sync.WaitGroup
	samples    map[time.Time]bool
	reports    map[uuid.UUID]bool

	mu   sync.Mutex
	kept map[string][]time.Time // when writes of a kind were acknowledged
}

func newFailing(t *testing.T, url string) *failing {
	t.Helper()
	i := installed{url: url, dir: t.TempDir()}
	email := i.organization(t, "Acme")
	server := servingHere(t, append(i.flags(), "--rate-limits=off", "--job-lease=1s", "--collect-own-host=off")...)
	f := &failing{installed: i, ana: i.as(t, server, email), samples: map[time.Time]bool{}, reports: map[uuid.UUID]bool{}, kept: map[string][]time.Time{}}
	f.sends = client{base: server.base, token: strings.TrimSpace(i.must(t, "token", "create", "--kind", "ingest", "--email", email))}
	f.instance = f.ana.paper(t, "pg-1")
	return f
}

// load begins to write, so often a second, until the test ends or survives is called, and
// returns when some of it was acknowledged.
func (f *failing) load(t *testing.T) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	f.end = end
	t.Cleanup(func() { end(); f.writers.Wait() })
	f.writes(ctx, "report", 500*time.Millisecond, func(n int) bool {
		id, ok := f.ana.tryRequest(ctx, scorecard(f.instance, n))
		if ok {
			f.mu.Lock()
			f.reports[id] = true
			f.mu.Unlock()
		}
		return ok
	})
	first := time.Now().UTC().Truncate(time.Millisecond)
	f.writes(ctx, "sample", 50*time.Millisecond, func(n int) bool {
		at := first.Add(time.Duration(n) * time.Millisecond)
		got, err := f.sends.try(ctx, http.MethodPost, "/ingest/v1/samples", hostAt(at))
		ok := err == nil && got.status == http.StatusAccepted
		if ok {
			f.mu.Lock()
			f.samples[at] = true
			f.mu.Unlock()
		}
		return ok
	})
	f.acknowledged(t, time.Now())
}

// writes writes again and again, and notes when it was acknowledged.
func (f *failing) writes(ctx context.Context, kind string, every time.Duration, write func(n int) bool) {
	f.writers.Go(func() {
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		for n := 0; ctx.Err() == nil; n++ {
			if write(n) {
				f.mu.Lock()
				f.kept[kind] = append(f.kept[kind], time.Now())
				f.mu.Unlock()
			}
			select {
			case <-ctx.Done():
			case <-ticks.C:
			}
		}
	})
}

// acknowledged waits until some of each kind were since a time, and returns how long the
// first took.
func (f *failing) acknowledged(t *testing.T, since time.Time) map[string]time.Duration {
	t.Helper()
	const some = 3
	took := map[string]time.Duration{}
	eventually(t, "writes are acknowledged", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, kind := range []string{"report", "sample"} {
			n := 0
			for _, at := range f.kept[kind] {
				if at.After(since) {
					if n == 0 {
						took[kind] = at.Sub(since)
					}
					n++
				}
			}
			if n < some {
				return false
			}
		}
		return true
	})
	return took
}

// writesAgain holds the process to its time.
func (f *failing) writesAgain(t *testing.T, failed failover.Failover) {
	t.Helper()
	for kind, took := range f.acknowledged(t, failed.Writable) {
		t.Logf("a %s is taken %s after the standby is primary, %s after it takes writes; it was promoted %s after the primary died", kind,
			(failed.Writable.Sub(failed.Promoted) + took).Round(time.Millisecond), took.Round(time.Millisecond), failed.Promoted.Sub(failed.Killed).Round(time.Millisecond))
		if took > writesAgainWithin {
			t.Errorf("a %s is taken %s after the standby takes writes, want at most %s", kind, took, writesAgainWithin)
		}
	}
}

// survives compares what was acknowledged with the log and the tables.
func (f *failing) survives(t *testing.T, failed failover.Failover) {
	t.Helper()
	f.writesAgain(t, failed)
	f.end()
	f.writers.Wait()
	db := pgtest.Connect(t, f.url)
	hearsAgain(t, db)
	ends := f.wellEnded(t)
	streams := f.streams(t)
	if ends["Ready"] != len(streams) {
		t.Errorf("of %d reports %v ended", len(streams), ends)
	}
	for id := range f.reports {
		if streams[id] == nil {
			t.Errorf("report %s was acknowledged and is not in the log", id)
		}
	}
	var stored []time.Time
	if err := db.Select(&stored, `SELECT at FROM raw_samples JOIN measured_series s ON s.id = series_id WHERE s.subject = 'sent.example'`); err != nil {
		t.Fatal(err)
	}
	for _, at := range stored {
		delete(f.samples, at.UTC())
	}
	if len(f.samples) > 0 {
		t.Errorf("%d samples were acknowledged and are not among the %d that are stored", len(f.samples), len(stored))
	}
	t.Logf("%d reports and %d samples were acknowledged", len(f.reports), len(f.kept["sample"]))
}

// hearsAgain waits until the process hears of jobs and of events where they are announced
// now.
func hearsAgain(t *testing.T, db *sqlx.DB) {
	t.Helper()
	eventually(t, "the process listens on the new primary", func() bool {
		var channels int
		err := db.Get(&channels, `SELECT count(DISTINCT query) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'`)
		return err == nil && channels >= 2
	})
}
