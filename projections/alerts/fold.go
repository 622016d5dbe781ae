package alerts

import (
	"encoding/json"
	"time"

	domain "muster/domain/alert"
	"muster/eventstore"
	"muster/projections"
)

// folded is an alert as its events make it: a row of the table.
type folded struct {
	id, organization, instance, database rawID
	title, description                   string
	severity                             domain.Severity
	state                                domain.State
	muted                                bool
	rule                                 *string // JSON
	created, first, last                 time.Time
	resolved                             *time.Time
	occurrences                          int32
}

// apply folds one event in.
func (f *folded) apply(e eventstore.Event, fact domain.Event) error {
	if _, raised := fact.(domain.Raised); !raised && f.id == (rawID{}) {
		return &projections.UnknownStreamError{Type: e.StreamType, ID: e.Stream}
	}
	f.state, _ = domain.Next(f.state, fact)
	switch fact := fact.(type) {
	case domain.Raised:
		f.id, f.organization, f.occurrences = rawID(e.Stream), rawID(e.OrganizationID), 1
		return f.describe(fact.Details)
	case domain.Changed:
		return f.describe(fact.Details)
	case domain.TriggeredAgain:
		f.first, f.last = fact.FirstTriggeredAt, fact.LastTriggeredAt
		f.occurrences++
	case domain.StillFiring:
		f.last = fact.LastTriggeredAt
	case domain.Muted:
		f.muted = true
	case domain.Unmuted:
		f.muted = false
	case domain.Resolved:
		f.close(fact.ResolvedAt, fact.LastTriggeredAt)
	case domain.AutoResolved:
		f.close(fact.ResolvedAt, fact.LastTriggeredAt)
	}
	return nil
}

func (f *folded) describe(d domain.Details) error {
	f.title, f.description, f.severity, f.rule = d.Title, d.Description, d.Severity, nil
	f.instance, f.database = rawID(d.InstanceID), rawID(d.DatabaseID)
	f.created, f.first, f.last = d.CreatedAt, d.FirstTriggeredAt, d.LastTriggeredAt
	if d.Rule == nil {
		return nil
	}
	document, err := json.Marshal(d.Rule)
	if err != nil {
		return err
	}
	text := string(document)
	f.rule = &text
	return nil
}

func (f *folded) close(resolved, last time.Time) { f.resolved, f.last = &resolved, last }

// counter is the row of totals that counts the alert.
func (f *folded) counter() counter {
	return counter{f.organization, f.last.UTC().Truncate(time.Hour), f.severity, f.resolved != nil, f.muted}
}
