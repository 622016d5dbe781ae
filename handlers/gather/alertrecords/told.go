package alertrecords

import (
	"context"
	_ "embed" // the query
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/internal/notify"
	"muster/internal/postgres/statement"
	"muster/internal/report/snapshot"
)

//go:embed told.sql
var toldQuery string

// alertsAtOnce is of how many alerts the deliveries are read in one statement.
const alertsAtOnce = 5_000

// delivery is a notification that an alert was raised.
type delivery struct {
	Alert   uuid.UUID `db:"alert_id"`
	Channel uuid.UUID `db:"channel_id"`
	Status  string    `db:"status"`
	Reason  string    `db:"reason"`
	At      time.Time `db:"status_at"`
	Grouped bool      `db:"grouped"`
}

// outcome is the delivery as a record has it.
func (d delivery) outcome() string {
	switch {
	case d.Status == "sent":
		return snapshot.AlertTold
	case d.Status == "pending":
		return snapshot.AlertWaiting
	case d.Status == "failed":
		return snapshot.AlertFailed
	case d.Reason == "muted":
		return snapshot.AlertMuted
	case d.Reason == "maintenance_window":
		return snapshot.AlertMaintenance
	}
	return snapshot.AlertSuppressed
}

// outcomes has the outcomes, the best first: an alert that one channel delivered was told.
var outcomes = []string{snapshot.AlertTold, snapshot.AlertWaiting, snapshot.AlertFailed, snapshot.AlertMaintenance, snapshot.AlertMuted, snapshot.AlertSuppressed}

// tell notes what became of the notifications of the alerts that were raised in the window, and counts them by channel.
func (s Source) tell(ctx context.Context, in Scope, r *snapshot.AlertRecords) error {
	raised := map[uuid.UUID]*snapshot.AlertRecord{}
	var ids []uuid.UUID
	for i := range r.Listed {
		if a := &r.Listed[i]; in.Window.Within(&a.RaisedAt) {
			raised[a.ID], ids = a, append(ids, a.ID)
			switch {
			case a.Maintenance != nil:
				a.Told = snapshot.AlertMaintenance
			case a.RaisedAt.Before(in.Now.Add(-notify.Kept)):
				a.Told = snapshot.AlertNotKept
			default:
				a.Told = snapshot.AlertUnmatched
			}
		}
	}
	channels := map[uuid.UUID]*snapshot.AlertChannel{}
	for some := range slices.Chunk(ids, alertsAtOnce) {
		found, err := statement.All[delivery](ctx, s.DB, "read what became of notifications", toldQuery, in.Organization, statement.IDs(some), in.Window.To)
		if err != nil {
			return err
		}
		for _, d := range found {
			note(raised[d.Alert], d)
			if channels[d.Channel] == nil {
				channels[d.Channel] = &snapshot.AlertChannel{ID: d.Channel}
			}
			switch d.outcome() {
			case snapshot.AlertTold:
				channels[d.Channel].Sent++
			case snapshot.AlertFailed:
				channels[d.Channel].Failed++
			}
		}
	}
	return s.nameChannels(ctx, in.Organization, r, channels)
}

// note takes a delivery into the record of its alert if it is better than those before.
func note(a *snapshot.AlertRecord, d delivery) {
	outcome, known := d.outcome(), slices.Index(outcomes, a.Told)
	if known >= 0 && slices.Index(outcomes, outcome) >= known {
		return
	}
	a.Told = outcome
	if outcome == snapshot.AlertTold {
		at := d.At
		a.ToldAt, a.Grouped = &at, d.Grouped
	}
}

func (s Source) nameChannels(ctx context.Context, organization uuid.UUID, r *snapshot.AlertRecords, channels map[uuid.UUID]*snapshot.AlertChannel) error {
	var ids []uuid.UUID
	for id := range channels {
		ids = append(ids, id)
	}
	known, err := statement.All[struct {
		ID   uuid.UUID `db:"id"`
		Name string    `db:"name"`
		Kind string    `db:"kind"`
	}](ctx, s.DB, "look up channels", `SELECT id, name, kind FROM notification_channels WHERE organization_id = $1 AND id = ANY ($2)`, organization, statement.IDs(ids))
	for _, k := range known {
		channels[k.ID].Name, channels[k.ID].Kind = k.Name, k.Kind
	}
	for _, c := range channels {
		r.Channels = append(r.Channels, *c)
	}
	return err
}
