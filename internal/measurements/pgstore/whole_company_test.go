package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"pgregory.net/rapid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/ledger"
	"muster/internal/testing/longtest"
)

// tester is a test, or a try of a property.
type tester interface {
	rapid.TB
	Context() context.Context
}

// company is an organization on a store whose fleets of any size have rows as a whole.
type company struct {
	*Store
	id        uuid.UUID
	instances []uuid.UUID
	databases []uuid.UUID
	onlyTiles bool // activity is not compared: with many servers, rows do not have a line for each
	turn      int  // of what is compared of activity: 18 compare everything
}

func newCompany(t testing.TB) *company {
	c := &company{Store: newStore(t).Small(), turn: rand.IntN(18)}
	t.Logf("activity is compared from turn %d on", c.turn)
	c.KeepsPeople = func(context.Context, uuid.UUID) (bool, error) { return true, nil }
	c.HoldsPeople = func(context.Context, *sqlx.Tx, uuid.UUID) (bool, error) { return true, nil }
	const long = 400 * 24 * time.Hour // activity of any time is compared
	kept := ledger.Standard
	kept.Activity = ledger.Buckets{Minutes: long, Hours: long, Days: long}
	c.Retain(kept)
	c.afresh()
	return c
}

// afresh continues with another, unknown one.
func (c *company) afresh() {
	c.id, c.instances, c.databases = uuid.New(), nil, []uuid.UUID{uuid.New(), uuid.New()}
	for range 3 {
		c.instances = append(c.instances, uuid.New())
	}
}

