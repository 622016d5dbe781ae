package monitor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/concurrency/lease"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
	"muster/internal/watch/status"
)

// nowhere is a connection to a port without a listener.
const nowhere = "postgres://u@127.0.0.1:1/postgres?sslmode=disable"

// die stops what a process measures without giving it back, as its death would.
func (m *Monitor) die() {
	for id, one := range m.measured {
		one.stop()
		<-one.ended
		delete(m.measured, id)
	}
}

func (s *scene) look(m *Monitor) {
	s.Helper()
	if err := m.look(s.Context()); err != nil {
		s.Fatal(err)
	}
}

func (s *scene) expire() {
	s.db.MustExec(`UPDATE monitor_leases SET leased_until = now() - interval '1 second'`)
}

func TestProcessesShareTheServers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const servers = 7
	for range servers {
		s.register(nowhere)
	}
	a, b, c := s.process(), s.process(), s.process()
	s.look(a)
	if len(a.measured) != servers {
		t.Fatalf("alone it measures %d of %d", len(a.measured), servers)
	}
	s.look(b) // there is nothing left for it, but it is there
	s.look(c)
	for range 2 {
		for _, m := range []*Monitor{a, b, c} {
			s.look(m)
		}
	}
	held := make(map[uuid.UUID]bool)
	for _, m := range []*Monitor{a, b, c} {
		if n := len(m.measured); n < 1 || n > 3 {
			t.Errorf("one of three measures %d of %d", n, servers)
		}
		for id := range m.measured {
			if held[id] {
				t.Errorf("two measure %s", id)
			}
			held[id] = true
		}
	}
	if len(held) != servers {
		t.Errorf("%d of %d are measured", len(held), servers)
	}

	// One dies. Its leases and its place run out, and the others have its servers.
	b.die()
	s.expire()
	s.db.MustExec(`DELETE FROM monitor_processes WHERE process = $1`, b.process)
	s.clock.Advance(renewEvery)
	s.look(a)
	s.look(c)
	s.look(a)
	if got := len(a.measured) + len(c.measured); got != servers {
		t.Errorf("after a death %d of %d are measured", got, servers)
	}

	// The others stop as they should: nothing is held then.
	for _, m := range []*Monitor{a, c} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := m.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	var left int
	if err := s.db.Get(&left, `SELECT (SELECT count(*) FROM monitor_leases WHERE token IS NOT NULL) + (SELECT count(*) FROM monitor_processes)`); err != nil || left != 0 {
		t.Errorf("%d are left, %v", left, err)
	}
}

func TestConcurrentClaimsTakeEachServerOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var servers []assessment.Registered
	for range 40 {
		servers = append(servers, assessment.Registered{Organization: s.organization, Instance: uuid.New()})
	}
	var mu sync.Mutex
	claimed := make(map[uuid.UUID]int)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			claims, err := leases{s.db}.claim(t.Context(), servers)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, c := range claims {
				claimed[c.Instance]++
			}
		})
	}
	wg.Wait()
	for _, server := range servers {
		if claimed[server.Instance] != 1 {
			t.Errorf("claimed %d times", claimed[server.Instance])
		}
	}
}

