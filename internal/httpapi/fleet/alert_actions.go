package fleet

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/alert"
	"muster/domain/instant"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections/alerts"
)

func (s *ServerRoutes) AcknowledgeAlert(ctx context.Context, r api.AcknowledgeAlertRequestObject) (api.AcknowledgeAlertResponseObject, error) {
	shown, err := s.acted(ctx, r.AlertId, s.Commands.AcknowledgeAlert, acknowledged)
	return api.AcknowledgeAlert200JSONResponse(shown), err
}

func (s *ServerRoutes) MuteAlert(ctx context.Context, r api.MuteAlertRequestObject) (api.MuteAlertResponseObject, error) {
	shown, err := s.acted(ctx, r.AlertId, s.Commands.MuteAlert, muted)
	return api.MuteAlert200JSONResponse(shown), err
}

func (s *ServerRoutes) UnmuteAlert(ctx context.Context, r api.UnmuteAlertRequestObject) (api.UnmuteAlertResponseObject, error) {
	shown, err := s.acted(ctx, r.AlertId, s.Commands.UnmuteAlert, unmuted)
	return api.UnmuteAlert200JSONResponse(shown), err
}

func (s *ServerRoutes) ResolveAlert(ctx context.Context, r api.ResolveAlertRequestObject) (api.ResolveAlertResponseObject, error) {
	shown, err := s.acted(ctx, r.AlertId, s.Commands.ResolveAlert, resolved)
	return api.ResolveAlert200JSONResponse(shown), err
}

// acted is an alert as the caller's action leaves it.
func (s *ServerRoutes) acted(
	ctx context.Context, id uuid.UUID, act func(context.Context, commands.Actor, uuid.UUID) (commands.Mark, error),
	left func(row *alerts.Alert, at time.Time),
) (api.AlertDetail, error) {
	mark, err := act(ctx, wire.Actor(ctx), id)
	if err != nil {
		return api.AlertDetail{}, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	row, ok, err := s.Alerts.Alert(ctx, wire.Caller(ctx).Organization.ID, id)
	if err != nil {
		return api.AlertDetail{}, err
	}
	if !ok {
		return api.AlertDetail{}, &wire.Problem{Code: "unavailable", Detail: "The change was saved but cannot be shown yet. Load it again in a moment."}
	}
	left(&row, instant.Cut(s.Now()))
	return s.showAlertDetail(ctx, row)
}

// How each action leaves an alert whose row does not show it: its projection
// lags, or somebody did the opposite right behind. What is closed stays so.

func acknowledged(row *alerts.Alert, _ time.Time) {
	if row.State == alert.Open {
		row.State = alert.AcknowledgedState
	}
}

func resolved(row *alerts.Alert, at time.Time) {
	if !row.State.Closed() {
		row.State, row.ResolvedAt = alert.ResolvedState, &at
	}
}

func muted(row *alerts.Alert, _ time.Time) { row.Muted = true }

func unmuted(row *alerts.Alert, _ time.Time) { row.Muted = false }
