package pgstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
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
}

func newCompany(t testing.TB) *company {
	c := &company{Store: newStore(t).Small()}
	c.afresh()
	return c
}

// afresh goes on with another one, of which nothing is known.
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

// compact puts all that there is into blocks.
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
	for _, table := range []string{"wholes", "whole_marks", "whole_missing", "whole_rows"} { // TRUNCATE takes much longer
		c.exec(t, `DELETE FROM `+table)
	}
}

// kinds of tiles that a whole has, of PostgreSQL.
func (c *company) wholes() []whole {
	return []whole{{c.id, codec.Hosts, ""}, {c.id, codec.Sessions, fleet.PostgreSQL}, {c.id, codec.Statements, fleet.PostgreSQL}}
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
	return shown, series
}

// same holds what is shown of a window to what its series say.
func (c *company) same(t tester, w timegrid.Window, when string) {
	t.Helper()
	shown, series := c.shown(t, w)
	if diff := gocmp.Diff(series, shown, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Fatalf("%s: %v (-series +shown)\n%s", when, w, diff)
	}
}

// windowAround has what is measured from three days before a time to a day after it.
func windowAround(at time.Time, size timegrid.Size) timegrid.Window {
	return timegrid.Window{From: at.Add(-72*time.Hour - 17*time.Minute), To: at.Add(24*time.Hour + 23*time.Minute), Size: size}
}

var errDied = errors.New("the process died")

// TestAWholeIsWhatItsSeriesAre whatever happens: servers come late, samples too, days are
// made in any order, some of them before their series are found again after a crash, and
// who makes them dies at any step.
func TestAWholeIsWhatItsSeriesAre(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	now := timegrid.Hour.Floor(time.Now()).Add(20 * time.Minute)
	old := timegrid.Hour.Floor(now.Add(-minutesKept)).Add(-90 * time.Minute)
	rapid.Check(t, func(t *rapid.T) {
		c.afresh()
		c.wholeRows = rapid.SampledFrom([]int{1, 20, 1000}).Draw(t, "rows at a time")
		moments := rapid.Custom(func(t *rapid.T) time.Time {
			return rapid.SampledFrom([]time.Time{now, now.Add(-40 * time.Hour), old}).Draw(t, "era").
				Add(time.Duration(rapid.IntRange(-90, 0).Draw(t, "minutes ago")) * time.Minute)
		})
		window := func(t *rapid.T) timegrid.Window {
			size := rapid.SampledFrom(timegrid.Sizes()).Draw(t, "size")
			from := moments.Draw(t, "from")
			return timegrid.Window{From: from, To: from.Add(time.Minute + time.Duration(rapid.Int64Range(0, int64(75*time.Hour)).Draw(t, "long"))), Size: size}
		}
		steps := map[string]func(){
			"measure": func() {
				c.measure(t, rapid.IntRange(0, 2).Draw(t, "server"), moments.Draw(t, "at"))
			},
			"roll": func() { c.roll(t) },
			"make": func() {
				if _, err := c.Whole(t.Context()); err != nil {
					t.Fatal(err)
				}
			},
			"die": func() {
				left := rapid.IntRange(0, 5).Draw(t, "steps before")
				c.crashAt = func(string) error {
					if left--; left < 0 {
						return errDied
					}
					return nil
				}
				_, err := c.Whole(t.Context())
				c.crashAt = nil
				if err != nil {
					t.Fatal(err)
				}
				c.exec(t, `UPDATE wholes SET due = now()`)
			},
			"crash": func() {
				c.crashed(t)
				if _, err := c.findWholes(t.Context()); err != nil {
					t.Fatal(err)
				}
			},
			"forget": func() {
				if _, err := c.Seal(t.Context()); err != nil {
					t.Fatal(err)
				}
			},
		}
		often := []string{"measure", "measure", "measure", "roll", "make", "make", "die", "crash", "forget"}
		for _, step := range rapid.SliceOfN(rapid.SampledFrom(often), 1, 25).Draw(t, "steps") {
			steps[step]()
			if step == "make" && c.count(t, `SELECT count(*) FROM whole_marks`) == 0 {
				c.same(t, window(t), "meanwhile")
			}
		}
		c.settle(t)
		w := window(t)
		if c.count(t, `SELECT count(*) FROM measured_series WHERE organization_id = $1`, c.id) > 0 && !c.made(t, w) {
			t.Fatalf("%v is not made", w)
		}
		c.same(t, w, "at the end")
	})
}

