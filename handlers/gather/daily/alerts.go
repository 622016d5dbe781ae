package daily

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/eventstore"
	"muster/internal/report/snapshot/day"
	"muster/projections"
)

// alertFact is an alert as the log has it at the end of a day.
type alertFact struct {
	id          uuid.UUID
	instance    uuid.UUID // uuid.Nil: it belongs to the organization
	others      []uuid.UUID
	title, rule string
	severity    alert.Severity
	created     time.Time
	resolved    *time.Time // nil: it is open at the end
	by          uuid.UUID  // the member who closed it
	lapsed      bool
	seen        bool
	again       []time.Time // it fired again
	mutes       []day.Stretch
	maintenance bool // it was raised in a maintenance window
}

// open says whether it is open at a time.
func (a *alertFact) open(at time.Time) bool {
	return a.created.Before(at) && (a.resolved == nil || !a.resolved.Before(at))
}

// muted says whether it is muted at a time, or just before it.
func (a *alertFact) muted(at time.Time) bool {
	return slices.ContainsFunc(a.mutes, func(m day.Stretch) bool { return m.From.Before(at) && !m.To.Before(at) })
}

// about says whether it concerns a server.
func (a *alertFact) about(id uuid.UUID) bool {
	return a.instance == id || slices.Contains(a.others, id)
}

// readAlerts reads the alerts that were open at some time of the day.
func (r *Reader) readAlerts(ctx context.Context, f *facts) error {
	var scope []uuid.UUID
	if !f.Whole {
		scope = append([]uuid.UUID{}, f.ids()...)
	}
	ids, err := r.Alerts.OpenBetween(ctx, f.Organization, scope, f.From, f.To)
	if err != nil {
		return err
	}
	var events []eventstore.Event
	for e, err := range r.Events.LoadEach(ctx, f.Organization, ids) {
		if err != nil {
			return err
		}
		if n := len(events); n > 0 && events[n-1].Stream != e.Stream {
			if err := r.takeAlert(f, events); err != nil {
				return err
			}
			events = events[:0]
		}
		events = append(events, e)
	}
	if err := r.takeAlert(f, events); err != nil {
		return err
	}
	order(f.alerts, func(a, b alertFact) int {
		if c := a.created.Compare(b.created); c != 0 {
			return c
		}
		return bytes.Compare(a.id[:], b.id[:])
	})
	return nil
}

// takeAlert folds the events of one alert, and keeps it if it was there on the day.
func (r *Reader) takeAlert(f *facts, events []eventstore.Event) error {
	var a alertFact
	for _, e := range events {
		if e.RecordedAt.After(f.To.Add(grace)) {
			break
		}
		fact, err := projections.Fact[alert.Event](r.Decode, e, "an alert")
		if err != nil {
			return err
		}
		a.apply(e, fact, f.To)
	}
	if a.id != uuid.Nil && (a.resolved == nil || !a.resolved.Before(f.From)) && a.created.Before(f.To) {
		f.alerts = append(f.alerts, a)
	}
	return nil
}

// forGood is the end of a mute without one.
var forGood = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

func (a *alertFact) apply(e eventstore.Event, fact alert.Event, end time.Time) {
	if raised, ok := fact.(alert.Raised); ok {
		a.id, a.maintenance = e.Stream, raised.Maintenance != nil
		a.describe(raised.Details)
		return
	}
	if a.id == uuid.Nil {
		return
	}
	at := e.OccurredAt
	switch e := fact.(type) {
	case alert.Resolved:
		at = e.ResolvedAt
	case alert.AutoResolved:
		at = e.ResolvedAt
	}
	if !at.Before(end) { // it happened later
		return
	}
	switch fact := fact.(type) {
	case alert.Changed:
		a.describe(fact.Details)
	case alert.TriggeredAgain:
		a.again = append(a.again, at)
	case alert.Acknowledged:
		a.seen = true
	case alert.Muted:
		a.mute(at, forGood)
	case alert.MutedUntil:
		a.mute(at, fact.Until)
	case alert.Unmuted, alert.MuteEnded:
		a.unmute(at)
	case alert.Resolved:
		a.close(at)
		a.by = e.Actor()
	case alert.AutoResolved:
		a.close(at)
		a.lapsed = fact.Lapsed
	}
}

