package fleet

import (
	"context"

	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements"
	"muster/projections/alerts"
	projected "muster/projections/fleet"
)

// ListAlertHistoryContributors answers which alerts, or which servers, are behind a count
// of the alert history, over one bucket.
func (s *ServerRoutes) ListAlertHistoryContributors(ctx context.Context, r api.ListAlertHistoryContributorsRequestObject) (api.ListAlertHistoryContributorsResponseObject, error) {
	p := r.Params
	w, broken := wire.SpanAt(s.Now(), p.From, p.To)
	if p.By != api.ContributorKeyAlert && p.By != api.ContributorKeyInstance {
		by := []api.ContributorKey{api.ContributorKeyAlert, api.ContributorKeyInstance}
		broken = append(broken, wire.NotAvailableBy(by)...)
	}
	scope, err := wire.FleetScope(ctx, s.Fleet, wire.Filter{IDs: p.InstanceId, Tags: p.Tag}, broken)
	if err != nil {
		return nil, err
	}
	organization := wire.Caller(ctx).Organization.ID
	span := measurements.SpanOf(w.From, w.To, w.Now)
	answer := api.Contributors{
		From: span.From, To: span.To, GeneratedAt: w.Now, Series: string(p.Series), By: p.By, Unit: api.ContributorsUnitAlerts,
		Items: []api.Contributor{}, Engines: []api.Engine{}, PartialEngines: []api.Engine{}, Unavailable: []api.UnavailableFigure{},
	}
	started, err := s.Fleet.MonitoringStartedIn(ctx, organization, scope)
	if err != nil {
		return nil, err
	}
	// As the tile: what ended before anything was watched is a gap.
	w.Window = timegrid.Window{From: span.From, To: span.To, Size: span.Size}
	if watched := monitored(w, started, make([]int64, w.Len())); watched[len(watched)-1] == nil {
		return api.ListAlertHistoryContributors200JSONResponse(answer), nil
	}
	b := alerts.Behind{
		Organization: organization, Scope: scope, From: span.From, To: span.To,
		Active: p.Series == api.ListAlertHistoryContributorsParamsSeriesActive, Most: wire.ContributorLimit(p.Limit),
	}
	var total, found int64 // alerts, and what there is of the key
	if p.By == api.ContributorKeyAlert {
		total, err = s.behindByAlert(ctx, b, &answer)
		found = total
	} else {
		total, found, err = s.behindByInstance(ctx, b, &answer)
	}
	if err != nil {
		return nil, err
	}
	shown := 0.0
	for i := range answer.Items {
		shown += answer.Items[i].Value
		answer.Items[i].Share = shareOf(answer.Items[i].Value, total)
	}
	all, others := float64(total), float64(total)-shown
	answer.Total = &all
	answer.Others = api.OtherContributors{Count: found - int64(len(answer.Items)), Share: shareOf(others, total)}
	if answer.Others.Count > 0 {
		answer.Others.Value = &others
	}
	return api.ListAlertHistoryContributors200JSONResponse(answer), nil
}

func (s *ServerRoutes) behindByAlert(ctx context.Context, b alerts.Behind, answer *api.Contributors) (total int64, err error) {
	rows, err := s.Alerts.BehindByAlert(ctx, b)
	if err != nil {
		return 0, err
	}
	var ids []uuid.UUID
	for _, row := range rows {
		ids = append(ids, wire.Value(row.InstanceID), wire.Value(row.DatabaseID))
	}
	names, err := s.Fleet.Names(ctx, b.Organization, ids)
	if err != nil {
		return 0, err
	}
	var side wire.Side
	titles, err := wire.Titles(ctx, s.DB, wire.List(rows, func(row alerts.BehindAlert) uuid.UUID { return row.ID }))
	side.Lacks(ctx, err, "items.alert.title")
	answer.Unavailable = append(answer.Unavailable, side.Unavailable()...)
	for _, row := range rows {
		item := api.Contributor{Instance: contributing(names, row.InstanceID), Value: 1}
		if row.DatabaseID != nil {
			item.Database = &api.ContributingDatabase{Id: *row.DatabaseID, Name: names[*row.DatabaseID].Name}
		}
		item.Alert = &api.ContributingAlert{Id: row.ID, Title: titles(row.ID, row.Title), Severity: api.AlertSeverity(row.Severity), State: string(row.State)}
		answer.Items = append(answer.Items, item)
		total = row.All
	}
	return total, nil
}

func (s *ServerRoutes) behindByInstance(ctx context.Context, b alerts.Behind, answer *api.Contributors) (total, instances int64, err error) {
	rows, err := s.Alerts.BehindByInstance(ctx, b)
	if err != nil {
		return 0, 0, err
	}
	var ids []uuid.UUID
	for _, row := range rows {
		ids = append(ids, wire.Value(row.InstanceID))
	}
	names, err := s.Fleet.Names(ctx, b.Organization, ids)
	for _, row := range rows {
		answer.Items = append(answer.Items, api.Contributor{Instance: contributing(names, row.InstanceID), Value: float64(row.Alerts)})
		total, instances = row.All, row.Instances
	}
	return total, instances, err
}

// contributing is an instance that alerts are about; nil: they name none.
func contributing(names map[uuid.UUID]projected.Named, id *uuid.UUID) *api.ContributingInstance {
	if id == nil {
		return nil
	}
	is := wire.NamedInstance(names, *id)
	return &is
}

// shareOf is a part of a whole in millionths; nil of nothing.
func shareOf(part float64, whole int64) *float64 {
	return wire.Rounded(part/float64(whole), wire.Millionths)
}
