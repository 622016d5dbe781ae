package pgstore

import (
	"context"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"muster/domain/timegrid"
	"muster/internal/measurements/pgstore/ledger"
	"muster/internal/testing/longtest"
)

// TestAWholeEqualsItsSeries whatever happens: servers come late, samples too, days are made in any order, some
// of them before their series are found again after a crash, and the process that makes them dies at any step.
func TestAWholeEqualsItsSeries(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	now := timegrid.Hour.Floor(time.Now()).Add(20 * time.Minute)
	old := timegrid.Hour.Floor(now.Add(-ledger.Standard.Minutes)).Add(-90 * time.Minute)
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
		c.turn++
	}
}

// TestMissingWholesAreReadFromTheSeries: after an upgrade, or a crash, tiles are right at once, and the newest
// days are made first.
func TestMissingWholesAreReadFromTheSeries(t *testing.T) {
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
	if n, err := c.findWholes(t.Context()); err != nil || n != len(c.wholes()) {
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
		if n, err := c.Whole(t.Context()); err != nil || n != len(c.wholes()) {
			t.Errorf("pass %d made something of %d, %v", pass, n, err)
		}
	}
	if !c.made(t, all) {
		t.Error("something is missing yet")
	}
	c.same(t, all, "when all is made")
}

// TestARollupDuringAWholeIsMadeNext: one process rolls up while another reads the series, before it does, or
// just before it commits.
func TestARollupDuringAWholeIsMadeNext(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	another := New(c.db, c.ledger.Log)
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

// TestProcessesMakeWholesTogether while others write and roll up.
func TestProcessesMakeWholesTogether(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	minutes := 6
	if longtest.Asked() {
		minutes = 20
	}
	var all sync.WaitGroup
	for server := range c.instances {
		all.Go(func() {
			for minute := range minutes { // around the end of an hour
				c.measure(t, server, monday.Add(time.Duration(60-minutes/2+minute)*time.Minute))
				another := New(c.db, c.ledger.Log).Small()
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
	if n, err := c.Whole(t.Context()); err != nil || n != len(c.wholes())-1 {
		t.Errorf("%d were made, %v; want all others", n, err)
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

// TestWritersDoNotWaitForMarks that another process takes: of two that wait for each other's, PostgreSQL ends one.
func TestWritersDoNotWaitForMarks(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.wholeFrom = 3 // so that the marks of two servers are only taken away
	c.measure(t, 0, monday)
	c.measure(t, 1, monday)
	c.roll(t)
	another := c.db.MustBeginTx(t.Context(), nil)
	defer func() { _ = another.Rollback() }()
	held, err := another.ExecContext(t.Context(), `SELECT FROM whole_marks WHERE kind = 'sessions' FOR UPDATE`)
	if err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := c.Whole(soon); err != nil {
		t.Fatal("it waits for marks that another process holds: ", err)
	}
	n, err := held.RowsAffected()
	if left := c.count(t, `SELECT count(*) FROM whole_marks`); err != nil || n == 0 || int64(left) != n {
		t.Errorf("%d marks are held, and %d left, %v", n, left, err)
	}
	if err := another.Rollback(); err != nil {
		t.Fatal(err)
	}
	c.settle(t)
	if left := c.count(t, `SELECT count(*) FROM whole_marks`); left != 0 {
		t.Errorf("%d marks are left", left)
	}
}
