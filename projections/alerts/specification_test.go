package alerts_test

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/alert"
	domainfleet "muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/projections/alerts"
	"muster/projections/fleet"
)

// specification is a fleet and its alerts as the specification's tables have them
// (service-interface, §2), and its numbers the way it says them (§4.1, 4.3, 4.7 and
// readings 1–10): by looking at every row. It shares names with the code that is
// tested, and no step of a calculation.
type specification struct {
	instances []*specInstance
	databases []*specDatabase
	alerts    []*specAlert
}

type specInstance struct {
	id      uuid.UUID
	name    string
	created time.Time
	removed bool
}

type specDatabase struct {
	id       uuid.UUID
	name     string
	instance *specInstance
	created  time.Time
	removed  bool
}

type specAlert struct {
	id                         uuid.UUID
	title                      string
	severity                   domain.Severity
	state                      domain.State
	muted                      bool
	mutedUntil                 *time.Time
	created, first, last, seen time.Time // seen: beside the log; zero: never
	resolved                   *time.Time
	occurrences                int
	instance                   *specInstance
	database                   *specDatabase
}

// filter is an instance filter as a caller passes it; without ids and names there is no filter.
type filter struct {
	ids   []uuid.UUID
	names []string
}

func (f filter) absent() bool { return len(f.ids) == 0 && len(f.names) == 0 }

// has reports whether something that belongs to an instance, perhaps to none, is in
// scope.
func (f filter) has(i *specInstance) bool {
	if f.absent() {
		return true
	}
	return i != nil && !i.removed && (slices.Contains(f.ids, i.id) || slices.Contains(f.names, i.name))
}

// scope is what a filter comes down to.
func (s *specification) scope(f filter) (scope domainfleet.Scope) {
	if f.absent() {
		return scope
	}
	scope.Filtered = true
	for _, i := range s.instances {
		if f.has(i) {
			scope.Instances = append(scope.Instances, i.id)
		}
	}
	return scope
}

// lastTriggered is the later of what the log and what stands beside it say; what
// is closed is final.
func (a *specAlert) lastTriggered() time.Time {
	if a.open() && a.seen.After(a.last) {
		return a.seen
	}
	return a.last
}

func (a *specAlert) open() bool { return a.state != "Resolved" && a.state != "AutoResolved" }

// overview is the three counts, now and then.
func (s *specification) overview(f filter, then time.Time) (c fleet.Counts, open, openThen int64) {
	for _, i := range s.instances {
		if !i.removed && f.has(i) {
			c.Instances++
			if !i.created.After(then) {
				c.InstancesThen++
			}
		}
	}
	for _, d := range s.databases {
		if !d.removed && !d.instance.removed && f.has(d.instance) {
			c.Databases++
			if !d.created.After(then) {
				c.DatabasesThen++
			}
		}
	}
	for _, a := range s.alerts {
		if a.muted || !f.has(a.instance) {
			continue
		}
		if a.open() {
			open++
		}
		if !a.created.After(then) && (a.resolved == nil || a.resolved.After(then)) {
			openThen++
		}
	}
	return c, open, openThen
}

// monitoringStarted is the registration of the earliest instance in scope.
func (s *specification) monitoringStarted(f filter) (started *time.Time) {
	for _, i := range s.instances {
		if !i.removed && f.has(i) && (started == nil || i.created.Before(*started)) {
			started = &i.created
		}
	}
	return started
}

// bucketOf is where the bucket of a time starts, by the calendar.
func bucketOf(size timegrid.Size, t time.Time) time.Time {
	year, month, day := t.Date()
	midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	switch size {
	case timegrid.Minute:
		return midnight.Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute)
	case timegrid.Hour:
		return midnight.Add(time.Duration(t.Hour()) * time.Hour)
	case timegrid.Week:
		for midnight.Weekday() != time.Monday {
			midnight = midnight.AddDate(0, 0, -1)
		}
	}
	return midnight
}

