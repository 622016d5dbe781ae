package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/concurrency/supervise"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/servers/tdstest"
	"muster/internal/watch"
	"muster/internal/watch/status"
)

// heard is a home that hands over what it gets.
type heard struct {
	*measuretest.Home
	batches chan measurements.Batch
}

func (h *heard) Record(ctx context.Context, b measurements.Batch, signs []watch.Sign) error {
	select {
	case h.batches <- b:
	case <-ctx.Done():
	}
	return h.Home.Record(ctx, b, signs)
}

func (h *heard) Count(ctx context.Context, since *time.Time, now *measure.List, b measurements.Batch, signs []watch.Sign) error {
	select {
	case h.batches <- b:
	case <-ctx.Done():
	}
	return h.Home.Count(ctx, since, now, b, signs)
}

// runs measures a server as serve and the agent do, many times a second, until the test ends. Nothing runs out of time.
func (f *fake) runs(t *testing.T, open func() error) <-chan measurements.Batch {
	t.Helper()
	one, batches := f.measured(t, open)
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { one.Run(ctx) })
	t.Cleanup(func() { end(); running.Wait() })
	return batches
}

func (f *fake) measured(t *testing.T, open func() error) (*measure.Server, <-chan measurements.Batch) {
	t.Helper()
	target, err := new(servers.Reach).Target(fleet.SQLServer, f.DSN("encrypt=disable"))
	if err != nil {
		t.Fatal(err)
	}
	engine := Engine()
	engine.SessionsEvery, engine.StatementsEvery = 20*time.Millisecond, 20*time.Millisecond
	h := &heard{&measuretest.Home{To: target}, make(chan measurements.Batch)}
	one := measure.New(measure.Config{
		Engine: engine, Instance: uuid.New(), Home: h, Gate: measure.NewGate(2), Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Open: func(ctx context.Context, to servers.Target, database string) (servers.Session, error) {
			if err := open(); err != nil {
				return nil, err
			}
			return to.Open(ctx, database, time.Hour)
		},
	})
	return one, h.batches
}

// TestAPanicBesideTheSessionsReachesTheirCaller: whoever measures a server recovers what falls, and starts both again.
func TestAPanicBesideTheSessionsReachesTheirCaller(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var opened atomic.Int32
	one, batches := f.measured(t, func() error {
		if opened.Add(1) == 2 { // the first is the sessions'
			panic("the reader of statements falls")
		}
		return nil
	})
	var fell supervise.Group
	fell.Go(func() error { one.Run(t.Context()); return nil })
	ended := make(chan error)
	go func() { ended <- fell.Wait() }()
	patience := time.After(time.Minute)
	for {
		select {
		case <-batches:
			continue
		case err := <-ended:
			if _, panicked := errors.AsType[*supervise.PanicError](err); !panicked {
				t.Errorf("it ended with %v", err)
			}
		case <-patience:
			t.Error("the sessions are read on without the statements")
		}
		return
	}
}

func lets() error { return nil }

// next is the next batch that is of a kind.
func next(t *testing.T, batches <-chan measurements.Batch, is func(measurements.Batch) bool) measurements.Batch {
	t.Helper()
	patience := time.After(time.Minute)
	for {
		select {
		case b := <-batches:
			if is(b) {
				return b
			}
		case <-patience:
			t.Fatal("nothing comes")
		}
	}
}

func hasSessions(b measurements.Batch) bool   { return len(b.Sessions) > 0 }
func hasStatements(b measurements.Batch) bool { return len(b.Statements) > 0 }

// TestAHangingStatementDoesNotDelaySessions, of 1,000 databases too: they have a connection of their own. A
// statement that hangs ends after the sessions were read twenty times.
func TestAHangingStatementDoesNotDelaySessions(t *testing.T) {
	t.Parallel()
	for _, databases := range []int{2, 1000} {
		t.Run(fmt.Sprint(databases), func(t *testing.T) {
			t.Parallel()
			sessionsAreOnTime(t, databases)
		})
	}
}

func sessionsAreOnTime(t *testing.T, databases int) {
	t.Helper()
	f := newFake(t)
	f.holdStores(databases)
	f.sessions = []row{{5, "idle", "", 1}}
	hangs, goesOn := make(chan struct{}), make(chan struct{})
	begins := sync.OnceFunc(func() { close(hangs) })
	f.fails["clocks"] = func() *tdstest.Error {
		begins()
		<-goesOn
		return nil
	}
	batches := f.runs(t, lets)
	defer sync.OnceFunc(func() { close(goesOn) })()
	next(t, batches, hasSessions)
	<-hangs
	for range 20 {
		if b := next(t, batches, hasSessions); hasStatements(b) || len(b.Sessions) != databases+1 {
			t.Fatalf("of %d databases, and it hangs: %t", len(b.Sessions), !hasStatements(b))
		}
	}
}

