package httpapi

import (
	"context"

	"muster/internal/httpapi/api"
)

func (s *server) RecordAlerts(ctx context.Context, r api.RecordAlertsRequestObject) (api.RecordAlertsResponseObject, error) {
	panic("not yet")
}

func (s *server) ReceiveAlertmanagerWebhook(ctx context.Context, r api.ReceiveAlertmanagerWebhookRequestObject) (api.ReceiveAlertmanagerWebhookResponseObject, error) {
	panic("not yet")
}

func (s *server) ReceiveAlertmanagerAlerts(ctx context.Context, r api.ReceiveAlertmanagerAlertsRequestObject) (api.ReceiveAlertmanagerAlertsResponseObject, error) {
	panic("not yet")
}
