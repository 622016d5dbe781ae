package alert

import (
	"time"

	"github.com/google/uuid"

	"muster/domain/instant"
)

// pause is how long a machine must not have seen an alert for a later start to
// be another occurrence: the two of a pair of Prometheus servers see the same
// one start within an evaluation of each other.
const pause = 2 * time.Minute

// Firing is what a machine saw of an alert just now: Alertmanager, or the built-in
// watch. It knows nothing of what people did with it.
type Firing struct {
	// Key is what the alert is known by, unique in the organization with its
	// prefix: "alertmanager/<fingerprint>", "watch/<rule>/<subject>".
	Key string
	// FormerKey is what earlier releases know it by, where that is another; empty: by none.
	FormerKey string
	// Sender identifies the sender, so that one of several senders does not end what another
	// sees firing; empty: the sender is unknown.
	Sender      string
	Title       string
	Description string
	Severity    Severity
	Rule        *Rule
	InstanceID  uuid.UUID // uuid.Nil: of the organization only
	DatabaseID  uuid.UUID
	// OtherInstanceIDs are further servers that it concerns, as those on one host.
	OtherInstanceIDs []uuid.UUID
	StartsAt         time.Time
	SeenAt           time.Time // when it was seen firing: receipt, or EndsAt where that is earlier
	EndsAt           time.Time // zero: open end. When it is over unless it is seen again, or was over
	Resolved         bool      // it is over, at EndsAt
	Limited          bool      // a limited token says so
	Blocking         *Blocking // who waits for whom; kept only if the alert is raised by it
	People           []Person  // whose sessions they are; kept beside the log
}

// Received limits the firing to what is possible at the time of its receipt: only an announced
// end lies later, an end that has passed is an end, and a start before 1970 is replaced with
// the time of receipt.
func (f Firing) Received(at time.Time) Firing {
	possible := func(t time.Time) time.Time {
		if t.Unix() <= 0 {
			return at
		}
		return instant.Earlier(t, at)
	}
	f.StartsAt, f.SeenAt = possible(f.StartsAt), possible(f.SeenAt)
	if f.Resolved = f.Resolved || !f.EndsAt.IsZero() && !f.EndsAt.After(at); f.Resolved {
		f.EndsAt = possible(f.EndsAt)
		f.StartsAt, f.SeenAt = instant.Earlier(f.StartsAt, f.EndsAt), instant.Earlier(f.SeenAt, f.EndsAt)
	}
	f.SeenAt = instant.Later(f.SeenAt, f.StartsAt)
	return f
}

// Lapse closes an open alert whose end has passed without another message.
func (a *Alert) Lapse(now time.Time, seen Seen) []Event {
	if a.state == none || a.state.Closed() || seen.EndsAt.IsZero() || now.Before(seen.EndsAt) {
		return nil
	}
	return []Event{AutoResolved{
		ResolvedAt: seen.EndsAt, LastTriggeredAt: instant.Later(a.last, seen.LastTriggeredAt),
		StartedAt: a.startedSince(seen.StartedAt), Lapsed: true,
	}}
}

// Fire decides on a machine's observation of the newest alert under a key, after Received and
// Lapse. An alert that a person closed stays closed until a later start. An alert that a
// machine ended, or that lapsed, fires again at the next firing message, whatever its start: if
// two senders cannot be told apart, one may have ended only its own.
func (a *Alert) Fire(f Firing, seen Seen) Outcome {
	open := a.state != none && !a.state.Closed()
	switch {
	case f.Resolved && open:
		return a.end(f, seen)
	case open:
		return a.fire(f, seen)
	case a.state == none,
		f.Resolved && f.StartsAt.After(a.resolved),
		!f.Resolved && f.StartsAt.After(a.started):
		return f.raise(a.resolved)
	case !f.Resolved && a.state == AutoResolvedState && f.SeenAt.After(a.resolved):
		f.StartsAt = instant.Later(f.StartsAt, a.resolved)
		return f.raise(a.resolved)
	}
	return Outcome{}
}

// raise is a new alert; after is when the one before it was over.
func (f Firing) raise(after time.Time) Outcome {
	d := f.details()
	d.CreatedAt, d.FirstTriggeredAt, d.LastTriggeredAt = f.StartsAt, f.StartsAt, f.SeenAt
	events := []Event{Raised{Key: f.Key, After: after, Limited: f.Limited, Blocking: f.Blocking, Details: d}}
	if f.Resolved {
		return Outcome{Anew: true, Events: append(events, AutoResolved{ResolvedAt: f.EndsAt, LastTriggeredAt: f.SeenAt})}
	}
	return Outcome{Anew: true, Events: events, Seen: Seen{
		LastTriggeredAt: f.SeenAt, StartedAt: f.StartsAt, EndsAt: f.EndsAt, Senders: senders(nil).fires(f),
	}}
}

