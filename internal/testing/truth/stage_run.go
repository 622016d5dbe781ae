package truth

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/measurementstest"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
)

// Sessions are compared for an hour, in which a scene goes on. It begins before and ends after that.
const (
	judgedFrom = 2 * time.Minute
	judgedTo   = judgedFrom + time.Hour
	watched    = judgedTo + 3*time.Minute
)

// staged is a server with a stage.
type staged interface {
	server
	// session is how the server names a session.
	session(id int) string
}

// stages are the engines whose sessions are simulated. The same scenes play on PostgreSQL itself.
var stages = []struct {
	name   string
	engine fleet.Engine
	server func(*clocktest.Clock, *stage) staged
}{
	{"SQL Server", fleet.SQLServer, func(c *clocktest.Clock, on *stage) staged {
		s := newSQLServer(c, false)
		s.stage = on
		return s
	}},
	{"Oracle", fleet.Oracle, func(c *clocktest.Clock, on *stage) staged {
		o := newOracle(c)
		o.stage = on
		return o
	}},
}

// SessionLine is how many sessions of an application did something at once.
type SessionLine struct {
	What                  string
	Actual, Ours, Allowed float64 // the last is the sampling error
}

// off is the difference, of the one that sampling allows.
func (l SessionLine) off() float64 { return math.Abs(l.Actual-l.Ours) / l.Allowed }

// SessionCell is a scene of sessions on an engine.
type SessionCell struct {
	Scene, Story, Engine string
	Root                 string        // who holds others up; empty: nobody
	Named                bool          // and the server tells so
	Shown                time.Duration // how long after its begin Muster named it; 0: never
	Lines                []SessionLine
	Counted              []string // what else was counted, by Muster and really
	Wrong                []string // what Muster has that is not so; there is none
}

// watching is a staging that our loop watches.
type watching struct {
	*staging
	scene  sessionScene
	engine fleet.Engine
	server staged
	home   *measuretest.Home
	cell   *SessionCell
	ended  bool // it was said that nobody waits any more
	counts map[measurements.Figure]int64
	most   map[measurements.Figure]int64
	dead   int64
}

// RunSessions plays the scenes of sessions, each with a store of its own.
func RunSessions(ctx context.Context, open func() measurementstest.Harness) (cells []SessionCell, err error) {
	for _, s := range sessionScenes {
		for _, on := range stages {
			clock := clocktest.At(began)
			stage := newStage(clock, began.Add(judgedFrom), began.Add(judgedTo))
			random := rand.New(rand.NewPCG(number(s.name), number(on.name)))
			p := &staging{stage: stage, random: random, end: judgedTo + 10*time.Second}
			p.begin = time.Minute + time.Duration(random.Int64N(int64(30*time.Second)))
			for id := 90; id < 94; id++ {
				p.works(id, "catalog", 2*time.Second, 3*time.Second)
			}
			s.plays(p)
			w := &watching{
				staging: p, scene: s, engine: on.engine, server: on.server(clock, stage), cell: &SessionCell{Scene: s.name, Story: s.story, Engine: on.name},
				counts: map[measurements.Figure]int64{}, most: map[measurements.Figure]int64{},
			}
			if err := w.run(ctx, open()); err != nil {
				return nil, fmt.Errorf("%s on %s: %w", s.name, on.name, err)
			}
			cells = append(cells, *w.cell)
		}
	}
	return cells, nil
}

func (w *watching) run(ctx context.Context, store measurementstest.Harness) error {
	w.home = &measuretest.Home{To: servers.Target{Engine: w.engine, Database: "app"}}
	organization := uuid.New()
	ours := measure.New(measure.Config{
		Engine: w.server.engine(), Organization: organization, Instance: instance, Home: w.home, Gate: measure.NewGate(2),
		Open: func(_ context.Context, _ servers.Target, database string) (servers.Session, error) {
			return &session{serverstest.New(database), w.server}, nil
		},
		Log: slog.New(slog.DiscardHandler), Now: w.clock.Now,
	})
	defer ours.Close(ctx)
	slices.SortStableFunc(w.events, func(a, b event) int { return int(a.at - b.at) })
	events := w.events
	for next := time.Duration(0); next <= watched; next += w.server.engine().SessionsEvery {
		for len(events) > 0 && events[0].at <= next {
			w.clock.Advance(events[0].at - w.clock.Now().Sub(began))
			events[0].do()
			events = events[1:]
		}
		w.clock.Advance(next - w.clock.Now().Sub(began))
		w.home.Batches = nil
		if err := ours.Round(ctx); err != nil {
			return fmt.Errorf("%v after the window began: %w", next, err)
		}
		for _, b := range w.home.Batches {
			if _, err := store.Store.Write(ctx, b); err != nil {
				return err
			}
			w.judge(next, b)
		}
	}
	w.pass()
	if err := store.Roll(ctx); err != nil {
		return err
	}
	w.conclude()
	return w.compare(ctx, store, organization)
}

func (w *watching) wrong(format string, args ...any) {
	w.cell.Wrong = append(w.cell.Wrong, fmt.Sprintf(format, args...))
}

// judge compares who waits for whom in a batch with what is so at this moment.
func (w *watching) judge(at time.Duration, b measurements.Batch) {
	for _, s := range b.Blocking {
		switch held := blocking.Holding(s.Nodes); {
		case s.Deadlock != nil && len(s.Nodes) == 0:
			w.dead += int64(s.Deadlock.Count)
		case s.Deadlock != nil:
			if len(s.Nodes) != 2 || s.Nodes[0].Application == s.Nodes[1].Application || s.Nodes[0].Application != "one" && s.Nodes[0].Application != "two" {
				w.wrong("at %v the sides of a deadlock are %+v", at, s.Nodes)
			}
		case held == nil:
			w.closes(at, s)
		default:
			w.judgeRoot(at, *held)
		}
	}
	for _, s := range b.Sessions {
		if s.Deadlocks != nil {
			w.dead += *s.Deadlocks
		}
	}
	for _, s := range b.Servers {
		for _, f := range s.Figures {
			w.counts[f.Figure] += f.Value
			w.most[f.Figure] = max(w.most[f.Figure], f.Value)
		}
	}
}

