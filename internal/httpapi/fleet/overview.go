package fleet

import (
	"context"
	"net/http"
	"time"

	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

// trendAge is how long ago the count lies that a count is compared with.
const trendAge = 7 * 24 * time.Hour

func (s *ServerRoutes) GetOverview(ctx context.Context, r api.GetOverviewRequestObject) (api.GetOverviewResponseObject, error) {
	scope, err := wire.FleetScope(ctx, s.Fleet, r.Params.InstanceId, nil)
	if err != nil {
		return nil, err
	}
	organization, now := wire.Caller(ctx).Organization.ID, s.Now().UTC()
	then := now.Add(-trendAge)
	counts, err := s.Fleet.Counts(ctx, organization, scope, then)
	if err != nil {
		return nil, err
	}
	open, openThen, err := s.Alerts.Open(ctx, organization, scope, then)
	if err != nil {
		return nil, err
	}
	overview := api.Overview{
		Instances: compared(counts.Instances, counts.InstancesThen),
		Databases: compared(counts.Databases, counts.DatabasesThen),
		Alerts:    compared(open, openThen),
	}
	steady := overview
	overview.AsOf, overview.ComparedAt = now, then
	answer, err := wire.NewTagged(ctx, overview, steady)
	return tagged{answer}, err
}

// tagged are the answers that a page asks for again and again.
type tagged struct{ wire.Tagged }

func (t tagged) VisitGetOverviewResponse(w http.ResponseWriter) error     { return t.Write(w) }
func (t tagged) VisitListAlertsResponse(w http.ResponseWriter) error      { return t.Write(w) }
func (t tagged) VisitGetAlertHistoryResponse(w http.ResponseWriter) error { return t.Write(w) }

func compared(current, previous int64) api.Count {
	return api.Count{Current: current, Previous: previous, Trend: current - previous}
}
