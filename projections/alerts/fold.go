package alerts

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/eventstore"
	"muster/projections"
)

// folded is an alert as its events make it: a row of the table, in the order of
// write_alerts.sql.
type folded struct {
	ID           uuid.UUID       `db:"id"`
	Organization uuid.UUID       `db:"organization_id"`
	Instance     *uuid.UUID      `db:"instance_id"`
	Database     *uuid.UUID      `db:"database_id"`
	Title        string          `db:"title"`
	Description  string          `db:"description"`
	Severity     domain.Severity `db:"severity"`
	State        domain.State    `db:"state"`
	Muted        bool            `db:"muted"`
	MutedUntil   *time.Time      `db:"muted_until"`
	Rule         *string         `db:"rule"` // JSON
	Created      time.Time       `db:"created_at"`
	First        time.Time       `db:"first_triggered_at"`
	Last         time.Time       `db:"last_triggered_at"`
	Resolved     *time.Time      `db:"resolved_at"`
	Occurrences  int32           `db:"occurrences"`
	Label        string          `db:"label"`
	Raised       time.Time       `db:"raised_at"`
	Others       string          `db:"other_instance_ids"` // with commas between
}

func (f *folded) apply(e eventstore.Event, fact domain.Event) error {
	if _, raised := fact.(domain.Raised); !raised && f.ID == uuid.Nil {
		return projections.UnknownStream(e)
	}
	f.State, _ = domain.Next(f.State, fact)
	switch fact := fact.(type) {
	case domain.Raised:
		f.ID, f.Organization, f.Occurrences = e.Stream, e.OrganizationID, 1
		f.Label, f.Raised = fact.Label(), e.OccurredAt
		return f.describe(fact.Details)
	case domain.Changed:
		return f.describe(fact.Details)
	case domain.TriggeredAgain:
		f.First, f.Last = fact.FirstTriggeredAt, fact.LastTriggeredAt
		f.Occurrences++
	case domain.StillFiring:
		f.Last = fact.LastTriggeredAt
	case domain.Muted:
		f.Muted, f.MutedUntil = true, nil
	case domain.MutedUntil:
		f.Muted, f.MutedUntil = true, &fact.Until
	case domain.Unmuted, domain.MuteEnded:
		f.Muted, f.MutedUntil = false, nil
	case domain.Resolved:
		f.close(fact.ResolvedAt, fact.LastTriggeredAt)
	case domain.AutoResolved:
		f.close(fact.ResolvedAt, fact.LastTriggeredAt)
	}
	return nil
}

func (f *folded) describe(d domain.Details) error {
	f.Title, f.Description, f.Severity, f.Rule = d.Title, d.Description, d.Severity, nil
	f.Instance, f.Database = orNull(d.InstanceID), orNull(d.DatabaseID)
	f.Created, f.First, f.Last = d.CreatedAt, d.FirstTriggeredAt, d.LastTriggeredAt
	f.Others = joined(d.OtherInstanceIDs)
	if d.Rule == nil {
		return nil
	}
	document, err := json.Marshal(d.Rule)
	if err != nil {
		return err
	}
	text := string(document)
	f.Rule = &text
	return nil
}

func joined(ids []uuid.UUID) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return strings.Join(texts, ",")
}

func orNull(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

func (f *folded) close(resolved, last time.Time) { f.Resolved, f.Last = &resolved, last }

// counter is a row of totals but for the number, in the order of write_totals.sql.
type counter struct {
	Organization uuid.UUID
	Hour         time.Time
	Severity     domain.Severity
	Closed       bool
	Muted        bool
}

// counter is the row of totals that counts the alert.
func (f *folded) counter() counter {
	return counter{f.Organization, hourOf(f.Last), f.Severity, f.Resolved != nil, f.Muted}
}

// instanceCounter is a row of totals_of_instances but for the number, in the order of
// write_totals_of_instances.sql.
type instanceCounter struct {
	Organization, Instance uuid.UUID
	Month                  time.Time
	Severity               domain.Severity
	Closed                 bool
	Muted                  bool
}

// instanceCounter is the row of totals_of_instances that counts the alert; zero if it belongs to no
// instance.
func (f *folded) instanceCounter() instanceCounter {
	if f.Instance == nil {
		return instanceCounter{}
	}
	return instanceCounter{f.Organization, *f.Instance, monthOf(f.Last), f.Severity, f.Resolved != nil, f.Muted}
}

// hourOf and monthOf are the beginnings of the periods that are counted.
func hourOf(at time.Time) time.Time { return at.UTC().Truncate(time.Hour) }

func monthOf(at time.Time) time.Time {
	year, month, _ := at.UTC().Date()
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}
