package tiles

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements"
	"muster/internal/measurements/waitclass"
	projected "muster/projections/fleet"
)

// units are those of the series.
var units = map[measurements.Series]api.ContributorsUnit{
	measurements.CPU: api.ContributorsUnitPercent, measurements.Memory: api.ContributorsUnitPercent, measurements.Disk: api.ContributorsUnitPercent,
	measurements.Average: api.ContributorsUnitMs, measurements.Maximum: api.ContributorsUnitMs,
	measurements.WaitingForLocks: api.ContributorsUnitAverageWaitingSessions, measurements.WaitingForLightLocks: api.ContributorsUnitAverageWaitingSessions,
	measurements.WaitingForIO: api.ContributorsUnitAverageWaitingSessions, measurements.WaitingForClients: api.ContributorsUnitAverageWaitingSessions,
	measurements.WaitingForOther: api.ContributorsUnitAverageWaitingSessions, measurements.WaitingForAnything: api.ContributorsUnitAverageWaitingSessions,
	measurements.ConnectionsTotal: api.ContributorsUnitConnections, measurements.ConnectionsActive: api.ContributorsUnitConnections,
	measurements.ConnectionsIdle: api.ContributorsUnitConnections, measurements.ConnectionsThatWait: api.ContributorsUnitConnections,
}

func (s *TileRoutes) ListConnectionsContributors(ctx context.Context, r api.ListConnectionsContributorsRequestObject) (api.ListConnectionsContributorsResponseObject, error) {
	p := r.Params
	b, broken := breakdown(string(p.Series), p.By, p.Limit, measurements.ByInstance, measurements.ByDatabase)
	scope, err := wire.FleetScope(ctx, s.Fleet, wire.Filter{IDs: p.InstanceId, Tags: p.Tag}, broken)
	if err != nil {
		return nil, err
	}
	organization, now := wire.Caller(ctx).Organization.ID, s.Now().UTC()
	databases, err := s.Fleet.DatabasesIn(ctx, organization, scope)
	if err != nil {
		return nil, err
	}
	found, err := s.Tiles.ConnectionContributors(ctx, organization, databases, b, now)
	if err != nil {
		return nil, err
	}
	answer, err := s.contributors(ctx, measurements.Span{From: now, To: now}, found, now)
	return api.ListConnectionsContributors200JSONResponse(answer), err
}

func (s *TileRoutes) ListUtilizationContributors(ctx context.Context, r api.ListUtilizationContributorsRequestObject) (api.ListUtilizationContributorsResponseObject, error) {
	p := r.Params
	key := measurements.ByHost
	if p.Series == api.ListUtilizationContributorsParamsSeriesDisk {
		key = measurements.ByVolume
	}
	b, broken := breakdown(string(p.Series), p.By, p.Limit, key)
	answer, err := s.behind(ctx, p.From, p.To, wire.Filter{IDs: p.InstanceId, Tags: p.Tag}, broken, func(organization uuid.UUID, scope fleet.Scope, span measurements.Span, _ time.Time) (measurements.Contributors, error) {
		hosts, err := s.hostScope(ctx, organization, scope)
		if err != nil {
			return measurements.Contributors{}, err
		}
		return s.Tiles.UtilizationContributors(ctx, organization, hosts, span, b)
	})
	return api.ListUtilizationContributors200JSONResponse(answer), err
}

func (s *TileRoutes) ListQueryPerformanceContributors(ctx context.Context, r api.ListQueryPerformanceContributorsRequestObject) (api.ListQueryPerformanceContributorsResponseObject, error) {
	p := r.Params
	b, broken := breakdown(string(p.Series), p.By, p.Limit, measurements.ByInstance, measurements.ByDatabase, measurements.ByStatement)
	answer, err := s.behind(ctx, p.From, p.To, wire.Filter{IDs: p.InstanceId, Tags: p.Tag}, broken, func(organization uuid.UUID, scope fleet.Scope, span measurements.Span, now time.Time) (measurements.Contributors, error) {
		return s.Tiles.QueryContributors(ctx, organization, scope, span, b, now)
	})
	return api.ListQueryPerformanceContributors200JSONResponse(answer), err
}

func (s *TileRoutes) ListWaitEventsContributors(ctx context.Context, r api.ListWaitEventsContributorsRequestObject) (api.ListWaitEventsContributorsResponseObject, error) {
	p := r.Params
	keys := []measurements.Key{
		measurements.ByInstance, measurements.ByDatabase, measurements.ByStatement,
		measurements.ByEvent, measurements.ByUser, measurements.ByApplication, measurements.ByClient,
	}
	if p.Series == api.ListWaitEventsContributorsParamsSeriesAll {
		keys = append(keys, measurements.ByCategory)
	}
	b, broken := breakdown(string(p.Series), p.By, p.Limit, keys...)
	if err := seesPeople(ctx, b.Personal()); err != nil {
		return nil, err
	}
	answer, err := s.behind(ctx, p.From, p.To, wire.Filter{IDs: p.InstanceId, Tags: p.Tag}, broken, func(organization uuid.UUID, scope fleet.Scope, span measurements.Span, _ time.Time) (measurements.Contributors, error) {
		return s.Tiles.WaitContributors(ctx, organization, scope, span, b)
	})
	return api.ListWaitEventsContributors200JSONResponse(answer), err
}

// breakdown is what is asked for, or the rule that it breaks where the figure is by none
// of those keys.
func breakdown(series string, by api.ContributorKey, limit *int32, keys ...measurements.Key) (measurements.Breakdown, []api.FieldError) {
	b := measurements.Breakdown{Series: measurements.Series(series), By: measurements.Key(by), Limit: wire.ContributorLimit(limit)}
	if slices.Contains(keys, b.By) {
		return b, nil
	}
	return b, wire.NotAvailableBy(keys)
}

