package notify

import (
	"context"
	_ "embed" // the statement
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/maintenance"
	"muster/domain/alert"
	"muster/domain/fleet"
	domain "muster/domain/maintenance"
	"muster/domain/notification"
	"muster/internal/postgres/statement"
)

//go:embed sql/held.sql
var heldSQL string

var heldQuery = ofAlerts(heldSQL)

// hold notes which events of alerts happen while all servers of the alert are in a maintenance window. The end of an
// alert is told to whom its raise was told, also in a window: else a receiver would keep it open.
func (d *Dispatcher) hold(ctx context.Context, tx *sqlx.Tx, told []happened) error {
	since := map[uuid.UUID]time.Time{}
	for _, h := range told {
		if first, known := since[h.Organization]; h.AlertID != nil && (!known || h.At.Before(first)) {
			since[h.Organization] = h.At
		}
	}
	for organization, first := range since {
		versions, err := maintenance.Versions(ctx, tx, organization, first)
		if err != nil {
			return err
		}
		for i := range told {
			if h := &told[i]; h.Organization == organization && h.AlertID != nil && h.Subject.Type != notification.AlertResolved {
				h.Held = h.Held || inWindow(versions, h.Subject, h.At)
			}
		}
	}
	return nil
}

// inWindow says whether all servers of a subject are in a window at a time.
func inWindow(versions []domain.Version, s notification.Subject, at time.Time) bool {
	if len(versions) == 0 || len(s.Instances) == 0 {
		return false
	}
	servers, tags := []uuid.UUID{s.Instances[0]}, map[uuid.UUID]fleet.Tags{s.Instances[0]: s.Tags}
	for _, other := range s.Others {
		servers = append(servers, other.Instances...)
		for _, id := range other.Instances {
			tags[id] = other.Tags
		}
	}
	return domain.InAll(versions, servers, tags, at) != nil
}

// putHeld puts the events that are not told into a delivery all the same, with the reason, and returns the others. The
// end of an alert whose raise was held is not told either.
func (g *group) putHeld(ctx context.Context, told []happened) (others []happened, err error) {
	var ends []uuid.UUID
	for _, h := range told {
		if h.Subject.Type == notification.AlertResolved {
			ends = append(ends, *h.AlertID)
		}
	}
	before := map[uuid.UUID]bool{} // raises that were held
	if len(ends) > 0 {
		ids, err := statement.All[uuid.UUID](ctx, g.tx, "look what was held in maintenance windows", `SELECT DISTINCT e.alert_id
			FROM delivery_events e JOIN deliveries d ON d.id = e.delivery_id
			WHERE d.rule_id = $1 AND d.channel_id = $2 AND e.alert_id = ANY ($3::uuid[]) AND e.type = 'alert.raised' AND e.dropped = $4
			  AND NOT EXISTS (SELECT FROM delivery_events t JOIN deliveries o ON o.id = t.delivery_id
				WHERE o.rule_id = $1 AND o.channel_id = $2 AND t.alert_id = e.alert_id AND t.type = 'alert.raised' AND t.dropped <> $4)`,
			g.ID, g.Channel, statement.IDs(ends), reasonMaintenance)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			before[id] = true
		}
	}
	var held []happened
	for _, h := range told {
		if h.Held && h.Subject.Type == notification.AlertRaised {
			before[*h.AlertID] = !raisedElsewhere(told, h)
		}
	}
	for _, h := range told {
		if h.Held || h.Subject.Type == notification.AlertResolved && before[*h.AlertID] {
			held = append(held, h)
		} else {
			others = append(others, h)
		}
	}
	return others, g.into(ctx, false, g.now.Add(g.Group()), held, reasonMaintenance)
}

// raisedElsewhere says whether another event of the batch tells the alert of a held one as raised.
func raisedElsewhere(told []happened, held happened) bool {
	return slices.ContainsFunc(told, func(h happened) bool {
		return !h.Held && h.Subject.Type == notification.AlertRaised && *h.AlertID == *held.AlertID
	})
}

// Release tells the alerts that were held in a maintenance window and are still open when none of their servers' windows
// runs any more: neither muted nor acknowledged meanwhile. Several processes may run it: the second finds them told.
func (d *Dispatcher) Release(ctx context.Context) error {
	if err := caughtUp(ctx, d.Alerts); err != nil {
		return err
	}
	return d.again(ctx, func(q queryer) ([]repeat, error) {
		return statement.All[repeat](ctx, q, "look what maintenance windows held", heldQuery, ownPace(), alert.Open, reasonMaintenance)
	})
}

// outsideWindows leaves out the alerts whose servers are all in a maintenance window now.
func (d *Dispatcher) outsideWindows(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, told []happened) ([]happened, error) {
	at := d.Now()
	versions, err := maintenance.Versions(ctx, tx, organization, at)
	if err != nil || len(versions) == 0 {
		return told, err
	}
	of := ids{}
	for _, h := range told {
		of[*h.AlertID] = organization
	}
	now, err := history{d.Events, d.Registry}.described(ctx, tx, of, ids{})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(told, func(h happened) bool {
		is, _ := now.alert(*h.AlertID, math.MaxInt64)
		if is == nil {
			return false
		}
		var subject notification.Subject
		for i, id := range places(is.Details) {
			s, _ := now.server(id, math.MaxInt64)
			if i == 0 {
				subject = s.subject()
			} else {
				subject.Others = append(subject.Others, s.subject())
			}
		}
		return is.InstanceID != uuid.Nil && inWindow(versions, subject, at)
	}), nil
}
