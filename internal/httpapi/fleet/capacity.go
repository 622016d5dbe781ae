package fleet

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/google/uuid"

	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/httpapi/wire/capacity"
	"muster/internal/measurements/arrival"
	"muster/internal/measurements/forecast"
	"muster/internal/measurements/room"
	"muster/internal/report/serverfacts"
	"muster/internal/watch"
)

// sizesShown is how many volumes of a host, tablespaces and databases are shown: of each the greatest.
const sizesShown = 50

// GetCapacity shows how full a server is, and when it is full.
func (s *ServerRoutes) GetCapacity(ctx context.Context, r api.GetCapacityRequestObject) (api.GetCapacityResponseObject, error) {
	organization := wire.Caller(ctx).Organization.ID
	if _, err := s.row(ctx, r.InstanceId); err != nil {
		return nil, err
	}
	state, known, err := room.Newest(ctx, s.DB, organization, r.InstanceId)
	if err != nil {
		return nil, err
	}
	shown := api.Capacity{
		Method: forecast.Method, Confidence: forecast.Confidence, LookedDatabases: state.Looked, Databases: state.Databases, HiddenSequences: state.Hidden,
		MissingGrants: append([]string{}, state.Denied...), LeftOut: append([]string{}, state.Left...), Sequences: wire.List(state.Sequences, capacity.Sequence), Ages: wire.List(state.Ages, capacity.Age),
	}
	if known {
		shown.MeasuredAt = wire.UTC(&state.At)
	}
	if shown.Sizes, err = s.sizesOf(ctx, organization, r.InstanceId); err != nil {
		return nil, err
	}
	var side wire.Side
	if n, ok, err := watch.NewestOf(ctx, s.DB, organization, r.InstanceId, watch.Connections, s.Now()); !side.Lacks(ctx, err, "connections") && ok {
		shown.Connections = &api.CapacityConnections{
			MeasuredAt: n.At, Used: n.Details.Sessions, Limit: n.Details.Limit, UsedPercent: capacity.Tenth(n.Value), PeakPercent: capacity.Tenths(n.Peak), PeakAt: n.PeakAt,
		}
	}
	if n, ok, err := watch.NewestOf(ctx, s.DB, organization, r.InstanceId, watch.Wraparound, s.Now()); !side.Lacks(ctx, err, "transactionIds") && ok {
		shown.TransactionIds = &api.CapacityIds{MeasuredAt: n.At, Database: wire.Optional(n.Details.Database), UsedPercent: capacity.Tenth(n.Value), Multixacts: n.Details.Multi}
	}
	shown.Unavailable = side.Unavailable()
	return api.GetCapacity200JSONResponse(shown), nil
}

// sizesOf are the sizes that a server tells, and those of the volumes of its hosts.
func (s *ServerRoutes) sizesOf(ctx context.Context, organization, instance uuid.UUID) ([]api.CapacitySize, error) {
	now := s.Now()
	sizes, err := serverfacts.Source{DB: s.DB}.Sizes(ctx, organization, []uuid.UUID{instance}, now.Add(-room.Lookback), now.Add(arrival.Ahead), sizesShown)
	if err != nil {
		return nil, err
	}
	shown := wire.List(sizes, func(of serverfacts.Sized) api.CapacitySize { return capacity.Size(of.History, of.Host, now) })
	days := func(c api.CapacitySize) float64 {
		if c.DaysUntilFull == nil {
			return math.Inf(1)
		}
		return *c.DaysUntilFull
	}
	order := map[api.CapacityKind]int{api.CapacityVolume: 0, api.CapacityTablespace: 1, api.CapacityDatabase: 2}
	slices.SortStableFunc(shown, func(a, b api.CapacitySize) int {
		return cmp.Or(cmp.Compare(order[a.Kind], order[b.Kind]), cmp.Compare(days(a), days(b)), cmp.Compare(wire.Value(b.UsedBytes), wire.Value(a.UsedBytes)), cmp.Compare(a.Name, b.Name))
	})
	return shown, nil
}

// GetMaintenance shows how the tables of a server are looked after, and which jobs failed.
func (s *ServerRoutes) GetMaintenance(ctx context.Context, r api.GetMaintenanceRequestObject) (api.GetMaintenanceResponseObject, error) {
	organization := wire.Caller(ctx).Organization.ID
	if _, err := s.row(ctx, r.InstanceId); err != nil {
		return nil, err
	}
	state, known, err := room.Newest(ctx, s.DB, organization, r.InstanceId)
	if err != nil {
		return nil, err
	}
	shown := api.Maintenance{
		Tables: wire.List(state.Tables, capacity.Table), LookedDatabases: state.Looked, Databases: state.Databases, FailedJobs: state.Failed,
		Jobs: wire.List(state.Jobs, capacity.Job), MissingGrants: append([]string{}, state.Denied...), LeftOut: append([]string{}, state.Left...),
	}
	if known {
		shown.MeasuredAt = wire.UTC(&state.At)
	}
	var side wire.Side
	if n, ok, err := watch.NewestOf(ctx, s.DB, organization, r.InstanceId, watch.Certificate, s.Now()); !side.Lacks(ctx, err, "certificateEndsInDays") && ok {
		shown.CertificateEndsInDays = capacity.Tenths(&n.Value)
	}
	shown.Unavailable = side.Unavailable()
	return api.GetMaintenance200JSONResponse(shown), nil
}
