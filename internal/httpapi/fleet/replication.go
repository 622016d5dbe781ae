package fleet

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements"
	"muster/internal/measurements/replication"
	projected "muster/projections/fleet"
)

// roleChangesShown is how many changes of roles the answer lists.
const roleChangesShown = 20

// GetReplication shows who follows whom, as it was seen last.
func (s *ServerRoutes) GetReplication(ctx context.Context, r api.GetReplicationRequestObject) (api.GetReplicationResponseObject, error) {
	organization := wire.Caller(ctx).Organization.ID
	var broken []api.FieldError
	var w wire.SeriesWindow
	asked := r.Params.From != nil || r.Params.To != nil || r.Params.BucketSize != nil
	for name, missing := range map[string]bool{"from": r.Params.From == nil, "to": r.Params.To == nil, "bucketSize": r.Params.BucketSize == nil} {
		if asked && missing {
			broken = append(broken, wire.BrokenParameter(name, "missing_parameter", "is required with the other two", nil)...)
		}
	}
	if asked && broken == nil {
		w, broken = wire.WindowAt(s.Now(), wire.Value(r.Params.From), wire.Value(r.Params.To), wire.Value(r.Params.BucketSize))
	}
	scope, err := wire.FleetScope(ctx, s.Fleet, wire.Filter{}, broken)
	if err != nil {
		return nil, err
	}
	server, err := s.row(ctx, r.InstanceId)
	if err != nil {
		return nil, err
	}
	all, err := replication.Related(ctx, s.DB, organization, scope, r.InstanceId)
	if err != nil {
		return nil, err
	}
	names, err := s.Fleet.Names(ctx, organization, wire.List(all, func(k replication.Kept) uuid.UUID { return k.Instance }))
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(k replication.Kept) bool { return names[k.Instance].Removed })
	show := showReplication{names: names, picture: replication.PictureOf(r.InstanceId, all, s.Now())}
	shown := show.of(r.InstanceId, all)
	var side wire.Side
	if shown.RoleChanges, err = s.roleChanges(ctx, show, r.InstanceId); side.Lacks(ctx, err, "roleChanges") {
		shown.RoleChanges = nil
	}
	if asked {
		if shown.History, err = s.lagHistory(ctx, server, w); side.Lacks(ctx, err, "history") {
			shown.History = nil
		}
	}
	shown.Unavailable = side.Unavailable()
	return api.GetReplication200JSONResponse(shown), nil
}

// showReplication shows replication to a caller, who sees the servers that have names.
type showReplication struct {
	names   map[uuid.UUID]projected.Named
	picture replication.Picture
}

func (s showReplication) instance(id uuid.UUID) *api.ContributingInstance {
	if id == uuid.Nil {
		return nil
	}
	named := wire.NamedInstance(s.names, id)
	return &named
}

// of is the answer about an instance, without what is beside.
func (s showReplication) of(instance uuid.UUID, all []replication.Kept) api.Replication {
	shown := api.Replication{
		Standbys: []api.ReplicationStandby{}, Slots: []api.ReplicationSlot{}, Subscriptions: []api.ReplicationSubscription{},
		OtherPrimaries: []api.ContributingInstance{}, Nodes: []api.ReplicationNode{}, Edges: []api.ReplicationEdge{},
	}
	at := slices.IndexFunc(all, func(k replication.Kept) bool { return k.Instance == instance })
	if at < 0 {
		return shown
	}
	k := &all[at]
	f := k.Figures()
	condition := api.ReplicationCondition(k.Condition)
	shown.MeasuredAt, shown.Role, shown.EngineRole, shown.RoleSince = wire.UTC(&k.At), roleOf(k.Role), wire.Optional(k.Words), wire.UTC(k.RoleSince)
	if len(k.Systems) == 1 && !strings.Contains(k.Systems[0], "-") { // and not the id of an availability group
		shown.System = &k.Systems[0]
	}
	shown.Timeline, shown.State = positive(k.Timeline), wire.Optional(k.State.State)
	shown.Condition, shown.Since, shown.Why = &condition, wire.UTC(k.Since), wire.Optional(k.Why)
	shown.LagSeconds, shown.LagBytes, shown.RetainedBytes = seconds(f.LagSeconds), f.LagBytes, f.Retained
	shown.MissingGrant, shown.Omitted = wire.Optional(k.Denied), k.Omitted
	node := slices.IndexFunc(s.picture.Nodes, func(n replication.Node) bool { return n.Instance == instance })
	if up := k.Upstream; up != nil {
		shown.Upstream = &api.ReplicationUpstream{Name: wire.Optional(up.Name), Host: wire.Optional(up.Host), Slot: wire.Optional(up.Slot)}
		if up.Port != 0 {
			port := int64(up.Port)
			shown.Upstream.Port = &port
		}
		for _, e := range s.picture.Edges {
			if e.To == node && e.Kind == up.Kind {
				shown.Upstream.Instance = s.instance(s.picture.Nodes[e.From].Instance)
			}
		}
	}
	for _, p := range k.Peers {
		shown.Standbys = append(shown.Standbys, s.standby(p, node))
	}
	shown.Slots, shown.Subscriptions = wire.List(k.Slots, showSlot), wire.List(k.Subscriptions, showSubscription)
	shown.OtherPrimaries = wire.List(s.picture.Nodes[node].SplitFrom, func(id uuid.UUID) api.ContributingInstance { return *s.instance(id) })
	shown.Nodes, shown.Edges = wire.List(s.picture.Nodes, s.node), wire.List(s.picture.Edges, showEdge)
	return shown
}

