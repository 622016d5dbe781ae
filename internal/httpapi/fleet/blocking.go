package fleet

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands/alerting/people"
	"muster/domain/alert"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements/blocking"
	"muster/projections/alerts"
	projected "muster/projections/fleet"
)

type blockingAnswer struct{ wire.Tagged }

func (a blockingAnswer) VisitListBlockingResponse(w http.ResponseWriter) error { return a.Write(w) }
func (a blockingAnswer) VisitGetBlockingResponse(w http.ResponseWriter) error  { return a.Write(w) }

// ListBlocking lists episodes in which sessions waited for each other.
func (s *ServerRoutes) ListBlocking(ctx context.Context, r api.ListBlockingRequestObject) (api.ListBlockingResponseObject, error) {
	p := r.Params
	w, broken := wire.SpanAt(s.Now(), p.From, p.To)
	scope, err := wire.FleetScope(ctx, s.Fleet, wire.Filter{IDs: p.InstanceId, Tags: p.Tag}, broken)
	if err != nil {
		return nil, err
	}
	q := blocking.Query{
		Organization: wire.Caller(ctx).Organization.ID, Scope: scope, From: w.From, To: w.To,
		Page: wire.Or(p.Page, 1), Size: wire.Or(p.PageSize, wire.DefaultPageSize),
	}
	found, total, err := blocking.Episodes(ctx, s.DB, q)
	if err != nil {
		return nil, err
	}
	names, err := s.Fleet.Names(ctx, q.Organization, wire.List(found, func(e blocking.Episode) uuid.UUID { return e.Instance }))
	if err != nil {
		return nil, err
	}
	show := showBlocking{names: names, hides: wire.HidesPeople(ctx), now: w.Now}
	steady := api.BlockingPage{Items: wire.List(found, show.episode), Page: wire.Paged(ctx, q.Page, q.Size, total)}
	answer := steady
	answer.From, answer.To = w.From, w.To
	tagged, err := wire.NewTagged(ctx, answer, steady)
	return blockingAnswer{tagged}, err
}

// GetBlocking shows an episode with its samples and their trees, and the tree of one time.
func (s *ServerRoutes) GetBlocking(ctx context.Context, r api.GetBlockingRequestObject) (api.GetBlockingResponseObject, error) {
	organization := wire.Caller(ctx).Organization.ID
	e, ok, err := blocking.Find(ctx, s.DB, organization, r.EpisodeId)
	if err := wire.Found(ok && wire.Sees(ctx, e.Instance), err, "episode"); err != nil {
		return nil, err
	}
	moments, err := blocking.Moments(ctx, s.DB, organization, e)
	if err != nil {
		return nil, err
	}
	at := e.Last
	if r.Params.At != nil {
		at = *r.Params.At
	}
	tree, of, kept, err := blocking.TreeAt(ctx, s.DB, organization, e, at)
	if err != nil {
		return nil, err
	}
	names, err := s.Fleet.Names(ctx, organization, []uuid.UUID{e.Instance})
	if err != nil {
		return nil, err
	}
	trees, err := blocking.Trees(ctx, s.DB, organization, e, moments)
	if err != nil {
		return nil, err
	}
	show := showBlocking{names: names, hides: wire.HidesPeople(ctx), now: s.Now()}
	answer := api.BlockingDetail{Episode: show.episode(e), Samples: wire.List(moments, func(m blocking.Moment) api.BlockingMoment {
		shown := showMoment(m)
		if tree, there := trees[m.At.UTC()]; there {
			shown.Tree = show.tree(m.At, tree.Nodes, tree.Omitted)
		}
		return shown
	})}
	if kept {
		answer.Tree = show.tree(of, tree.Nodes, tree.Omitted)
	}
	tagged, err := wire.NewTagged(ctx, answer, nil)
	return blockingAnswer{tagged}, err
}

// showBlocking shows episodes to a caller.
type showBlocking struct {
	names map[uuid.UUID]projected.Named
	hides bool
	now   time.Time
}

