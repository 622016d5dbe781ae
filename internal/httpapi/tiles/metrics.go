package tiles

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/timegrid"
	"muster/internal/engine"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements"
	"muster/internal/measurements/waitclass"
)

func (s *TileRoutes) GetConnections(ctx context.Context, r api.GetConnectionsRequestObject) (api.GetConnectionsResponseObject, error) {
	scope, err := wire.FleetScope(ctx, s.Fleet, wire.Filter{IDs: r.Params.InstanceId, Tags: r.Params.Tag})
	if err != nil {
		return nil, err
	}
	organization, now := wire.Caller(ctx).Organization.ID, s.Now().UTC()
	databases, err := s.Fleet.DatabasesIn(ctx, organization, scope)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.Tiles.Connections(ctx, organization, databases, now)
	if err != nil {
		return nil, err
	}
	shown := api.Connections{
		SampledAt: wire.UTC(&snapshot.SampledAt), Total: snapshot.Total(), Incomplete: snapshot.Incomplete,
		Active: snapshot.Active, Idle: snapshot.Idle, Waiting: snapshot.Waiting, IdleInTransaction: snapshot.IdleInTransaction, Other: snapshot.Other,
	}
	var side wire.Side
	without, err := s.withoutSample(ctx, scope, databases, now)
	if !side.Lacks(ctx, err, "instancesWithoutSample") {
		shown.InstancesWithoutSample = without
	}
	shown.Unavailable = side.Unavailable()
	shown.Engines = wire.List(snapshot.Engines, func(e measurements.EngineConnections) api.EngineConnections {
		return api.EngineConnections{
			Engine: api.Engine(e.Engine), SampledAt: e.SampledAt.UTC(), Total: e.Total(),
			Active: e.Active, Idle: e.Idle, Waiting: e.Waiting, IdleInTransaction: e.IdleInTransaction, Other: e.Other,
		}
	})
	shown.PartialEngines = []api.Engine{}
	for _, e := range snapshot.Engines {
		if e.Partial {
			shown.PartialEngines = append(shown.PartialEngines, api.Engine(e.Engine))
		}
	}
	steady := shown
	shown.AsOf = now
	answer, err := wire.NewTagged(ctx, shown, steady)
	return tagged{answer}, err
}

// withoutSample counts the active servers in scope of which no sample of sessions counts; nil:
// an engine could not be read, so that is not known.
func (s *TileRoutes) withoutSample(ctx context.Context, scope fleet.Scope, databases []uuid.UUID, now time.Time) (*int, error) {
	n := 0
	organization := wire.Caller(ctx).Organization.ID
	active, err := s.Fleet.Activity(ctx, organization, scope, engine.Measured())
	if err != nil || len(active) == 0 {
		return &n, err
	}
	open, err := s.Tiles.ConnectionContributors(ctx, organization, databases,
		measurements.Breakdown{Series: measurements.ConnectionsTotal, By: measurements.ByInstance, Limit: math.MaxInt32, Zeros: true}, now)
	if err != nil || open.Incomplete {
		return nil, err
	}
	sampled := make(map[uuid.UUID]bool, len(open.Items))
	for _, item := range open.Items {
		sampled[item.Instance] = true
	}
	for id, active := range active {
		if active && !sampled[id] {
			n++
		}
	}
	return &n, nil
}

type tagged struct{ wire.Tagged }

func (t tagged) VisitGetConnectionsResponse(w http.ResponseWriter) error { return t.Write(w) }

func (s *TileRoutes) GetUtilization(ctx context.Context, r api.GetUtilizationRequestObject) (api.GetUtilizationResponseObject, error) {
	p := r.Params
	return s.tile(ctx, "utilization", s.readUtilization, p.From, p.To, p.BucketSize, wire.Filter{IDs: p.InstanceId, Tags: p.Tag})
}

func (s *TileRoutes) GetQueryPerformance(ctx context.Context, r api.GetQueryPerformanceRequestObject) (api.GetQueryPerformanceResponseObject, error) {
	p := r.Params
	return s.tile(ctx, "query-performance", s.readQueryPerformance, p.From, p.To, p.BucketSize, wire.Filter{IDs: p.InstanceId, Tags: p.Tag})
}

func (s *TileRoutes) GetWaitEvents(ctx context.Context, r api.GetWaitEventsRequestObject) (api.GetWaitEventsResponseObject, error) {
	p := r.Params
	return s.tile(ctx, "wait-events", s.readWaitEvents, p.From, p.To, p.BucketSize, wire.Filter{IDs: p.InstanceId, Tags: p.Tag})
}

// tileQuery is what a windowed tile is asked for, the same for all who share it.
type tileQuery struct {
	name         string
	organization uuid.UUID
	instances    []uuid.UUID     // the filter in order, each once; none: the organization
	tags         fleet.TagFilter // likewise
	window       timegrid.Window // from the edge of a bucket to the edge of one
}