// history is the two series of a window, bucket by bucket.
func (s *specification) history(f filter, from, to time.Time, size timegrid.Size) (active, resolved []int64) {
	for start := bucketOf(size, from); start.Before(to); start = start.Add(size.Width()) {
		lower, upper := start, start.Add(size.Width())
		if from.After(lower) {
			lower = from
		}
		if to.Before(upper) {
			upper = to
		}
		var fired, closed int64
		for _, a := range s.alerts {
			if a.muted || !f.has(a.instance) {
				continue
			}
			if a.first.Before(upper) && !a.lastTriggered().Before(lower) {
				fired++
			}
			if a.resolved != nil && !a.resolved.Before(lower) && a.resolved.Before(upper) {
				closed++
			}
		}
		active, resolved = append(active, fired), append(resolved, closed)
	}
	return active, resolved
}

// found says whether an alert is found under a text.
func (a *specAlert) found(text string) bool {
	return has(a.title, text) || a.instance != nil && has(a.instance.name, text) || a.database != nil && has(a.database.name, text)
}

// page is a page of the list and the number of matching alerts; it ignores organization and
// scope of q.
func (s *specification) page(f filter, q alerts.Query) ([]alerts.Alert, int64) {
	var matching []*specAlert
	for _, a := range s.alerts {
		last := a.lastTriggered()
		if f.has(a.instance) &&
			(q.From.IsZero() || !last.Before(q.From)) && (q.To.IsZero() || last.Before(q.To)) &&
			(q.Closed == nil || *q.Closed != a.open()) && (q.Muted == nil || *q.Muted == a.muted) &&
			(len(q.Severities) == 0 || slices.Contains(q.Severities, a.severity)) &&
			a.found(q.Search) {
			matching = append(matching, a)
		}
	}
	slices.SortFunc(matching, func(a, b *specAlert) int { return listed(q, a, b) })
	rows := []alerts.Alert{}
	for i, a := range matching {
		if i/q.Size == q.Page-1 {
			rows = append(rows, a.row())
		}
	}
	return rows, int64(len(matching))
}

// listed is the order of the list: by what was asked for, then newest first, then
// by id. What is sorted by last triggered, ascending, is ascending throughout.
func listed(q alerts.Query, a, b *specAlert) int {
	latest := a.lastTriggered().Compare(b.lastTriggered())
	id := strings.Compare(string(a.id[:]), string(b.id[:]))
	var asked int
	switch q.Order {
	case alerts.ByLastTriggered:
		if q.Descending {
			return cmp.Or(-latest, -id)
		}
		return cmp.Or(latest, id)
	case alerts.ByCreated:
		asked = a.created.Compare(b.created)
	case alerts.BySeverity:
		badness := []domain.Severity{"info", "warning", "critical"}
		asked = slices.Index(badness, a.severity) - slices.Index(badness, b.severity)
	case alerts.ByState:
		life := []domain.State{"Open", "Acknowledged", "Resolved", "AutoResolved"}
		asked = slices.Index(life, a.state) - slices.Index(life, b.state)
	}
	if q.Descending {
		asked = -asked
	}
	return cmp.Or(asked, -latest, -id)
}

// row is the alert as the list shows it, with what its places are called today,
// removed or not.
func (a *specAlert) row() alerts.Alert {
	row := alerts.Alert{
		ID: a.id, Title: a.title, Severity: a.severity, State: a.state, Muted: a.muted, MutedUntil: a.mutedUntil, CreatedAt: a.created,
		FirstTriggeredAt: a.first, LastTriggeredAt: a.lastTriggered(), ResolvedAt: a.resolved, Occurrences: a.occurrences,
	}
	if a.instance != nil {
		row.Instance = &alerts.NamedPlace{ID: a.instance.id, Name: a.instance.name}
	}
	if a.database != nil {
		row.Database = &alerts.NamedPlace{ID: a.database.id, Name: a.database.name}
	}
	return row
}