func TestMeasuredServersFollowTheFleet(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.process()
	defer m.die()
	kept, replaced, inactive, forgotten := s.register(nowhere), s.register(nowhere), s.register(nowhere), s.register(nowhere)
	s.db.MustExec(`UPDATE assessment_targets SET engine = 'mongodb' WHERE instance_id = $1`, s.register(nowhere))
	s.look(m)
	if len(m.measured) != 4 {
		t.Fatalf("%d servers are measured", len(m.measured))
	}
	before, token := m.measured[kept], m.measured[replaced].claim.Token
	err := s.facts.SaveCredentials(t.Context(), s.db, assessment.Credentials{
		Organization: s.organization, Instance: replaced, Engine: fleet.PostgreSQL, DSN: nowhere,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.active.deactivate(inactive)
	if err := s.facts.Forget(t.Context(), s.db, s.organization, forgotten); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(renewEvery)
	s.look(m)
	if len(m.measured) != 2 || m.measured[kept] != before || m.measured[replaced] == nil || m.measured[replaced].claim.Token == token {
		t.Errorf("%d servers are measured", len(m.measured))
	}
	var leases int
	if err := s.db.Get(&leases, `SELECT count(*) FROM monitor_leases`); err != nil || leases != 3 { // one is for a deactivated server
		t.Errorf("%d leases, %v", leases, err)
	}
}

// TestOneServer has what happens around a server that is well, in turn: some count who
// is on it.
func TestOneServer(t *testing.T) {
	t.Parallel()
	w := measuretest.NewWatched(t, 0)
	for name, test := range map[string]func(*testing.T, *measuretest.Watched){
		"a process that stood still":        aProcessThatStoodStill,
		"a new server is measured at once":  aNewServerIsMeasuredAtOnce,
		"a removed instance":                aRemovedInstance,
		"a slow server delays itself alone": aSlowServerDelaysItselfAlone,
		"a connection is cut":               aConnectionIsCut,
	} {
		t.Run(name, func(t *testing.T) { test(t, w) })
	}
}

// aProcessThatStoodStill goes on after another has taken over: nothing of what it
// has is kept.
func aProcessThatStoodStill(t *testing.T, w *measuretest.Watched) {
	s := newScene(t)
	instance := s.register(w.DSN)
	old := s.measure(instance)
	w.Run(t, "app", 10, `SELECT 23`)
	if r := s.round(old); r.err != nil {
		t.Fatal(r.err)
	}
	w.Run(t, "app", 10, `SELECT 23`)
	s.expire()
	successor := s.measure(instance)
	for _, step := range []struct {
		one  *server
		lost bool
	}{{successor, false}, {old, true}, {successor, false}, {old, true}} {
		var lost *lease.LostError
		r := s.round(step.one)
		if errors.As(r.err, &lost) != step.lost || step.lost && r.batch.Len() > 0 {
			t.Errorf("%v, %d samples kept", r.err, r.batch.Len())
		}
	}
	// The successor began with a basis: earlier executions belong to no interval, and later
	// ones count once.
	w.Run(t, "app", 4, `SELECT 23`)
	if calls, _, ok := s.round(successor).statements("app"); !ok || calls != 4 {
		t.Errorf("%d calls counted (%t), 4 executed", calls, ok)
	}
}

// TestAnIntervalIsCountedOnce: a process with another end of the last interval is refused.
func TestAnIntervalIsCountedOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	one := s.measure(s.register(nowhere))
	at := s.clock.Now().UTC().Truncate(time.Microsecond)
	count := func(since *time.Time, until time.Time) error {
		tx := s.db.MustBegin()
		defer func() { _ = tx.Rollback() }()
		if err := one.claim.count(t.Context(), tx, since, until); err != nil {
			return err
		}
		return tx.Commit()
	}
	next := at.Add(time.Minute)
	var counted *CountedError
	for i, err := range []error{count(nil, at), count(&at, next)} {
		if err != nil {
			t.Errorf("interval %d: %v", i, err)
		}
	}
	for i, err := range []error{count(nil, next), count(&at, next.Add(time.Minute))} {
		if !errors.As(err, &counted) {
			t.Errorf("again %d: %v", i, err)
		}
	}
	s.db.MustExec(`UPDATE monitor_leases SET token = $1`, uuid.New())
	var lost *lease.LostError
	if err := count(&next, next.Add(time.Minute)); !errors.As(err, &lost) {
		t.Error(err)
	}
}

// aNewServerIsMeasuredAtOnce runs a whole monitor, by its own clocks.
func aNewServerIsMeasuredAtOnce(t *testing.T, w *measuretest.Watched) {
	s := newScene(t)
	s.intake.kept = make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	m := s.process()
	m.Now = time.Now
	running := make(chan error)
	go func() { running <- m.Run(ctx) }()
	instance := s.register(w.DSN)
	<-s.intake.kept
	ids, err := s.commands.DatabasesOf(ctx, s.organization, instance)
	if err != nil {
		t.Fatal(err)
	}
	open, err := s.store.Connections(ctx, s.organization, "postgresql", []uuid.UUID{ids["app"], ids["postgres"], ids["tools"]}, time.Now())
	if err != nil || open.Total() != 1 || open.SampledAt.IsZero() {
		t.Errorf("%v, %+v", err, open)
	}
	is, err := status.Of(ctx, s.db, s.organization, []uuid.UUID{instance}, time.Now())
	if err != nil || is[instance].State != status.Up {
		t.Errorf("%v, it is %+v", err, is[instance])
	}
	// Removed, by a feed that does not know its connection.
	if _, err := s.commands.RemoveInstance(ctx, usecase.Actor{OrganizationID: s.organization}, instance); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-running; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	w.Until(t, 0, `SELECT count(*) FROM pg_stat_activity WHERE usename = 'watcher'`)
}

// aRemovedInstance: the read model still lists it.
func aRemovedInstance(t *testing.T, w *measuretest.Watched) {
	s := newScene(t)
	instance := s.register(w.DSN)
	one := s.measure(instance)
	if _, err := s.commands.RemoveInstance(t.Context(), usecase.Actor{OrganizationID: s.organization}, instance); err != nil {
		t.Fatal(err)
	}
	var lost *lease.LostError
	if r := s.round(one); !errors.As(r.err, &lost) || r.batch.Len() > 0 {
		t.Errorf("%v, %d samples", r.err, r.batch.Len())
	}
}

// aSlowServerDelaysItselfAlone: as many hang as are connected to at once, and another
// one has samples before any of them is given up.
func aSlowServerDelaysItselfAlone(t *testing.T, w *measuretest.Watched) {
	s := newScene(t)
	s.intake.kept = make(chan struct{}, 100)
	hanging := make(chan struct{}, connectsAtOnce)
	for range connectsAtOnce {
		s.register("postgres://u@" + silent(t, hanging) + "/postgres?sslmode=disable")
	}
	var complaints lines
	m := s.process()
	m.Log = slog.New(slog.NewTextHandler(&complaints, nil))
	defer m.die()
	s.look(m)
	for range connectsAtOnce {
		<-hanging
	}
	quick := s.register(w.DSN)
	s.look(m)
	<-s.intake.kept
	s.intake.mu.Lock()
	defer s.intake.mu.Unlock()
	if got := s.intake.batches[0].Sessions; len(got) == 0 || got[0].Instance != quick || complaints.Load() > 0 {
		t.Errorf("%d were given up before the other one had %+v", complaints.Load(), got)
	}
}

// lines counts those of a log that say that a server cannot be connected to.
type lines struct{ atomic.Int32 }

func (l *lines) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("part=connection")) {
		l.Add(1)
	}
	return len(line), nil
}

