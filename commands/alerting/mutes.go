package alerting

import (
	"context"
	_ "embed" // the statements
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/write_mutes.sql
	writeMutes string
	//go:embed sql/take_ended_mutes.sql
	takeEndedMutes string
)

// EndMutes lets the alerts count again whose mute has ended by the database's clock, at most
// limit of them, and returns their number. Two calls at once end each mute once: the one that
// deletes its row, under the lock of the alert's key. Each organization has a transaction of
// its own, so one that fails does not hold up the others.
func (s *Alerts) EndMutes(ctx context.Context, limit int) (ended int, mark usecase.Mark, err error) {
	type due struct {
		Organization uuid.UUID `db:"organization_id"`
		Alert        uuid.UUID `db:"alert_id"`
	}
	found, err := statement.All[due](ctx, s.DB, "find alerts whose mute is over", `SELECT organization_id, alert_id FROM alert_mutes
		WHERE until <= clock_timestamp() ORDER BY until, alert_id LIMIT $1`, limit)
	if err != nil {
		return 0, usecase.Mark{}, err
	}
	alerts := make(map[uuid.UUID][]uuid.UUID)
	for _, d := range found {
		alerts[d.Organization] = append(alerts[d.Organization], d.Alert)
	}
	var errs []error
	for organization, ids := range alerts {
		n, at, err := s.endMutes(ctx, usecase.Actor{OrganizationID: organization, Component: "watch"}, ids)
		if err != nil {
			errs = append(errs, fmt.Errorf("unmute alerts of organization %s: %w", organization, err))
			continue
		}
		ended += n
		mark = usecase.Mark{Log: at.Log, Position: max(mark.Position, at.Position)}
	}
	return ended, mark, errors.Join(errs...)
}

func (s *Alerts) endMutes(ctx context.Context, actor usecase.Actor, ids []uuid.UUID) (ended int, mark usecase.Mark, err error) {
	mark, err = s.writeAlerts(ctx, actor, func(w *writer) error {
		ended = 0
		tracked, err := w.track(ctx, ids)
		if err != nil {
			return err
		}
		taken, err := statement.All[uuid.UUID](ctx, w.tx, "take mutes that are over", takeEndedMutes, actor.OrganizationID, ids)
		if err != nil {
			return err
		}
		for _, id := range taken {
			t := tracked[id]
			if t == nil {
				continue
			}
			events := t.alert.EndMute(t.alert.MutedUntil()) // the database has judged that it has come
			w.keep(t, events, t.seen)
			ended += len(events)
		}
		return nil
	})
	return ended, mark, err
}

// writeMutes brings alert_mutes to what was decided: a row for each alert that is muted
// until a time, none for the others.
func (w *writer) writeMutes(ctx context.Context) error {
	var gone, ids []uuid.UUID
	var until []time.Time
	for _, t := range w.told {
		switch {
		case !slices.ContainsFunc(t.events, mutes):
		case t.alert.MutedUntil().IsZero():
			gone = append(gone, t.id)
		default:
			ids, until = append(ids, t.id), append(until, t.alert.MutedUntil())
		}
	}
	if len(ids)+len(gone) == 0 {
		return nil
	}
	return statement.Exec(ctx, w.tx, "write until when alerts are muted", writeMutes, w.actor.OrganizationID, gone, ids, until)
}

func mutes(e alert.Event) bool {
	switch e.(type) {
	case alert.Muted, alert.MutedUntil, alert.Unmuted, alert.MuteEnded:
		return true
	}
	return false
}
