package alertlog

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/instant"
	"muster/eventstore"
)

// Alert is an alert as its events make it. No time is later than the record of its event, and ClosedAt is not before
// RaisedAt, whatever the clocks of senders said.
type Alert struct {
	ID             uuid.UUID
	Label          string // the rule's name as the alert was raised, else its first title
	Rule           string // the rule's id; empty: not known
	Title          string
	Severity       alert.Severity
	Servers        []uuid.UUID // its own or its database's, then the others; none: it belongs to the organization
	First          []uuid.UUID // Servers as it was raised
	Maintenance    *alert.Window
	RecordedAt     time.Time // when its raise was
	RaisedAt       time.Time
	ClosedAt       *time.Time // nil: open
	ByItself       bool       // its condition was over, and no person closed it
	Lapsed         bool       // no sender said that
	AcknowledgedAt *time.Time
	AcknowledgedBy uuid.UUID
	Again          []time.Time // since when it fired again
	Mutes          []Mute      // oldest first
}

// Mute is a time in which an alert was muted.
type Mute struct {
	By    uuid.UUID // uuid.Nil: a program
	From  time.Time
	Until *time.Time // as announced; nil: for good
	Ended *time.Time // nil: nobody ended it
}

// OpenAt says whether it is open at a time: it was raised before, and not closed before.
func (a *Alert) OpenAt(at time.Time) bool {
	return a.RaisedAt.Before(at) && (a.ClosedAt == nil || !a.ClosedAt.Before(at))
}

// MutedAt says whether it is muted at a time, or was until then.
func (a *Alert) MutedAt(at time.Time) bool {
	return slices.ContainsFunc(a.Mutes, func(m Mute) bool {
		over := m.Until != nil && m.Until.Before(at) || m.Ended != nil && m.Ended.Before(at)
		return m.From.Before(at) && !over
	})
}

// raise is the alert that an event raised.
func raise(e eventstore.Event, fact alert.Raised) *Alert {
	a := &Alert{ID: e.Stream, Label: fact.Label(), Maintenance: fact.Maintenance, RecordedAt: instant.Cut(e.RecordedAt)}
	a.describe(e, fact.Details)
	a.First = a.Servers
	return a
}

// apply folds an event.
func (a *Alert) apply(e eventstore.Event, fact alert.Event) {
	at := named(e.OccurredAt, e)
	switch fact := fact.(type) {
	case alert.Changed:
		a.describe(e, fact.Details)
	case alert.TriggeredAgain:
		a.Again = append(a.Again, named(fact.Since(), e))
	case alert.Acknowledged:
		a.AcknowledgedAt, a.AcknowledgedBy = &at, e.Actor()
	case alert.Muted:
		a.mute(Mute{By: e.Actor(), From: at})
	case alert.MutedUntil:
		a.mute(Mute{By: e.Actor(), From: at, Until: &fact.Until})
	case alert.Unmuted:
		a.unmute(at)
	case alert.MuteEnded:
		a.unmute(named(fact.Until, e))
	case alert.Resolved:
		a.close(named(fact.ResolvedAt, e))
	case alert.AutoResolved:
		a.close(named(fact.ResolvedAt, e))
		a.ByItself, a.Lapsed = true, fact.Lapsed
	case alert.Raised, alert.StillFiring, alert.Noted:
	}
}

// named is a time that an event names, or the time of its record if that was before.
func named(at time.Time, e eventstore.Event) time.Time {
	return instant.Cut(instant.Earlier(at, e.RecordedAt))
}

func (a *Alert) describe(e eventstore.Event, d alert.Details) {
	a.Title, a.Severity, a.RaisedAt = d.Title, d.Severity, named(d.CreatedAt, e)
	a.Servers, a.Rule = nil, ""
	if d.InstanceID != uuid.Nil {
		a.Servers = append([]uuid.UUID{d.InstanceID}, d.OtherInstanceIDs...)
	}
	if d.Rule != nil {
		a.Rule = d.Rule.ID
	}
}

func (a *Alert) close(at time.Time) {
	at = instant.Later(at, a.RaisedAt)
	a.ClosedAt = &at
}

func (a *Alert) mute(m Mute) {
	a.unmute(m.From)
	a.Mutes = append(a.Mutes, m)
}

func (a *Alert) unmute(at time.Time) {
	if n := len(a.Mutes); n > 0 && a.Mutes[n-1].Ended == nil {
		a.Mutes[n-1].Ended = &at
	}
}
