package tiles

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements/blocking"
)

// mostDeadlocked is of how many databases the deadlocks are shown one by one.
const mostDeadlocked = 100

// GetDeadlocks answers how many deadlocks there were, and which sessions the newest ones were between.
func (s *TileRoutes) GetDeadlocks(ctx context.Context, r api.GetDeadlocksRequestObject) (api.GetDeadlocksResponseObject, error) {
	p, hides := r.Params, wire.HidesPeople(ctx)
	return s.tile(ctx, fmt.Sprintf("deadlocks, hidden %t", hides), func(ctx context.Context, of tileQuery, scope fleet.Scope, now time.Time) (*tile, error) {
		return s.readDeadlocks(ctx, of, scope, now, hides)
	}, p.From, p.To, p.BucketSize, wire.Filter{IDs: p.InstanceId, Tags: p.Tag})
}

func (a tileAnswer) VisitGetDeadlocksResponse(w http.ResponseWriter) error { return a.write(w) }

func (s *TileRoutes) readDeadlocks(ctx context.Context, of tileQuery, scope fleet.Scope, now time.Time, hides bool) (*tile, error) {
	d, err := s.Tiles.Deadlocks(ctx, of.organization, scope, of.window, mostDeadlocked)
	if err != nil {
		return nil, notKept(err)
	}
	bare, err := blocking.BareDeadlocks(ctx, s.DB, of.organization, scope, of.window.Start(), of.window.End())
	if err != nil {
		return nil, err
	}
	d.Add(of.window, bare)
	d.Cut(mostDeadlocked)
	shown := fleet.Scope{Filtered: true}
	var ids []uuid.UUID
	for database := range d.Lines {
		ids, shown.Instances = append(ids, database.Instance, database.Database), append(shown.Instances, database.Instance)
	}
	newest, err := blocking.NewestDeadlocks(ctx, s.DB, of.organization, shown, of.window.Start(), of.window.End())
	if err != nil {
		return nil, err
	}
	names, err := s.Fleet.Names(ctx, of.organization, ids)
	if err != nil {
		return nil, err
	}
	items := []api.DatabaseDeadlocks{}
	for database, values := range d.Lines {
		item := api.DatabaseDeadlocks{Instance: wire.NamedInstance(names, database.Instance), Count: values.Sum(), Values: values}
		name := ""
		if database.Database != uuid.Nil {
			name = names[database.Database].Name
			item.Database = &api.ContributingDatabase{Id: database.Database, Name: name}
		}
		if engine := fleet.Engine(item.Instance.Engine); item.Database == nil && !slices.Contains(d.Engines, engine) {
			d.Engines = append(d.Engines, engine)
		}
		addSides(&item, newest, database.Instance, name, hides)
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b api.DatabaseDeadlocks) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Instance.Name, b.Instance.Name), cmp.Compare(databaseOf(a), databaseOf(b)))
	})
	return newTile(of.window, now, d.Incomplete, []line{{"deadlocks", d.Total}},
		member{"unit", "deadlocks"}, member{"items", items}, member{"others", d.Others}, member{"engines", wire.NeverNull(d.Engines)}, member{"incomplete", d.Incomplete})
}

// addSides puts in the sides of the newest deadlock of a database, as far as they are known. database is its
// name; empty: the server does not say which one it is.
func addSides(item *api.DatabaseDeadlocks, newest []blocking.Sides, instance uuid.UUID, database string, hides bool) {
	item.Statements, item.Sessions, item.Victims = []string{}, []api.BlockingSession{}, []string{}
	i := slices.IndexFunc(newest, func(n blocking.Sides) bool { return n.Instance == instance && n.Database == database })
	if i < 0 {
		return
	}
	found := newest[i]
	source := api.DeadlockSeen
	if found.Reported {
		source = api.DeadlockReported
	}
	item.NewestAt, item.Source, item.Victims = wire.UTC(&found.At), &source, wire.NeverNull(found.Tree.Victims)
	for _, n := range found.Tree.Nodes {
		shown := wire.BlockingSession(n, hides)
		if item.Sessions = append(item.Sessions, shown); shown.Statement != nil {
			item.Statements = append(item.Statements, *shown.Statement)
		}
	}
}

func databaseOf(item api.DatabaseDeadlocks) string {
	if item.Database == nil {
		return ""
	}
	return item.Database.Id.String()
}