// TestStatementsAreCountedBesideTheSessions: both come, each in batches of its own, over two connections.
func TestStatementsAreCountedBesideTheSessions(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.sessions = []row{{5, "idle", "", 1}}
	f.clock.Advance(time.Since(began))
	batches := f.runs(t, lets)
	b := next(t, batches, hasStatements)
	if hasSessions(b) {
		t.Error("one batch has both")
	}
	next(t, batches, hasSessions)
	if n := len(f.Logins()); n != 2 {
		t.Errorf("%d connections", n)
	}
}

// TestALoginThatIsRefusedIsTriedOnce at a time: the connection for statements is opened only beside that for sessions, so
// that no account is locked twice as fast.
func TestALoginThatIsRefusedIsTriedOnce(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.sessions = []row{{5, "idle", "", 1}}
	var refuses atomic.Bool
	var attempts atomic.Int64
	batches := f.runs(t, func() error {
		if !refuses.Load() {
			return nil
		}
		attempts.Add(1)
		return &servers.ConnectionError{Class: servers.ClassAuthentication, Sentence: "The password is wrong."}
	})
	next(t, batches, hasStatements)
	next(t, batches, hasStatements) // the second list has its connection
	refuses.Store(true)
	f.CutAll()
	refused := func() int64 {
		next(t, batches, func(b measurements.Batch) bool {
			return slices.ContainsFunc(b.Reached, func(r measurements.Reached) bool { return r.Part == "" && !r.Up })
		})
		return attempts.Load()
	}
	first := refused()
	// The second attempt comes a second after the first, in which statements have fifty turns. One of them may have begun before.
	if more := refused() - first; more > 2 {
		t.Errorf("%d more attempts, of which one is told", more)
	}
}

// behind is a name that leads to one server or another: that of which, for the connection of that number.
type behind struct {
	opened int
	which  func(opened int) servers.Target
}

func (b *behind) open(ctx context.Context, _ servers.Target, database string) (servers.Session, error) {
	b.opened++
	return b.which(b.opened).Open(ctx, database, measure.StatementTimeout)
}

// TestAFailoverInTheMiddle of a round, on either connection: statements of one server are never told beside sessions of
// another. Behind a name that leads to two servers, that is said.
func TestAFailoverInTheMiddle(t *testing.T) {
	t.Parallel()
	started := func(at string) (*fake, servers.Target) {
		f := newFake(t)
		f.Answer(identityQuery(t), tdstest.Answer{Rows: []row{{"LISTENER", at, ""}}})
		target, err := new(servers.Reach).Target(fleet.SQLServer, f.DSN("encrypt=disable"))
		if err != nil {
			t.Fatal(err)
		}
		return f, target
	}
	first, one := started("2026-11-01T00:00:00")
	second, other := started("2026-11-02T00:00:00")
	first.plans = []row{first.inCache(6, "1", "c", 1, 10, -900)}
	second.started, second.plans = 2, []row{second.inCache(6, "1", "c", 1000, 10_000, -900)}
	name := &behind{which: func(int) servers.Target { return one }}
	home := &measuretest.Home{To: one}
	server := measure.New(measure.Config{
		Engine: Engine(), Instance: uuid.New(), Home: home, Gate: measure.NewGate(1), Log: slog.New(slog.DiscardHandler),
		Now: first.clock.Now, Open: name.open, Identified: func(context.Context, servers.Identity) error { return nil },
	})
	t.Cleanup(func() { server.Close(context.Background()) })
	round := func() measurements.Batch {
		t.Helper()
		before := len(home.Batches)
		err := server.Round(t.Context())
		first.clock.Advance(time.Minute)
		second.clock.Advance(time.Minute)
		if len(home.Batches) == before {
			t.Logf("round: %v", err)
			return measurements.Batch{}
		}
		return home.Batches[len(home.Batches)-1]
	}
	round()
	first.plans = []row{first.inCache(6, "1", "c", 3, 30, -900)}
	if b := round(); len(b.Statements) != 3 {
		t.Fatalf("before: %+v", b)
	}
	// The first server goes while its statements are read, and the name leads to the second one.
	first.fails["plan_cache"] = tdstest.Cut
	if b := round(); len(b.Statements) != 0 || len(b.Sessions) != 3 {
		t.Errorf("at the failover: %+v", b)
	}
	first.CutAll()
	name.which = func(int) servers.Target { return other }
	round() // on the connection that is gone
	for look := range 3 {
		b := round()
		for _, s := range b.Statements {
			for _, st := range s.Statements {
				t.Errorf("look %d: the new server's past is told: %+v", look, st)
			}
		}
		if look == 2 && (len(b.Statements) != 3 || len(b.Sessions) != 3) {
			t.Errorf("after the failover: %+v", b)
		}
	}
	// The name leads to both from now on.
	second.CutAll()
	name.opened, name.which = 0, func(opened int) servers.Target { return map[bool]servers.Target{true: one, false: other}[opened == 1] }
	round()
	round()
	b := round()
	said := slices.IndexFunc(b.Reached, func(r measurements.Reached) bool { return r.Part == "statements" && !r.Up && r.Code == "elsewhere" })
	if said < 0 || len(b.Statements) != 0 || len(b.Sessions) != 3 {
		t.Errorf("of two servers at once: %+v", b)
	}
}

