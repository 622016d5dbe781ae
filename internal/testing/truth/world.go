package truth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements"
	"muster/internal/measurements/measurementstest"
	"muster/internal/measurements/waitclass"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
)

// The window that is compared begins with our first look and is ten minutes long. Before
// it the server has worked for five, so that whoever caches has something in it.
const (
	warmUp = 5 * time.Minute
	window = 10 * time.Minute
	step   = 10 * time.Second
)

// began is when the window does. Ends of query store intervals fall on its ends.
var began = time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC)

// world is a server, what happens on it, and everybody who watches it.
type world struct {
	clock  *clocktest.Clock
	server server
	log    Log
	plans  map[string]int // by which plan a query is executed now
	events []event
	peers  []*peer

	organization uuid.UUID

	home    *measuretest.Home
	ours    *measure.Server
	session *session
	store   measurementstest.Harness
	held    []measurements.Batch // that could not be delivered
	samples []measurements.StatementSample
	looks   []measurements.SessionSample
	grants  map[string]bool // statements that were said to be missing
	refused map[string]bool // codes that were said of parts

	cut   time.Duration // since when nothing reaches the centre; 0: everything does
	twice bool          // what is delivered now is delivered again

	only  string // the database in which anything is executed; empty: both
	quiet bool   // hardly anything is executed
}

// event is what happens at a moment of the window.
type event struct {
	at time.Duration
	do func()
}

// at has something happen.
func (w *world) at(at time.Duration, do func()) { w.events = append(w.events, event{at, do}) }

// instance is the server's id, from which its turn in the minute follows.
var instance = uuid.NewSHA1(uuid.Nil, []byte("server"))

func newWorld(v variant, store measurementstest.Harness) *world {
	clock := clocktest.At(began.Add(-warmUp))
	w := &world{
		clock: clock, server: v.server(clock), plans: make(map[string]int), organization: uuid.New(), store: store, grants: make(map[string]bool), refused: make(map[string]bool),
	}
	w.home = &measuretest.Home{To: servers.Target{Engine: v.engine, Database: "app"}}
	w.ours = measure.New(measure.Config{
		Engine: w.server.engine(), Organization: w.organization, Instance: instance, Home: w.home, Gate: measure.NewGate(2),
		Open: func(_ context.Context, _ servers.Target, database string) (servers.Session, error) {
			w.session = &session{serverstest.New(database), w.server}
			return w.session, nil
		},
		Log: slog.New(slog.DiscardHandler), Now: clock.Now,
	})
	w.peers = v.peers(w)
	return w
}

// execute is an execution that ends now.
func (w *world) execute(database, query string, ms float64) {
	if w.only != "" && database != w.only {
		return
	}
	e := Execution{At: w.clock.Now(), Database: database, Query: query, Plan: w.plans[query], Ms: ms}
	w.log = append(w.log, e)
	w.server.execute(e)
}

// now is how far the window has come.
func (w *world) now() time.Duration { return w.clock.Now().Sub(began) }

// run lets it all happen.
func (w *world) run(ctx context.Context) error {
	w.events = append(w.events, workload(w)...)
	slices.SortStableFunc(w.events, func(a, b event) int { return int(a.at - b.at) })
	events := w.events
	for next := -warmUp; next <= window; next += step {
		for len(events) > 0 && events[0].at < next {
			w.clock.Advance(events[0].at - w.now())
			events[0].do()
			events = events[1:]
		}
		w.clock.Advance(next - w.now())
		if err := w.look(ctx); err != nil {
			return fmt.Errorf("%v after the window began: %w", w.now(), err)
		}
	}
	return w.deliverHeld(ctx)
}

