package maintenance

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/rule"
	"muster/domain/schedule"
	"muster/domain/team"
)

// Stream is the stream type of a window in the organization log.
const Stream = "maintenance_window"

// Bounds of windows.
const (
	MaxWindows = 500 // of an organization
	MaxOnce    = 31 * 24 * time.Hour
	maxAhead   = 366 * 24 * time.Hour
	maxDaily   = 24*60 - 1      // minutes: it ends before it begins again
	maxMinutes = 7 * 24 * 60    // of one that recurs every week or month
	atMost     = 400            // times of a recurrence that are looked at between two instants
	farBack    = maxMinutes + 1 // minutes before an instant at which a time that reaches it may begin
)

// Terms are which servers a window is about, and when.
type Terms struct {
	Selector team.Selector `json:"selector"`
	// From and To are its only time. Recurrence and Minutes stand in their place.
	From       *time.Time           `json:"from,omitempty"`
	To         *time.Time           `json:"to,omitempty"`
	Recurrence *schedule.Recurrence `json:"recurrence,omitempty"`
	Minutes    int                  `json:"minutes,omitempty"`
	// TimeZone is that in which people see From and To; a recurrence has its own.
	TimeZone string `json:"timeZone,omitempty"`
}

// Broken are the rules that the terms break if they are recorded now.
func (t Terms) Broken(now time.Time) []rule.Broken {
	var broken rule.Set
	for _, b := range (team.Terms{Selector: t.Selector}).Broken() {
		broken.Add(b.Pointer, b.Code, b.Detail)
	}
	if len(t.Selector.Tags) == 0 && len(t.Selector.InstanceIDs) == 0 {
		broken.Add("#/selector", "out_of_range", "selects no server: it needs tags or instanceIds")
	}
	once := t.From != nil || t.To != nil
	switch {
	case once && t.Recurrence != nil:
		broken.Add("#/recurrence", "conflicting_parameters", "cannot be combined with from and to")
	case t.Recurrence != nil:
		t.recurs(&broken)
	case t.From == nil || t.To == nil:
		broken.Add("#/from", "range_required", "a window needs from and to, or a recurrence")
	case !t.To.After(*t.From):
		broken.Add("#/to", "invalid_window", "must be after from")
	case t.To.Sub(*t.From) > MaxOnce:
		broken.Add("#/to", "out_of_range", "lies more than 31 days after from")
	case !t.To.After(now):
		broken.Add("#/to", "out_of_range", "lies in the past; a window counts from when it is announced")
	case t.From.After(now.Add(maxAhead)):
		broken.Add("#/from", "out_of_range", "lies more than a year ahead")
	}
	return broken
}

func (t Terms) recurs(broken *rule.Set) {
	for _, b := range t.Recurrence.Validate() {
		broken.Add("#/recurrence"+b.Pointer[1:], b.Code, b.Detail)
	}
	most := maxMinutes
	if t.Recurrence.Every == schedule.Day {
		most = maxDaily
	}
	if t.Minutes < 1 || t.Minutes > most {
		broken.Add("#/recurrence/minutes", "out_of_range", fmt.Sprintf("must be 1 to %d", most))
	}
}

// Span is a time from an instant until before another.
type Span struct{ From, To time.Time }

// Times are those of the terms that touch a span, in order. zone is that of the recurrence. They
// are not cut to the span.
func (t Terms) Times(zone *time.Location, in Span) (times []Span) {
	if t.Recurrence == nil {
		if t.From != nil && t.To != nil && t.From.Before(in.To) && t.To.After(in.From) {
			times = append(times, Span{*t.From, *t.To})
		}
		return times
	}
	lasts := time.Duration(t.Minutes) * time.Minute
	after := in.From.Add(-farBack * time.Minute)
	for begin := t.Recurrence.Next(zone, after); !begin.IsZero() && begin.Before(in.To) && len(times) < atMost; begin = t.Recurrence.Next(zone, begin) {
		if end := begin.Add(lasts); end.After(in.From) {
			times = append(times, Span{begin, end})
		}
	}
	return times
}

// Next is the first time that ends after an instant; ok is false if there is none.
func (t Terms) Next(zone *time.Location, after time.Time) (next Span, ok bool) {
	if t.Recurrence == nil {
		if t.From == nil || t.To == nil || !t.To.After(after) {
			return Span{}, false
		}
		return Span{*t.From, *t.To}, true
	}
	if times := t.Times(zone, Span{after, after.AddDate(0, 2, 2)}); len(times) > 0 {
		return times[0], true
	}
	return Span{}, false
}

