package fleet

import (
	"context"
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
	return api.GetOverview200JSONResponse{
		AsOf: now, ComparedAt: then,
		Instances: compared(counts.Instances, counts.InstancesThen),
		Databases: compared(counts.Databases, counts.DatabasesThen),
		Alerts:    compared(open, openThen),
	}, nil
}

func compared(current, previous int64) api.Count {
	return api.Count{Current: current, Previous: previous, Trend: current - previous}
}
