package objective_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/fleet"
	"muster/domain/objective"
	"muster/domain/team"
)

func number(v float64) *float64 { return &v }

func available(percent float64, selector team.Selector) objective.Objective {
	return objective.Objective{Selector: selector, AvailabilityPercent: &percent, Window: objective.Month}
}

var prod = team.Selector{Tags: fleet.TagFilter{"env": {"prod"}}}

// TestTheFirstObjectiveThatSelectsAServerCounts, and the last one may be about all others.
func TestTheFirstObjectiveThatSelectsAServerCounts(t *testing.T) {
	t.Parallel()
	named := uuid.New()
	list := []objective.Objective{available(99.99, team.Selector{InstanceIDs: []uuid.UUID{named}}), available(99.9, prod), available(95, team.Selector{})}
	if broken := objective.Broken(list); len(broken) > 0 {
		t.Fatalf("the list breaks %v", broken)
	}
	for _, c := range []struct {
		id   uuid.UUID
		tags fleet.Tags
		want float64
	}{{named, fleet.Tags{"env": {Value: "prod"}}, 99.99}, {uuid.New(), fleet.Tags{"env": {Value: "prod"}}, 99.9}, {uuid.New(), nil, 95}} {
		if of, ok := objective.Of(list, c.id, c.tags); !ok || *of.AvailabilityPercent != c.want {
			t.Errorf("of %v counts %+v, want %v", c.tags, of, c.want)
		}
	}
	if of, ok := objective.Of(list[:2], uuid.New(), nil); ok {
		t.Errorf("a server that nothing selects has %+v", of)
	}
}

func TestObjectivesThatBreakRules(t *testing.T) {
	t.Parallel()
	with := func(change func(*objective.Objective)) []objective.Objective {
		o := available(99.9, prod)
		change(&o)
		return []objective.Objective{o}
	}
	for name, c := range map[string]struct {
		list []objective.Objective
		want string
	}{
		"good":              {with(func(*objective.Objective) {}), ""},
		"none":              {nil, ""},
		"latency only":      {with(func(o *objective.Objective) { o.AvailabilityPercent, o.LatencyMs = nil, number(20) }), ""},
		"of nothing":        {with(func(o *objective.Objective) { o.AvailabilityPercent = nil }), "#/items/0 range_required"},
		"100 percent":       {with(func(o *objective.Objective) { o.AvailabilityPercent = number(100) }), "#/items/0/availabilityPercent out_of_range"},
		"four decimals":     {with(func(o *objective.Objective) { o.AvailabilityPercent = number(99.9999) }), "#/items/0/availabilityPercent out_of_range"},
		"no number":         {with(func(o *objective.Objective) { o.AvailabilityPercent = number(math.NaN()) }), "#/items/0/availabilityPercent out_of_range"},
		"no latency":        {with(func(o *objective.Objective) { o.LatencyMs = number(0) }), "#/items/0/latencyMs out_of_range"},
		"a week":            {with(func(o *objective.Objective) { o.Window = "week" }), "#/items/0/window out_of_range"},
		"all before others": {[]objective.Objective{available(99, team.Selector{}), available(99, prod)}, "#/items/0/selector out_of_range"},
		"a bad selector":    {with(func(o *objective.Objective) { o.Selector.Tags = fleet.TagFilter{"env": nil} }), "#/items/0/selector/tags/env"},
		"too many":          {make([]objective.Objective, objective.MaxObjectives+1), "#/items too_many_items"},
	} {
		got := ""
		for _, b := range objective.Broken(c.list) {
			got += b.Pointer + " " + b.Code + ";"
		}
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestUnknownNeverCountsAsUp: it is in the range only, and decides nothing.
func TestUnknownNeverCountsAsUp(t *testing.T) {
	t.Parallel()
	minutes := func(up, down, unknown int) objective.Uptime {
		return objective.Uptime{Up: time.Duration(up) * time.Minute, Down: time.Duration(down) * time.Minute, Unknown: time.Duration(unknown) * time.Minute}
	}
	for _, c := range []struct {
		u       objective.Uptime
		percent float64
		want    objective.Verdict
	}{
		{minutes(35842, 97, 61), 99.9, objective.Missed},
		{minutes(35959, 9, 32), 99.9, objective.Untold},
		{minutes(34812, 0, 1188), 99.5, objective.Untold},
		{minutes(35990, 4, 6), 99.5, objective.Kept},
		{minutes(999, 1, 0), 99.9, objective.Kept}, // exactly
		{minutes(0, 0, 1000), 50, objective.Untold},
		{minutes(0, 0, 0), 50, objective.Untold},
	} {
		if got := objective.Available(c.u, c.percent); got != c.want {
			t.Errorf("%+v against %v: %s, want %s", c.u, c.percent, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.IntRange(0, 50_000)
		u := minutes(part.Draw(t, "up"), part.Draw(t, "down"), part.Draw(t, "unknown"))
		percent := float64(rapid.IntRange(50_000, 99_999).Draw(t, "percent")) / 1000
		worst, best := u, u
		worst.Down, worst.Unknown = u.Down+u.Unknown, 0
		best.Up, best.Unknown = u.Up+u.Unknown, 0
		got := objective.Available(u, percent)
		if all := objective.Available(worst, percent); got == objective.Kept && all != objective.Kept {
			t.Fatalf("%+v is kept, and %s if all that is unknown was down", u, all)
		}
		if all := objective.Available(best, percent); got == objective.Missed && all != objective.Missed {
			t.Fatalf("%+v is missed, and %s if all that is unknown was up", u, all)
		}
	})
}

func TestLatencyNeedsHalfOfTheHours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		l    objective.Latency
		want objective.Verdict
	}{
		{objective.Latency{MeanMs: number(10), Coverage: 0.5}, objective.Kept},
		{objective.Latency{MeanMs: number(10.01), Coverage: 0.5}, objective.Missed},
		{objective.Latency{MeanMs: number(1), Coverage: 0.49}, objective.Untold},
		{objective.Latency{}, objective.Untold},
	} {
		if got := objective.Fast(c.l, 10); got != c.want {
			t.Errorf("%+v: %s, want %s", c.l, got, c.want)
		}
	}
	if got := objective.Budget(30*24*time.Hour, 99.9).Round(time.Second); got != 43*time.Minute+12*time.Second {
		t.Errorf("the budget of a month is %s", got)
	}
}