// TestTheRowsOfTheWholeAreRead, and no others: without a filter there is an answer
// though the series have no rows left.
func TestTheRowsOfTheWholeAreRead(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	for minute := range 90 {
		c.measure(t, minute%3, monday.Add(time.Duration(minute)*time.Minute))
	}
	c.settle(t)
	for _, size := range timegrid.Sizes() {
		w := windowAround(monday, size)
		_, series := c.shown(t, w)
		c.exec(t, `ALTER TABLE measured_series RENAME TO hidden`)
		c.exec(t, `CREATE TABLE measured_series AS SELECT * FROM hidden WITH NO DATA`)
		shown, none := c.shown(t, w)
		c.exec(t, `DROP TABLE measured_series`)
		c.exec(t, `ALTER TABLE hidden RENAME TO measured_series`)
		shown.Queries.Partial = series.Queries.Partial // which the series know
		if diff := gocmp.Diff(series, shown, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-9, 0)); diff != "" || series.Utilization.HostCount != 3 || none.Queries.Sampled {
			t.Errorf("%s (-series +shown)\n%s", size, diff)
		}
	}
}

// TestWhatIsNotMadeYetIsReadFromTheSeries: after an upgrade, or a crash, tiles are right at
// once, and the newest days are made first.
func TestWhatIsNotMadeYetIsReadFromTheSeries(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.wholeRows = 1
	const days = 3
	for day := range days {
		for server := range c.instances {
			c.measure(t, server, monday.Add(time.Duration(24*day+server)*time.Hour))
		}
	}
	c.roll(t)
	c.compact(t)
	c.crashed(t)
	last := monday.AddDate(0, 0, days-1)
	lastDay := timegrid.Window{From: last, To: last.Add(24 * time.Hour), Size: timegrid.Minute}
	all := timegrid.Window{From: monday, To: last.Add(24 * time.Hour), Size: timegrid.Hour}
	if n, err := c.Whole(t.Context()); err != nil || n != 0 {
		t.Errorf("%d were made of which no mark tells: %v", n, err)
	}
	if n, err := c.findWholes(t.Context()); err != nil || n != 3 {
		t.Errorf("%d were found, %v", n, err)
	}
	for pass := range days + 1 { // the first says what is missing
		c.same(t, lastDay, "the last day")
		c.same(t, all, "all days")
		if got := c.made(t, lastDay); got != (pass > 1) {
			t.Errorf("after %d passes, the last day is made: %t", pass, got)
		}
		if c.made(t, all) {
			t.Errorf("after %d passes, everything is made", pass)
		}
		if n, err := c.Whole(t.Context()); err != nil || n != 3 {
			t.Errorf("pass %d made something of %d, %v", pass, n, err)
		}
	}
	if !c.made(t, all) {
		t.Error("something is missing yet")
	}
	c.same(t, all, "when all is made")
}