// look is a turn of everybody whose turn it is.
func (w *world) look(ctx context.Context) error {
	for _, p := range w.peers {
		if w.now()%p.every == 0 {
			p.poll()
		}
	}
	every := w.server.engine().StatementsEvery
	if w.now() < 0 || w.now()%every != 0 {
		return nil
	}
	kept := len(w.home.Batches)
	err := w.ours.Round(ctx)
	refusal, refused := errors.AsType[*servers.Refusal](err)
	if err != nil && !refused {
		return err
	}
	if refused {
		w.refused[refusal.Code] = true
	}
	for _, g := range w.home.Lacking {
		w.grants[g.Object] = true
	}
	for _, b := range w.home.Batches[kept:] {
		w.samples, w.looks = append(w.samples, b.Statements...), append(w.looks, b.Sessions...)
		if err := w.deliver(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// deliver takes a batch to the store, now or later, once or twice.
func (w *world) deliver(ctx context.Context, b measurements.Batch) error {
	if w.isCut() {
		w.held = append(w.held, b)
		return nil
	}
	for range map[bool]int{false: 1, true: 2}[w.twice] {
		if _, err := w.store.Store.Write(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) isCut() bool { return w.cut != 0 && w.now() >= w.cut }

// late is how much later everything arrives that was held.
const late = 71 * time.Hour

func (w *world) deliverHeld(ctx context.Context) error {
	if len(w.held) > 0 {
		if err := errors.Join(w.store.Roll(ctx), w.store.Age(ctx, late), w.store.Seal(ctx)); err != nil {
			return err
		}
	}
	for _, b := range w.held {
		if _, err := w.store.Store.Write(ctx, b); err != nil {
			return err
		}
	}
	return w.store.Roll(ctx)
}

// tile is what the store answers for the hour that the window is in, as the pages ask it.
func (w *world) tile(ctx context.Context, e fleet.Engine) (Figures, float64, error) {
	hour := timegrid.Window{From: began, To: began.Add(time.Hour), Size: timegrid.Hour}
	sums, err1 := w.store.Store.QueryPerformance(ctx, w.organization, e, fleet.Scope{}, hour, began.Add(late+time.Hour))
	waits, err2 := w.store.Store.WaitEvents(ctx, w.organization, e, fleet.Scope{}, hour)
	if err := errors.Join(err1, err2); err != nil {
		return Figures{}, 0, err
	}
	if !sums.Sampled {
		return Figures{}, math.NaN(), nil
	}
	return Figures{Calls: sums.Calls[0], TotalMs: sums.TotalMs[0], MaxMs: sums.MaxMs[0]}, waits.Waiting[waitclass.Locks][0], nil
}

// truth is what really happened in the window.
func (w *world) truth(e fleet.Engine) Figures {
	happened := w.log.between(began, began.Add(window))
	t := happened.tally(w.server)
	if e == fleet.Oracle { // a statement that was seen at work only once contributes nothing (readings, 17)
		seen := make(map[string]map[int64]bool)
		for _, one := range happened {
			key := one.Database + " " + w.server.key(one)
			if seen[key] == nil {
				seen[key] = make(map[int64]bool)
			}
			seen[key][(one.At.UnixMicro()-1)/w.server.engine().StatementsEvery.Microseconds()] = true
		}
		for key := range t {
			if len(seen[key]) == 1 {
				delete(t, key)
			}
		}
	}
	return t.figures()
}

// said is what ours says of what it lacks, and wrong what it has that did not happen. A sample may have less
// than the truth only where something says so.
func (w *world) said() (said []string, wrong []string) {
	for _, s := range w.looks {
		if s.Database == w.home.Known["app"] && s.Waiting != int64(w.waiting()) {
			wrong = append(wrong, fmt.Sprintf("at %s: %d sessions wait, really %d", s.At.Format(time.TimeOnly), s.Waiting, w.waiting()))
		}
	}
	missing, unknown := 0, 0
	var attributed, busy float64
	for _, database := range []string{"app", "crm"} {
		if w.only != "" && database != w.only {
			continue
		}
		covered := time.Duration(0)
		for _, s := range w.samples {
			if s.Database != w.home.Known[database] {
				continue
			}
			covered += s.Interval
			really := w.log.between(s.At.Add(-s.Interval), s.At).of(database)
			wrong = append(wrong, w.untrue(s, really)...)
			var counted int64
			for _, one := range s.Statements {
				counted += one.Calls
				if s.BusyMs != nil {
					attributed += one.TotalMs
				}
			}
			if s.BusyMs != nil {
				busy += *s.BusyMs
			} else if counted < int64(len(really)) {
				unknown++
			}
		}
		missing += int((window - covered) / w.server.engine().StatementsEvery)
	}
	for grant := range w.grants {
		said = append(said, "missing grant: "+grant)
	}
	for code := range w.refused {
		said = append(said, code)
	}
	slices.Sort(said)
	if missing > 0 {
		said = append(said, fmt.Sprintf("no sample, %d×", missing))
	}
	if busy > 0 && attributed < busy-1e-6 {
		said = append(said, fmt.Sprintf("coverage %.1f %%", attributed/busy*100))
	}
	if unknown > 0 {
		said = append(said, fmt.Sprintf("coverage not known, %d×", unknown))
	}
	return said, wrong
}

// untrue is what a sample has that did not happen: more than there was, or an average or
// a maximum that no execution had.
func (w *world) untrue(s measurements.StatementSample, really Log) (untrue []string) {
	for _, one := range s.Statements {
		var calls, total, shortest, longest float64
		for _, e := range really {
			if w.server.key(e) != one.Key {
				continue
			}
			if calls == 0 {
				shortest = e.Ms
			}
			calls, total, shortest, longest = calls+1, total+e.Ms, min(shortest, e.Ms), max(longest, e.Ms)
		}
		const rounding = 1e-6
		mean := one.TotalMs / float64(one.Calls)
		if float64(one.Calls) > calls || one.TotalMs > total+rounding || mean < shortest-rounding || mean > longest+rounding || one.MaxMs != nil && *one.MaxMs != longest {
			untrue = append(untrue, fmt.Sprintf("until %s %s: %d executions in %g ms, really %g in %g, of %g to %g",
				s.At.Format(time.TimeOnly), one.Key, one.Calls, one.TotalMs, calls, total, shortest, longest))
		}
	}
	return untrue
}

func join(said []string) string { return strings.Join(said, "; ") }
