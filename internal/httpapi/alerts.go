package httpapi

import (
	"context"

	"muster/internal/httpapi/api"
)

func (s *server) GetOverview(ctx context.Context, r api.GetOverviewRequestObject) (api.GetOverviewResponseObject, error) {
	panic("not yet")
}

func (s *server) ListAlerts(ctx context.Context, r api.ListAlertsRequestObject) (api.ListAlertsResponseObject, error) {
	panic("not yet")
}

func (s *server) GetAlertHistory(ctx context.Context, r api.GetAlertHistoryRequestObject) (api.GetAlertHistoryResponseObject, error) {
	panic("not yet")
}

func (s *server) GetAlert(ctx context.Context, r api.GetAlertRequestObject) (api.GetAlertResponseObject, error) {
	panic("not yet")
}

func (s *server) AcknowledgeAlert(ctx context.Context, r api.AcknowledgeAlertRequestObject) (api.AcknowledgeAlertResponseObject, error) {
	panic("not yet")
}

func (s *server) MuteAlert(ctx context.Context, r api.MuteAlertRequestObject) (api.MuteAlertResponseObject, error) {
	panic("not yet")
}

func (s *server) UnmuteAlert(ctx context.Context, r api.UnmuteAlertRequestObject) (api.UnmuteAlertResponseObject, error) {
	panic("not yet")
}

func (s *server) ResolveAlert(ctx context.Context, r api.ResolveAlertRequestObject) (api.ResolveAlertResponseObject, error) {
	panic("not yet")
}
