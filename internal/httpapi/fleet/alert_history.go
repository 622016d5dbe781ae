package fleet

import (
	"context"
	"time"

	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

func (s *ServerRoutes) GetAlertHistory(ctx context.Context, r api.GetAlertHistoryRequestObject) (api.GetAlertHistoryResponseObject, error) {
	p := r.Params
	w, broken := wire.WindowAt(s.Now(), p.From, p.To, p.BucketSize)
	scope, err := wire.FleetScope(ctx, s.Fleet, p.InstanceId, p.InstanceName, broken)
	if err != nil {
		return nil, err
	}
	organization := wire.Caller(ctx).Organization.ID
	started, err := s.Fleet.MonitoringStartedIn(ctx, organization, scope)
	if err != nil {
		return nil, err
	}
	active, resolved, err := s.Alerts.History(ctx, organization, scope, w.Window)
	if err != nil {
		return nil, err
	}
	answer := api.GetAlertHistory200JSONResponse{
		From: w.From, To: w.To, BucketSize: p.BucketSize, BucketStarts: w.Starts(), LastBucketPartial: w.LastIsPartial(),
		GeneratedAt: w.Now, MonitoringStartedAt: wire.UTC(started),
	}
	answer.Series.Active, answer.Series.Resolved = monitored(w, started, active), monitored(w, started, resolved)
	return answer, nil
}

// monitored are the counts with null for the buckets that ended before anything
// was watched; all of them where nothing ever was.
func monitored(w wire.SeriesWindow, started *time.Time, counts []int64) []*int64 {
	out := make([]*int64, len(counts))
	for i, start := range w.Starts() {
		if started != nil && start.Add(w.Size.Width()).After(*started) {
			out[i] = &counts[i]
		}
	}
	return out
}
