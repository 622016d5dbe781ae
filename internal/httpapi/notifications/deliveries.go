package notifications

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/notify"
	"muster/internal/notify/channel"
	"muster/internal/watch"
)

func (s *NotificationRoutes) ListDeliveries(ctx context.Context, r api.ListDeliveriesRequestObject) (api.ListDeliveriesResponseObject, error) {
	p := r.Params
	if p := wire.BrokenRules(wire.EmptyWindow(p.From, p.To)); p != nil {
		return nil, p
	}
	limit := wire.Or(p.Limit, 50)
	q := notify.DeliveryQuery{
		Organization: wire.Caller(ctx).Organization.ID, Statuses: wire.Strings(wire.Value(p.Status)), Channel: p.ChannelId,
		From: p.From, To: p.To, Limit: limit + 1, Events: channel.Most,
	}
	if p.EventType != nil {
		t := string(*p.EventType)
		q.EventType = &t
	}
	var err error
	if q.Before, err = deliveryPlace(p.Cursor); err != nil {
		return nil, err
	}
	found, err := s.Told.Deliveries(ctx, q)
	if err != nil {
		return nil, err
	}
	answer := api.ListDeliveries200JSONResponse{}
	if len(found) > limit {
		found = found[:limit]
		last := found[limit-1]
		answer.NextCursor = wire.Cursor("deliveries", last.CreatedAt.UTC().Format(time.RFC3339Nano)+"|"+last.ID.String())
	}
	answer.Items = wire.List(found, delivery)
	return answer, nil
}

// deliveryPlace reads a cursor: time and id.
func deliveryPlace(cursor *string) (*notify.DeliveryPlace, error) {
	place, err := wire.CursorPlace(cursor, "deliveries")
	if err != nil || place == "" {
		return nil, err
	}
	at, id, _ := strings.Cut(place, "|")
	createdAt, err1 := time.Parse(time.RFC3339Nano, at)
	last, err2 := uuid.Parse(id)
	if err1 != nil || err2 != nil {
		return nil, wire.BadCursor()
	}
	return &notify.DeliveryPlace{CreatedAt: createdAt, ID: last}, nil
}

func (s *NotificationRoutes) GetDelivery(ctx context.Context, r api.GetDeliveryRequestObject) (api.GetDeliveryResponseObject, error) {
	shown, _, err := s.delivery(ctx, r.DeliveryId)
	return api.GetDelivery200JSONResponse(shown), err
}

// delivery is one with all of its events, and its channel.
func (s *NotificationRoutes) delivery(ctx context.Context, id uuid.UUID) (shown api.Delivery, channel uuid.UUID, err error) {
	found, err := s.Told.Deliveries(ctx, notify.DeliveryQuery{Organization: wire.Caller(ctx).Organization.ID, ID: &id, Limit: 1})
	if err := wire.Found(len(found) > 0, err, "delivery"); err != nil {
		return shown, channel, err
	}
	return delivery(found[0]), found[0].Channel, nil
}

func (s *NotificationRoutes) RetryDelivery(ctx context.Context, r api.RetryDeliveryRequestObject) (api.RetryDeliveryResponseObject, error) {
	who := wire.Actor(ctx)
	before, channel, err := s.delivery(ctx, r.DeliveryId)
	if err != nil {
		return nil, err
	}
	if before.Status != api.DeliveryStatus("failed") {
		return nil, &wire.Problem{Code: "invalid_state", Detail: "The delivery is " + string(before.Status) + "; only a failed one can be tried again."}
	}
	_, err = s.Commands.RecordDeliveryRetry(ctx, who, channel, r.DeliveryId, func(tx *sqlx.Tx) error {
		return s.Sender.Retry(ctx, tx, who.OrganizationID, r.DeliveryId)
	})
	if err != nil {
		return nil, err
	}
	shown, _, err := s.delivery(ctx, r.DeliveryId)
	return api.RetryDelivery202JSONResponse(shown), err
}

