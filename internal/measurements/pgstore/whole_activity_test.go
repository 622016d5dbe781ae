package pgstore

import (
	"fmt"
	"math"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// TestARowOfActivityKeepsTheGreatestLines of all of its slots; the others are one line, and all of
// them come to the same.
func TestARowOfActivityKeepsTheGreatestLines(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.linesOfWhole = 2
	for minute := range 3 {
		for server, sessions := range []int64{4, 5, 1} {
			if minute == 2 { // in one minute it has most
				sessions = 6 - sessions
			}
			c.write(t, server, monday.Add(time.Duration(minute)*time.Minute), sessions)
		}
	}
	c.settle(t)
	w := timegrid.Window{From: monday, To: monday.Add(3 * time.Minute), Size: timegrid.Minute}
	part, err := c.Activity(t.Context(), c.id, fleet.PostgreSQL, fleet.Scope{}, w, measurements.ActivityQuery{By: measurements.DimInstance})
	if err != nil {
		t.Fatal(err)
	}
	want := map[measurements.ActivityKey]measurements.Values{
		{Instance: c.instances[0]}: {4, 4, 2},
		{Instance: c.instances[1]}: {5, 5, 1},
		{Rest: true}:               {1, 1, 5},
	}
	if got := fmt.Sprint(part.Lines); got != fmt.Sprint(want) {
		t.Errorf("%s, want %v", got, want)
	}
}

// TestAReaderOfSomeLinesKnowsTheSumOfTheOthers, and how many there are.
func TestAReaderOfSomeLinesKnowsTheSumOfTheOthers(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	for minute := range 3 {
		for server, sessions := range []int64{4, 5, 1} {
			c.write(t, server, monday.Add(time.Duration(minute)*time.Minute), sessions)
		}
	}
	c.settle(t)
	w := timegrid.Window{From: monday.Add(time.Minute), To: monday.Add(4 * time.Minute), Size: timegrid.Minute}
	for limit, want := range map[int]measurements.ActivityPart{
		1: {Lines: map[measurements.ActivityKey]measurements.Values{{Instance: c.instances[1]}: {5, 5, math.NaN()}, {Rest: true}: {5, 5, math.NaN()}}, RestLines: 2},
		2: {Lines: map[measurements.ActivityKey]measurements.Values{{Instance: c.instances[1]}: {5, 5, math.NaN()}, {Instance: c.instances[0]}: {4, 4, math.NaN()}, {Rest: true}: {1, 1, math.NaN()}}, RestLines: 1},
	} {
		q := measurements.ActivityQuery{By: measurements.DimInstance, States: []measurements.State{measurements.Waits}, Limit: limit}
		got, err := c.Activity(t.Context(), c.id, fleet.PostgreSQL, fleet.Scope{}, w, q)
		if err != nil || fmt.Sprint(got.Lines) != fmt.Sprint(want.Lines) || got.RestLines != want.RestLines {
			t.Errorf("limit %d: %v, %d; want %v; %v", limit, got.Lines, got.RestLines, want, err)
		}
	}
}

// write writes what so many sessions of a server wait for.
func (c *company) write(t testing.TB, server int, at time.Time, sessions int64) {
	t.Helper()
	write(t, c.Store, measurements.Batch{Organization: c.id, Sessions: []measurements.SessionSample{{
		Instance: c.instances[server], Engine: fleet.PostgreSQL, Database: c.databases[0], At: at, Interval: time.Minute, Waits: map[string]int64{"Lock": sessions},
	}}})
}

// TestLinesOfAReaderAreLimited: of more, the smaller ones are one line, from rows of organizations and
// from those of instances; and a line that became a part of it does not begin again.
func TestLinesOfAReaderAreLimited(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	for hour := range 2 { // a row each
		for server, sessions := range []int64{4, 5, 1} {
			c.write(t, server, monday.Add(time.Duration(hour)*time.Hour), sessions)
		}
	}
	c.settle(t)
	w := timegrid.Window{From: monday, To: monday.Add(2 * time.Hour), Size: timegrid.Hour}
	sum := func(v measurements.Values) (sum float64) {
		for _, x := range v {
			if !math.IsNaN(x) {
				sum += x
			}
		}
		return sum
	}
	q := measurements.ActivityQuery{By: measurements.DimInstance}
	c.mostNumbers = 4
	whole, err := c.Activity(t.Context(), c.id, fleet.PostgreSQL, fleet.Scope{}, w, q)
	if err != nil {
		t.Fatal(err)
	}
	series, err := c.activityOf(t.Context(), c.id, fleet.PostgreSQL, fleet.Scope{}, windowOf(w), q)
	if err != nil {
		t.Fatal(err)
	}
	for from, part := range map[string]measurements.ActivityPart{"the organization": whole, "the instances": series} {
		all := 0.0
		for _, line := range part.Lines {
			all += sum(line)
		}
		if _, rest := part.Lines[measurements.ActivityKey{Rest: true}]; !rest || all != 20 || sum(part.Lines[measurements.ActivityKey{Instance: c.instances[1]}]) != 10 {
			t.Errorf("%s: %v", from, part.Lines)
		}
	}
}

// TestServersWithoutAUserSayWhenSessionsWereSampled: where only these were, a user's sessions are none, and
// no gap.
func TestServersWithoutAUserSayWhenSessionsWereSampled(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	for minute := range 3 {
		for server, user := range []string{"ada", "bob"} {
			if minute > 0 && user == "ada" {
				continue
			}
			write(t, c.Store, measurements.Batch{Organization: c.id, Sessions: []measurements.SessionSample{{
				Instance: c.instances[server], Engine: fleet.PostgreSQL, Database: c.databases[0], At: monday.Add(time.Duration(minute) * time.Minute),
				Interval: time.Minute, Active: 2, Doing: []measurements.Doing{{State: measurements.OnCPU, User: user, Sessions: 2}},
			}}})
		}
	}
	c.settle(t)
	w := timegrid.Window{From: monday, To: monday.Add(4 * time.Minute), Size: timegrid.Minute}
	q := measurements.ActivityQuery{By: measurements.DimState, Names: map[measurements.Dimension][]string{measurements.DimUser: {"ada"}}}
	part, err := c.Activity(t.Context(), c.id, fleet.PostgreSQL, fleet.Scope{}, w, q)
	want := map[measurements.ActivityKey]measurements.Values{{State: measurements.OnCPU}: {2, 0, 0, math.NaN()}}
	if err != nil || fmt.Sprint(part.Lines) != fmt.Sprint(want) || fmt.Sprint(part.Sampled, part.Told) != "[true true true false] [true true true false]" {
		t.Errorf("%v, sampled %v, told %v; want %v; %v", part.Lines, part.Sampled, part.Told, want, err)
	}
}

// TestActivityOfOrganizationsBeginsWithTheSecondStep: until then a program from before may run, which
// cannot make their rows.
func TestActivityOfOrganizationsBeginsWithTheSecondStep(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.exec(t, `ALTER TABLE wholes DROP CONSTRAINT wholes_kinds`)
	c.measure(t, 0, monday)
	c.settle(t)
	c.find(t)
	c.settle(t)
	if n := c.count(t, `SELECT (SELECT count(*) FROM wholes WHERE kind = 'activity') + (SELECT count(*) FROM whole_marks) + (SELECT count(*) FROM whole_activity)`); n != 0 {
		t.Errorf("%d rows of activity", n)
	}
	c.exec(t, `ALTER TABLE wholes ADD CONSTRAINT wholes_kinds CHECK (true)`)
	c.find(t)
	c.settle(t)
	if n := c.count(t, `SELECT count(*) FROM whole_activity WHERE dimension = 'state'`); n != 3 {
		t.Errorf("%d rows of activity of what there was before, want one of each width", n)
	}
	for range 3 { // thirds of the dimensions
		c.same(t, hourOf(monday), "from the second step on")
	}
}

func (c *company) find(t *testing.T) {
	t.Helper()
	if _, err := c.findWholes(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestAFoldedLineStaysFolded whatever comes of them later.
func TestAFoldedLineStaysFolded(t *testing.T) {
	t.Parallel()
	l := newLineSet(1, 3, func(string) string { return "rest" })
	add := func(of string, v float64) { l.values[l.line(of)][0] += v }
	for i := range 8 {
		l.fold()
		add(fmt.Sprint(i), float64(1+i%4))
	}
	l.fold()
	kept := len(l.keys)
	for i := range 8 {
		add(fmt.Sprint(i), 10)
	}
	if sum := 0.0; len(l.keys) != kept || kept > 4 {
		t.Errorf("%d lines, then %d", kept, len(l.keys))
	} else {
		for _, v := range l.values {
			sum += v[0]
		}
		if sum != 100 {
			t.Errorf("all lines come to %v, want 100", sum)
		}
	}
}