// behind answers who is behind a figure of a window.
func (s *TileRoutes) behind(ctx context.Context, from, to time.Time, filter wire.Filter, broken []api.FieldError,
	read func(organization uuid.UUID, scope fleet.Scope, span measurements.Span, now time.Time) (measurements.Contributors, error)) (answer api.Contributors, err error) {
	w, rules := wire.SpanAt(s.Now(), from, to)
	scope, err := wire.FleetScope(ctx, s.Fleet, filter, rules, broken)
	if err != nil {
		return answer, err
	}
	span := measurements.SpanOf(w.From, w.To, w.Now)
	found, err := read(wire.Caller(ctx).Organization.ID, scope, span, w.Now)
	if err != nil {
		return answer, notKept(err)
	}
	return s.contributors(ctx, span, found, w.Now)
}

// notKept is the rule that a window breaks which begins before what is asked for is kept,
// where that is the error.
func notKept(err error) error {
	var e *measurements.NotKeptError
	if !errors.As(err, &e) {
		return err
	}
	since := e.Since.UTC().Format(time.RFC3339)
	return wire.BrokenRules(wire.BrokenParameter("from", "detail_not_kept", "is before "+since+", since when that is kept", map[string]any{"since": since}))
}

func engines(all []fleet.Engine) []api.Engine {
	return wire.List(all, func(e fleet.Engine) api.Engine { return api.Engine(e) })
}

// contributors is the answer as it was read then, with the names of what is in it.
func (s *TileRoutes) contributors(ctx context.Context, span measurements.Span, found measurements.Contributors, readAt time.Time) (api.Contributors, error) {
	answer := api.Contributors{
		From: span.From, To: span.To, GeneratedAt: readAt, Series: string(found.Series), By: api.ContributorKey(found.By), Unit: units[found.Series],
		Total: wire.Rounded(found.Total(), wire.Thousandths), Items: []api.Contributor{},
		Others:  api.OtherContributors{Count: int64(found.Others.Count), Value: wire.Rounded(found.OthersValue(), wire.Thousandths), Share: wire.Rounded(found.OthersShare(), wire.Millionths)},
		Engines: engines(found.Engines), PartialEngines: engines(found.Partial), Incomplete: found.Incomplete,
	}
	if found.Incomplete && !found.Sampled { // of connections the total would be 0
		answer.Total = nil
	}
	if found.Series == measurements.Average {
		answer.Others.Calls, answer.Others.TotalMs = wire.Rounded(found.Others.Calls, wire.Thousandths), wire.Rounded(found.Others.TotalMs, wire.Thousandths)
	}
	if share := wire.Rounded(found.Coverage.Share(), wire.Millionths); found.Coverage.Instances > 0 && share != nil {
		answer.Coverage = &api.Coverage{
			AttributedMs: *wire.Rounded(found.Coverage.AttributedMs, wire.Thousandths), BusyMs: *wire.Rounded(found.Coverage.BusyMs, wire.Thousandths),
			Share: *share, Instances: found.Coverage.Instances,
		}
	}
	var ids []uuid.UUID
	for _, c := range found.Items {
		ids = append(ids, c.Instance, c.Database)
	}
	names, err := s.Fleet.Names(ctx, wire.Caller(ctx).Organization.ID, ids)
	if err != nil {
		return answer, err
	}
	var side wire.Side
	texts, err := s.textsOf(ctx, found.Ranking)
	side.Lacks(ctx, err, "items.statement.text")
	side.Lacks(ctx, found.Unnamed, "items.name")
	for _, c := range found.Items {
		item := contributor(found.Ranking, c, names, texts)
		item.Name = wire.Optional(found.Names[c.Name])
		answer.Items = append(answer.Items, item)
	}
	answer.Unavailable = side.Unavailable()
	return answer, nil
}

// textsOf are the statements of a ranking as far as the caller may see their texts.
func (s *TileRoutes) textsOf(ctx context.Context, r measurements.Ranking) (map[uuid.UUID]measurements.NamedStatement, error) {
	if r.By != measurements.ByStatement || !seesTexts(ctx) {
		return nil, nil
	}
	ids := wire.List(r.Items, func(c measurements.Contributor) uuid.UUID { return c.Statement })
	return s.Tiles.Store.NameStatements(ctx, wire.Caller(ctx).Organization.ID, ids)
}

func contributor(r measurements.Ranking, c measurements.Contributor, names map[uuid.UUID]projected.Named, texts map[uuid.UUID]measurements.NamedStatement) api.Contributor {
	item := api.Contributor{Value: *wire.Rounded(c.Value, wire.Thousandths), Share: wire.Rounded(r.Share(c), wire.Millionths)}
	if r.Series == measurements.Average {
		item.Calls, item.TotalMs = wire.Rounded(c.Calls, wire.Thousandths), wire.Rounded(c.TotalMs, wire.Thousandths)
	}
	if c.Host != "" {
		item.Host = &c.Host
	}
	if r.By == measurements.ByVolume {
		item.Mount = &c.Mount
	}
	if r.By == measurements.ByCategory || r.By == measurements.ByEvent {
		item.Category = &waitclass.Names[c.Category]
	}
	if c.Instance != uuid.Nil {
		is := wire.NamedInstance(names, c.Instance)
		item.Instance = &is
	}
	if c.Database != uuid.Nil {
		item.Database = &api.ContributingDatabase{Id: c.Database, Name: names[c.Database].Name}
	}
	if r.By == measurements.ByStatement && c.Statement != uuid.Nil {
		item.Statement = &api.ContributingStatement{Id: c.Statement, Text: wire.Optional(texts[c.Statement].Text)}
	}
	return item
}