func (s *NotificationRoutes) ListAlertNotifications(ctx context.Context, r api.ListAlertNotificationsRequestObject) (api.ListAlertNotificationsResponseObject, error) {
	organization := wire.Caller(ctx).Organization.ID
	row, ok, err := s.Alerts.Alert(ctx, organization, r.AlertId)
	_, ok = wire.SeenAlert(ctx, row, ok)
	if err := wire.Found(ok, err, "alert"); err != nil {
		return nil, err
	}
	told, err := s.toldOf(ctx, r.AlertId)
	return api.ListAlertNotifications200JSONResponse{Items: told}, err
}

// toldOf is who was told of an alert, newest first.
func (s *NotificationRoutes) toldOf(ctx context.Context, alert uuid.UUID) ([]api.AlertNotification, error) {
	told, err := s.Told.OfAlert(ctx, wire.Caller(ctx).Organization.ID, alert)
	if err != nil {
		return nil, err
	}
	var people []uuid.UUID
	for _, t := range told {
		people = append(people, t.Recipients.Value...)
	}
	names, err := wire.MemberNames(ctx, s.Accounts, people)
	if err != nil {
		return nil, err
	}
	return wire.List(told, func(t notify.Told) api.AlertNotification {
		return api.AlertNotification{
			DeliveryId: t.Delivery, Event: t.Type, EventAt: t.At.UTC(), Rule: api.Reference{Id: t.Rule, Name: t.RuleName},
			Channel: api.NotifiedChannel{Id: t.Channel, Name: t.ChannelName, Kind: t.Kind}, Recipients: persons(t.Recipients.Value, names),
			Status: api.DeliveryStatus(t.Status), Reason: wire.Optional(t.Reason), LastCode: number(t.LastCode), At: t.StatusAt.UTC(),
		}
	}), nil
}

// GetOutage says who was told first that a server is down or silent.
func (s *NotificationRoutes) GetOutage(ctx context.Context, r api.GetOutageRequestObject) (api.GetOutageResponseObject, error) {
	organization := wire.Caller(ctx).Organization.ID
	there, err := s.Fleet.InstanceNames(ctx, organization, []uuid.UUID{r.InstanceId})
	if err := wire.Found(len(there) > 0 && wire.Sees(ctx, r.InstanceId), err, "instance"); err != nil {
		return nil, err
	}
	open, ok, err := s.Alerts.Outage(ctx, organization, r.InstanceId, string(watch.Down), string(watch.Silent))
	if open, ok = wire.SeenAlert(ctx, open, ok); err != nil || !ok {
		return api.GetOutage200JSONResponse{}, err
	}
	told, err := s.toldOf(ctx, open.ID)
	if err != nil {
		return nil, err
	}
	shown := api.GetOutage200JSONResponse{Alert: &api.OutageAlert{Id: open.ID, RaisedAt: open.CreatedAt.UTC()}, Notifications: len(told)}
	for _, one := range slices.Backward(told) { // the first is the last of the list
		if one.Status == api.DeliveryStatusSent {
			shown.First = &one
			break
		}
	}
	return shown, nil
}

func delivery(d notify.Delivery) api.Delivery {
	return api.Delivery{
		Id: d.ID, Rule: api.Reference{Id: d.Rule, Name: d.RuleName}, Channel: api.NotifiedChannel{Id: d.Channel, Name: d.ChannelName, Kind: d.Kind},
		Events: wire.List(d.Events.Value, notice), Omitted: d.All - len(d.Events.Value), Status: api.DeliveryStatus(d.Status), Reason: wire.Optional(d.Reason),
		Attempts: d.Attempts, NextAttemptAt: wire.UTC(d.NextAttemptAt), LastCode: number(d.LastCode), LastError: wire.Optional(d.LastError),
		CreatedAt: d.CreatedAt.UTC(), At: d.StatusAt.UTC(),
	}
}
