package httpapi

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/alert"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/intake/alertmanager"
)

// RecordAlerts takes in what another tool knows of alerts. The rules are the use
// case's; here is only the spelling.
func (s *server) RecordAlerts(ctx context.Context, r api.RecordAlertsRequestObject) (api.RecordAlertsResponseObject, error) {
	items := make([]commands.AlertItem, 0, len(r.Body.Alerts))
	for _, a := range r.Body.Alerts {
		items = append(items, commands.AlertItem{
			ExternalID: a.ExternalId, Title: a.Title, Severity: alert.Severity(a.Severity), State: alert.State(a.State), Muted: a.IsMuted,
			CreatedAt: a.CreatedAt, FirstTriggeredAt: a.FirstTriggeredAt, LastTriggeredAt: a.LastTriggeredAt, ResolvedAt: a.ResolvedAt,
			Instance: a.Instance, Database: a.Database,
		})
	}
	ids, mark, err := s.Commands.RecordAlerts(ctx, machine(ctx), items)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	s.Metrics.Ingested.WithLabelValues("alert").Add(float64(len(items)))
	answer := api.RecordAlerts200JSONResponse{Alerts: make([]api.AlertRecorded, 0, len(ids))}
	for _, id := range ids {
		answer.Alerts = append(answer.Alerts, api.AlertRecorded{ExternalId: id.ExternalID, Id: id.ID})
	}
	return answer, nil
}

// machine is who sends alerts, also where it was given a member's token.
// What fires is nothing that a member did, and would bury what they did.
func machine(ctx context.Context) commands.Actor {
	a := wire.Actor(ctx)
	a.MemberID, a.Component = uuid.Nil, "ingest"
	return a
}

func (s *server) ReceiveAlertmanagerWebhook(ctx context.Context, r api.ReceiveAlertmanagerWebhookRequestObject) (api.ReceiveAlertmanagerWebhookResponseObject, error) {
	message, err := alertmanager.DecodeWebhook(*r.Body, s.Now())
	if err != nil {
		return nil, unreadableMessage(err)
	}
	receipt, err := s.receive(ctx, message)
	return api.ReceiveAlertmanagerWebhook200JSONResponse(receipt), err
}

func (s *server) ReceiveAlertmanagerAlerts(ctx context.Context, r api.ReceiveAlertmanagerAlertsRequestObject) (api.ReceiveAlertmanagerAlertsResponseObject, error) {
	message, err := alertmanager.DecodeAlerts(*r.Body, s.Now())
	if err != nil {
		return nil, unreadableMessage(err)
	}
	receipt, err := s.receive(ctx, message)
	return api.ReceiveAlertmanagerAlerts200JSONResponse(receipt), err
}

// unreadableMessage is told to an agent whose message is none: it gives up then,
// which is right, because it would send the same again.
func unreadableMessage(err error) error {
	var bad *alertmanager.DecodeError
	if !errors.As(err, &bad) {
		return err
	}
	return wire.Unreadable([]api.FieldError{{In: api.Body, Pointer: &bad.Pointer, Code: "invalid_parameter", Detail: bad.Detail}})
}

// firingsAtOnce is how many firings are read, and written in one transaction. What
// was written of a message before its sender gave up waiting stays written, and is
// soon passed over when it comes again.
const firingsAtOnce = 1000

// receive records what an agent saw, and counts what could not be used.
func (s *server) receive(ctx context.Context, message *alertmanager.Message) (api.AgentReceipt, error) {
	recorded := 0
	var last commands.Mark
	route := wire.CallOf(ctx).Route
	for alerts := message.Next(firingsAtOnce); len(alerts) > 0; alerts = message.Next(firingsAtOnce) {
		firings, err := s.placed(ctx, alerts)
		if err != nil {
			return api.AgentReceipt{}, err
		}
		dropped, mark, err := s.Commands.RecordFirings(ctx, machine(ctx), firings)
		if err != nil {
			return api.AgentReceipt{}, err
		}
		if mark.Position > last.Position {
			last = mark
		}
		recorded += len(firings) - dropped
		s.Metrics.Ingested.WithLabelValues("alert").Add(float64(len(firings) - dropped))
		// What is well formed the use case refuses to a limited token only.
		s.Metrics.IngestDropped.WithLabelValues(route, "forbidden").Add(float64(dropped))
	}
	wire.Settle(ctx, s.Waiter, last)
	for reason, n := range message.Dropped {
		s.Metrics.IngestDropped.WithLabelValues(route, string(reason)).Add(float64(n))
	}
	return api.AgentReceipt{Received: message.Received, Dropped: message.Received - recorded}, nil
}

// placed finds the instance and the database of every alert, with one look-up
// for all of them.
func (s *server) placed(ctx context.Context, alerts []alertmanager.Alert) ([]commands.Firing, error) {
	known, err := s.fleetOf(ctx, alerts)
	if err != nil {
		return nil, err
	}
	firings := make([]commands.Firing, 0, len(alerts))
	for _, a := range alerts {
		a.InstanceID, a.DatabaseID = known.Find(a.Place)
		firings = append(firings, a.Firing)
	}
	return firings, nil
}

// fleetOf reads the instances and databases that the alerts' labels may mean.
func (s *server) fleetOf(ctx context.Context, found []alertmanager.Alert) (alertmanager.Fleet, error) {
	organization := wire.Caller(ctx).Organization.ID
	references, names := alertmanager.References(found)
	instances, err := s.Fleet.Named(ctx, organization, references)
	if err != nil || len(instances) == 0 {
		return alertmanager.Fleet{}, err
	}
	ids := make([]uuid.UUID, 0, len(instances))
	candidates := make([]alertmanager.Instance, 0, len(instances))
	for _, i := range instances {
		ids = append(ids, i.ID)
		candidates = append(candidates, alertmanager.Instance{ID: i.ID, ExternalID: i.ExternalID, Name: i.Name, Host: i.Host})
	}
	databases, err := s.Fleet.DatabasesNamed(ctx, organization, ids, names)
	if err != nil {
		return alertmanager.Fleet{}, err
	}
	parts := make([]alertmanager.Database, 0, len(databases))
	for _, d := range databases {
		parts = append(parts, alertmanager.Database{ID: d.ID, InstanceID: d.InstanceID, ExternalID: d.ExternalID, Name: d.Name})
	}
	return alertmanager.NewFleet(candidates, parts), nil
}
