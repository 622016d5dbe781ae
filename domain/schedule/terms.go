package schedule

import (
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
)

// Terms are what a schedule is: which report, for whom, when.
type Terms struct {
	Name         string      `json:"name"`
	Kind         report.Kind `json:"kind"`
	Scope        Scope       `json:"scope"`
	RecipientIDs []uuid.UUID `json:"recipientIds"` // beside the owner
	Recurrence
	OnlyIfChanged bool `json:"onlyIfChanged"` // not requested where the findings are those of the last one
	Enabled       bool `json:"enabled"`
}

// Scope is what the reports cover.
type Scope struct {
	InstanceIDs []uuid.UUID `json:"instanceIds"`
	DatabaseID  *uuid.UUID  `json:"databaseId"`
	Window      string      `json:"window,omitempty"` // of a scorecard: how much before the due time
}

// windows are the widths that a scorecard's window may have.
func windows() map[string]time.Duration {
	const day = 24 * time.Hour
	return map[string]time.Duration{"7d": 7 * day, "30d": 30 * day}
}

// At is the scope of the report that is due at a time: a scorecard's window ends there.
func (s Scope) At(due time.Time) report.Scope {
	scope := report.Scope{InstanceIDs: s.InstanceIDs, DatabaseID: s.DatabaseID}
	if width, ok := windows()[s.Window]; ok {
		from, to := due.Add(-width).UTC(), due.UTC()
		scope.From, scope.To = &from, &to
	}
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
func (t Terms) Validate() (broken report.BrokenRules) {
	switch t.Every {
	case Day:
	case Week:
		if !knownWeekday(t.Weekday) {
			broken.Add("#/weekday", "weekday_required", "names the day of the week, monday to sunday")
		}
	case Month:
		if t.DayOfMonth != LastDay && (t.DayOfMonth < 1 || t.DayOfMonth > 31) {
			broken.Add("#/dayOfMonth", "day_of_month_required", "is the day of the month, 1 to 31, or -1 for the last")
		}
	default:
		broken.Add("#/every", "invalid_parameter", "is day, week or month")
	}
	if _, err := time.Parse(clockForm, t.At); err != nil || len(t.At) != len(clockForm) {
		broken.Add("#/at", "invalid_parameter", "is a time of day, HH:MM")
	}
	_, known := windows()[t.Scope.Window]
	switch {
	case t.Kind == report.InstanceScorecard && !known:
		broken.Add("#/scope/window", "range_required", "a scorecard covers 7d or 30d before it is due")
	case t.Kind != report.InstanceScorecard && t.Scope.Window != "":
		broken.Add("#/scope/window", "range_not_allowed", "only a scorecard has a window")
	}
	if t.OnlyIfChanged && t.Kind == report.DataInventory {
		broken.Add("#/onlyIfChanged", "not_comparable", "a data inventory has no findings that could be compared")
	}
	return broken
}
