package alerts_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/timegrid"
)

var friday = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// clock is a time of that Friday, as 15:04 or 15:04:05.000000.
func clock(t *testing.T, text string) time.Time {
	t.Helper()
	layout := "15:04:05.000000"[:len(text)]
	at, err := time.Parse(layout, text)
	if err != nil {
		t.Fatal(err)
	}
	return friday.Add(at.Sub(at.Truncate(24 * time.Hour)))
}

// TestHistoryOfOne: one alert at a time, over a window from 9:30 to 12:30 in hours.
func TestHistoryOfOne(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	nobody := uuid.UUID{}
	server, other := uuid.New(), uuid.New()
	for name, test := range map[string]struct {
		first, last, seen, resolved string
		instance                    uuid.UUID
		muted                       bool
		active, done                []int64 // of 9:30–10:00, 10:00–11:00, 11:00–12:00, 12:00–12:30
	}{
		"fired once":                            {first: "10:00", last: "10:00", active: []int64{0, 1, 0, 0}},
		"fired a moment before the hour":        {first: "10:59:59.999999", last: "10:59:59.999999", active: []int64{0, 1, 0, 0}},
		"fired on into the first of an hour":    {first: "10:10", last: "11:00", active: []int64{0, 1, 1, 0}},
		"fired from before to after":            {first: "08:00", last: "13:00", active: []int64{1, 1, 1, 1}},
		"ended before the window, in its hour":  {first: "09:10", last: "09:29:59.999999", active: []int64{0, 0, 0, 0}},
		"ended as the window began":             {first: "09:10", last: "09:30", active: []int64{1, 0, 0, 0}},
		"started as the window ended":           {first: "12:30", last: "12:40", active: []int64{0, 0, 0, 0}},
		"started a moment before the end":       {first: "12:29:59.999999", last: "12:40", active: []int64{0, 0, 0, 1}},
		"open, it is not stretched to now":      {first: "10:00", last: "10:20", active: []int64{0, 1, 0, 0}},
		"seen since its last event":             {first: "10:00", last: "10:20", seen: "12:00", active: []int64{0, 1, 1, 1}},
		"seen in the window, by its log before": {first: "08:00", last: "08:10", seen: "10:00", active: []int64{1, 1, 0, 0}},
		"seen earlier than its log knows":       {first: "10:00", last: "11:20", seen: "10:05", active: []int64{0, 1, 1, 0}},
		"resolved, later than it last fired":    {first: "10:00", last: "10:20", resolved: "12:29:59.999999", active: []int64{0, 1, 0, 0}, done: []int64{0, 0, 0, 1}},
		"resolved as the hour began":            {first: "10:00", last: "10:20", resolved: "11:00", active: []int64{0, 1, 0, 0}, done: []int64{0, 0, 1, 0}},
		"resolved as the window began":          {first: "08:00", last: "08:20", resolved: "09:30", active: []int64{0, 0, 0, 0}, done: []int64{1, 0, 0, 0}},
		"resolved before it, in its hour":       {first: "08:00", last: "08:20", resolved: "09:29:59.999999", active: []int64{0, 0, 0, 0}},
		"resolved as the window ended":          {first: "12:00", last: "12:20", resolved: "12:30", active: []int64{0, 0, 0, 1}},
		"muted":                                 {first: "10:00", last: "10:20", resolved: "11:00", muted: true, active: []int64{0, 0, 0, 0}},
		"on another server":                     {first: "10:00", last: "10:20", resolved: "11:00", instance: other, active: []int64{0, 1, 0, 0}, done: []int64{0, 0, 1, 0}},
		"of the organization only":              {first: "10:00", last: "10:20", resolved: "11:00", instance: nobody, active: []int64{0, 1, 0, 0}, done: []int64{0, 0, 1, 0}},
	} {
		if test.instance == nobody && name != "of the organization only" {
			test.instance = server
		}
		organization, alert := uuid.New(), uuid.New()
		first, last := clock(t, test.first), clock(t, test.last)
		life := []any{domain.Raised{Key: "external/1", Details: domain.Details{
			Title: name, Severity: domain.Warning, InstanceID: test.instance, CreatedAt: first, FirstTriggeredAt: first, LastTriggeredAt: last,
		}}}
		if test.muted {
			life = append(life, domain.Muted{})
		}
		if test.resolved != "" {
			life = append(life, domain.AutoResolved{ResolvedAt: clock(t, test.resolved), LastTriggeredAt: last})
		}
		s.happens(organization, alert, domain.StreamType, life...)
		if test.seen != "" {
			s.seen(organization, alert, clock(t, test.seen))
		}
		s.stage.Settle()
		if test.done == nil {
			test.done = []int64{0, 0, 0, 0}
		}
		nothing := []int64{0, 0, 0, 0}
		for where, scope := range map[string]fleet.Scope{
			"everywhere":       {},
			"on the server":    {Filtered: true, Instances: []uuid.UUID{server}},
			"in an empty room": {Filtered: true},
		} {
			active, done := test.active, test.done
			if scope.Filtered && (len(scope.Instances) == 0 || test.instance != server) {
				active, done = nothing, nothing
			}
			w := timegrid.Window{From: clock(t, "09:30"), To: clock(t, "12:30"), Size: timegrid.Hour}
			gotActive, gotDone, err := s.reader.History(t.Context(), organization, scope, w)
			if err != nil || !cmp.Equal(gotActive, active) || !cmp.Equal(gotDone, done) {
				t.Errorf("%s, %s: active %v, resolved %v, %v, want %v and %v", name, where, gotActive, gotDone, err, active, done)
			}
		}
	}
}

