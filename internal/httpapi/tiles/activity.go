package tiles

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements"
	"muster/internal/measurements/waitclass"
	projected "muster/projections/fleet"
)

const (
	// machineAge is how old the newest sample of a host may be that tells its CPUs.
	machineAge = 24 * time.Hour
	// mostMachines is of how many hosts the CPUs are looked up: of more, a line of them says little.
	mostMachines = 100
)

// Keys of series that have no name.
const (
	unknownKey = "unknown"
	othersKey  = "others"
	cpuKey     = "cpu"
)

// GetActivity answers what sessions did, by a dimension.
func (s *TileRoutes) GetActivity(ctx context.Context, r api.GetActivityRequestObject) (api.GetActivityResponseObject, error) {
	p := r.Params
	q, limit := measurements.ActivityQuery{By: measurements.Dimension(p.By)}, wire.ContributorLimit(p.Limit)
	for _, state := range wire.Value(p.State) {
		q.States = append(q.States, measurements.State(state))
	}
	slices.Sort(q.States)
	q.States = slices.Compact(q.States)
	q.Names = map[measurements.Dimension][]string{}
	for of, names := range map[measurements.Dimension]*[]string{measurements.DimUser: p.User, measurements.DimApplication: p.Application, measurements.DimClient: p.Client} {
		if asked := slices.Clone(wire.Value(names)); len(asked) > 0 {
			slices.Sort(asked)
			q.Names[of] = slices.Compact(asked)
		}
	}
	if !q.By.Named() {
		q.Limit = limit
	}
	if err := seesPeople(ctx, q.By.Personal() || len(q.Names) > 0); err != nil {
		return nil, err
	}
	texts := q.By == measurements.DimStatement && seesTexts(ctx)
	name := fmt.Sprintf("activity by %s of %v and %q up to %d, texts %t", q.By, q.States, q.Names, limit, texts)
	return s.tile(ctx, name, func(ctx context.Context, of tileQuery, scope fleet.Scope, now time.Time) (*tile, error) {
		return s.readActivity(ctx, of, scope, now, q, limit, texts)
	}, p.From, p.To, p.BucketSize, wire.Filter{IDs: p.InstanceId, Tags: p.Tag})
}

func (a tileAnswer) VisitGetActivityResponse(w http.ResponseWriter) error { return a.write(w) }

// seesPeople refuses viewers what is by people.
func seesPeople(ctx context.Context, personal bool) error {
	if personal && wire.HidesPeople(ctx) {
		return &wire.Problem{Code: "forbidden", Detail: "Viewers do not see users, applications and clients."}
	}
	return nil
}

func (s *TileRoutes) readActivity(ctx context.Context, of tileQuery, scope fleet.Scope, now time.Time, q measurements.ActivityQuery, limit int, texts bool) (*tile, error) {
	a, err := s.Tiles.Activity(ctx, of.organization, scope, of.window, q)
	if err != nil {
		return nil, notKept(err)
	}
	var side wire.Side
	cores, hosts, err := s.coresOf(ctx, of, scope)
	side.Lacks(ctx, err, "cores")
	side.Lacks(ctx, s.Tiles.NameLines(ctx, of.organization, q.By, &a), "items.name")
	a.Cut(limit)
	named, err := s.activityNames(ctx, of.organization, a, texts, &side)
	if err != nil {
		return nil, err
	}
	items, lines := make([]api.ActivityItem, len(a.Lines)), make([]line, 0, len(a.Lines)+1)
	taken := map[string]bool{othersKey: true, unknownKey: true}
	total := a.Total.Average()
	for i, one := range a.Lines {
		items[i] = named.item(q.By, one)
		if items[i].Known || items[i].Key != unknownKey {
			items[i].Key = unlike(taken, items[i].Key)
		}
		items[i].Average = *wire.Rounded(one.Average, wire.Thousandths)
		items[i].Share = wire.Rounded(one.Average/total, wire.Millionths)
		items[i].ByClass = byClass(one)
		lines = append(lines, line{items[i].Key, one.Values})
	}
	if a.Others != nil {
		lines = append(lines, line{othersKey, a.Others})
	}
	return newTile(of.window, now, a.Incomplete || len(side.Unavailable()) > 0, lines,
		member{"unit", api.AverageActiveSessions}, member{"by", q.By}, member{"items", items}, member{"others", a.OtherLines},
		member{"average", wire.Rounded(total, wire.Thousandths)}, member{"cores", cores}, member{"coreHosts", hosts},
		member{"engines", wire.NeverNull(a.Engines)}, member{"partialEngines", wire.NeverNull(a.Partial)}, member{"incomplete", a.Incomplete},
		member{"unavailable", side.Unavailable()})
}

