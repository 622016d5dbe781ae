package fleet

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	domain "muster/domain/fleet"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/watch/status"
)

// trendAge is how long ago the count lies that a count is compared with.
const trendAge = 7 * 24 * time.Hour

func (s *ServerRoutes) GetOverview(ctx context.Context, r api.GetOverviewRequestObject) (api.GetOverviewResponseObject, error) {
	scope, err := wire.FleetScope(ctx, s.Fleet, wire.Filter{IDs: r.Params.InstanceId, Tags: r.Params.Tag})
	if err != nil {
		return nil, err
	}
	organization, now := wire.Caller(ctx).Organization.ID, s.Now().UTC()
	then := now.Add(-trendAge)
	counts, err := s.Fleet.Counts(ctx, organization, scope, then)
	if err != nil {
		return nil, err
	}
	overview := api.Overview{
		Instances: compared(counts.Instances, counts.InstancesThen),
		Databases: compared(counts.Databases, counts.DatabasesThen),
	}
	var side wire.Side
	open, openThen, err := s.Alerts.Open(ctx, organization, scope, then)
	if !side.Lacks(ctx, err, "alerts") {
		count := compared(open, openThen)
		overview.Alerts = &count
	}
	states, err := s.statesIn(ctx, scope)
	if !side.Lacks(ctx, err, "states") {
		overview.States = &states
	}
	overdue, err := s.overdueFindings(ctx, wire.Filter{IDs: r.Params.InstanceId, Tags: r.Params.Tag})
	if !side.Lacks(ctx, err, "overdueFindings") {
		overview.OverdueFindings = overdue
	}
	overview.Unavailable = side.Unavailable()
	steady := overview
	overview.AsOf, overview.ComparedAt = now, then
	answer, err := wire.NewTagged(ctx, overview, steady)
	return tagged{answer}, err
}

// statesIn counts the servers of a scope by their state.
func (s *ServerRoutes) statesIn(ctx context.Context, scope domain.Scope) (counts api.InstanceStates, err error) {
	organization := wire.Caller(ctx).Organization.ID
	active, err := s.Fleet.Activity(ctx, organization, scope, nil)
	if err != nil {
		return counts, err
	}
	of, err := status.Of(ctx, s.DB, organization, slices.Collect(maps.Keys(active)), s.Now())
	if err != nil {
		return counts, err
	}
	_, counts = wire.StatesOf(active, of)
	return counts, nil
}

// tagged are the answers that a page asks for again and again.
type tagged struct{ wire.Tagged }

func (t tagged) VisitGetOverviewResponse(w http.ResponseWriter) error     { return t.Write(w) }
func (t tagged) VisitListAlertsResponse(w http.ResponseWriter) error      { return t.Write(w) }
func (t tagged) VisitGetAlertHistoryResponse(w http.ResponseWriter) error { return t.Write(w) }

func compared(current, previous int64) api.Count {
	return api.Count{Current: current, Previous: previous, Trend: current - previous}
}