// Version is the terms of a window with the time in which they hold.
type Version struct {
	ID    uuid.UUID
	Terms Terms
	Zone  *time.Location
	Holds time.Time
	Until *time.Time // when others replaced them, or the window was removed; nil: they hold
}

// Spans are the times of the version within a span, cut to it and to the time in which it holds.
func (v Version) Spans(in Span) (spans []Span) {
	if v.Holds.After(in.From) {
		in.From = v.Holds
	}
	if v.Until != nil && v.Until.Before(in.To) {
		in.To = *v.Until
	}
	if !in.To.After(in.From) {
		return nil
	}
	for _, s := range v.Terms.Times(v.Zone, in) {
		spans = append(spans, s.Cut(in))
	}
	return spans
}

// Cut is the part of a span within another. Outside of it, the part does not end after it begins.
func (s Span) Cut(in Span) Span {
	if s.From.Before(in.From) {
		s.From = in.From
	}
	if s.To.After(in.To) {
		s.To = in.To
	}
	return s
}

// Running is the time of the version that an instant lies in, not cut; ok is false if there is none.
func (v Version) Running(at time.Time) (running Span, ok bool) {
	if at.Before(v.Holds) || v.Until != nil && !at.Before(*v.Until) {
		return Span{}, false
	}
	for _, s := range v.Terms.Times(v.Zone, Span{at, at.Add(1)}) {
		if !at.Before(s.From) && at.Before(s.To) && s.To.After(running.To) {
			running, ok = s, true
		}
	}
	return running, ok
}

// Covered are the times within a span in which a server with these tags is in one of the windows,
// each once and in order.
func Covered(versions []Version, instance uuid.UUID, tags fleet.Tags, in Span) (covered []Span) {
	var all []Span
	for _, v := range versions {
		if v.Terms.Selector.Matches(instance, tags) {
			all = append(all, v.Spans(in)...)
		}
	}
	return Merged(all)
}

// Merged are spans in order, each moment once. It puts the given ones in order.
func Merged(spans []Span) (merged []Span) {
	slices.SortFunc(spans, func(a, b Span) int { return a.From.Compare(b.From) })
	for _, s := range spans {
		if last := len(merged) - 1; last >= 0 && !s.From.After(merged[last].To) {
			if s.To.After(merged[last].To) {
				merged[last].To = s.To
			}
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// Lasting is how long spans last together.
func Lasting(spans []Span) (sum time.Duration) {
	for _, s := range spans {
		sum += s.To.Sub(s.From)
	}
	return sum
}

// In is the window that a server with these tags is in at an instant: of several, the one that ends
// last. nil: it is in none.
func In(versions []Version, instance uuid.UUID, tags fleet.Tags, at time.Time) (in *alert.Window) {
	for _, v := range versions {
		if !v.Terms.Selector.Matches(instance, tags) {
			continue
		}
		if s, ok := v.Running(at); ok && (in == nil || s.To.After(in.Until)) {
			in = &alert.Window{ID: v.ID, Until: s.To.UTC()}
		}
	}
	return in
}

// InAll is the window of several servers that are all in one: that which ends first. nil: one of
// them is in none, or there is none of them.
func InAll(versions []Version, servers []uuid.UUID, tags map[uuid.UUID]fleet.Tags, at time.Time) (first *alert.Window) {
	for _, id := range servers {
		in := In(versions, id, tags[id], at)
		if in == nil {
			return nil
		}
		if first == nil || in.Until.Before(first.Until) {
			first = in
		}
	}
	return first
}

// Within reports whether every server that a selector matches is one of those of a team's, whatever
// servers there are: each of its ids is one on which acts says that somebody may act, and its tags
// lie within the tags of one of the selectors.
func Within(s team.Selector, teams []team.Selector, acts func(uuid.UUID) bool) bool {
	if slices.ContainsFunc(s.InstanceIDs, func(id uuid.UUID) bool { return !acts(id) }) {
		return false
	}
	return len(s.Tags) == 0 || slices.ContainsFunc(teams, func(t team.Selector) bool { return within(s.Tags, t.Tags) })
}

func within(tags, of fleet.TagFilter) bool {
	for key, values := range of {
		if len(tags[key]) == 0 || slices.ContainsFunc(tags[key], func(v string) bool { return !slices.Contains(values, v) }) {
			return false
		}
	}
	return len(of) > 0
}
