package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/instant"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections/alerts"
)

func (s *ServerRoutes) AcknowledgeAlert(ctx context.Context, r api.AcknowledgeAlertRequestObject) (api.AcknowledgeAlertResponseObject, error) {
	shown, err := s.acted(ctx, r.AlertId, noting(alerting.Acknowledge, r.Body))
	return api.AcknowledgeAlert200JSONResponse(shown), err
}

func (s *ServerRoutes) MuteAlert(ctx context.Context, r api.MuteAlertRequestObject) (api.MuteAlertResponseObject, error) {
	action := alerting.Action{Verb: alerting.Mute}
	if r.Body != nil {
		action.Note, action.Until = r.Body.Note, r.Body.Until
	}
	shown, err := s.acted(ctx, r.AlertId, action)
	return api.MuteAlert200JSONResponse(shown), err
}

func (s *ServerRoutes) UnmuteAlert(ctx context.Context, r api.UnmuteAlertRequestObject) (api.UnmuteAlertResponseObject, error) {
	shown, err := s.acted(ctx, r.AlertId, noting(alerting.Unmute, r.Body))
	return api.UnmuteAlert200JSONResponse(shown), err
}

func (s *ServerRoutes) ResolveAlert(ctx context.Context, r api.ResolveAlertRequestObject) (api.ResolveAlertResponseObject, error) {
	shown, err := s.acted(ctx, r.AlertId, noting(alerting.Resolve, r.Body))
	return api.ResolveAlert200JSONResponse(shown), err
}

// noting is an action with the note of a body that may have been left out.
func noting(verb alerting.Verb, body *api.AlertNote) alerting.Action {
	action := alerting.Action{Verb: verb}
	if body != nil {
		action.Note = body.Note
	}
	return action
}

// acted is an alert as the caller's action leaves it.
func (s *ServerRoutes) acted(ctx context.Context, id uuid.UUID, action alerting.Action) (api.AlertDetail, error) {
	if wire.Caller(ctx).World != nil {
		row, err := s.alert(ctx, id)
		if err == nil {
			err = wire.MayAct(ctx, wire.ActsOn(ctx, row))
		}
		if err != nil {
			return api.AlertDetail{}, err
		}
	}
	mark, err := s.Commands.ActOnAlert(ctx, wire.Actor(ctx), id, action)
	if err != nil {
		return api.AlertDetail{}, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	row, ok, err := s.Alerts.Alert(ctx, wire.Caller(ctx).Organization.ID, id)
	if err != nil {
		return api.AlertDetail{}, err
	}
	if row, ok = wire.SeenAlert(ctx, row, ok); !ok {
		return api.AlertDetail{}, &wire.Problem{Code: "unavailable", Detail: "The change was saved but cannot be shown yet. Load it again in a moment."}
	}
	leave(&row, action, instant.Cut(s.Now()))
	return s.showAlertDetail(ctx, row)
}

// leave is how an action leaves an alert whose row does not show it: its projection
// lags, or somebody did the opposite right behind. What is closed stays so.
func leave(row *alerts.Alert, action alerting.Action, at time.Time) {
	switch action.Verb {
	case alerting.Acknowledge:
		if row.State == alert.Open {
			row.State = alert.AcknowledgedState
		}
	case alerting.Mute:
		row.Muted, row.MutedUntil = true, nil
		if action.Until != nil {
			until := instant.Cut(*action.Until)
			row.MutedUntil = &until
		}
	case alerting.Unmute:
		row.Muted, row.MutedUntil = false, nil
	case alerting.Resolve:
		if !row.State.Closed() {
			row.State, row.ResolvedAt = alert.ResolvedState, &at
		}
	}
}

// ActOnAlerts does the same with many alerts.
func (s *ServerRoutes) ActOnAlerts(ctx context.Context, r api.ActOnAlertsRequestObject) (api.ActOnAlertsResponseObject, error) {
	action := alerting.Action{Verb: alerting.Verb(r.Body.Action), Note: r.Body.Note, Until: r.Body.Until}
	outcomes, mark, err := onTheirs(ctx, r.Body.Ids, func(id uuid.UUID) (uuid.UUID, error) { return s.instanceOf(ctx, id) },
		func(ids []uuid.UUID) ([]usecase.Outcome, usecase.Mark, error) {
			return s.Commands.ActOnAlerts(ctx, wire.Actor(ctx), ids, action)
		})
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	return api.ActOnAlerts200JSONResponse(actedOn(outcomes, "alert")), nil
}

// instanceOf is the server by which the caller sees an alert and may act on it; uuid.Nil where it has none, or does
// not exist.
func (s *ServerRoutes) instanceOf(ctx context.Context, alert uuid.UUID) (uuid.UUID, error) {
	row, ok, err := s.Alerts.Alert(ctx, wire.Caller(ctx).Organization.ID, alert)
	if row, ok = wire.SeenAlert(ctx, row, ok); err != nil || !ok {
		return uuid.Nil, err
	}
	return wire.ActsOn(ctx, row), nil
}

// actedOn is what came of an action for many things of a kind.
func actedOn(outcomes []usecase.Outcome, what string) api.ActedOn {
	return api.ActedOn{Items: wire.List(outcomes, func(o usecase.Outcome) api.ActedOnOne {
		return api.ActedOnOne{Id: o.ID, Done: o.Refusal == nil, Problem: itemProblem(o.Refusal, what)}
	})}
}

// itemProblem is why nothing was done with one of many; nil where it was.
func itemProblem(refusal error, what string) *api.ItemProblem {
	if refusal == nil {
		return nil
	}
	p := &wire.Problem{Code: "not_found", Detail: "No such " + what + " is known in this organization."}
	if rule := (*usecase.RuleError)(nil); errors.As(refusal, &rule) {
		p = &wire.Problem{Code: rule.Code, Detail: rule.Detail}
	}
	return &api.ItemProblem{Status: p.StatusCode(), Code: p.Code, Title: p.Title(), Detail: p.Detail}
}