func (s showBlocking) episode(e blocking.Episode) api.BlockingEpisode {
	return api.BlockingEpisode{
		Id:       e.ID,
		Instance: wire.NamedInstance(s.names, e.Instance),
		Database: wire.Optional(e.Held.Root.Database), Advisory: e.Advisory, From: e.First.UTC(), To: wire.UTC(e.To(s.now)), EndSeen: e.Seen(),
		MaxBlocked: e.Waiting, PeakAt: e.Peak.UTC(), BlockedSeconds: *wire.Rounded(e.Seconds, wire.Thousandths), Behind: e.Held.Behind, Roots: e.Held.Roots,
		Cycle: wire.NeverNull(e.Held.Cycle), Root: s.session(e.Held.Root),
		Lock: wire.Optional(e.Held.Lock), Mode: wire.Optional(e.Held.Mode), Object: wire.Optional(e.Held.Object),
		EndedBy: (*api.BlockingEnd)(e.End),
	}
}

func (s showBlocking) session(n blocking.Node) api.BlockingSession {
	return wire.BlockingSession(n, s.hides)
}

func (s showBlocking) tree(at time.Time, nodes []blocking.Node, omitted int) *api.BlockingTree {
	return &api.BlockingTree{
		At: at.UTC(), Omitted: omitted, Sessions: wire.List(nodes, s.session),
		Roots: wire.List(blocking.Roots(nodes), func(r blocking.Root) api.BlockingRoot {
			return api.BlockingRoot{Session: r.Node.Session, Behind: r.Behind, Cycle: wire.NeverNull(r.Cycle)}
		}),
	}
}

func showMoment(m blocking.Moment) api.BlockingMoment {
	return api.BlockingMoment{
		At: m.At.UTC(), Blocked: m.Waiting, Session: m.Root.Root.Session, StartedAt: wire.UTC(m.Root.Root.Began), TreeKept: m.Tree,
	}
}

// frozen is the tree that the event keeps which raised an alert, with whose sessions they are and what they execute,
// where that is still kept beside the log; nil: the event keeps none.
func (s *ServerRoutes) frozen(ctx context.Context, id uuid.UUID, moments []alerts.Moment) (*api.AlertBlocking, error) {
	at := slices.IndexFunc(moments, func(m alerts.Moment) bool { return m.Blocking != nil })
	if at < 0 {
		return nil, nil
	}
	organization, was := wire.Caller(ctx).Organization.ID, moments[at].Blocking
	kept, err := people.Of(ctx, s.DB, organization, []uuid.UUID{id})
	if err != nil {
		return nil, err
	}
	texts, err := s.texts(ctx, was)
	if err != nil {
		return nil, err
	}
	who := kept[id].Frozen(was.People)
	nodes := wire.List(was.Sessions, func(b alert.BlockedSession) blocking.Node {
		n := blocking.Node{
			Session: b.Session, Kind: blocking.Kind(b.Kind), Began: b.Began, Database: b.Database, State: b.State, Idle: b.Idle, StatementID: b.StatementID,
			Transaction: b.Transaction, Changed: b.Changed, Waits: b.Waits, For: b.For, Lock: b.Lock, Mode: b.Mode, Object: b.Object, Advisory: b.Advisory,
		}
		if i := slices.IndexFunc(who, func(p alert.Person) bool { return p.Is(b) }); i >= 0 {
			n.User, n.Application, n.Client = who[i].User, who[i].Application, who[i].Client
		}
		if t, there := texts[b.Session]; there && (alert.Person{Session: b.Session, Began: t.Began}).Is(b) { // else another session has that id now
			n.Statement = t.Statement
		}
		return n
	})
	show := showBlocking{hides: wire.HidesPeople(ctx)}
	return &api.AlertBlocking{EpisodeId: was.EpisodeID, Tree: *show.tree(was.At, nodes, was.Omitted)}, nil
}

// texts are the sessions of a tree, with their statements, for as long as the episode keeps it.
func (s *ServerRoutes) texts(ctx context.Context, was *alert.Blocking) (map[string]blocking.Node, error) {
	organization, kept := wire.Caller(ctx).Organization.ID, map[string]blocking.Node{}
	e, found, err := blocking.Find(ctx, s.DB, organization, was.EpisodeID)
	if err != nil || !found {
		return nil, err
	}
	tree, _, _, err := blocking.TreeAt(ctx, s.DB, organization, e, was.At)
	for _, n := range append(tree.Nodes, e.Held.Root) {
		kept[n.Session] = n
	}
	return kept, err
}
