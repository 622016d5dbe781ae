package e2e

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"muster/internal/concurrency/pause"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/testing/longtest"
)

// Settings of a fire, which no program sees.
const (
	fireSeed  = chaosPrefix + "SEED"  // of what is drawn; without it the clock's
	fireKills = chaosPrefix + "KILLS" // of the long form
)

// fireSize is how large a fire is.
type fireSize struct {
	replicas int
	clients  map[string]int    // of each sort, see crowd
	often    map[fault]int     // how often each fault is drawn
	calm     int               // faults at the end that are no kills
	between  time.Duration     // two steps of the plan, at most; and two calls of a client
	patience time.Duration     // of a client with one answer
	goodbye  time.Duration     // of a client whose call is not answered yet when all is mended
	limit    time.Duration     // after which it is given up
	verified int               // reports whose PDF `muster verify` is asked about
	whole    bool              // with pg_auto_failover, ClickHouse, a clock of its own and a disk that can be full
	promise  time.Duration     // until writes are acknowledged after a promotion; 0: it is only told
	growth   func(int64) int64 // how large a figure of a process may be afterwards, by what it was; nil: it is only told
}

// TestLongUnderFire is `make chaos`; `make test-all` has it with a tenth of the kills.
func TestLongUnderFire(t *testing.T) {
	longtest.Only(t)
	kills, err := strconv.Atoi(cmp.Or(os.Getenv(fireKills), "100"))
	if err != nil || kills < 10 {
		t.Fatalf("%s=%s: it is a number from 10 on", fireKills, os.Getenv(fireKills))
	}
	clickhousetest.Program(t) // before anything is set up
	some := func(each int) int { return max(1, kills/each) }
	burn(t, fireSize{
		replicas: 3,
		clients:  map[string]int{measuring: 4, alerting: 2, feeding: 1, asking: 4, reading: 3},
		often: map[fault]int{
			aKill: kills, aCut: some(8), aHalfOpen: some(16), aSlowLine: some(16), aTrickle: some(32),
			slowCommits: some(50), fullBucket: min(3, some(50)), wrongClock: some(16), noMail: some(25), lostMail: some(25),
			failedOver: min(8, some(50)), deadShard: min(6, some(50)),
			stalled: min(4, some(50)), aPause: some(16), allPaused: min(4, some(50)), aPanic: some(16),
		},
		calm:     min(40, some(4)),
		between:  1500 * time.Millisecond,
		patience: 30 * time.Second, // as that of an agent
		goodbye:  time.Minute,      // an abandoned Idempotency-Key frees after 30 s
		limit:    20*time.Minute + time.Duration(kills)*15*time.Second,
		verified: 50,
		whole:    true,
		promise:  5 * time.Second,
		growth:   func(before int64) int64 { return 2*before + 100 },
	})
}

// burn sets everything up, has it go wrong, mends it and counts.
func burn(t *testing.T, size fireSize) {
	t.Helper()
	f := newFire(t, size)
	defer f.book.tell(t, f)
	plan := f.plan()
	f.prepare(t)
	var v *vigil
	var still []string // alerts that look back
	if size.whole {
		v = f.watched(t)
		v.keep(t, illsBefore)
		f.allReady(t)
		still = v.afresh()
	}
	before := f.figures(t)
	f.book.begins()
	stop := f.gather()
	defer stop(0)
	f.inPeace(t)
	for n, s := range plan {
		if time.Since(f.book.began) > size.limit {
			t.Fatalf("after %s it is at step %d of %d", size.limit, n, len(plan))
		}
		_ = pause.For(t.Context(), s.after) // not a wait for anything: where it strikes is up to chance
		f.book.reach(n, len(plan), s.what)
		if (n+1)%100 == 0 {
			t.Logf("step %d of %d after %s", n+1, len(plan), time.Since(f.book.began).Round(time.Second))
		}
		s.do(t)
	}
	f.allReady(t)
	stop(size.goodbye)
	f.count(t)
	f.grown(t, before)
	if v != nil {
		v.judge(still)
		v.keep(t, illsAfter)
		f.book.ills = v.rows
	}
	for _, r := range f.replicas {
		r.stop(t)
	}
}

// seedOfFire is what the plan is drawn from.
func seedOfFire(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv(fireSeed)
	if text == "" {
		return uint64(time.Now().UnixMilli()) % 1_000_000_000
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%s: it is a number", fireSeed, text)
	}
	return seed
}

// drawOf is the chance of somebody in the fire: of the plan, 0, or of a client.
func (f *fire) drawOf(whom uint64) *rand.Rand { return rand.New(rand.NewPCG(f.seed, whom)) }

// gather sets the clients to work. stop has them take up nothing new, waits until each has
// its answer, and after a while for none any more.
func (f *fire) gather() (stop func(goodbye time.Duration)) {
	f.closing = make(chan struct{})
	ctx, hangUp := context.WithCancel(context.Background())
	f.work = ctx
	var clients sync.WaitGroup
	whom := uint64(0)
	for _, sort := range crowd {
		for n := range f.size.clients[sort.does] {
			whom++
			c := f.caller(sort.does, n, f.drawOf(whom))
			clients.Go(func() { sort.work(c) })
		}
	}
	var once sync.Once
	return func(goodbye time.Duration) {
		once.Do(func() {
			close(f.closing)
			late := time.AfterFunc(goodbye, hangUp)
			clients.Wait()
			late.Stop()
			hangUp()
		})
	}
}

// goesOn says whether a client is to take up something new.
func (f *fire) goesOn() bool {
	select {
	case <-f.closing:
		return false
	default:
		return true
	}
}

// inPeace lets every client be answered before anything goes wrong, and holds the answers to it.
func (f *fire) inPeace(t *testing.T) {
	t.Helper()
	eventually(t, "every client is answered before anything goes wrong", func() bool {
		for _, sort := range crowd {
			if f.book.answeredWell(sort.does) < 2*f.size.clients[sort.does] {
				return false
			}
		}
		return true
	})
	if refused := f.book.refusals(); len(refused) > 0 {
		f.book.wrong("before anything went wrong clients were answered %v", refused)
	}
}

// allReady waits until all replicas say that they have all they need.
func (f *fire) allReady(t *testing.T) {
	t.Helper()
	for _, r := range f.replicas {
		eventually(t, r.name+" is ready", r.isReady)
	}
	eventually(t, "it is reached through nginx", func() bool {
		got, err := f.caller(looking, 0, nil).once(context.Background(), call{method: "GET", path: "/readyz"})
		return err == nil && got.status == 200
	})
}

func (f *fire) String() string {
	return fmt.Sprintf("%s=%d, %d replicas", fireSeed, f.seed, f.size.replicas)
}
