package measurements_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/engine"
	"muster/internal/measurements"
)

var (
	gap  = math.NaN()
	noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	// Three minutes.
	window = timegrid.Window{From: noon, To: noon.Add(3 * time.Minute), Size: timegrid.Minute}

	pg, ms, ora = fleet.PostgreSQL, fleet.SQLServer, fleet.Oracle
)

// parts is a store that has its answers written down, engine by engine. read runs
// before each; its error is the store's.
type parts struct {
	measurements.Store
	queries     map[fleet.Engine]measurements.QuerySums
	waits       map[fleet.Engine]measurements.WaitSums
	connections map[fleet.Engine]measurements.OpenConnections
	read        func(context.Context, fleet.Engine) error
}

func (p parts) before(ctx context.Context, engine fleet.Engine) error {
	if p.read == nil {
		return nil
	}
	return p.read(ctx, engine)
}

func (p parts) QueryPerformance(ctx context.Context, _ uuid.UUID, engine fleet.Engine, _ fleet.Scope, w timegrid.Window, _ time.Time) (measurements.QuerySums, error) {
	if part, ok := p.queries[engine]; ok {
		return part, p.before(ctx, engine)
	}
	n := w.Len()
	return measurements.QuerySums{TotalMs: make(measurements.Values, n), Calls: make(measurements.Values, n), MaxMs: line(n)}, p.before(ctx, engine)
}

func (p parts) WaitEvents(ctx context.Context, _ uuid.UUID, engine fleet.Engine, _ fleet.Scope, w timegrid.Window) (measurements.WaitSums, error) {
	part, ok := p.waits[engine]
	for c := range part.Waiting {
		if !ok {
			part.Waiting[c] = line(w.Len())
		}
	}
	return part, p.before(ctx, engine)
}

func (p parts) Connections(ctx context.Context, _ uuid.UUID, engine fleet.Engine, _ []uuid.UUID, _ time.Time) (measurements.OpenConnections, error) {
	return p.connections[engine], p.before(ctx, engine)
}

// line is one without a value.
func line(n int) measurements.Values { return slices.Repeat(measurements.Values{gap}, n) }

// reader combines tiles and records which engines were missing.
type reader struct {
	*measurements.Tiles
	dropped []string
	logged  bytes.Buffer
}

func read(store parts) *reader {
	r := &reader{}
	r.Tiles = &measurements.Tiles{
		Store: store, Log: slog.New(slog.NewTextHandler(&r.logged, nil)),
		Dropped: func(d measurements.Drop) { r.dropped = append(r.dropped, d.Tile+" "+string(d.Engine)) },
	}
	return r
}

// is compares tiles; a gap is a gap.
func is(t *testing.T, want, got any, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestQueryPerformanceIsWeighedByExecutions(t *testing.T) {
	t.Parallel()
	r := read(parts{queries: map[fleet.Engine]measurements.QuerySums{
		pg: {
			TotalMs: measurements.Values{100, 0, 0}, Calls: measurements.Values{100, 0, 0},
			MaxMs: measurements.Values{3, gap, gap}, Sampled: true,
		},
		// One slow call among a hundred is not half of them.
		ora: {
			TotalMs: measurements.Values{1000, 0, 0}, Calls: measurements.Values{1, 4, 0},
			MaxMs: measurements.Values{1000, 0, gap}, Sampled: true,
		},
	}})
	got, err := r.QueryPerformance(t.Context(), uuid.New(), fleet.Scope{}, window, noon)
	is(t, measurements.QueryPerformance{
		AvgMs:   measurements.Values{1100.0 / 101, 0, gap},
		MaxMs:   measurements.Values{1000, 0, gap},
		Engines: []fleet.Engine{pg, ora},
	}, got, err)
}

func TestWaitEventsOfEnginesAreAdded(t *testing.T) {
	t.Parallel()
	r := read(parts{waits: map[fleet.Engine]measurements.WaitSums{
		ms:  {Waiting: [5]measurements.Values{{1, 0, gap}, {2, 0, gap}, {0, 0, gap}, {0, 0, gap}, {4, 0, gap}}, Sampled: true},
		ora: {Waiting: [5]measurements.Values{{0.5, gap, gap}, {0, gap, gap}, {8, gap, gap}, {0, gap, gap}, {0, gap, gap}}, Sampled: true},
	}})
	got, err := r.WaitEvents(t.Context(), uuid.New(), fleet.Scope{}, window)
	is(t, measurements.WaitEvents{
		Waiting: [5]measurements.Values{{1.5, 0, gap}, {2, 0, gap}, {8, 0, gap}, {0, 0, gap}, {4, 0, gap}},
		Engines: []fleet.Engine{ms, ora},
	}, got, err)
}

func TestConnectionsAreAdded(t *testing.T) {
	t.Parallel()
	older := measurements.OpenConnections{SampledAt: noon.Add(-time.Minute), Active: 1, Idle: 2, Waiting: 3, IdleInTransaction: 4, Other: 5}
	newer := measurements.OpenConnections{SampledAt: noon, Active: 10, Idle: 20, Waiting: 30, IdleInTransaction: 40, Other: 50}
	zeros := measurements.OpenConnections{SampledAt: noon}
	sum := measurements.OpenConnections{SampledAt: older.SampledAt, Active: 11, Idle: 22, Waiting: 33, IdleInTransaction: 44, Other: 55}
	for _, c := range []struct {
		name  string
		store map[fleet.Engine]measurements.OpenConnections
		want  measurements.Snapshot
		total int64
	}{
		{"nothing counts", nil, measurements.Snapshot{}, 0},
		{
			"the oldest sample is named", map[fleet.Engine]measurements.OpenConnections{ora: newer, pg: older},
			measurements.Snapshot{OpenConnections: sum, Engines: []measurements.EngineConnections{{pg, older}, {ora, newer}}}, 165,
		},
		{
			"in either order", map[fleet.Engine]measurements.OpenConnections{pg: newer, ms: older},
			measurements.Snapshot{OpenConnections: sum, Engines: []measurements.EngineConnections{{pg, newer}, {ms, older}}}, 165,
		},
		{
			"sampled, and nobody connected", map[fleet.Engine]measurements.OpenConnections{ms: zeros},
			measurements.Snapshot{OpenConnections: zeros, Engines: []measurements.EngineConnections{{ms, zeros}}}, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := read(parts{connections: c.store}).Connections(t.Context(), uuid.New(), nil, noon)
			is(t, c.want, got, err)
			if got.Total() != c.total {
				t.Errorf("total %d, want %d", got.Total(), c.total)
			}
		})
	}
}