// byClass is what a line comes to by class; nil where that is not known.
func byClass(of measurements.ActivityLine) *map[string]float64 {
	if of.Classes == nil {
		return nil
	}
	found := map[string]float64{}
	for class, v := range of.Classes.Of(of.Average) {
		if v > 0 {
			name := cpuKey
			if class < waitclass.Categories {
				name = waitclass.Names[class]
			}
			found[name] = *wire.Rounded(v, wire.Thousandths)
		}
	}
	return &found
}

// unlike is a key that is not taken, and takes it.
func unlike(taken map[string]bool, key string) string {
	free := key
	for n := 2; taken[free]; n++ {
		free = key + " (" + strconv.Itoa(n) + ")"
	}
	taken[free] = true
	return free
}

// coresOf are the logical CPUs of the hosts in scope that tell them, and how many hosts that is.
func (s *TileRoutes) coresOf(ctx context.Context, of tileQuery, scope fleet.Scope) (cores *int, hosts int, err error) {
	in, err := s.hostScope(ctx, of.organization, scope)
	if err != nil {
		return nil, 0, err
	}
	machines, err := s.Tiles.Store.Machines(ctx, of.organization, in, of.window.To.Add(-machineAge), mostMachines)
	if err != nil || len(machines) > mostMachines {
		return nil, 0, err
	}
	sum := 0
	for _, m := range machines {
		if m.CPUs > 0 {
			sum, hosts = sum+m.CPUs, hosts+1
		}
	}
	if hosts == 0 {
		return nil, 0, nil
	}
	return &sum, hosts, nil
}

// activityNames are the names of what lines are of.
type activityNames struct {
	names map[uuid.UUID]projected.Named
	texts map[uuid.UUID]measurements.NamedStatement
}

func (s *TileRoutes) activityNames(ctx context.Context, organization uuid.UUID, a measurements.Activity, texts bool, side *wire.Side) (n activityNames, err error) {
	var ids, statements []uuid.UUID
	for _, one := range a.Lines {
		if one.Instance != uuid.Nil {
			ids = append(ids, one.Instance, one.Database)
		}
		if one.Statement != 0 {
			statements = append(statements, measurements.StatementID(one.Instance, one.Statement))
		}
	}
	if n.names, err = s.Fleet.Names(ctx, organization, ids); err != nil || !texts {
		return n, err
	}
	n.texts, err = s.Tiles.Store.NameStatements(ctx, organization, statements)
	side.Lacks(ctx, err, "items.statement.text")
	return n, nil
}

// item is what a line is of, with the key that its series has if no other one has it.
func (n activityNames) item(by measurements.Dimension, one measurements.ActivityLine) api.ActivityItem {
	item := api.ActivityItem{Key: unknownKey}
	if one.Instance != uuid.Nil {
		is := wire.NamedInstance(n.names, one.Instance)
		item.Instance = &is
	}
	if one.Database != uuid.Nil {
		item.Database = &api.ContributingDatabase{Id: one.Database, Name: n.names[one.Database].Name}
	}
	class := cpuKey
	if one.Class != measurements.ClassOnCPU {
		class = waitclass.Names[one.Class]
	}
	switch by {
	case measurements.DimState:
		item.Key, item.Known = string(one.State), true
	case measurements.DimWaitClass:
		item.Key, item.Known, item.WaitClass = class, true, &class
	case measurements.DimInstance:
		item.Key, item.Known = one.Instance.String(), true
	case measurements.DimDatabase:
		item.Key, item.Known = one.Database.String(), true
	case measurements.DimStatement:
		if one.Statement != 0 {
			id := measurements.StatementID(one.Instance, one.Statement)
			item.Key, item.Known, item.Statement = id.String(), true, &api.ContributingStatement{Id: id, Text: wire.Optional(n.texts[id].Text)}
		}
	case measurements.DimWaitEvent:
		item.Key, item.Known, item.WaitClass = class, class == cpuKey, &class
	case measurements.DimUser, measurements.DimApplication, measurements.DimClient:
	}
	if one.Text != "" {
		item.Key, item.Known, item.Name = one.Text, true, &one.Text
	}
	return item
}