// TestWhatIsRolledUpMeanwhileIsMadeNext: somebody rolls up while another reads the series,
// or before it does, or just before it commits.
func TestWhatIsRolledUpMeanwhileIsMadeNext(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	another := New(c.db, c.log)
	for i, step := range []string{"begin", "take", "read", "keep"} {
		c.afresh()
		c.measure(t, 0, monday)
		if step != "begin" {
			c.settle(t)
			c.measure(t, 1, monday.Add(time.Minute))
		}
		c.roll(t)
		late := 0
		c.crashAt = func(at string) error {
			if at == step && late == 0 {
				late++
				c.measure(t, 2, monday.Add(2*time.Minute))
				_, err := another.Roll(t.Context())
				return err
			}
			return nil
		}
		if _, err := c.Whole(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.crashAt = nil
		if n := c.count(t, `SELECT count(*) FROM whole_marks`); late != 1 || n == 0 {
			t.Errorf("%d: %s: rolled up %d times, %d marks are left", i, step, late, n)
		}
		if behind, err := c.Behind(t.Context()); err != nil || behind <= 0 {
			t.Errorf("%s: behind by %s, %v", step, behind, err)
		}
		c.settle(t)
		if behind, err := c.Behind(t.Context()); err != nil || behind != 0 {
			t.Errorf("%s: behind by %s, %v", step, behind, err)
		}
		c.same(t, hourOf(monday), step)
	}
}

// TestManyMakeWholes: processes that write, roll up and make at the same time.
func TestManyMakeWholes(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	var all sync.WaitGroup
	for server := range c.instances {
		all.Go(func() {
			for minute := range 20 {
				c.measure(t, server, monday.Add(time.Duration(50+minute)*time.Minute))
				another := New(c.db, c.log).Small()
				if err := another.Settle(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	c.settle(t)
	for _, size := range timegrid.Sizes() {
		w := windowAround(monday, size)
		if !c.made(t, w) {
			t.Errorf("%v is not made", w)
		}
		c.same(t, w, "at the end")
	}
}

// TestAWholeThatCannotBeMade waits, the others go on, and when its marks have become old
// the series are read again.
func TestAWholeThatCannotBeMade(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.measure(t, 0, monday)
	c.settle(t)
	c.measure(t, 1, monday)
	c.roll(t)
	fails := true
	c.crashAt = func(step string) error {
		if fails && step == "read" {
			fails = false // the first that is made
			return errDied
		}
		return nil
	}
	if n, err := c.Whole(t.Context()); err != nil || n != 2 {
		t.Errorf("%d were made, %v; want the two others", n, err)
	}
	c.crashAt = nil
	if n, err := c.Whole(t.Context()); err != nil || n != 0 {
		t.Errorf("%d were made, %v; one waits", n, err)
	}
	if n := c.count(t, `SELECT count(*) FROM wholes WHERE failures = 1 AND due > now()`); n != 1 {
		t.Errorf("%d wait after one failure", n)
	}
	if behind, err := c.Behind(t.Context()); err != nil || behind <= 0 {
		t.Errorf("behind by %s, %v", behind, err)
	}
	c.exec(t, `UPDATE whole_marks SET marked_at = marked_at - interval '6 minutes'`)
	c.same(t, hourOf(monday), "as nobody makes it")
	if elsewhere := hourOf(monday.Add(time.Hour)); !c.made(t, elsewhere) || c.made(t, hourOf(monday)) {
		t.Error("the hour that waits, and no other one, is to be read from the series")
	}
	c.exec(t, `UPDATE wholes SET due = now()`)
	c.settle(t)
	c.same(t, hourOf(monday), "when it has been made")
	if n := c.count(t, `SELECT count(*) FROM wholes WHERE failures > 0`); n != 0 {
		t.Errorf("%d remember a failure", n)
	}
}

// TestSmallFleetsHaveNoRows as a whole: their marks go, and they are read as they are.
func TestSmallFleetsHaveNoRows(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.wholeFrom = 3
	c.measure(t, 0, monday)
	c.measure(t, 1, monday)
	c.settle(t)
	if n := c.count(t, `SELECT (SELECT count(*) FROM wholes) + (SELECT count(*) FROM whole_marks) + (SELECT count(*) FROM whole_rows)`); n != 0 {
		t.Errorf("%d rows", n)
	}
	if n, err := c.findWholes(t.Context()); err != nil || n != 0 {
		t.Errorf("%d were found, %v", n, err)
	}
	c.same(t, hourOf(monday), "of two servers")
	c.measure(t, 2, monday.Add(time.Minute)) // and now it is large
	c.settle(t)
	if !c.made(t, hourOf(monday)) {
		t.Error("three servers have no rows")
	}
	c.same(t, hourOf(monday), "of three servers")
}

// TestOldRowsOfWholesGo as those of the series do, but not while an hour of a series is
// open.
func TestOldRowsOfWholesGo(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	hour := timegrid.Hour.Floor(time.Now())
	recent, month, years := hour.Add(-20*24*time.Hour), hour.Add(-31*24*time.Hour), hour.Add(-410*24*time.Hour)
	for _, at := range []time.Time{recent, month, years} {
		c.measure(t, 0, at)
	}
	c.settle(t)
	rows := func() (of []string) {
		if err := c.db.SelectContext(t.Context(), &of, `SELECT width || ' ' || extract(day FROM now() - start) / 10 FROM whole_rows WHERE kind = 'host' ORDER BY width, start DESC`); err != nil {
			t.Fatal(err)
		}
		return of
	}
	before := len(rows())
	seal := func() {
		if _, err := c.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if seal(); len(rows()) != before || before != 9 {
		t.Errorf("of 9 rows %d were there and %d are left: %v", before, len(rows()), rows())
	}
	c.exec(t, `UPDATE measured_hours SET arrived_at = arrived_at - interval '73 hours'`)
	if seal(); len(rows()) != 1+2+3 {
		t.Errorf("rows left: %v", rows())
	}
	for _, size := range []timegrid.Size{timegrid.Day, timegrid.Week} {
		for _, at := range []time.Time{recent, month, years} {
			c.same(t, windowAround(at, size), "what is kept for ever")
		}
	}
	c.same(t, windowAround(recent, timegrid.Minute), "what is kept")
	c.same(t, windowAround(month, timegrid.Hour), "what is kept")
}

// TestAWholeAfterACrash is made when the head has been made anew, and of days too of which
// the head has but the week.
func TestAWholeAfterACrash(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	for server := range c.instances {
		c.measure(t, server, monday.Add(time.Duration(server)*time.Minute))
	}
	c.settle(t)
	c.compact(t)
	c.measure(t, 0, monday.Add(50*time.Hour)) // the week is in the head again
	c.settle(t)
	c.crashed(t)
	(&stage{TB: t, Store: c.Store}).crash()
	if n, err := c.findWholes(t.Context()); err != nil || n != 3 {
		t.Errorf("%d were found, %v", n, err)
	}
	if n, err := c.Whole(t.Context()); err != nil || n != 0 {
		t.Errorf("%d were made of a head that is not there, %v", n, err)
	}
	c.settle(t)
	for _, size := range timegrid.Sizes() {
		w := windowAround(monday, size)
		if !c.made(t, w) {
			t.Errorf("%v is not made", w)
		}
		c.same(t, w, "after a crash")
		if shown, _ := c.shown(t, w); shown.Utilization.HostCount != 3 {
			t.Errorf("%v: %d hosts", w, shown.Utilization.HostCount)
		}
	}
}

// TestALateSampleOfAnOldHour makes all of its row anew: what others had of it may be
// forgotten.
func TestALateSampleOfAnOldHour(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	old := timegrid.Hour.Floor(time.Now().Add(-minutesKept)).Add(-24 * time.Hour)
	c.measure(t, 0, old)
	c.settle(t)
	c.exec(t, `UPDATE measured_hours SET arrived_at = arrived_at - interval '73 hours'`)
	c.measure(t, 1, old.Add(5*time.Minute)) // which keeps the whole's row, but not that of the first
	c.settle(t)
	if _, err := c.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.measure(t, 1, old.Add(30*time.Minute))
	c.settle(t)
	shown, series := c.shown(t, hourOf(old))
	series.Utilization.HostCount = 2 // weeks know both of them
	if diff := gocmp.Diff(series, shown, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("(-series +shown)\n%s", diff)
	}
}

// TestAnOrganizationGoesWithItsWholes, and no other one does.
func TestAnOrganizationGoesWithItsWholes(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.measure(t, 0, monday)
	stays := c.id
	c.settle(t)
	rows := c.count(t, `SELECT count(*) FROM whole_rows`)
	c.afresh()
	c.measure(t, 0, monday)
	c.settle(t)
	c.measure(t, 1, monday)
	c.roll(t)
	tx, err := c.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.deleteWholes(t.Context(), tx, c.id); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"wholes", "whole_marks", "whole_missing", "whole_rows"} {
		if n := c.count(t, `SELECT count(*) FROM `+table+` WHERE organization_id = $1`, c.id); n != 0 {
			t.Errorf("%s has %d rows of it", table, n)
		}
	}
	if n := c.count(t, `SELECT count(*) FROM whole_rows WHERE organization_id = $1`, stays); n != rows {
		t.Errorf("another one has %d of %d rows", n, rows)
	}
}

// TestRowsOfAStretch: of any stretch, every minute is in one of the rows, once, and no
// other minute is; and there are few.
func TestRowsOfAStretch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := monday.Add(time.Duration(rapid.IntRange(0, 8*24*60).Draw(t, "from")) * time.Minute)
		to := from.Add(time.Duration(rapid.IntRange(1, 20*24*60).Draw(t, "long")) * time.Minute)
		var minutes []time.Time
		parts := hostRows(from, to)
		for _, p := range parts {
			size := map[timegrid.Size]timegrid.Size{timegrid.Hour: timegrid.Minute, timegrid.Day: timegrid.Hour, timegrid.Week: timegrid.Day}[p.Width]
			for slot := range 60 {
				if p.slots>>slot&1 == 0 {
					continue
				}
				start := p.Start.Add(time.Duration(slot) * size.Width())
				for at := start; at.Before(start.Add(size.Width())); at = at.Add(time.Minute) {
					minutes = append(minutes, at)
				}
			}
		}
		if !slices.IsSortedFunc(minutes, time.Time.Compare) || len(minutes) != int(to.Sub(from)/time.Minute) || !minutes[0].Equal(from) || !minutes[len(minutes)-1].Equal(to.Add(-time.Minute)) {
			t.Fatalf("from %s to %s: %d minutes in %+v", from, to, len(minutes), parts)
		}
		if most := 4 + int(math.Ceil(to.Sub(from).Hours()/24/7)) + 1; len(parts) > most {
			t.Fatalf("from %s to %s: %d rows", from, to, len(parts))
		}
	})
}
