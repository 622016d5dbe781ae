package alertlog

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/alert"
	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/projections"
	"muster/projections/alerts"
)

// Reader reads alerts.
type Reader struct {
	DB     *sqlx.DB
	Events *eventstore.Store
	Decode projections.Decode
}

// OpenIn returns the alerts that were open at some time from a time until another, as the log had them at the latter,
// in the order of their ids.
func (r Reader) OpenIn(ctx context.Context, organization uuid.UUID, from, to time.Time) ([]*Alert, error) {
	// An append that began before the end may not be committed yet. It holds the head of its log until it is.
	if _, err := statement.One[int64](ctx, r.DB, "wait for appends", `SELECT position FROM log_head WHERE log = $1 FOR SHARE`, string(eventstore.Fleet)); err != nil {
		return nil, err
	}
	ids, err := r.candidates(ctx, organization, from, to)
	if err != nil {
		return nil, err
	}
	all, err := r.Fold(ctx, organization, ids, to)
	return slices.DeleteFunc(all, func(a *Alert) bool {
		return !a.RaisedAt.Before(to) || a.ClosedAt != nil && a.ClosedAt.Before(from)
	}), err
}

// candidates are the ids of all alerts that may have been open in a window.
func (r Reader) candidates(ctx context.Context, organization uuid.UUID, from, to time.Time) ([]uuid.UUID, error) {
	found := map[uuid.UUID]bool{}
	for _, f := range []eventstore.Filter{
		{RecordedFrom: from, RecordedTo: to},
		{RecordedFrom: to, Types: []string{alert.Name(alert.Resolved{}), alert.Name(alert.AutoResolved{})}},
	} {
		f.Organization, f.StreamType = organization, alert.StreamType
		for e, err := range r.Events.Read(ctx, eventstore.Fleet, f) {
			if err != nil {
				return nil, fmt.Errorf("read the alerts of a window: %w", err)
			}
			found[e.Stream] = true
		}
	}
	known, err := statement.All[uuid.UUID](ctx, r.DB, "read the alerts that were open", `SELECT id FROM `+alerts.Table+`
		WHERE organization_id = $1 AND (resolved_at IS NULL OR resolved_at >= $2)`, organization, from)
	for _, id := range known {
		found[id] = true
	}
	return projections.SortedIDs(found), err
}

// Fold returns the alerts with some ids by what was recorded before a time, in the order of the ids. Alerts that were
// raised later are left out.
func (r Reader) Fold(ctx context.Context, organization uuid.UUID, ids []uuid.UUID, before time.Time) ([]*Alert, error) {
	var all []*Alert
	for e, err := range r.Events.LoadEach(ctx, organization, ids) {
		if err != nil {
			return nil, fmt.Errorf("read alerts: %w", err)
		}
		if !e.RecordedAt.Before(before) || e.StreamType != alert.StreamType {
			continue
		}
		fact, err := projections.Fact[alert.Event](r.Decode, e, "an alert")
		if err != nil {
			return nil, fmt.Errorf("event %d of the fleet: %w", e.Position, err)
		}
		if raised, is := fact.(alert.Raised); is {
			all = append(all, raise(e, raised))
		} else if n := len(all); n > 0 && all[n-1].ID == e.Stream {
			all[n-1].apply(e, fact)
		}
	}
	return all, nil
}