// TestAConnectionForStatementsThatIsRefused, as when a server has no more of them, is said once it lasts, with the number.
func TestAConnectionForStatementsThatIsRefused(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.sessions = []row{{5, "idle", "", 1}}
	m := f.measure(t)
	name := &behind{which: func(int) servers.Target { return m.To }}
	m.one = measure.New(measure.Config{
		Engine: Engine(), Instance: uuid.New(), Home: m.Home, Gate: measure.NewGate(1), Log: slog.New(slog.DiscardHandler), Now: m.clock.Now,
		Open: func(ctx context.Context, to servers.Target, database string) (servers.Session, error) {
			if name.opened >= 1 {
				name.opened++
				return nil, &servers.ConnectionError{Class: servers.ClassRefused, Sentence: "It has no more connections.", Code: "17809"}
			}
			return name.open(ctx, to, database)
		},
	})
	if b := m.well(); len(b.Sessions) != 3 {
		t.Errorf("%+v", b)
	}
	b, err := m.round()
	said := slices.IndexFunc(b.Reached, func(r measurements.Reached) bool { return r.Part == "statements" && !r.Up && r.Code == "17809" })
	if err == nil || said < 0 || len(b.Sessions) != 3 {
		t.Errorf("%v, %+v", err, b)
	}
}

// closing is a session that says when it is closed.
type closing struct {
	servers.Session
	close func()
}

func (c *closing) Close(ctx context.Context) {
	c.Session.Close(ctx)
	c.close()
}

// TestNeitherConnectionKeepsAServerlessDatabaseAwake: both are given up once nobody uses it.
func TestNeitherConnectionKeepsAServerlessDatabaseAwake(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.edition = azureDatabase
	f.Answer(query("objective"), tdstest.Answer{Rows: []row{{"GP_S_Gen5_2"}}})
	target, err := new(servers.Reach).Target(fleet.SQLServer, f.DSN("encrypt=disable&letPause=true"))
	if err != nil {
		t.Fatal(err)
	}
	engine := Engine()
	engine.SessionsEvery, engine.StatementsEvery = 20*time.Millisecond, 20*time.Millisecond
	var open, opened atomic.Int64
	h := &heard{&measuretest.Home{To: target}, make(chan measurements.Batch)}
	one := measure.New(measure.Config{
		Engine: engine, Instance: uuid.New(), Home: h, Gate: measure.NewGate(2), Log: slog.New(slog.DiscardHandler), Now: f.clock.Now,
		Open: func(ctx context.Context, to servers.Target, database string) (servers.Session, error) {
			session, err := to.Open(ctx, database, time.Hour)
			if err != nil {
				return nil, err
			}
			open.Add(1)
			opened.Add(1)
			return &closing{session, sync.OnceFunc(func() { open.Add(-1) })}, nil
		},
	})
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { one.Run(ctx) })
	t.Cleanup(func() { end(); running.Wait() })
	isResting := func(b measurements.Batch) bool {
		return slices.ContainsFunc(b.Reached, func(r measurements.Reached) bool { return r.Code == status.CodeResting })
	}
	next(t, h.batches, func(b measurements.Batch) bool { // the second connection is there
		return slices.ContainsFunc(b.Reached, func(r measurements.Reached) bool { return r.Part == string(status.Statements) })
	})
	f.clock.Advance(11 * time.Minute)
	next(t, h.batches, isResting)
	deadline := time.Now().Add(time.Minute)
	go func() { // nothing else may hold the loop up
		for {
			select {
			case <-h.batches:
			case <-ctx.Done():
				return
			}
		}
	}()
	for open.Load() > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d connections stay open", open.Load(), opened.Load())
		}
		time.Sleep(5 * time.Millisecond)
	}
	if n := opened.Load(); n != 2 {
		t.Errorf("%d connections", n)
	}
}