// TestSevenDaysAgo: the earlier count is today's rows as of then.
func TestSevenDaysAgo(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	then := friday.AddDate(0, 0, -7)
	early, late := then.Add(-time.Microsecond), then.Add(time.Microsecond)
	raised := func(at time.Time) domain.Event {
		return domain.Raised{Key: "external/1", Details: domain.Details{
			Title: "t", Severity: domain.Info, CreatedAt: at, FirstTriggeredAt: at, LastTriggeredAt: at,
		}}
	}
	resolved := func(at time.Time) domain.Event { return domain.Resolved{ResolvedAt: at, LastTriggeredAt: at} }
	for name, test := range map[string]struct {
		life        []any
		now, before int64
	}{
		"created at that time":                      {[]any{raised(then)}, 1, 1},
		"created a moment after":                    {[]any{raised(late)}, 1, 0},
		"acknowledged is open":                      {[]any{raised(early), domain.Acknowledged{}}, 1, 1},
		"resolved at that time":                     {[]any{raised(early), resolved(then)}, 0, 0},
		"resolved a moment after":                   {[]any{raised(early), resolved(late)}, 0, 1},
		"resolved by itself since":                  {[]any{raised(early), domain.AutoResolved{ResolvedAt: friday, LastTriggeredAt: friday}}, 0, 1},
		"created and resolved since":                {[]any{raised(late), resolved(friday)}, 0, 0},
		"muted today, it never counted":             {[]any{raised(early), domain.Muted{}}, 0, 0},
		"closed and muted today":                    {[]any{raised(early), resolved(late), domain.Muted{}}, 0, 0},
		"unmuted today, it always did":              {[]any{raised(early), domain.Muted{}, domain.Unmuted{}}, 1, 1},
		"imported today with the times it then had": {[]any{raised(then.AddDate(0, -1, 0)), resolved(then.AddDate(0, 0, 3))}, 0, 1},
	} {
		organization := uuid.New()
		s.happens(organization, uuid.New(), domain.StreamType, test.life...)
		s.stage.Settle()
		now, before, err := s.reader.Open(t.Context(), organization, fleet.Scope{}, then)
		if err != nil || now != test.now || before != test.before {
			t.Errorf("%s: %d now and %d then, %v, want %d and %d", name, now, before, err, test.now, test.before)
		}
		now, before, err = s.reader.Open(t.Context(), organization, fleet.Scope{Filtered: true}, then)
		if err != nil || now != 0 || before != 0 {
			t.Errorf("%s, where nothing is in scope: %d now and %d then, %v", name, now, before, err)
		}
	}
}
