package schedule

import (
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/report"
	"muster/domain/rule"
)

// Terms are what a schedule is: which report, for whom, when.
type Terms struct {
	Name         string      `json:"name"`
	Kind         report.Kind `json:"kind"`
	Scope        Scope       `json:"scope"`
	RecipientIDs []uuid.UUID `json:"recipientIds"` // beside the owner
	// TeamIDs are teams whose members of the due time are recipients, too. With PerTeam each of
	// them, or each of all teams where there are none, has a report of its own: about its servers, to its members.
	TeamIDs []uuid.UUID `json:"teamIds,omitempty"`
	PerTeam bool        `json:"perTeam,omitempty"`
	Recurrence
	OnlyIfChanged bool `json:"onlyIfChanged"` // not requested where the findings are those of the last one
	Enabled       bool `json:"enabled"`
}

// Scope is what the reports cover.
type Scope struct {
	InstanceIDs []uuid.UUID `json:"instanceIds"`
	// Tags stand in place of InstanceIDs: the servers that have them at the due time.
	Tags       fleet.TagFilter `json:"tags,omitempty"`
	DatabaseID *uuid.UUID      `json:"databaseId"`
	Window     string          `json:"window,omitempty"` // of a kind with a window: which time before the due time
}

// windows are the widths that a window may have.
func windows() map[string]time.Duration {
	const day = 24 * time.Hour
	return map[string]time.Duration{"7d": 7 * day, "30d": 30 * day}
}

// The windows that are whole days and months by the schedule's clocks: those before the due time.
const (
	WindowDay   = "day"
	WindowMonth = "month"
)

// before is the time that a window covers of a due time by a schedule's clocks; ok is false if there is no such window.
// A day at which clocks change has 23 or 25 hours.
func before(window string, due time.Time, zone *time.Location) (from, to time.Time, ok bool) {
	year, month, day := due.In(zone).Date()
	switch window {
	case WindowDay:
		return time.Date(year, month, day-1, 0, 0, 0, 0, zone), time.Date(year, month, day, 0, 0, 0, 0, zone), true
	case WindowMonth:
		return time.Date(year, month-1, 1, 0, 0, 0, 0, zone), time.Date(year, month, 1, 0, 0, 0, 0, zone), true
	}
	width, ok := windows()[window]
	return due.Add(-width), due, ok
}

// At is the scope of the report that is due at a time: a window ends there, or at the begin of its day or month in a zone.
func (s Scope) At(due time.Time, zone *time.Location) report.Scope {
	scope := report.Scope{InstanceIDs: s.InstanceIDs, Tags: s.Tags, DatabaseID: s.DatabaseID}
	if from, to, ok := before(s.Window, due, zone); ok {
		from, to = from.UTC(), to.UTC()
		scope.From, scope.To = &from, &to
	}
	return scope
}

// ScopeAt is the scope of the report that is due at a time, in the zone of the recurrence. Of a daily kind it is the
// day before: from the same time of the clock a day earlier, so that no two days overlap and nothing lies between them.
func (t Terms) ScopeAt(due time.Time, zone *time.Location) report.Scope {
	scope := t.Scope.At(due, zone)
	kind, err := report.Find(t.Kind)
	clock, bad := time.Parse(clockForm, t.At)
	if err != nil || bad != nil || !kind.Daily {
		return scope
	}
	year, month, day := due.In(zone).Date()
	from := firstAt(zone, time.Date(year, month, day-1, clock.Hour(), clock.Minute(), 0, 0, time.UTC))
	to := due.UTC()
	scope.From, scope.To, scope.TimeZone = &from, &to, t.TimeZone
	return scope
}

// Normal returns the terms without what their kind and recurrence do not use, and with
// empty lists for none.
func (t Terms) Normal() Terms {
	if t.Every != Week {
		t.Weekday = ""
	}
	if t.Every != Month {
		t.DayOfMonth = 0
	}
	t.Scope.InstanceIDs = append([]uuid.UUID{}, t.Scope.InstanceIDs...)
	t.RecipientIDs = append([]uuid.UUID{}, t.RecipientIDs...)
	return t
}

// Validate returns the rules that the terms break, but for those of the report that they
// are about (report.Validate of Scope.At) and of what the organization has.
func (t Terms) Validate() rule.Set {
	broken := t.Recurrence.Validate()
	kind, err := report.Find(t.Kind)
	if err != nil {
		return broken // report.Validate says so
	}
	_, _, known := before(t.Scope.Window, time.Time{}, time.UTC)
	switch {
	case kind.Daily && t.Scope.Window != "" && t.Scope.Window != WindowDay:
		broken.Add("#/scope/window", "range_not_allowed", "a report of this kind covers the day before it is due: day, or no window")
	case kind.Daily:
	case kind.Window > 0 && !known:
		broken.Add("#/scope/window", "range_required", "a report of this kind covers 7d, 30d, or the day or month before it is due")
	case kind.Window > 0 && kind.Window < report.LongestMonth && t.Scope.Window == WindowMonth:
		broken.Add("#/scope/window", "range_too_wide", "a report of this kind cannot cover a month of 31 days in every time zone; choose 30d")
	case kind.Window == 0 && t.Scope.Window != "":
		broken.Add("#/scope/window", "range_not_allowed", "a report of this kind has no window")
	}
	if t.PerTeam && kind.OneInstance {
		broken.Add("#/perTeam", "scorecard_needs_one_instance", "a report of this kind covers exactly one instance")
	}
	if t.PerTeam && t.OnlyIfChanged {
		broken.Add("#/onlyIfChanged", "not_comparable", "cannot be combined with perTeam")
	}
	if t.OnlyIfChanged && !kind.Comparable {
		broken.Add("#/onlyIfChanged", "not_comparable", "a report of this kind has no findings that could be compared")
	}
	return broken
}

// Validate returns the rules that a recurrence breaks.
func (r Recurrence) Validate() (broken rule.Set) {
	switch r.Every {
	case Day:
	case Week:
		if !knownWeekday(r.Weekday) {
			broken.Add("#/weekday", "weekday_required", "names the day of the week, monday to sunday")
		}
	case Month:
		if r.DayOfMonth != LastDay && (r.DayOfMonth < 1 || r.DayOfMonth > 31) {
			broken.Add("#/dayOfMonth", "day_of_month_required", "is the day of the month, 1 to 31, or -1 for the last")
		}
	default:
		broken.Add("#/every", "invalid_parameter", "is day, week or month")
	}
	if _, err := time.Parse(clockForm, r.At); err != nil || len(r.At) != len(clockForm) {
		broken.Add("#/at", "invalid_parameter", "is a time of day, HH:MM")
	}
	return broken
}