// judgeRoot compares the root of a sample.
func (w *watching) judgeRoot(at time.Duration, held blocking.Held) {
	if w.scene.dead && len(held.Cycle) == 2 {
		return // it waits to be detected
	}
	want, behind := w.server.session(w.scene.root), w.behind(w.scene.root)
	if w.scene.root == 0 || held.Root.Session != want || held.Root.Kind != w.scene.kind || held.Behind != behind {
		w.wrong("at %v %s (%s) holds %d up, really %s (%s) %d", at, held.Root.Session, held.Root.Kind, held.Behind, want, w.scene.kind, behind)
		return
	}
	if root := w.find(w.scene.root); root != nil && (held.Root.Application != root.application || held.Root.Idle != (root.does == measurements.IdleInTransaction)) {
		w.wrong("at %v the root is %+v, really %+v", at, held.Root, root)
	}
	if w.cell.Shown == 0 {
		w.cell.Shown = at - w.begin
	}
}

// closes compares that nobody waits any more, once somebody did.
func (w *watching) closes(at time.Duration, s blocking.Sample) {
	if w.cell.Shown == 0 {
		return
	}
	w.ended = true
	want := blocking.TransactionEnded
	if w.scene.root == orphan {
		want = ""
	}
	if at < w.end || s.End != want {
		w.wrong("at %v nobody waits any more (%q), really until %v (%q)", at, s.End, w.end, want)
	}
}

// conclude says what is to be said of the whole scene.
func (w *watching) conclude() {
	if w.scene.root != 0 {
		w.cell.Root, w.cell.Named = w.holder(), w.scene.unnamed != w.engine
		if (w.cell.Shown != 0) != w.cell.Named || w.cell.Named && !w.ended {
			w.wrong("the root is named: %t, and its end told: %t", w.cell.Shown != 0, w.ended)
		}
		if every := w.server.engine().SessionsEvery; w.cell.Shown > every+blocking.Least {
			w.wrong("the root is named after %v", w.cell.Shown)
		}
	}
	for _, c := range []struct {
		what         string
		ours, actual int64
	}{
		{"deadlocks", w.dead, w.deadlocks},
		{"sign-ins", w.counts[measurements.NewConnections], w.logins},
		{"bytes written to temporary space", w.counts[measurements.TemporaryBytes], w.written},
		{"bytes of temporary space used", w.most[measurements.TemporaryUsed], 4096 * block * min(w.written, 1)},
	} {
		if c.what == "bytes written to temporary space" && w.engine == fleet.SQLServer {
			continue // it does not tell
		}
		if c.ours != c.actual {
			w.wrong("%d %s, really %d", c.ours, c.what, c.actual)
		}
		if c.actual > 0 {
			w.cell.Counted = append(w.cell.Counted, fmt.Sprintf("%d of %d %s", c.ours, c.actual, c.what))
		}
	}
}

// holder says who holds others up.
func (w *watching) holder() string {
	switch root := w.find(w.scene.root); {
	case root == nil:
		return "a distributed transaction"
	case root.own:
		return "session " + w.server.session(root.id) + ", the server's own"
	default:
		return "session " + w.server.session(root.id) + ", " + root.application
	}
}

// compare compares the average sessions that the store answers with those of the stage.
func (w *watching) compare(ctx context.Context, store measurementstest.Harness, organization uuid.UUID) error {
	during := timegrid.Window{From: began.Add(judgedFrom), To: began.Add(judgedTo), Size: timegrid.Minute}
	samples := int((judgedTo - judgedFrom) / w.server.engine().SessionsEvery)
	for _, state := range []measurements.State{measurements.OnCPU, measurements.Waits, measurements.IdleInTransaction} {
		if state == measurements.IdleInTransaction && w.engine == fleet.SQLServer || state == measurements.Waits && w.scene.dead {
			continue // it has no wait of its own; waits are averaged over the samples in which one waits
		}
		part, err := store.Store.Activity(ctx, organization, w.engine, fleet.Scope{}, during, measurements.ActivityQuery{By: measurements.DimApplication, States: []measurements.State{state}})
		if err != nil {
			return err
		}
		known := 0
		for of := range w.sums {
			if of.does != state {
				continue
			}
			mean, variance := w.average(of)
			line := SessionLine{What: of.application + ", " + string(state), Actual: mean, Allowed: SamplingError(variance, w.stage.most[of], samples)}
			if values := part.Lines[measurements.ActivityKey{Name: measurements.NameKey{}.Hash(measurements.DimApplication, of.application)}]; values != nil {
				line.Ours = values.Average()
				known++
			}
			if line.off() > 1 {
				w.wrong("%s: %.3f sessions, really %.3f, allowed are %.3f", line.What, line.Ours, line.Actual, line.Allowed)
			}
			w.cell.Lines = append(w.cell.Lines, line)
		}
		if len(part.Lines) != known {
			w.wrong("%s: %d applications, really %d", state, len(part.Lines), known)
		}
	}
	slices.SortFunc(w.cell.Lines, func(a, b SessionLine) int {
		return cmp.Or(cmp.Compare(b.off(), a.off()), cmp.Compare(a.What, b.What))
	})
	return nil
}