// silent is a server that accepts a connection, reports it, and never sends anything.
func silent(t *testing.T, taken chan<- struct{}) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		if c, err := l.Accept(); err == nil {
			taken <- struct{}{}
			defer func() { _ = c.Close() }()
			_, _ = io.Copy(io.Discard, c)
		}
	}()
	return l.Addr().String()
}

// TestATargetThatIsNotAllowed is not measured, and assessed soon, which keeps the
// reason: once, and not with every try.
func TestATargetThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	instance := s.register(pgtest.Shared(t).Superuser()) // by its socket
	one := s.measure(instance)
	due := func() (is bool) {
		if err := s.db.Get(&is, `SELECT next_assessment_at <= now() FROM assessment_targets WHERE instance_id = $1`, instance); err != nil {
			t.Fatal(err)
		}
		return is
	}
	for try, want := range []bool{true, false} {
		s.db.MustExec(`UPDATE assessment_targets SET next_assessment_at = now() + interval '6 hours'`)
		var refused *servers.ConnectionError
		if err := s.round(one).err; !errors.As(err, &refused) || refused.Class != servers.ClassNotAllowed {
			t.Errorf("try %d: %v", try+1, err)
		}
		if due() != want {
			t.Errorf("after try %d it is due: %t", try+1, !want)
		}
	}
}

// TestACommitThatTookLongerThanATerm leaves a process that is, by its own entry, gone
// already: it still shares the servers with itself. (A standby that is away, or a frozen
// disk, delays commits so.)
func TestACommitThatTookLongerThanATerm(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.db.MustExec(`CREATE FUNCTION committed_late() RETURNS trigger LANGUAGE plpgsql
		AS 'BEGIN NEW.seen_until := now() - interval ''1 second''; RETURN NEW; END'`)
	s.db.MustExec(`CREATE TRIGGER committed_late BEFORE INSERT OR UPDATE ON monitor_processes FOR EACH ROW EXECUTE FUNCTION committed_late()`)
	for range 2 {
		if n, err := (leases{s.db}).join(t.Context(), uuid.New()); err != nil || n != 1 {
			t.Errorf("%d processes, %v", n, err)
		}
	}
	m := s.process()
	if err := m.look(t.Context()); err != nil {
		t.Error(err)
	}
}
