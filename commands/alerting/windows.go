package alerting

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/internal/postgres/statement"
)

// raisedIn is an alert that is raised while all of its servers are in a maintenance window.
type raisedIn struct {
	Alert  uuid.UUID
	Window uuid.UUID
	Ends   time.Time
}

// noteWindows notes in the events that raise alerts the maintenance window that their servers are in.
func (w *writer) noteWindows(ctx context.Context) error {
	if w.s.windows == nil {
		return nil
	}
	var raised []*alert.Event
	var alerts []uuid.UUID
	var servers [][]uuid.UUID
	for _, t := range w.told {
		for i := range t.events {
			if e, is := t.events[i].(alert.Raised); is && e.InstanceID != uuid.Nil {
				raised, alerts = append(raised, &t.events[i]), append(alerts, t.id)
				servers = append(servers, append([]uuid.UUID{e.InstanceID}, e.OtherInstanceIDs...))
			}
		}
	}
	if len(raised) == 0 {
		return nil
	}
	windows, err := w.s.windows.WindowsNow(ctx, w.tx, w.actor.OrganizationID, servers, w.now)
	if err != nil {
		return err
	}
	var rows []raisedIn
	for i, in := range windows {
		if e, is := (*raised[i]).(alert.Raised); is && in != nil {
			e.Maintenance = in
			*raised[i] = e
			rows = append(rows, raisedIn{alerts[i], in.ID, in.Until})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return statement.Exec(ctx, w.tx, "note which alerts are raised in a maintenance window", `INSERT INTO alert_windows (organization_id, raised_at, alert_id, window_id, ends_at)
		SELECT $1, $2, * FROM unnest($3::uuid[], $4::uuid[], $5::timestamptz[])`, append([]any{w.actor.OrganizationID, w.now}, statement.Columns(rows)...)...)
}
