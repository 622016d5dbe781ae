package maintenance_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/maintenance"
	"muster/domain/schedule"
	"muster/domain/team"
)

var (
	prod  = team.Selector{Tags: fleet.TagFilter{"env": {"prod"}}}
	tags  = fleet.Tags{"env": {Value: "prod"}, "team": {Value: "payments"}}
	other = fleet.Tags{"env": {Value: "test"}}
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	is, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

func once(t *testing.T, from, to string) maintenance.Terms {
	t.Helper()
	begins, ends := at(t, from), at(t, to)
	return maintenance.Terms{Selector: prod, From: &begins, To: &ends, TimeZone: "UTC"}
}

func every(r schedule.Recurrence, minutes int) maintenance.Terms {
	return maintenance.Terms{Selector: prod, Recurrence: &r, Minutes: minutes}
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func text(spans []maintenance.Span) string {
	var words []string
	for _, s := range spans {
		words = append(words, s.From.UTC().Format("02T15:04")+"-"+s.To.UTC().Format("02T15:04"))
	}
	return strings.Join(words, " ")
}

// TestWindowsOnDaysOfAClockChange: a window begins when the clocks show its time, or first show a later one,
// and lasts as long as on any other day.
func TestWindowsOnDaysOfAClockChange(t *testing.T) {
	t.Parallel()
	amsterdam := zone(t, "Europe/Amsterdam")
	daily := func(clock string) maintenance.Terms {
		return every(schedule.Recurrence{Every: schedule.Day, At: clock, TimeZone: "Europe/Amsterdam"}, 120)
	}
	for name, c := range map[string]struct {
		terms    maintenance.Terms
		from, to string
		want     string
	}{
		"on two usual days":                {daily("01:00"), "2026-06-01T12:00:00Z", "2026-06-03T12:00:00Z", "01T23:00-02T01:00 02T23:00-03T01:00"},
		"over the hour that is left out":   {daily("01:00"), "2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z", "29T00:00-29T02:00"},
		"in the hour that is left out":     {daily("02:30"), "2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z", "29T01:00-29T03:00"},
		"over the hour that comes twice":   {daily("02:00"), "2026-10-24T12:00:00Z", "2026-10-25T12:00:00Z", "25T00:00-25T02:00"},
		"one that began before the period": {daily("23:00"), "2026-06-01T21:30:00Z", "2026-06-01T22:00:00Z", "01T21:00-01T23:00"},
		"one that ends at its beginning":   {daily("23:00"), "2026-06-01T23:00:00Z", "2026-06-02T12:00:00Z", ""},
		"weekly, a week long": {every(schedule.Recurrence{Every: schedule.Week, Weekday: "monday", At: "00:00"}, 7*24*60), "2026-06-03T00:00:00Z", "2026-06-03T01:00:00Z",
			"31T22:00-07T22:00"},
		"once": {once(t, "2026-06-01T10:00:00Z", "2026-06-01T11:00:00Z"), "2026-06-01T10:30:00Z", "2026-06-01T10:31:00Z", "01T10:00-01T11:00"},
	} {
		if got := text(c.terms.Times(amsterdam, maintenance.Span{From: at(t, c.from), To: at(t, c.to)})); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestCoveredCountsEachMinuteOnce: windows that overlap or touch are one, terms count only while they hold, and a server that a
// window does not select is in none.
func TestCoveredCountsEachMinuteOnce(t *testing.T) {
	t.Parallel()
	server, night := uuid.New(), every(schedule.Recurrence{Every: schedule.Day, At: "01:00", TimeZone: "UTC"}, 60)
	announced, changed := at(t, "2026-06-01T12:00:00Z"), at(t, "2026-06-03T01:30:00Z")
	versions := []maintenance.Version{
		{Terms: night, Zone: time.UTC, Holds: announced, Until: &changed},                                       // ends within its time of the 3rd
		{Terms: once(t, "2026-06-02T01:30:00Z", "2026-06-02T03:00:00Z"), Zone: time.UTC, Holds: announced},      // overlaps
		{Terms: once(t, "2026-06-02T03:00:00Z", "2026-06-02T03:30:00Z"), Zone: time.UTC, Holds: announced},      // touches
		{Terms: once(t, "2026-06-01T11:00:00Z", "2026-06-01T12:30:00Z"), Zone: time.UTC, Holds: announced},      // began before it was announced
		{Terms: once(t, "2026-06-05T00:00:00Z", "2026-06-05T01:00:00Z"), Zone: time.UTC, Holds: announced},      // after the period
		{Terms: maintenance.Terms{Selector: team.Selector{}, From: &announced, To: &changed}, Holds: announced}, // selects nothing
	}
	period := maintenance.Span{From: at(t, "2026-06-01T00:00:00Z"), To: at(t, "2026-06-04T00:00:00Z")}
	covered := maintenance.Covered(versions, server, tags, period)
	if got := text(covered); got != "01T12:00-01T12:30 02T01:00-02T03:30 03T01:00-03T01:30" || maintenance.Lasting(covered) != 210*time.Minute {
		t.Errorf("covered are %s, %s", got, maintenance.Lasting(covered))
	}
	if got := maintenance.Covered(versions, server, other, period); len(got) > 0 {
		t.Errorf("a server of others is covered by %s", text(got))
	}
	if got := maintenance.Covered(versions, server, tags, maintenance.Span{From: announced, To: announced}); len(got) > 0 {
		t.Errorf("no time is covered by %s", text(got))
	}
	in := maintenance.In(versions, server, tags, at(t, "2026-06-02T01:45:00Z"))
	if in == nil || !in.Until.Equal(at(t, "2026-06-02T03:00:00Z")) {
		t.Errorf("of two windows it is in %+v", in)
	}
	for when, want := range map[string]bool{
		"2026-06-02T01:00:00Z": true, "2026-06-02T00:59:59Z": false, "2026-06-02T03:30:00Z": false, "2026-06-01T11:30:00Z": false,
	} {
		if got := maintenance.In(versions, server, tags, at(t, when)) != nil; got != want {
			t.Errorf("at %s in a window: %v", when, got)
		}
	}
	second := uuid.New()
	both := func(of fleet.Tags) bool {
		return maintenance.InAll(versions, []uuid.UUID{server, second}, map[uuid.UUID]fleet.Tags{server: tags, second: of}, at(t, "2026-06-02T02:00:00Z")) != nil
	}
	if !both(tags) || both(other) {
		t.Error("an alert about two servers is in a window if both are")
	}
	if maintenance.InAll(versions, nil, nil, at(t, "2026-06-02T02:00:00Z")) != nil {
		t.Error("an alert about no server is in a window")
	}
}

func TestTermsThatBreakRules(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-06-01T12:00:00Z")
	good := once(t, "2026-06-01T11:00:00Z", "2026-06-01T13:00:00Z")
	weekly := every(schedule.Recurrence{Every: schedule.Week, Weekday: "sunday", At: "02:00", TimeZone: "UTC"}, 180)
	with := func(t maintenance.Terms, change func(*maintenance.Terms)) maintenance.Terms {
		if t.Recurrence != nil {
			again := *t.Recurrence
			t.Recurrence = &again
		}
		change(&t)
		return t
	}
	for name, c := range map[string]struct {
		terms maintenance.Terms
		want  string
	}{
		"once":               {good, ""},
		"weekly":             {weekly, ""},
		"of no length":       {once(t, "2026-06-02T11:00:00Z", "2026-06-02T11:00:00Z"), "#/to invalid_window"},
		"backwards":          {once(t, "2026-06-02T11:00:00Z", "2026-06-02T10:00:00Z"), "#/to invalid_window"},
		"past":               {once(t, "2026-06-01T10:00:00Z", "2026-06-01T12:00:00Z"), "#/to out_of_range"},
		"too long":           {once(t, "2026-06-02T00:00:00Z", "2026-07-03T00:00:01Z"), "#/to out_of_range"},
		"too far ahead":      {once(t, "2027-07-02T00:00:00Z", "2027-07-03T00:00:01Z"), "#/from out_of_range"},
		"never":              {maintenance.Terms{Selector: prod}, "#/from range_required"},
		"half":               {with(good, func(t *maintenance.Terms) { t.To = nil }), "#/from range_required"},
		"both":               {with(good, func(t *maintenance.Terms) { t.Recurrence = weekly.Recurrence }), "#/recurrence conflicting_parameters"},
		"about nothing":      {with(good, func(t *maintenance.Terms) { t.Selector = team.Selector{} }), "#/selector out_of_range"},
		"no values":          {with(good, func(t *maintenance.Terms) { t.Selector.Tags = fleet.TagFilter{"env": nil} }), "#/selector/tags/env"},
		"no weekday":         {with(weekly, func(t *maintenance.Terms) { t.Recurrence.Weekday = "" }), "#/recurrence/weekday weekday_required"},
		"of no minutes":      {with(weekly, func(t *maintenance.Terms) { t.Minutes = 0 }), "#/recurrence/minutes out_of_range"},
		"longer than a week": {with(weekly, func(t *maintenance.Terms) { t.Minutes = 10_081 }), "#/recurrence/minutes out_of_range"},
		"all day, every day": {every(schedule.Recurrence{Every: schedule.Day, At: "00:00"}, 1440), "#/recurrence/minutes out_of_range"},
	} {
		got := ""
		for _, b := range c.terms.Broken(now) {
			got += b.Pointer + " " + b.Code + ";"
		}
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestWithin: somebody with the role team announces windows of their servers only, whatever servers there are later.
func TestWithin(t *testing.T) {
	t.Parallel()
	mine, theirs := uuid.New(), uuid.New()
	teams := []team.Selector{{Tags: fleet.TagFilter{"team": {"a", "b"}}}, {InstanceIDs: []uuid.UUID{mine}}}
	for _, c := range []struct {
		selector team.Selector
		want     bool
	}{
		{team.Selector{Tags: fleet.TagFilter{"team": {"a"}}}, true},
		{team.Selector{Tags: fleet.TagFilter{"team": {"b", "a"}, "env": {"prod"}}}, true},
		{team.Selector{Tags: fleet.TagFilter{"team": {"a", "c"}}}, false},
		{team.Selector{Tags: fleet.TagFilter{"env": {"prod"}}}, false},
		{team.Selector{InstanceIDs: []uuid.UUID{mine}}, true},
		{team.Selector{InstanceIDs: []uuid.UUID{mine, theirs}}, false},
		{team.Selector{Tags: fleet.TagFilter{"team": {"a"}}, InstanceIDs: []uuid.UUID{theirs}}, false},
	} {
		if got := maintenance.Within(c.selector, teams, func(id uuid.UUID) bool { return id == mine }); got != c.want {
			t.Errorf("%s: %v", fmt.Sprint(c.selector), got)
		}
	}
}
