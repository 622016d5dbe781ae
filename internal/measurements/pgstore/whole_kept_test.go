package pgstore

import (
	"math"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"muster/domain/timegrid"
	"muster/internal/measurements/pgstore/ledger"
)

// TestOldRowsOfWholesAreDeleted as those of the series are, but not while an hour of a series is open.
func TestOldRowsOfWholesAreDeleted(t *testing.T) {
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

// TestAWholeAfterACrash is made when the head has been made anew, also for days of which the
// head has only the week.
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
	if n, err := c.findWholes(t.Context()); err != nil || n != len(c.wholes()) {
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

// TestALateSampleOfAnOldHour makes all of its row anew: the data of others for it may be
// forgotten.
func TestALateSampleOfAnOldHour(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	old := timegrid.Hour.Floor(time.Now().Add(-ledger.Standard.Minutes)).Add(-24 * time.Hour)
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

// TestAnOrganizationIsDeletedWithItsWholes, and no other one is.
func TestAnOrganizationIsDeletedWithItsWholes(t *testing.T) {
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
	for _, table := range []string{"wholes", "whole_marks", "whole_missing", "whole_rows", "whole_activity"} {
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
