package schedule

import (
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Schedule is one schedule, folded from its events. The zero value does not exist.
type Schedule struct {
	State
	exists  bool
	reports []uuid.UUID // of the latest runs, the oldest first
}

// State is what a schedule is now.
type State struct {
	OwnerID uuid.UUID
	Terms   Terms
	// From is the instant after which due times have no fact yet: the last that has one,
	// or when the schedule began, or began anew.
	From time.Time
	// Ran says that From is the last due time that has a fact, and not when it began.
	Ran bool
}

// sameDay is how near two due times are that different rules of a zone give one day: no
// zone moves its clocks by as much at once, but those that change the side of the date line.
const sameDay = 12 * time.Hour

// remembered is how many reports of its runs a schedule knows.
const remembered = 20

// Restore is a schedule whose state is known.
func Restore(s State) *Schedule { return &Schedule{State: s, exists: true} }

// Exists says whether it was created and is not removed.
func (s *Schedule) Exists() bool { return s.exists }

// Reports are those of its latest runs, the newest first.
func (s *Schedule) Reports() []uuid.UUID {
	newest := slices.Clone(s.reports)
	slices.Reverse(newest)
	return newest
}

// Apply folds one recorded event into the schedule; at is when it happened.
func (s *Schedule) Apply(event Event, at time.Time) {
	switch e := event.(type) {
	case Created:
		s.exists, s.State = true, State{OwnerID: e.OwnerID, Terms: e.Terms, From: at}
	case Changed:
		if s.Terms.retimed(e.Terms) {
			s.passed(at)
			s.Ran = false
		}
		s.Terms = e.Terms
	case TakenOver:
		s.OwnerID = e.OwnerID
	case Removed:
		s.exists = false
	}
	if run, ok := RunOf(event); ok {
		s.passed(run.DueAt)
		s.Ran = true
		if run.Status == StatusRequested {
			s.reports = append(s.reports, run.ReportID)
			s.reports = s.reports[max(0, len(s.reports)-remembered):]
		}
	}
}

// passed says that no due time up to one gets a fact any more.
func (s *Schedule) passed(at time.Time) {
	if at.After(s.From) {
		s.From = at
	}
}

// retimed says whether other terms are due at other times.
func (t Terms) retimed(other Terms) bool {
	return t.Recurrence != other.Recurrence || t.Enabled != other.Enabled
}

// Due are the due times that have come and have no fact yet, the oldest first.
func (s *Schedule) Due(zone *time.Location, now time.Time) (dues []time.Time) {
	for at := s.Next(zone); !at.IsZero() && !at.After(now); at = s.Terms.Next(zone, at) {
		dues = append(dues, at)
	}
	return dues
}

// Next is the first due time without a fact, even if it has passed; zero if the schedule has no
// more due times.
func (s *Schedule) Next(zone *time.Location) time.Time {
	if !s.exists || !s.Terms.Enabled {
		return time.Time{}
	}
	return s.Terms.Next(zone, s.settled(zone))
}

// Coming are the n due times after an instant, without those that have a fact.
func (s *Schedule) Coming(zone *time.Location, after time.Time, n int) []time.Time {
	if !s.exists || !s.Terms.Enabled {
		return []time.Time{}
	}
	if settled := s.settled(zone); settled.After(after) {
		after = settled
	}
	return s.Terms.NextOf(zone, after, n)
}

// settled is the instant up to which nothing becomes due any more. If the zone's current rules
// do not have the last due time, they could make the same day due again.
func (s *Schedule) settled(zone *time.Location) time.Time {
	if s.Ran && !s.Terms.Next(zone, s.From.Add(-1)).Equal(s.From) {
		return s.From.Add(sameDay)
	}
	return s.From
}

// Create makes the schedule.
func (s *Schedule) Create(owner uuid.UUID, terms Terms) ([]Event, error) {
	if s.exists || owner == uuid.Nil {
		return nil, errors.New("a schedule is created once, by a member")
	}
	return []Event{Created{OwnerID: owner, Terms: terms}}, nil
}

// Change makes the schedule what terms say, and the due times that wait missed where they
// are no longer its own. zone is that of the terms before. Terms that say the same are no
// event.
func (s *Schedule) Change(terms Terms, zone *time.Location, now time.Time) []Event {
	if reflect.DeepEqual(s.Terms, terms) {
		return nil
	}
	var events []Event
	if s.Terms.retimed(terms) {
		events = s.miss(zone, now)
	}
	return append(events, Changed{terms})
}

// TakeOver makes the schedule a member's.
func (s *Schedule) TakeOver(owner uuid.UUID) []Event {
	if s.OwnerID == owner {
		return nil
	}
	return []Event{TakenOver{OwnerID: owner}}
}

// Remove ends the schedule, and with it the due times that wait.
func (s *Schedule) Remove(zone *time.Location, now time.Time) []Event {
	return append(s.miss(zone, now), Removed{})
}

// miss makes what waits missed, because it is no longer wanted.
func (s *Schedule) miss(zone *time.Location, now time.Time) (events []Event) {
	for _, due := range s.Due(zone, now) {
		events = append(events, Missed{DueAt: due, Reason: ReasonChanged})
	}
	return events
}

// Settle records what became of the due times that have come: latest of the latest one,
// and of those before it that they were missed, for the reason that why gives.
func (s *Schedule) Settle(dues []time.Time, why func(due time.Time) string, latest Event) ([]Event, error) {
	run, ok := RunOf(latest)
	if !ok || len(dues) == 0 || !run.DueAt.Equal(dues[len(dues)-1]) || !run.DueAt.After(s.From) {
		return nil, errors.New("a run is of the latest due time that has no fact yet")
	}
	var events []Event
	for _, due := range dues[:len(dues)-1] {
		events = append(events, Missed{DueAt: due, Reason: why(due)})
	}
	return append(events, latest), nil
}