func (a *alertFact) describe(d alert.Details) {
	a.title, a.severity, a.created = d.Title, d.Severity, d.CreatedAt.UTC()
	a.instance, a.others = d.InstanceID, d.OtherInstanceIDs
	a.rule = ""
	if d.Rule != nil {
		a.rule = d.Rule.ID
	}
}

// close is never before it was raised, whatever the sender's clock said.
func (a *alertFact) close(at time.Time) {
	if at.Before(a.created) {
		at = a.created
	}
	at = at.UTC()
	a.resolved = &at
}

func (a *alertFact) mute(from, until time.Time) {
	a.unmute(from)
	a.mutes = append(a.mutes, day.Stretch{From: from.UTC(), To: until.UTC()})
}

func (a *alertFact) unmute(at time.Time) {
	if n := len(a.mutes); n > 0 && a.mutes[n-1].To.After(at) {
		a.mutes[n-1].To = at.UTC()
	}
}

func count(n *day.BySeverity, s alert.Severity) {
	switch s {
	case alert.Critical:
		n.Critical++
	case alert.Warning:
		n.Warning++
	case alert.Info:
		n.Info++
	}
}

// balance counts the alerts of the day.
func (f *facts) balance() (b day.Alerts) {
	for i := range f.alerts {
		a := &f.alerts[i]
		if a.open(f.From) {
			b.Start++
			if a.muted(f.From) {
				b.MutedAtStart++
			}
		}
		if f.in(a.created) {
			count(&b.Raised, a.severity)
		}
		switch {
		case a.resolved == nil || !f.in(*a.resolved):
		case a.by != uuid.Nil:
			b.ByPeople++
		case a.lapsed:
			b.Lapsed++
		default:
			b.ByThemselves++
		}
		if !a.open(f.To) {
			continue
		}
		b.End++
		count(&b.Open, a.severity)
		if a.seen {
			b.Seen++
		}
		if a.muted(f.To) {
			b.Muted++
		}
		if slices.ContainsFunc(a.again, f.in) {
			b.Again++
		}
		if b.Oldest == nil { // they are in the order of their creation
			b.Oldest = &day.OldestAlert{Title: f.titleOf(a), Server: f.serverOf(a), Created: a.created, Muted: a.muted(f.To)}
		}
	}
	return b
}

// serverOf is the name of an alert's server; empty: it has none, or it was removed.
func (f *facts) serverOf(a *alertFact) string {
	if s := f.named(a.instance); s != nil {
		return s.Name
	}
	for _, id := range a.others {
		if s := f.named(id); s != nil {
			return s.Name
		}
	}
	return ""
}

// titleOf is an alert's title without the name of its server before it, and without those of other
// servers, which may be of another team.
func (f *facts) titleOf(a *alertFact) string {
	title := a.title
	if len(a.others) > 0 {
		title, _ = alert.WithoutServers(title, "")
	}
	name := f.serverOf(a)
	if rest, ok := strings.CutPrefix(title, name); ok && name != "" {
		if rest = strings.TrimLeft(rest, " :–-"); rest != "" {
			title = rest
		}
	}
	return title
}

// heldBack counts the alerts of which nobody was told because they were muted, or because their
// servers were in a maintenance window.
func (f *facts) heldBack() (h day.Held) {
	for i := range f.alerts {
		a := &f.alerts[i]
		again := slices.ContainsFunc(a.again, func(t time.Time) bool { return f.in(t) && a.open(t) && a.muted(t) })
		switch {
		case again || slices.Contains(f.held, a.id):
			h.Muted++
		case a.maintenance && f.in(a.created):
			h.Maintenance++
		default:
			continue
		}
		if len(h.Listed) < day.MostNamed {
			h.Listed = append(h.Listed, on(f.titleOf(a), f.serverOf(a)))
		}
	}
	return h
}

// on is a thing and where it is.
func on(thing, server string) string {
	if server == "" {
		return thing
	}
	return thing + " on " + server
}