// all reads the three tiles of engines and says what each has.
func (r *reader) all(ctx context.Context) (engines [3][]fleet.Engine, incomplete [3]bool, errs [3]error) {
	queries, err := r.QueryPerformance(ctx, uuid.New(), fleet.Scope{}, window, noon)
	engines[0], incomplete[0], errs[0] = queries.Engines, queries.Incomplete, err
	waits, err := r.WaitEvents(ctx, uuid.New(), fleet.Scope{}, window)
	engines[1], incomplete[1], errs[1] = waits.Engines, waits.Incomplete, err
	card, err := r.Connections(ctx, uuid.New(), nil, noon)
	for _, e := range card.Engines {
		engines[2] = append(engines[2], e.Engine)
	}
	incomplete[2], errs[2] = card.Incomplete, err
	return engines, incomplete, errs
}

// sampled is a store with a sample of every engine.
func sampled(read func(context.Context, fleet.Engine) error) parts {
	p := parts{
		queries: map[fleet.Engine]measurements.QuerySums{}, waits: map[fleet.Engine]measurements.WaitSums{},
		connections: map[fleet.Engine]measurements.OpenConnections{}, read: read,
	}
	zeros := make(measurements.Values, window.Len())
	for _, engine := range engine.Measured() {
		p.queries[engine] = measurements.QuerySums{TotalMs: zeros, Calls: zeros, MaxMs: line(window.Len()), Sampled: true}
		p.waits[engine] = measurements.WaitSums{Waiting: [5]measurements.Values{zeros, zeros, zeros, zeros, zeros}, Sampled: true}
		p.connections[engine] = measurements.OpenConnections{SampledAt: noon, Idle: 1}
	}
	return p
}

func TestAnEngineThatCannotBeReadIsLeftOut(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, failing := range engine.Measured() {
		r := read(sampled(func(_ context.Context, engine fleet.Engine) error {
			if engine == failing {
				return broken
			}
			return nil
		}))
		rest := slices.DeleteFunc(engine.Measured(), func(e fleet.Engine) bool { return e == failing })
		engines, incomplete, errs := r.all(t.Context())
		for i := range engines {
			if !slices.Equal(engines[i], rest) || !incomplete[i] || errs[i] != nil {
				t.Errorf("without %s: %v, incomplete %t, %v", failing, engines[i], incomplete[i], errs[i])
			}
		}
		name := string(failing)
		if want := []string{"query-performance " + name, "wait-events " + name, "connections " + name}; !slices.Equal(r.dropped, want) {
			t.Errorf("dropped %q, want %q", r.dropped, want)
		}
		if n := strings.Count(r.logged.String(), "engine="+name+" error=broken"); n != 3 {
			t.Errorf("logged %d times:\n%s", n, r.logged.String())
		}
	}
}

// TestAStoreThatCannotBeReadIsAnError: it must not look like a fleet without samples.
func TestAStoreThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	r := read(sampled(func(context.Context, fleet.Engine) error { return broken }))
	_, _, errs := r.all(t.Context())
	for i := range errs {
		if !errors.Is(errs[i], broken) {
			t.Errorf("tile %d: %v", i, errs[i])
		}
	}
	if len(r.dropped) > 0 || r.logged.Len() > 0 {
		t.Errorf("returned, and dropped %q, and logged %s", r.dropped, r.logged.String())
	}
}

func TestAnAbandonedAnswerIsAnError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	reads := 0
	r := read(sampled(func(ctx context.Context, _ fleet.Engine) error {
		reads++
		cancel()
		return ctx.Err()
	}))
	_, _, errs := r.all(ctx)
	for i := range errs {
		if !errors.Is(errs[i], context.Canceled) {
			t.Errorf("tile %d: %v", i, errs[i])
		}
	}
	if reads != 3 || len(r.dropped) > 0 {
		t.Errorf("read %d times, dropped %q", reads, r.dropped)
	}
}

// TestASlowEngineDoesNotFailTheOthers: it delays them.
func TestASlowEngineDoesNotFailTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := read(sampled(func(ctx context.Context, engine fleet.Engine) error {
			if engine == pg {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		began := time.Now()
		got, err := r.WaitEvents(ctx, uuid.New(), fleet.Scope{}, window)
		if err != nil || !got.Incomplete || !slices.Equal(got.Engines, []fleet.Engine{ms, ora}) {
			t.Errorf("%v, incomplete %t, %v", got.Engines, got.Incomplete, err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("took %s of 30s, want a third", took)
		}
	})
}
