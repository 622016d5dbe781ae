package alerts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/eventstore"
)

// Moment is something that happened to an alert: triggered, acknowledged,
// muted, unmuted, resolved.
type Moment struct {
	At     time.Time
	Event  string
	Member uuid.UUID  // uuid.Nil: no member, but the sender of alerts
	Until  *time.Time // of a mute with an end, and of what unmuted it then
	Note   string     // the member's note
	// Blocking is who waited for whom when the alert was raised; nil: nothing is known of that.
	Blocking *domain.Blocking
}

// Timeline returns what happened to an alert, oldest first, from its stream;
// nothing where this organization has none of that id.
func (r *Reader) Timeline(ctx context.Context, organization, id uuid.UUID) ([]Moment, error) {
	moments := []Moment{}
	for e, err := range r.events.Load(ctx, nil, organization, id) {
		if err != nil {
			return nil, fmt.Errorf("read timeline: %w", err)
		}
		if e.StreamType != domain.StreamType {
			return moments, nil
		}
		m, shown, err := r.momentOf(e)
		if err != nil {
			return nil, fmt.Errorf("read timeline at version %d: %w", e.Version, err)
		}
		switch {
		case shown:
			moments = append(moments, m)
		case m.Note != "" && len(moments) > 0: // of what the event before it says
			moments[len(moments)-1].Note = m.Note
		}
	}
	// What was imported, or over before anybody heard of it, is recorded later
	// than it happened.
	slices.SortStableFunc(moments, func(a, b Moment) int { return a.At.Compare(b.At) })
	return moments, nil
}

// momentOf is an event as people see it. A firing that continues, and a changed description,
// are no moments.
func (r *Reader) momentOf(e eventstore.Event) (m Moment, shown bool, err error) {
	fact, err := alertFact(r.decode, e)
	if err != nil {
		return m, false, err
	}
	var about eventstore.Metadata
	if err := json.Unmarshal(e.Metadata, &about); err != nil {
		return m, false, err
	}
	m = Moment{At: e.OccurredAt}
	m.Member, _ = uuid.Parse(about.ActorID) // "system:ingest" is no member
	switch fact := fact.(type) {
	case domain.Raised:
		m.At, m.Event, m.Blocking = fact.FirstTriggeredAt.UTC(), "triggered", fact.Blocking
	case domain.TriggeredAgain:
		m.At, m.Event = fact.Since().UTC(), "triggered"
	case domain.Acknowledged:
		m.Event = "acknowledged"
	case domain.Muted:
		m.Event = "muted"
	case domain.MutedUntil:
		m.Event, m.Until = "muted", utc(fact.Until)
	case domain.Unmuted:
		m.Event = "unmuted"
	case domain.MuteEnded:
		m.At, m.Event, m.Until = fact.Until.UTC(), "unmuted", utc(fact.Until)
	case domain.Noted:
		m.Note = fact.Note
	case domain.Resolved:
		m.At, m.Event = fact.ResolvedAt.UTC(), "resolved"
	case domain.AutoResolved:
		m.At, m.Event = fact.ResolvedAt.UTC(), "resolved"
	}
	return m, m.Event != "", nil
}

func utc(t time.Time) *time.Time {
	t = t.UTC()
	return &t
}