// standby shows one that follows the server at a node.
func (s showReplication) standby(p replication.Peer, node int) api.ReplicationStandby {
	one := api.ReplicationStandby{
		Name: p.Name, Host: wire.Optional(p.Host), Kind: api.ReplicationKind(p.Kind), Group: wire.Optional(p.Group), Slot: wire.Optional(p.Slot),
		State: wire.Optional(p.State), Sync: wire.Optional(p.Sync), Condition: api.ReplicationCondition(p.Condition), Since: wire.UTC(p.Since), Why: wire.Optional(p.Why),
		LagSeconds: seconds(p.LagSeconds), LagBytes: p.LagBytes, SendQueueBytes: p.SendQueue, RedoQueueBytes: p.RedoQueue,
	}
	if p.Databases > 0 {
		databases, suspended := int64(p.Databases), int64(p.Suspended)
		one.Databases, one.SuspendedDatabases = &databases, &suspended
	}
	if to, known := s.picture.Receiver(node, p); known {
		one.Instance = s.instance(to)
	}
	return one
}

func showSlot(of replication.Slot) api.ReplicationSlot {
	return api.ReplicationSlot{
		Name: of.Name, Kind: api.ReplicationKind(of.Kind), Database: wire.Optional(of.Database), Plugin: wire.Optional(of.Plugin), Active: of.Active,
		WalStatus: wire.Optional(of.WAL), RetainedBytes: of.Retained, SafeBytes: of.Safe,
		Condition: api.ReplicationCondition(of.Condition), Since: wire.UTC(of.Since), Why: wire.Optional(of.Why),
	}
}

func showSubscription(of replication.Subscription) api.ReplicationSubscription {
	return api.ReplicationSubscription{
		Name: of.Name, Database: wire.Optional(of.Database), LagBytes: of.LagBytes,
		Condition: api.ReplicationCondition(of.Condition), Since: wire.UTC(of.Since), Why: wire.Optional(of.Why),
	}
}

func (s showReplication) node(n replication.Node) api.ReplicationNode {
	shown := api.ReplicationNode{
		Instance: s.instance(n.Instance), Name: n.Name, Condition: api.ReplicationCondition(n.Condition), Since: wire.UTC(n.Since), Why: wire.Optional(n.Why),
		LagSeconds: seconds(n.LagSeconds), LagBytes: n.LagBytes,
	}
	if shown.Instance != nil {
		shown.Name, shown.MeasuredAt = shown.Instance.Name, wire.UTC(&n.At)
	}
	shown.Role = roleOf(n.Role)
	return shown
}

// roleOf is nil if a role is not known.
func roleOf(r replication.Role) *api.ReplicationRole {
	if r == "" {
		return nil
	}
	role := api.ReplicationRole(r)
	return &role
}

func showEdge(e replication.Edge) api.ReplicationEdge {
	return api.ReplicationEdge{
		From: e.From, To: e.To, Kind: api.ReplicationKind(e.Kind), Group: wire.Optional(e.Group), State: wire.Optional(e.State), Sync: wire.Optional(e.Sync),
		Condition: api.ReplicationCondition(e.Condition), Since: wire.UTC(e.Since), Why: wire.Optional(e.Why), LagSeconds: seconds(e.LagSeconds), LagBytes: e.LagBytes,
	}
}

// roleChanges are the newest of the servers of a picture.
func (s *ServerRoutes) roleChanges(ctx context.Context, show showReplication, instance uuid.UUID) (*[]api.ReplicationRoleChange, error) {
	scope := domain.Scope{Filtered: true, Instances: []uuid.UUID{instance}}
	for _, n := range show.picture.Nodes {
		if n.Instance != uuid.Nil && n.Instance != instance {
			scope.Instances = append(scope.Instances, n.Instance)
		}
	}
	now := s.Now()
	found, err := replication.RoleChanges(ctx, s.DB, wire.Caller(ctx).Organization.ID, scope, now.Add(-replication.RolesKept), now.Add(time.Minute), roleChangesShown)
	if err != nil {
		return nil, err
	}
	changes := wire.List(found, func(c replication.RoleChange) api.ReplicationRoleChange {
		return api.ReplicationRoleChange{
			Instance: *show.instance(c.Instance), At: c.At.UTC(), From: api.ReplicationRole(c.Was), To: api.ReplicationRole(c.Role), Timeline: positive(c.Timeline),
		}
	})
	return &changes, nil
}

// lagHistory is the lag of a server in a window.
func (s *ServerRoutes) lagHistory(ctx context.Context, of projected.Instance, w wire.SeriesWindow) (*api.ReplicationHistory, error) {
	found, err := s.Tiles.Store.ServerFigures(ctx, wire.Caller(ctx).Organization.ID, of.Engine, of.ID, w.Window)
	if err != nil {
		return nil, err
	}
	line := func(of measurements.Figure, parts float64) measurements.Values {
		if found := found[measurements.FigureOf{Figure: of}]; found != nil {
			for i := range found.Values {
				found.Values[i] /= parts
			}
			return found.Values
		}
		return measurements.Gaps(w.Len())
	}
	h := api.ReplicationHistory{
		From: w.From.UTC(), To: w.To.UTC(), BucketSize: api.BucketSize(w.Size), BucketStarts: w.Starts(), LastBucketPartial: w.LastIsPartial(),
		LagSeconds: line(measurements.ReplicationLag, 1000), LagBytes: line(measurements.ReplicationBehind, 1), RetainedBytes: line(measurements.SlotRetained, 1),
	}
	return &h, nil
}

func seconds(lag *float64) *float64 {
	if lag == nil {
		return nil
	}
	return wire.Rounded(*lag, wire.Thousandths)
}

// positive is a number that is not known where it is zero.
func positive(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}
