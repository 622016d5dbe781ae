package fleet

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/commands/maintenance"
	"muster/domain/alert"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections/alerts"
)

func (s *ServerRoutes) ListAlerts(ctx context.Context, r api.ListAlertsRequestObject) (api.ListAlertsResponseObject, error) {
	p := r.Params
	q := alerts.Query{
		Organization: wire.Caller(ctx).Organization.ID, From: wire.Bound(p.From), To: wire.Bound(p.To), Search: wire.Value(p.Q),
		Page: wire.Or(p.Page, 1), Size: wire.Or(p.PageSize, wire.DefaultPageSize),
	}
	var err error
	if q.Scope, err = wire.FleetScope(ctx, s.Fleet, wire.Filter{IDs: p.InstanceId, Names: p.InstanceName, Tags: p.Tag, Owner: p.Owner}, wire.EmptyWindow(p.From, p.To)); err != nil {
		return nil, err
	}
	q.Order, q.Descending = alertOrder(p.Sort)
	if q.Order == alerts.ByOwner {
		if q.Owners, err = wire.OwnerNames(ctx, s.Fleet); err != nil {
			return nil, err
		}
	}
	q.Closed = onlyIf(wire.Value(p.Status), api.ListAlertsParamsStatusResolved, api.ListAlertsParamsStatusOpen)
	q.Muted = onlyIf(wire.Value(p.Muted), api.ListAlertsParamsMutedOnly, api.ListAlertsParamsMutedExclude)
	q.Severities = wire.Words[alert.Severity](wire.Value(p.Severity))
	rows, total, err := s.Alerts.Page(ctx, q)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		rows[i], _ = wire.SeenAlert(ctx, row, true)
	}
	var side wire.Side
	items := wire.List(rows, s.withOwners(ctx, &side, "items.", rows...))
	shown := api.AlertPage{Items: items, Page: wire.Paged(ctx, q.Page, q.Size, total), Unavailable: side.Unavailable()}
	answer, err := wire.NewTagged(ctx, shown, nil)
	return tagged{answer}, err
}

// alertOrder reads how a page is sorted, in either spelling.
func alertOrder(sort *api.ListAlertsParamsSort) (order alerts.Order, descending bool) {
	if sort == nil {
		return alerts.ByLastTriggered, true
	}
	name, descending := strings.CutPrefix(string(*sort), "-")
	switch name {
	case "created_at":
		name = string(alerts.ByCreated)
	case "last_triggered_at":
		name = string(alerts.ByLastTriggered)
	}
	return alerts.Order(name), descending
}

// onlyIf reads a parameter that lets one half through, the other, or all.
func onlyIf[T comparable](v, yes, no T) *bool {
	if v != yes && v != no {
		return nil
	}
	only := v == yes
	return &only
}

func (s *ServerRoutes) GetAlert(ctx context.Context, r api.GetAlertRequestObject) (api.GetAlertResponseObject, error) {
	row, err := s.alert(ctx, r.AlertId)
	if err != nil {
		return nil, err
	}
	shown, err := s.showAlertDetail(ctx, row)
	return api.GetAlert200JSONResponse(shown), err
}

func (s *ServerRoutes) alert(ctx context.Context, id uuid.UUID) (alerts.Alert, error) {
	row, ok, err := s.Alerts.Alert(ctx, wire.Caller(ctx).Organization.ID, id)
	row, ok = wire.SeenAlert(ctx, row, ok)
	return row, wire.Found(ok, err, "alert")
}

// withOwners shows alerts with the teams that own their servers, and with whose sessions their titles speak of: side
// figures, of the items of this path.
func (s *ServerRoutes) withOwners(ctx context.Context, side *wire.Side, path string, rows ...alerts.Alert) (show func(alerts.Alert) api.Alert) {
	titles, err := wire.Titles(ctx, s.DB, wire.List(rows, func(row alerts.Alert) uuid.UUID { return row.ID }))
	side.Lacks(ctx, err, path+"title")
	var ids []uuid.UUID
	for _, row := range rows {
		if row.Instance != nil {
			ids = append(ids, row.Instance.ID)
		}
	}
	owners, err := wire.Owners(ctx, s.Fleet, ids)
	side.Lacks(ctx, err, path+"owner")
	in, err := maintenance.OfAlerts(ctx, s.DB, wire.Caller(ctx).Organization.ID, wire.List(rows, func(row alerts.Alert) uuid.UUID { return row.ID }))
	side.Lacks(ctx, err, path+"maintenance")
	return func(row alerts.Alert) api.Alert {
		shown := showAlert(row)
		shown.Title = titles(row.ID, row.Title)
		if row.Instance != nil {
			shown.Owner = owners[row.Instance.ID]
		}
		shown.MayAct = wire.Changes(ctx, wire.ActsOn(ctx, row))
		if w, ok := in[row.ID]; ok {
			shown.Maintenance = &api.InMaintenance{Id: w.Window, Name: w.Name, Until: w.EndsAt.UTC()}
		}
		return shown
	}
}