// fire decides on an open alert that is seen firing. Its texts, which are often
// templates with the latest value in them, follow in the log once an hour and with another
// occurrence, and beside it at once; severity and place, in the log at once.
func (a *Alert) fire(f Firing, seen Seen) Outcome {
	known := instant.Later(a.last, seen.LastTriggeredAt)
	d := a.placed(f.details())
	d.CreatedAt, d.FirstTriggeredAt, d.LastTriggeredAt = a.created, a.first, instant.Later(known, f.SeenAt)
	if f.StartsAt.After(a.after) {
		d.FirstTriggeredAt = instant.Earlier(a.first, f.StartsAt)
	}
	var events []Event
	again := f.StartsAt.After(known.Add(pause))
	if again {
		events = append(events, TriggeredAgain{FirstTriggeredAt: a.first, LastTriggeredAt: d.LastTriggeredAt, StartedAt: f.StartsAt})
	}
	due := d.LastTriggeredAt.Sub(a.last) >= hour
	retold := a.texts != digestTexts(d)
	switch {
	case !a.looks(d), !d.FirstTriggeredAt.Equal(a.first), (due || again) && retold:
		events = append(events, Changed{Details: d})
		retold = false
	case due && !again:
		events = append(events, StillFiring{LastTriggeredAt: d.LastTriggeredAt})
	}
	next := Seen{LastTriggeredAt: d.LastTriggeredAt, StartedAt: instant.Later(instant.Later(a.started, seen.StartedAt), f.StartsAt)}
	if retold {
		next.Title, next.Description = d.Title, d.Description
	}
	next.Senders = senders(seen.Senders).fires(f)
	switch {
	case f.Sender != "":
		next.EndsAt, _ = senders(next.Senders).until(f.SeenAt)
	case !f.EndsAt.IsZero():
		next.EndsAt = instant.Later(seen.EndsAt, f.EndsAt)
	}
	return Outcome{Events: events, Seen: next}
}

// placed keeps an alert at its place if its instance or its database cannot be found any more.
// The labels of the place are part of the alert's identity: they matched before, and what they
// named is gone.
func (a *Alert) placed(d Details) Details {
	switch {
	case d.InstanceID == uuid.Nil:
		d.InstanceID, d.DatabaseID = a.instance, a.database
	case d.InstanceID == a.instance && d.DatabaseID == uuid.Nil:
		d.DatabaseID = a.database
	}
	return d
}

// end decides on an open alert whose end a sender reports. The alert is over once each sender
// that saw it fire has reported its end, or its announced end has passed. An end before the
// latest start that the sender named belongs to an older episode. The same holds for an end at
// exactly that start, if the alert had begun before: an alert that ended and fires again starts
// with that end, and such messages come twice.
func (a *Alert) end(f Firing, seen Seen) Outcome {
	start := instant.Later(a.started, seen.StartedAt)
	by, known := senders(seen.Senders).find(f.Sender)
	if known {
		start = by.StartedAt
	}
	if known && by.Ended || f.EndsAt.Before(start) || f.EndsAt.Equal(start) && f.StartsAt.Before(start) {
		return Outcome{Seen: seen}
	}
	left := senders(seen.Senders).ends(f)
	until, firing := left.until(f.EndsAt)
	if firing {
		seen.Senders, seen.EndsAt = left, until
		return Outcome{Seen: seen}
	}
	over := AutoResolved{
		ResolvedAt: f.EndsAt, LastTriggeredAt: instant.Later(instant.Later(a.last, seen.LastTriggeredAt), f.SeenAt),
		StartedAt: a.startedSince(instant.Later(seen.StartedAt, f.StartsAt)),
	}
	for _, one := range left {
		if one.Ended { // another one may have said of a later time that it is over
			over.ResolvedAt = instant.Later(over.ResolvedAt, one.EndsAt)
		}
	}
	if seen.Title == "" {
		return Outcome{Events: []Event{over}}
	}
	d := a.placed(f.details()) // the texts as they were when it fired last
	d.Title, d.Description, d.Severity = seen.Title, seen.Description, a.severity
	d.CreatedAt, d.FirstTriggeredAt, d.LastTriggeredAt = a.created, a.first, over.LastTriggeredAt
	return Outcome{Events: []Event{Changed{Details: d}, over}}
}

func (f Firing) details() Details {
	return Details{
		Title: f.Title, Description: f.Description, Severity: f.Severity, Rule: f.Rule,
		InstanceID: f.InstanceID, DatabaseID: f.DatabaseID, OtherInstanceIDs: f.OtherInstanceIDs,
	}
}
