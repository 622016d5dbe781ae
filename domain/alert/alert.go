package alert

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/instant"
)

// Alert is one alert, folded from its events. The zero value has not been raised yet. It keeps
// only a digest of its texts, because decisions only compare them.
type Alert struct {
	key     string
	limited bool // a limited token raised it
	state   State
	muted   bool
	until   time.Time // when the mute ends by itself; zero: it stays

	texts              textDigest
	severity           Severity
	instance, database uuid.UUID

	created, first, last time.Time
	started              time.Time // the latest start that is known
	after                time.Time // when the one before it was over; zero: unknown
	resolved             time.Time

	token uuid.UUID // the token that raised it, which no event has; uuid.Nil: none, or unknown
}

// Seen is what is known of an open alert beside its log, which follows once an
// hour. The zero value is nothing.
type Seen struct {
	LastTriggeredAt time.Time
	StartedAt       time.Time // the latest start that a machine named
	EndsAt          time.Time // when it is over unless it is seen again; zero: open end
	// Title and Description are the texts as they are now; empty: as the log says.
	Title, Description string
	Senders            []Sender // its senders; none: unknown
}

// Equal tells whether the same is known.
func (s Seen) Equal(o Seen) bool {
	return s.LastTriggeredAt.Equal(o.LastTriggeredAt) && s.StartedAt.Equal(o.StartedAt) && s.EndsAt.Equal(o.EndsAt) &&
		s.Title == o.Title && s.Description == o.Description && slices.EqualFunc(s.Senders, o.Senders, func(x, y Sender) bool {
		return x.Name == y.Name && x.StartedAt.Equal(y.StartedAt) && x.SeenAt.Equal(y.SeenAt) && x.EndsAt.Equal(y.EndsAt) && x.Ended == y.Ended
	})
}

func (s Seen) known() bool { return !s.LastTriggeredAt.IsZero() }

// MutedError reports that an alert is muted, or is not, already.
type MutedError struct{ Muted bool }

func (e *MutedError) Error() string {
	if e.Muted {
		return "the alert is muted already"
	}
	return "the alert is not muted"
}

// Key is what the sender knows the alert by.
func (a *Alert) Key() string { return a.key }

// State is the state of the alert; empty if it has not been raised.
func (a *Alert) State() State { return a.state }

// Muted reports whether it counts nowhere.
func (a *Alert) Muted() bool { return a.muted }

// MutedUntil is when its mute ends by itself; zero if it is not muted, or muted permanently.
func (a *Alert) MutedUntil() time.Time { return a.until }

// Limited reports whether an ingest token that is limited to instances raised it.
func (a *Alert) Limited() bool { return a.limited }

// ResolvedAt is when it was over; zero while it is open.
func (a *Alert) ResolvedAt() time.Time { return a.resolved }

// InstanceID is the instance of the alert; uuid.Nil: it belongs to the organization only.
func (a *Alert) InstanceID() uuid.UUID { return a.instance }

// Token is the token of the call that raised it; uuid.Nil: there was none, or it is not known:
// the memento has it, and the events do not.
func (a *Alert) Token() uuid.UUID { return a.token }

// RaisedBy notes the token of the call that raises it.
func (a *Alert) RaisedBy(token uuid.UUID) { a.token = token }

// Apply folds one recorded event into the alert. It checks no rules: a recorded event has
// happened.
func (a *Alert) Apply(event Event) {
	a.state, _ = Next(a.state, event)
	switch e := event.(type) {
	case Raised:
		a.key, a.after, a.limited = e.Key, e.After, e.Limited
		a.describe(e.Details)
		a.started = a.first
	case Changed:
		a.describe(e.Details)
	case TriggeredAgain:
		a.first, a.last = e.FirstTriggeredAt, e.LastTriggeredAt
	case StillFiring:
		a.last = e.LastTriggeredAt
	case Muted:
		a.muted, a.until = true, time.Time{}
	case MutedUntil:
		a.muted, a.until = true, e.Until
	case Unmuted, MuteEnded:
		a.muted, a.until = false, time.Time{}
	case Resolved:
		a.close(e.ResolvedAt, e.LastTriggeredAt, e.StartedAt)
	case AutoResolved:
		a.close(e.ResolvedAt, e.LastTriggeredAt, e.StartedAt)
	}
}

func (a *Alert) describe(d Details) {
	a.texts, a.severity, a.instance, a.database = digestTexts(d), d.Severity, d.InstanceID, d.DatabaseID
	a.created, a.first, a.last = d.CreatedAt, d.FirstTriggeredAt, d.LastTriggeredAt
}

func (a *Alert) close(at, last, started time.Time) {
	a.resolved, a.last, a.started = at, last, instant.Later(a.started, started)
}

// Acknowledge records that a person knows about the alert. Errors: *TransitionError.
func (a *Alert) Acknowledge() ([]Event, error) { return a.decide(Acknowledged{}) }

// Mute takes the alert out of every count until a time; zero: permanently. If the alert is
// muted until another time, the new time replaces it. Errors: *MutedError, *TransitionError.
func (a *Alert) Mute(until time.Time) ([]Event, error) {
	switch {
	case a.muted && a.until.Equal(until):
		return nil, &MutedError{Muted: true}
	case until.IsZero():
		return a.decide(Muted{})
	}
	return a.decide(MutedUntil{Until: until})
}

// EndMute lets the alert count again once the time of its mute has come. Before that, and if
// the alert is not muted until a time, it returns no event.
func (a *Alert) EndMute(now time.Time) []Event {
	if a.until.IsZero() || now.Before(a.until) {
		return nil
	}
	return []Event{MuteEnded{Until: a.until}}
}

// Unmute lets the alert count again. Errors: *MutedError, *TransitionError.
func (a *Alert) Unmute() ([]Event, error) {
	if a.state != none && !a.muted {
		return nil, &MutedError{Muted: false}
	}
	return a.decide(Unmuted{})
}

// Vanish closes an open alert because its instance or database is gone, and says so. A sender
// that sees it fire afterwards raises a new alert.
func (a *Alert) Vanish(at time.Time, seen Seen, why string) []Event {
	if a.state == none || a.state.Closed() {
		return nil
	}
	return []Event{AutoResolved{
		ResolvedAt: at, LastTriggeredAt: instant.Later(a.last, seen.LastTriggeredAt), StartedAt: a.startedSince(seen.StartedAt),
	}, Noted{Note: why}}
}

// Resolve closes the alert for a person. Errors: *TransitionError.
func (a *Alert) Resolve(at time.Time, seen Seen) ([]Event, error) {
	return a.decide(Resolved{
		ResolvedAt: at, LastTriggeredAt: instant.Later(a.last, seen.LastTriggeredAt), StartedAt: a.startedSince(seen.StartedAt),
	})
}

// decide returns the event if it may happen in the alert's state.
func (a *Alert) decide(e Event) ([]Event, error) {
	if _, ok := Next(a.state, e); !ok {
		return nil, &TransitionError{From: a.state, Event: Name(e)}
	}
	return []Event{e}, nil
}

// startedSince is a start as a closing event names it: zero where the events
// before it say as much.
func (a *Alert) startedSince(started time.Time) time.Time {
	if started.After(a.started) {
		return started
	}
	return time.Time{}
}