func showAlert(row alerts.Alert) api.Alert {
	return api.Alert{
		Id: row.ID, Title: row.Title, Severity: api.AlertSeverity(row.Severity), State: string(row.State), Open: !row.State.Closed(),
		IsMuted: row.Muted, MutedUntil: wire.UTC(row.MutedUntil), CreatedAt: row.CreatedAt, FirstTriggeredAt: row.FirstTriggeredAt, LastTriggeredAt: row.LastTriggeredAt,
		ResolvedAt: row.ResolvedAt, Occurrences: row.Occurrences, Instance: reference(row.Instance), Database: reference(row.Database),
	}
}

func reference(place *alerts.NamedPlace) *api.Reference {
	if place == nil {
		return nil
	}
	return &api.Reference{Id: place.ID, Name: place.Name}
}

// showAlertDetail adds what happened to the alert, with the people as they are
// called today.
func (s *ServerRoutes) showAlertDetail(ctx context.Context, row alerts.Alert) (api.AlertDetail, error) {
	var side wire.Side
	moments, err := s.Alerts.Timeline(ctx, wire.Caller(ctx).Organization.ID, row.ID)
	told := !side.Lacks(ctx, err, "timeline", "blocking")
	var people []uuid.UUID
	for _, m := range moments {
		if m.Member != uuid.Nil {
			people = append(people, m.Member)
		}
	}
	names, err := wire.MemberNames(ctx, s.Accounts, people)
	if err != nil {
		return api.AlertDetail{}, err
	}
	a := s.withOwners(ctx, &side, "", row)(row)
	out := api.AlertDetail{
		Id: a.Id, Title: a.Title, Severity: a.Severity, State: a.State, Open: a.Open, IsMuted: a.IsMuted, MutedUntil: a.MutedUntil, CreatedAt: a.CreatedAt,
		FirstTriggeredAt: a.FirstTriggeredAt, LastTriggeredAt: a.LastTriggeredAt, ResolvedAt: a.ResolvedAt, Occurrences: a.Occurrences,
		Instance: a.Instance, Database: a.Database, Owner: a.Owner, MayAct: a.MayAct, Maintenance: a.Maintenance,
		Description: wire.Optional(row.Description), Rule: alertRule(row.Rule),
	}
	timeline := make([]api.AlertMoment, 0, len(moments))
	for _, m := range moments {
		moment := api.AlertMoment{At: m.At.UTC(), Event: m.Event, Until: m.Until, Note: wire.Optional(m.Note)}
		if m.Member != uuid.Nil {
			moment.Actor = &api.Person{Id: m.Member, Name: names[m.Member]}
		}
		timeline = append(timeline, moment)
	}
	if told {
		out.Timeline = &timeline
	}
	if out.Blocking, err = s.frozen(ctx, row.ID, moments); side.Lacks(ctx, err, "blocking") {
		out.Blocking = nil
	}
	out.Unavailable = side.Unavailable()
	return out, nil
}

func alertRule(rule *alert.Rule) *api.AlertRule {
	if rule == nil {
		return nil
	}
	return &api.AlertRule{Id: rule.ID, Name: rule.Name, Threshold: rule.Threshold, Unit: wire.Optional(rule.Unit)}
}

func (s *ServerRoutes) GetAlertHistory(ctx context.Context, r api.GetAlertHistoryRequestObject) (api.GetAlertHistoryResponseObject, error) {
	p := r.Params
	w, broken := wire.WindowAt(s.Now(), p.From, p.To, p.BucketSize)
	scope, err := wire.FleetScope(ctx, s.Fleet, wire.Filter{IDs: p.InstanceId, Names: p.InstanceName, Tags: p.Tag}, broken)
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
	history := api.AlertHistory{
		BucketSize: p.BucketSize, BucketStarts: w.Starts(), LastBucketPartial: w.LastIsPartial(), MonitoringStartedAt: wire.UTC(started),
	}
	history.Series.Active, history.Series.Resolved = monitored(w, started, active), monitored(w, started, resolved)
	steady := history
	history.From, history.To, history.GeneratedAt = w.From, w.To, w.Now
	answer, err := wire.NewTagged(ctx, history, steady)
	return tagged{answer}, err
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
