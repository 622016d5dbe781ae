package alert

import (
	"time"

	"github.com/google/uuid"

	"muster/domain/instant"
)

// hour is how far the log may stay behind what is seen of an open alert.
const hour = time.Hour

// Notice is what a feed says of an alert whose whole life it knows.
type Notice struct {
	Details
	State      State
	Muted      *bool     // nil leaves what is
	ResolvedAt time.Time // where State is closed
	Limited    bool      // a limited token says so
}

// Outcome is what follows from a message about an alert.
type Outcome struct {
	Events []Event
	Anew   bool // Events are of a new alert, which takes over the key
	Seen   Seen // the new data beside the log, for the open alert
}

// Update decides on a feed's notice about the newest alert under a key. It never undoes a
// person's action: an acknowledgement stays, and so does a closed alert, whose key then belongs
// to a new alert. A notice without an instance leaves the alert at its place.
func (a *Alert) Update(key string, n Notice, seen Seen) Outcome {
	switch {
	case a.state == none,
		a.state.Closed() && !n.State.Closed(),
		a.state.Closed() && n.FirstTriggeredAt.After(instant.Later(a.first, a.resolved)): // a feed may resolve earlier than it fired
		return n.raise(key)
	case a.state.Closed():
		return Outcome{}
	}
	known := instant.Later(a.last, seen.LastTriggeredAt)
	d := n.Details
	if d.InstanceID == uuid.Nil {
		d.InstanceID, d.DatabaseID = a.instance, a.database
	}
	d.LastTriggeredAt = instant.Later(known, n.LastTriggeredAt)
	said := a.last // until when the log says that it was seen
	var events []Event
	again := d.FirstTriggeredAt.After(known)
	if again {
		events = append(events, TriggeredAgain{FirstTriggeredAt: d.FirstTriggeredAt, LastTriggeredAt: d.LastTriggeredAt})
		said = d.LastTriggeredAt
	}
	if !a.looks(d) || a.texts != digestTexts(d) || !d.CreatedAt.Equal(a.created) || !again && !d.FirstTriggeredAt.Equal(a.first) {
		events = append(events, Changed{Details: d})
		said = d.LastTriggeredAt
	}
	if n.State == AcknowledgedState && a.state == Open {
		events = append(events, Acknowledged{})
	}
	events = append(events, n.mute(a.muted)...)
	if n.State.Closed() {
		return Outcome{Events: append(events, n.closing(d.LastTriggeredAt))}
	}
	if d.LastTriggeredAt.Sub(said) >= hour {
		events = append(events, StillFiring{LastTriggeredAt: d.LastTriggeredAt})
		said = d.LastTriggeredAt
	}
	if seen.known() || d.LastTriggeredAt.After(said) {
		seen.LastTriggeredAt = d.LastTriggeredAt
	}
	return Outcome{Events: events, Seen: seen}
}

// raise is the life of a new alert as far as the feed knows it.
func (n Notice) raise(key string) Outcome {
	events := []Event{Raised{Key: key, Limited: n.Limited, Details: n.Details}}
	if n.State == AcknowledgedState {
		events = append(events, Acknowledged{})
	}
	events = append(events, n.mute(false)...)
	if n.State.Closed() {
		events = append(events, n.closing(n.LastTriggeredAt))
	}
	return Outcome{Events: events, Anew: true}
}

func (n Notice) mute(muted bool) []Event {
	switch {
	case n.Muted == nil || *n.Muted == muted:
		return nil
	case muted:
		return []Event{Unmuted{}}
	}
	return []Event{Muted{}}
}

func (n Notice) closing(last time.Time) Event {
	if n.State == AutoResolvedState {
		return AutoResolved{ResolvedAt: n.ResolvedAt, LastTriggeredAt: last}
	}
	return Resolved{ResolvedAt: n.ResolvedAt, LastTriggeredAt: last}
}

// looks reports whether the alert is as severe and where d says.
func (a *Alert) looks(d Details) bool {
	return d.Severity == a.severity && d.InstanceID == a.instance && d.DatabaseID == a.database
}
