package pgstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/activityrow"
)

// keepWithoutSums is how a program from before sums keeps a row.
const keepWithoutSums = `INSERT INTO whole_activity (organization_id, engine, dimension, width, start, lines)
	SELECT organization_id, engine, dimension, width, start, lines FROM kept_before
	ON CONFLICT (organization_id, engine, dimension, width, start) DO UPDATE SET lines = excluded.lines`

// TestAnEarlierReleaseLeavesNoStaleSums: its rows are read as they were read before, until a row is made anew,
// and classes are not known.
func TestAnEarlierReleaseLeavesNoStaleSums(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	w := timegrid.Window{From: monday, To: monday.Add(time.Hour), Size: timegrid.Minute}
	read := func() (all []measurements.ActivityPart) {
		t.Helper()
		for _, by := range measurements.Dimensions() {
			part, err := c.Activity(t.Context(), c.id, fleet.PostgreSQL, fleet.Scope{}, w, measurements.ActivityQuery{By: by, Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, part)
		}
		return all
	}
	without := func(parts []measurements.ActivityPart) string {
		text := ""
		for _, part := range parts {
			text += fmt.Sprintln(part.Lines, part.RestLines, part.Sampled, part.Told)
		}
		return text
	}
	c.measure(t, 0, monday)
	c.settle(t)
	c.exec(t, `CREATE TABLE kept_before AS TABLE whole_activity`)
	before := read()
	c.measure(t, 1, monday.Add(time.Minute))
	c.settle(t)
	after := read()
	if without(before) == without(after) || after[0].Classes == nil {
		t.Fatalf("a second server changes nothing, or classes are not known: %v", after)
	}
	c.exec(t, keepWithoutSums)
	if n := c.count(t, `SELECT count(*) FROM whole_activity WHERE sums IS NOT NULL`); n != 0 {
		t.Errorf("%d rows have sums of other lines", n)
	}
	if got := read(); without(got) != without(before) || got[0].Classes != nil {
		t.Errorf("what it wrote is read as\n%v, want\n%v; classes %v", without(got), without(before), got[0].Classes)
	}
	c.measure(t, 1, monday.Add(2*time.Minute))
	c.settle(t)
	if n := c.count(t, `SELECT count(*) FROM whole_activity WHERE sums IS NULL`); n != 0 {
		t.Errorf("%d rows that are made anew have no sums", n)
	}
	for range 3 { // thirds of the dimensions
		c.same(t, w, "anew")
	}
	sums := c.count(t, `SELECT count(*) FROM whole_activity WHERE sums IS NOT NULL`)
	c.exec(t, `UPDATE whole_activity SET lines = lines`)
	if n := c.count(t, `SELECT count(*) FROM whole_activity WHERE sums IS NOT NULL`); n != sums {
		t.Errorf("%d of %d rows whose lines stay have sums", n, sums)
	}
}

// TestOnlyShownLinesAreRead of rows that are in the window as a whole: without the bytes of the
// others, the answer is the same.
func TestOnlyShownLinesAreRead(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.instances = nil
	for range 40 {
		c.instances = append(c.instances, uuid.New())
	}
	for minute := range 3 {
		for server := range c.instances {
			c.write(t, server, monday.Add(time.Duration(minute)*time.Minute), int64(server+1))
		}
	}
	c.settle(t)
	w := timegrid.Window{From: monday, To: monday.Add(time.Hour), Size: timegrid.Minute}
	q := measurements.ActivityQuery{By: measurements.DimInstance, Limit: 1}
	read := func() (measurements.ActivityPart, error) {
		return c.Activity(t.Context(), c.id, fleet.PostgreSQL, fleet.Scope{}, w, q)
	}
	before, err := read()
	if err != nil {
		t.Fatal(err)
	}
	c.exec(t, `ALTER TABLE whole_activity DISABLE TRIGGER sums_of_other_lines`)
	c.exec(t, `UPDATE whole_activity SET lines = overlay(lines PLACING decode(repeat('ff', 200), 'hex') FROM length(lines) - 199) WHERE length(lines) > 1000`)
	after, err := read()
	if err != nil || fmt.Sprint(after) != fmt.Sprint(before) || before.RestLines != 39 || before.Lines[measurements.ActivityKey{Instance: c.instances[39]}][0] != 40 {
		t.Errorf("%v, want %v; %v", after, before, err)
	}
	q.Limit = 0
	if _, err := read(); err == nil {
		t.Error("all lines are read without an error, want one")
	}
}

// TestSessionsOutsideTheWindowDoNotRankALine, though the sums of the rows at its edges have them.
func TestSessionsOutsideTheWindowDoNotRankALine(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.write(t, 0, monday, 9)
	c.write(t, 1, monday.Add(time.Minute), 2)
	c.write(t, 2, monday.Add(time.Minute), 1)
	c.write(t, 2, monday.Add(2*time.Minute), 9)
	c.settle(t)
	w := timegrid.Window{From: monday.Add(time.Minute), To: monday.Add(2 * time.Minute), Size: timegrid.Minute}
	part, err := c.Activity(t.Context(), c.id, fleet.PostgreSQL, fleet.Scope{}, w, measurements.ActivityQuery{By: measurements.DimInstance, Limit: 1})
	want := map[measurements.ActivityKey]measurements.Values{{Instance: c.instances[1]}: {2}, {Rest: true}: {1}}
	if err != nil || fmt.Sprint(part.Lines) != fmt.Sprint(want) {
		t.Errorf("%v, want %v; %v", part.Lines, want, err)
	}
}

// FuzzSums reads bytes that were never written: an error is an answer, and a panic is none.
func FuzzSums(f *testing.F) {
	of := activityrow.Row{Sampled: 3, Told: 1, Lines: []activityrow.Line{activityrow.NewLine(measurements.ActivityKey{Name: 9}, 1, &activityrow.Classes{1: {0, 2.5}, 5: {1, 0}})}}
	e := of.Encode()
	f.Add(e.Sums, e.Classes)
	f.Fuzz(func(t *testing.T, b, classes []byte) {
		if _, err := of.Lines[0].ByClass(classes, 3); err == nil && len(classes) == 0 {
			t.Error("no bytes are classes")
		}
		read, err := activityrow.DecodeSums(b)
		if err != nil {
			return
		}
		for i := range read.Len() {
			if one := read.At(i); one.State == "" || one.Size < 0 || one.Classes < 0 {
				t.Errorf("%+v", one)
			}
		}
	})
}

// FuzzOrganizationRow reads bytes that were never written: an error is an answer, and a panic is none.
func FuzzOrganizationRow(f *testing.F) {
	of := activityrow.Row{Sampled: 3, Told: 1, Totals: []activityrow.Line{activityrow.NewLine(measurements.ActivityKey{}, 2, &activityrow.Classes{{5}})}, Lines: []activityrow.Line{
		activityrow.NewLine(measurements.ActivityKey{Instance: uuid.UUID{1}, Database: uuid.UUID{2}, Statement: 7}, 1, &activityrow.Classes{2: {1, 1. / 7}, 4: {1, 0}}),
		activityrow.NewLine(measurements.ActivityKey{Class: 3, Name: 9}, 0, &activityrow.Classes{5: {0, 2.5}}),
	}}
	f.Add(of.Encode().Lines)
	f.Fuzz(func(t *testing.T, row []byte) {
		read, err := activityrow.Decode(row)
		for i := range read.Lines {
			if _, err := read.Lines[i].Sum(1); err == nil && len(read.Lines) > len(row) {
				t.Errorf("%d bytes have %d lines", len(row), len(read.Lines))
			}
		}
		_ = err
	})
}