// newTileQuery is what is left of a request when who asked, the moment and the
// spelling are taken away.
func newTileQuery(name string, organization uuid.UUID, w timegrid.Window, filter []uuid.UUID, tags fleet.TagFilter) tileQuery {
	q := tileQuery{name: name, organization: organization, instances: slices.Clone(filter), tags: tags, window: timegrid.Window{From: w.Start(), To: w.End(), Size: w.Size}}
	slices.SortFunc(q.instances, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	q.instances = slices.Compact(q.instances)
	for _, values := range q.tags {
		slices.Sort(values)
	}
	return q
}

// key tells it from every other: all but the name and the filter is of one length,
// the name has no zero byte, and neither has a tag.
func (q tileQuery) key() string {
	key := append([]byte(q.name), 0)
	key = append(append(key, q.organization[:]...), q.window.Size...)
	key = binary.BigEndian.AppendUint64(key, uint64(q.window.From.Unix()))
	key = binary.BigEndian.AppendUint64(key, uint64(q.window.To.Unix()))
	key = binary.BigEndian.AppendUint32(key, uint32(len(q.instances))) //nolint:gosec // at most 500
	for _, id := range q.instances {
		key = append(key, id[:]...)
	}
	for _, tag := range slices.Sorted(maps.Keys(q.tags)) { // neither keys nor values have a zero byte
		key = append(append(key, 0), tag...)
		for _, value := range q.tags[tag] {
			key = append(append(key, 0, ':'), value...)
		}
	}
	return string(key)
}

type readTile func(ctx context.Context, q tileQuery, scope fleet.Scope, now time.Time) (*tile, error)

// tile answers a windowed tile from the cache, or has it read. The filter is in the
// key as it was asked; which of its ids are live instances is looked up when the
// tile is read, and so may be 30 seconds old as everything else in it.
func (s *TileRoutes) tile(ctx context.Context, name string, read readTile, from, to time.Time, size api.BucketSize, filter wire.Filter) (tileAnswer, error) {
	w, broken := wire.WindowAt(s.Now(), from, to, size)
	tags, rules := filter.Check()
	if p := wire.BrokenRules(broken, rules); p != nil {
		return tileAnswer{}, p
	}
	ids, caller := wire.Value(filter.IDs), wire.Caller(ctx)
	if caller.World != nil { // the tile of some servers is theirs, whoever asks for it
		var err error
		if ids, err = wire.FilteredIDs(ctx, s.Fleet, filter); err != nil {
			return tileAnswer{}, err
		}
		tags = nil
	}
	q := newTileQuery(name, caller.Organization.ID, w.Window, ids, tags)
	t, err := s.cache.get(ctx, q.key(), func(ctx context.Context) (*tile, error) {
		now := instant.Cut(s.Now())
		scope, err := s.Fleet.Scope(ctx, q.organization, q.instances, nil, q.tags)
		if err != nil {
			return nil, err
		}
		t, err := read(ctx, q, scope, now)
		if err != nil {
			return nil, err
		}
		return t, t.pack(w.Window)
	})
	if err != nil {
		return tileAnswer{}, err
	}
	return t.answer(ctx, w), nil
}

func (s *TileRoutes) readUtilization(ctx context.Context, q tileQuery, scope fleet.Scope, now time.Time) (*tile, error) {
	hosts, err := s.hostScope(ctx, q.organization, scope)
	if err != nil {
		return nil, err
	}
	u, err := s.Tiles.Utilization(ctx, q.organization, hosts, q.window)
	if err != nil {
		return nil, err
	}
	return newTile(q.window, now, false, []line{{"cpuPercent", u.CPUPercent}, {"memoryPercent", u.MemoryPercent}, {"diskPercent", u.DiskPercent}},
		member{"hostCount", u.HostCount})
}

// hostScope is a filter as hosts have it.
func (s *TileRoutes) hostScope(ctx context.Context, organization uuid.UUID, scope fleet.Scope) (hosts measurements.HostScope, err error) {
	hosts.Scope = scope
	if scope.Filtered {
		hosts.Names, err = s.Fleet.HostsIn(ctx, organization, scope)
	}
	return hosts, err
}

func (s *TileRoutes) readQueryPerformance(ctx context.Context, q tileQuery, scope fleet.Scope, now time.Time) (*tile, error) {
	p, err := s.Tiles.QueryPerformance(ctx, q.organization, scope, q.window, now)
	if err != nil {
		return nil, err
	}
	return newTile(q.window, now, p.Incomplete, []line{{"avgLatencyMs", p.AvgMs}, {"maxLatencyMs", p.MaxMs}},
		member{"engines", wire.NeverNull(p.Engines)}, member{"partialEngines", wire.NeverNull(p.Partial)}, member{"incomplete", p.Incomplete})
}

func (s *TileRoutes) readWaitEvents(ctx context.Context, q tileQuery, scope fleet.Scope, now time.Time) (*tile, error) {
	e, err := s.Tiles.WaitEvents(ctx, q.organization, scope, q.window)
	if err != nil {
		return nil, err
	}
	lines := []line{
		{"locks", e.Waiting[waitclass.Locks]}, {"lightweightLocks", e.Waiting[waitclass.LightweightLocks]}, {"io", e.Waiting[waitclass.IO]},
		{"clientNetwork", e.Waiting[waitclass.ClientNetwork]}, {"other", e.Waiting[waitclass.Other]},
	}
	return newTile(q.window, now, e.Incomplete, lines, member{"unit", api.WaitEventsUnitAverageWaitingSessions},
		member{"engines", wire.NeverNull(e.Engines)}, member{"partialEngines", wire.NeverNull(e.Partial)}, member{"incomplete", e.Incomplete})
}