// measure writes what is seen of one of its servers at a time.
func (c *company) measure(t tester, server int, at time.Time) {
	t.Helper()
	b := lookAt(c.id, c.instances[server], fmt.Sprint("host-", server), c.databases, at)
	b.Statements[0].Partial = server == 2
	if _, err := c.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func (c *company) roll(t tester) {
	t.Helper()
	if _, err := c.Roll(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (c *company) settle(t tester) {
	t.Helper()
	if err := c.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (c *company) exec(t tester, query string, args ...any) {
	t.Helper()
	if _, err := c.db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func (c *company) count(t tester, query string, args ...any) (n int) {
	t.Helper()
	if err := c.db.GetContext(t.Context(), &n, query, args...); err != nil {
		t.Fatal(err)
	}
	return n
}

// compact puts everything into blocks.
func (c *company) compact(t tester) {
	t.Helper()
	c.exec(t, `UPDATE measured_hours SET arrived_at = arrived_at - interval '11 minutes'`)
	if n, err := c.Compact(t.Context()); err != nil || n == 0 {
		t.Fatalf("%d hours are compacted, %v", n, err)
	}
}

// crashed is a database that was killed: PostgreSQL empties what is not written ahead.
func (c *company) crashed(t tester) {
	t.Helper()
	for _, table := range []string{"wholes", "whole_marks", "whole_missing", "whole_rows", "whole_activity"} { // TRUNCATE takes much longer
		c.exec(t, `DELETE FROM `+table)
	}
}

// kinds of tiles that a whole has, of PostgreSQL.
func (c *company) wholes() []whole {
	return []whole{{c.id, codec.Hosts, ""}, {c.id, codec.Sessions, fleet.PostgreSQL}, {c.id, codec.Statements, fleet.PostgreSQL}, {c.id, codec.Activity, fleet.PostgreSQL}}
}

// made says whether the rows of all wholes have all of a window.
func (c *company) made(t tester, w timegrid.Window) bool {
	t.Helper()
	for _, of := range c.wholes() {
		state, err := c.stateOf(t.Context(), of, windowOf(w))
		if err != nil {
			t.Fatal(err)
		}
		if !state.Made {
			return false
		}
	}
	return true
}

// tiles are what is said of a window.
type tiles struct {
	Utilization measurements.Utilization
	Queries     measurements.QuerySums
	Waits       measurements.WaitSums
	Activity    []measurements.ActivityPart // by the dimensions of the turn, of all states and of those that wait
}

// shown is what who asks without a filter gets, series what the rows of the series say.
func (c *company) shown(t tester, w timegrid.Window) (shown, series tiles) {
	t.Helper()
	ctx, pg, of := t.Context(), fleet.PostgreSQL, windowOf(w)
	q, e := codec.NewQueryPerformance(of.buckets, 0), codec.NewWaitEvents(of.buckets)
	var errs [6]error
	shown.Utilization, errs[0] = c.Utilization(ctx, c.id, measurements.HostScope{}, w)
	shown.Queries, errs[1] = c.QueryPerformance(ctx, c.id, pg, fleet.Scope{}, w, w.To)
	shown.Waits, errs[2] = c.WaitEvents(ctx, c.id, pg, fleet.Scope{}, w)
	series.Utilization, errs[3] = c.seriesUtilization(ctx, c.id, measurements.HostScope{}, of)
	q.Partial, errs[4] = c.readInstances(ctx, c.id, codec.Statements, pg, fleet.Scope{}, of, q.Take)
	_, errs[5] = c.readInstances(ctx, c.id, codec.Sessions, pg, fleet.Scope{}, of, e.Take)
	series.Queries, series.Waits = q.QuerySums, e.Sums()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	for i, by := range c.dimensions() {
		if c.onlyTiles {
			break
		}
		for _, states := range turns(c.turn/3+i, nil, []measurements.State{measurements.Waits}) {
			q := measurements.ActivityQuery{By: by, States: states}
			one, err := c.Activity(ctx, c.id, pg, fleet.Scope{}, w, q)
			if notKept := new(measurements.NotKeptError); errors.As(err, &notKept) {
				continue
			}
			same, failed := c.activityOf(ctx, c.id, pg, fleet.Scope{}, of, q)
			if err := errors.Join(err, failed); err != nil {
				t.Fatal(err)
			}
			shown.Activity, series.Activity = append(shown.Activity, one), append(series.Activity, same)
		}
	}
	return shown, series
}

// same holds what is shown of a window to what its series say.
func (c *company) same(t tester, w timegrid.Window, when string) {
	t.Helper()
	shown, series := c.shown(t, w)
	if diff := gocmp.Diff(series, shown, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Fatalf("%s: %v (-series +shown)\n%s", when, w, diff)
	}
	if !c.onlyTiles {
		c.sameFew(t, w, when)
	}
	c.turn++
}

// turns is one of all, each time another one, and all of them where tests may take long: what is
// the same of nine dimensions, by all states and by some, with each limit, took a third of the
// package's time.
func turns[T any](turn int, all ...T) []T {
	if longtest.Asked() {
		return all
	}
	return all[turn%len(all):][:1]
}

// dimensions are those by which activity is compared this time: a third of them, each time another one, and all of
// them where tests may take long.
func (c *company) dimensions() []measurements.Dimension {
	all := measurements.Dimensions()
	if longtest.Asked() {
		return all
	}
	var third []measurements.Dimension
	for i := c.turn % 3; i < len(all); i += 3 {
		third = append(third, all[i])
	}
	return third
}

// sameFew holds what readers of the greatest lines get to all lines of the series.
func (c *company) sameFew(t tester, w timegrid.Window, when string) {
	t.Helper()
	for i, by := range c.dimensions() {
		for _, limit := range turns(c.turn/3+i, 1, 2, 3) {
			q := measurements.ActivityQuery{By: by, Limit: limit}
			few, err := c.Activity(t.Context(), c.id, fleet.PostgreSQL, fleet.Scope{}, w, q)
			if notKept := new(measurements.NotKeptError); errors.As(err, &notKept) {
				continue
			}
			all, failed := c.activityOf(t.Context(), c.id, fleet.PostgreSQL, fleet.Scope{}, windowOf(w), q)
			if err := errors.Join(err, failed); err != nil {
				t.Fatal(err)
			}
			if _, rest := few.Lines[measurements.ActivityKey{Rest: true}]; rest {
				all = fewOf(all, limit, few.Lines)
			}
			few.RestLines = 0
			delete(few.Classes, measurements.ActivityKey{Rest: true}) // nobody asks for them
			delete(all.Classes, measurements.ActivityKey{Rest: true})
			if diff := gocmp.Diff(all, few, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-9, 1e-12)); diff != "" {
				t.Fatalf("%s: %d by %s, %v (-series +shown)\n%s", when, limit, by, w, diff)
			}
		}
	}
}

// fewOf leaves as many of the greatest lines, of equal ones those that are shown, and adds up the others.
func fewOf(all measurements.ActivityPart, limit int, shown map[measurements.ActivityKey]measurements.Values) measurements.ActivityPart {
	few := measurements.ActivityPart{
		Lines: make(map[measurements.ActivityKey]measurements.Values), Classes: make(map[measurements.ActivityKey]measurements.ByClass),
		Sampled: all.Sampled, Told: all.Told, Partial: all.Partial,
	}
	sum := func(key measurements.ActivityKey) float64 {
		thousandths := math.Round(all.Lines[key].Sum() * 1000)
		if shown[key] != nil {
			thousandths += 0.5
		}
		return thousandths
	}
	rest := measurements.ActivityKey{Rest: true}
	order := slices.SortedFunc(maps.Keys(all.Lines), func(a, b measurements.ActivityKey) int { return cmp.Compare(sum(b), sum(a)) })
	for i, key := range order {
		to := key
		if i >= limit || key.Rest {
			to = rest
		}
		if few.Lines[to] == nil {
			few.Lines[to] = measurements.Gaps(len(all.Sampled))
		}
		classes := few.Classes[to]
		for class, v := range all.Classes[key] {
			classes[class] += v
		}
		few.Classes[to] = classes
		for bucket, v := range all.Lines[key] {
			if math.IsNaN(few.Lines[to][bucket]) && all.Sampled[bucket] && (all.Told[bucket] || !to.OnCPU()) {
				few.Lines[to][bucket] = 0
			}
			if !math.IsNaN(v) {
				few.Lines[to][bucket] += v
			}
		}
	}
	return few
}

// windowAround has what is measured from three days before a time to a day after it.
func windowAround(at time.Time, size timegrid.Size) timegrid.Window {
	return timegrid.Window{From: at.Add(-72*time.Hour - 17*time.Minute), To: at.Add(24*time.Hour + 23*time.Minute), Size: size}
}

var errDied = errors.New("the process died")
