package fleet

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/inventory"
	"muster/commands/usecase"
	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/assessment"
	"muster/internal/assessment/findings"
	"muster/internal/assessment/grants"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/intake/collect"
	"muster/internal/intake/heartbeat"
	"muster/internal/servers"
	"muster/internal/watch/status"
	"muster/projections/fleet"
)

const instancesPath = "/api/v1/instances/"

// Connections reaches the servers that have a DSN; *collect.Collector is one.
type Connections interface {
	// Try shows that a server can be assessed, and which one it is, or says why it cannot.
	Try(ctx context.Context, organization uuid.UUID, engine domain.Engine, dsn string) (servers.Identity, error)
	// Request makes an instance due now.
	Request(ctx context.Context, organization, instance uuid.UUID) error
}

func (s *ServerRoutes) ListInstances(ctx context.Context, r api.ListInstancesRequestObject) (api.ListInstancesResponseObject, error) {
	p := r.Params
	ids, err := wire.FilteredIDs(ctx, s.Fleet, wire.Filter{IDs: p.Id, IDsAs: "id", Tags: p.Tag, Owner: p.Owner})
	if err != nil {
		return nil, err
	}
	if wire.Value(p.MayAct) {
		ids = whereOneActs(ctx, ids)
	}
	q := fleet.Query{
		Organization: wire.Caller(ctx).Organization.ID, IDs: ids, Search: wire.Value(p.Q),
		Page: wire.Or(p.Page, 1), Size: wire.Or(p.PageSize, wire.DefaultPageSize),
	}
	if n := len(wire.Value(p.Id)); n > 0 { // a filter resolves in one call, on one page
		q.Size = max(q.Size, n)
	}
	q.Engines = wire.Words[domain.Engine](wire.Value(p.Engine))
	if p.Status != nil {
		active := *p.Status != api.ListInstancesParamsStatusInactive
		q.Active = &active
	}
	by, descending := strings.CutPrefix(string(wire.Value(p.Sort)), "-")
	state := status.State(wire.Value(p.Status))
	filtered := state != "" && state != status.Inactive && *p.Status != api.ListInstancesParamsStatusActive
	if filtered || by == "owner" || sortsByTrouble(ctx, by) {
		return s.listAll(ctx, q, state, filtered, by, descending)
	}
	q.Descending = descending && by == "name"
	rows, total, err := s.Fleet.Instances(ctx, q)
	if err != nil {
		return nil, err
	}
	items, err := s.showInstances(ctx, rows, listed, &wire.Side{})
	return api.ListInstances200JSONResponse{Items: items, Page: wire.Paged(ctx, q.Page, q.Size, total)}, err
}

// whereOneActs leaves of a filter by ids, where none stands for all, the servers on which the caller may act. If there
// are none, it is an id that no server has.
func whereOneActs(ctx context.Context, ids []uuid.UUID) []uuid.UUID {
	world := wire.Caller(ctx).World
	if world == nil && wire.Changes(ctx, uuid.Nil) {
		return ids
	}
	if len(ids) == 0 {
		ids = world.Instances()
	}
	if ids = slices.DeleteFunc(ids, func(id uuid.UUID) bool { return !wire.Changes(ctx, id) }); len(ids) == 0 {
		return []uuid.UUID{uuid.Nil}
	}
	return ids
}

// sortsByTrouble says whether a list is sorted by how servers fare.
func sortsByTrouble(ctx context.Context, by string) bool {
	return by != "" && by != "name" && by != "owner" && mayReadMetrics(ctx)
}

// listAll reads all that match, and keeps those in a state where filtered says so. It sorts
// them by how they fare or by their owners, and shows a page.
func (s *ServerRoutes) listAll(ctx context.Context, q fleet.Query, state status.State, filtered bool, by string, descending bool) (api.ListInstancesResponseObject, error) {
	page, size := q.Page, q.Size
	q.Page, q.Size, q.Descending = 1, everyone, descending && by == "name"
	rows, _, err := s.Fleet.Instances(ctx, q)
	if err != nil {
		return nil, err
	}
	if filtered {
		of, err := status.Of(ctx, s.DB, wire.Caller(ctx).Organization.ID, idsOf(rows), s.Now())
		if err != nil {
			return nil, err
		}
		rows = slices.DeleteFunc(rows, func(row fleet.Instance) bool { return of[row.ID].State != state })
	}
	var side wire.Side
	switch {
	case by == "owner":
		owners, err := wire.OwnerNames(ctx, s.Fleet)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(rows, func(a, b fleet.Instance) int { return findings.CompareOwners(owners[a.ID], owners[b.ID], descending) })
	case sortsByTrouble(ctx, by):
		f, err := s.troubleOf(ctx, rows, by, &side)
		if err != nil {
			return nil, err
		}
		f.byTrouble(rows, by, descending)
	}
	total := int64(len(rows))
	first := min((int64(page)-1)*int64(size), total)
	items, err := s.showInstances(ctx, rows[first:min(first+int64(size), total)], listed, &side)
	return api.ListInstances200JSONResponse{Items: items, Page: wire.Paged(ctx, page, size, total)}, err
}

func (s *ServerRoutes) GetInstance(ctx context.Context, r api.GetInstanceRequestObject) (api.GetInstanceResponseObject, error) {
	shown, err := s.instance(ctx, r.InstanceId)
	return api.GetInstance200JSONResponse(shown), err
}

func (s *ServerRoutes) instance(ctx context.Context, id uuid.UUID) (api.Instance, error) {
	row, err := s.row(ctx, id)
	if err != nil {
		return api.Instance{}, err
	}
	shown, err := s.showInstances(ctx, []fleet.Instance{row}, alone, &wire.Side{})
	if err != nil {
		return api.Instance{}, err
	}
	return shown[0], nil
}

// row is an instance that the caller sees.
func (s *ServerRoutes) row(ctx context.Context, id uuid.UUID) (fleet.Instance, error) {
	row, ok, err := s.Fleet.Instance(ctx, wire.Caller(ctx).Organization.ID, id)
	return row, wire.Found(ok && wire.Sees(ctx, id), err, "instance")
}

// knownGrants holds what is to be declined to what is missing on an instance, or declined
// already.
func (s *ServerRoutes) knownGrants(ctx context.Context, row fleet.Instance, objects []string) error {
	organization := wire.Caller(ctx).Organization.ID
	states, err := s.Servers.States(ctx, organization, []uuid.UUID{row.ID})
	if err != nil {
		return err
	}
	agents, err := s.Agents.Of(ctx, organization, []uuid.UUID{row.ID})
	if err != nil {
		return err
	}
	declined, err := s.Servers.Declined(ctx, organization, []uuid.UUID{row.ID})
	if err != nil {
		return err
	}
	missing := slices.Concat(states[row.ID].MissingGrants, grants.Stated(row.Engine, row.Version, s.Checks, agents[row.ID].Instance.Missing))
	var broken []api.FieldError
	for i, object := range objects {
		why := grants.Refuse(row.Engine, missing, object)
		if why == "" || slices.Contains(declined[row.ID], object) {
			continue
		}
		pointer := "#/declinedGrants/" + strconv.Itoa(i)
		broken = append(broken, api.FieldError{In: api.Body, Pointer: &pointer, Code: "invalid_parameter", Detail: why})
	}
	if p := wire.BrokenRules(broken); p != nil {
		return p
	}
	return nil
}

// detail is how much of an instance is shown.
type detail bool

const (
	listed detail = false // the first missing grants, and no script
	alone  detail = true
)

// showInstances shows a page of instances with how they fare.
func (s *ServerRoutes) showInstances(ctx context.Context, rows []fleet.Instance, detail detail, side *wire.Side) ([]api.Instance, error) {
	organization := wire.Caller(ctx).Organization.ID
	f, err := s.figuresOf(ctx, rows, side)
	if err != nil {
		return nil, err
	}
	declined, err := s.Servers.Declined(ctx, organization, idsOf(rows))
	if err != nil {
		return nil, err
	}
	figured := mayReadMetrics(ctx)
	if figured && len(rows) > 0 {
		if f.days, err = s.Health.History(ctx, organization, idsOf(rows), f.firstDay, historyDays); side.Lacks(ctx, err, "health.scoreHistory") {
			f.days = nil
		}
	}
	near, err := s.serversOf(ctx, rows)
	if side.Lacks(ctx, err, "server") {
		near = nearServers{}
	}
	owners, err := wire.Owners(ctx, s.Fleet, idsOf(rows))
	side.Lacks(ctx, err, "owner")
	primaries := map[uuid.UUID]*api.Primary{}
	for _, row := range rows {
		if detail == alone {
			primaries[row.ID], err = s.primaryOf(ctx, f.states[row.ID])
			side.Lacks(ctx, err, "grantOnPrimary")
		}
	}
	return wire.List(rows, func(row fleet.Instance) api.Instance {
		state, now := f.states[row.ID], f.statuses[row.ID]
		state.LastSeenAt = f.seen(row.ID)
		if !row.Active {
			now = status.Off()
		}
		shown := showInstance(row, state, now, declined[row.ID], detail)
		if agent, measured := f.agents[row.ID]; measured && !state.Collected {
			s.addAgent(&shown, agent, declined[row.ID], detail)
		}
		if figured {
			shown.Health = f.show(row.ID)
		}
		shown.Owner, shown.MayAct = owners[row.ID], wire.Changes(ctx, row.ID)
		shown.Server, shown.GrantOnPrimary, shown.Unavailable = near.show(row.ID), primaries[row.ID], side.Unavailable()
		return shown
	}), nil
}

// addAgent shows the agent that measures an instance, and what it found in its way there.
func (s *ServerRoutes) addAgent(i *api.Instance, a heartbeat.State, declined []string, detail detail) {
	i.Agent = &api.MeasuringAgent{
		Name: a.Name, Version: a.Version, Host: a.Host, SeenAt: a.SeenAt, BufferedBytes: a.Buffer.Bytes, MaxBytes: a.Buffer.MaxBytes,
		OldestBufferedAt: wire.UTC(a.Buffer.OldestAt), Facts: a.Buffer.Facts, Refused: a.Buffer.Refused, Dropped: map[string]int64{}, Loops: []api.AgentLoop{},
	}
	if t := a.Takeover; t != nil {
		i.Agent.Takeover = &api.Takeover{By: wire.Optional(t.By), At: t.At, From: t.From, To: wire.UTC(t.To)}
	}
	if detail == alone {
		i.Agent.Loops = wire.List(a.Loops, func(l heartbeat.Loop) api.AgentLoop {
			return api.AgentLoop{Loop: l.Loop, Falls: l.Falls, LastAt: l.LastAt.UTC(), InTrouble: l.InTrouble}
		})
	}
	if detail == alone && a.Buffer.Dropped != nil {
		i.Agent.Dropped = a.Buffer.Dropped
	}
	if e := a.Instance.Error; e != nil && i.LastError == nil && i.Status != api.InstanceStatusUp {
		i.LastError, i.LastErrorAt = &e.Detail, wire.UTC(&e.At)
	}
	engine := domain.Engine(i.Engine)
	missing := grants.All(engine, grants.Stated(engine, wire.Value(i.Version), s.Checks, a.Instance.Missing), declined)
	addGrants(i, missing, detail)
	if detail == alone && i.GrantScript == nil {
		i.GrantScript = wire.Optional(grants.AgentScript(engine, missing))
	}
}

// listedGrants is how many missing grants an instance of a list has: there may be one for
// each of a thousand databases.
const listedGrants = 5

// listedObject is how many characters of an object a list shows: an agent may send two thousand.
const listedObject = 200

// addGrants shows what is missing and not declined, those that are needed first.
func addGrants(i *api.Instance, missing []grants.Advice, detail detail) {
	for _, needed := range []bool{true, false} {
		for _, g := range missing {
			if g.Declined || g.Needed != needed {
				continue
			}
			if i.MissingGrantCount++; needed {
				i.NeededGrantCount++
			}
			if detail == listed && len(i.MissingGrants) == listedGrants {
				continue
			}
			object := g.Object
			if runes := []rune(object); detail == listed && len(runes) > listedObject {
				object = string(runes[:listedObject]) + "…"
			}
			i.MissingGrants = append(i.MissingGrants, api.MissingGrant{
				Object: object, Statement: g.Statement, Checks: wire.NeverNull(g.Checks), Database: wire.Optional(g.Database),
				Needed: g.Needed, Reveals: wire.Optional(g.Reveals), Declinable: g.Declinable,
			})
		}
	}
}

// primaryOf is where a standby's grants are to be given.
func (s *ServerRoutes) primaryOf(ctx context.Context, state assessment.TargetState) (*api.Primary, error) {
	if !state.Standby {
		return nil, nil
	}
	shown := &api.Primary{Address: wire.Optional(state.Upstream)}
	if state.Upstream == "" {
		return shown, nil
	}
	organization := wire.Caller(ctx).Organization.ID
	id, ok, err := s.Servers.At(ctx, organization, state.Upstream)
	if err != nil || !ok {
		return shown, err
	}
	names, err := s.Fleet.InstanceNames(ctx, organization, []uuid.UUID{id})
	if name, known := names[id]; known {
		shown.Instance = &api.Reference{Id: id, Name: name}
	}
	return shown, err
}

func showInstance(row fleet.Instance, state assessment.TargetState, is status.Status, declined []string, detail detail) api.Instance {
	i := api.Instance{
		Id: row.ID, Name: row.Name, Engine: string(row.Engine), Version: wire.Optional(row.Version), Host: wire.Optional(row.Host),
		CreatedAt: row.CreatedAt.UTC(), Active: row.Active, Tags: domain.Tags(row.Tags).Values(), DatabaseCount: row.DatabaseCount, Collected: state.Collected,
		LastSeenAt: wire.UTC(state.LastSeenAt), LastAssessedAt: wire.UTC(state.LastAssessedAt), LastClassifiedAt: wire.UTC(state.LastClassifiedAt),
		MissingGrants: []api.MissingGrant{}, DeclinedGrants: []string{}, Unavailable: []api.UnavailableFigure{},
		Status: api.InstanceStatus(is.State), StatusSince: wire.UTC(is.Since), StatusReason: wire.StatusReason(is.Reason), TriedAt: wire.UTC(is.TriedAt),
	}
	failure := unresolved(state, is)
	i.Parts, i.LastErrors = append(wire.List(is.Parts, showPart), assessed(state, failure)), lastErrors(is.Parts, failure)
	if failure != nil {
		i.LastError, i.LastErrorAt = &failure.Sentence, wire.UTC(&failure.At)
	}
	missing := grants.All(row.Engine, state.MissingGrants, declined)
	addGrants(&i, missing, detail)
	if detail == listed {
		return i
	}
	i.DeclinedGrants = wire.NeverNull(declined)
	where := row.Name
	if state.Standby {
		where = "the primary of " + row.Name
	}
	i.GrantScript = wire.Optional(grants.Script(row.Engine, where, missing))
	return i
}

// CreateInstance tries the connection, then keeps instance and credentials in
// one transaction: neither is ever there without the other.
func (s *ServerRoutes) CreateInstance(ctx context.Context, r api.CreateInstanceRequestObject) (api.CreateInstanceResponseObject, error) {
	engine := domain.Engine(r.Body.Engine)
	who, id := wire.Actor(ctx), wire.CallOf(ctx).Made
	is, err := s.Connections.Try(ctx, who.OrganizationID, engine, r.Body.Dsn)
	if err != nil {
		return nil, connectionProblem(err, "#/engine")
	}
	if id == uuid.Nil {
		id = uuid.Must(uuid.NewV7())
	}
	in := inventory.Registration{Name: r.Body.Name, Engine: engine, Host: wire.Value(r.Body.Host), Active: true, Tags: wire.Value(r.Body.Tags)}
	if target, err := servers.Parse(in.Engine, r.Body.Dsn); err == nil && in.Host == "" {
		in.Host = target.HostName()
	}
	var mark usecase.Mark
	err = eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) (err error) {
		if err := s.Servers.RegisterServer(ctx, tx, who.OrganizationID, id, is, wire.Value(r.Body.Separate)); err != nil {
			return err
		}
		err = s.Servers.SaveCredentials(ctx, tx, assessment.Credentials{
			Organization: who.OrganizationID, Instance: id, Engine: engine, DSN: r.Body.Dsn, Classify: string(wire.Value(r.Body.Classify)),
		})
		if err != nil {
			return err
		}
		_, mark, err = s.Commands.RegisterInstanceTx(ctx, tx, who, id, in)
		return err
	})
	if err != nil {
		return nil, s.knownServer(ctx, err)
	}
	wire.Settle(ctx, s.Waiter, mark)
	if err := s.Connections.Request(ctx, who.OrganizationID, id); err != nil {
		return nil, err
	}
	shown, err := s.instance(ctx, id)
	if p, lags := wire.AsProblem(err); lags && p.Code == "not_found" {
		shown, err = showInstance(fleet.Instance{ID: id, Name: in.Name, Engine: engine, Host: in.Host, Active: true, CreatedAt: s.Now()},
			assessment.TargetState{Collected: true}, status.Decide(nil, s.Now(), nil), nil, alone), nil
		shown.MayAct = wire.Changes(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return api.CreateInstance201JSONResponse{Body: shown, Headers: api.CreateInstance201ResponseHeaders{Location: instancesPath + id.String()}}, nil
}

// connectionProblem says in a class and a sentence why a server was not
// reached; nothing of the driver's text, which may hold the password. engineAt is
// the member of the body that an engine without a collector is blamed on.
func connectionProblem(err error, engineAt string) error {
	var (
		dsn     *servers.DSNError
		failed  *servers.ConnectionError
		engine  *servers.UnknownEngineError
		pointer = "#/dsn"
	)
	field := func(code, detail, class string) []api.FieldError {
		f := api.FieldError{In: api.Body, Pointer: &pointer, Code: code, Detail: detail}
		if class != "" {
			f.Params = &map[string]any{"class": class}
		}
		return []api.FieldError{f}
	}
	switch {
	case errors.As(err, &dsn):
		return &wire.Problem{Code: "invalid_parameter", Detail: "The DSN cannot be read: " + dsn.Error() + ".", Fields: field("invalid_parameter", dsn.Error(), "")}
	case errors.As(err, &failed) && failed.Class == servers.ClassNotAllowed:
		return &wire.Problem{Code: "target_not_allowed", Detail: failed.Sentence,
			Fields: field("target_not_allowed", failed.Sentence, "")}
	case errors.As(err, &failed):
		return &wire.Problem{Code: "connection_failed", Detail: failed.Sentence,
			Fields: field("connection_failed", failed.Sentence, failed.Class)}
	case errors.As(err, &engine):
		pointer = engineAt
		return &wire.Problem{Code: "engine_not_collected", Detail: engine.Error() + ".",
			Fields: field("engine_not_collected", engine.Error(), "")}
	}
	return err
}

// ChangeInstance tries a new connection before anything is changed, and then
// changes all or nothing.
func (s *ServerRoutes) ChangeInstance(ctx context.Context, r api.ChangeInstanceRequestObject) (api.ChangeInstanceResponseObject, error) {
	who := wire.Actor(ctx)
	if err := tagsAlone(who, r.Body); err != nil {
		return nil, err
	}
	before, err := s.row(ctx, r.InstanceId)
	if err == nil {
		err = wire.MayAct(ctx, r.InstanceId)
	}
	if err != nil {
		return nil, err
	}
	change := inventory.Change{
		Name: r.Body.Name, Active: r.Body.Active, Engine: (*domain.Engine)(r.Body.Engine), DeclinedGrants: r.Body.DeclinedGrants, Tags: allTags(r.Body.Tags),
	}
	if err := change.Check(before.Engine); err != nil {
		return nil, err
	}
	var is servers.Identity
	if r.Body.Dsn != nil {
		if is, err = s.Connections.Try(ctx, who.OrganizationID, before.Engine, *r.Body.Dsn); err != nil {
			return nil, connectionProblem(err, "#/dsn")
		}
	}
	if r.Body.DeclinedGrants != nil {
		if err := s.knownGrants(ctx, before, *r.Body.DeclinedGrants); err != nil {
			return nil, err
		}
	}
	var mark usecase.Mark
	err = eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) (err error) {
		if r.Body.DeclinedGrants != nil {
			if err := s.Servers.Decline(ctx, tx, who.OrganizationID, r.InstanceId, *r.Body.DeclinedGrants); err != nil {
				return err
			}
		}
		if r.Body.Dsn != nil {
			if err := s.Servers.RegisterServer(ctx, tx, who.OrganizationID, r.InstanceId, is, wire.Value(r.Body.Separate)); err != nil {
				return err
			}
			err := s.Servers.SaveCredentials(ctx, tx, assessment.Credentials{
				Organization: who.OrganizationID, Instance: r.InstanceId, Engine: before.Engine, DSN: *r.Body.Dsn,
			})
			if err != nil {
				return err
			}
		}
		mark, err = s.Commands.ChangeInstanceTx(ctx, tx, who, r.InstanceId, change)
		return err
	})
	if err != nil {
		return nil, s.knownServer(ctx, err)
	}
	if r.Body.DeclinedGrants != nil { // what the checks say of it follows
		var unknown *collect.NotCollectedError
		if err := s.Connections.Request(ctx, who.OrganizationID, r.InstanceId); err != nil && !errors.As(err, &unknown) {
			return nil, err
		}
	}
	wire.Settle(ctx, s.Waiter, mark)
	shown, err := s.instance(ctx, r.InstanceId)
	return api.ChangeInstance200JSONResponse(shown), err
}

// RemoveInstance forgets the credentials in the transaction of the event.
func (s *ServerRoutes) RemoveInstance(ctx context.Context, r api.RemoveInstanceRequestObject) (api.RemoveInstanceResponseObject, error) {
	who := wire.Actor(ctx)
	var mark usecase.Mark
	err := eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) (err error) {
		if err := s.Servers.Forget(ctx, tx, who.OrganizationID, r.InstanceId); err != nil {
			return err
		}
		mark, err = s.Commands.RemoveInstanceTx(ctx, tx, who, r.InstanceId)
		return err
	})
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	return api.RemoveInstance204Response{}, nil
}

func (s *ServerRoutes) AssessInstance(ctx context.Context, r api.AssessInstanceRequestObject) (api.AssessInstanceResponseObject, error) {
	shown, err := s.instance(ctx, r.InstanceId)
	if err != nil {
		return nil, err
	}
	err = s.Connections.Request(ctx, wire.Caller(ctx).Organization.ID, r.InstanceId)
	var unknown *collect.NotCollectedError
	if errors.As(err, &unknown) {
		return nil, &wire.Problem{Code: "engine_not_collected",
			Detail: "No connection is registered for " + shown.Name + "; its data is sent by a feed or an agent."}
	}
	if err != nil {
		return nil, err
	}
	return api.AssessInstance202JSONResponse(shown), nil
}

func (s *ServerRoutes) ListDatabases(ctx context.Context, r api.ListDatabasesRequestObject) (api.ListDatabasesResponseObject, error) {
	organization := wire.Caller(ctx).Organization.ID
	if _, err := s.row(ctx, r.InstanceId); err != nil {
		return nil, err
	}
	page, size := wire.Or(r.Params.Page, 1), wire.Or(r.Params.PageSize, wire.DefaultPageSize)
	rows, total, err := s.Fleet.Databases(ctx, organization, r.InstanceId, wire.Value(r.Params.Q), page, size)
	if err != nil {
		return nil, err
	}
	var side wire.Side
	now, before, err := s.Servers.DatabaseSizes(ctx, organization, r.InstanceId)
	side.Lacks(ctx, err, "items.sizeBytes", "items.sizeChange")
	items := wire.List(rows, func(row fleet.Database) api.Database {
		d := api.Database{Id: row.ID, Name: row.Name, InstanceId: row.InstanceID, CreatedAt: row.CreatedAt.UTC()}
		size, known := now.Bytes[row.Name]
		if !known {
			return d
		}
		d.SizeBytes = &size
		if earlier, known := before.Bytes[row.Name]; known {
			d.SizeChange = &api.SizeChange{Bytes: size - earlier, Since: before.At.UTC()}
		}
		return d
	})
	return api.ListDatabases200JSONResponse{Items: items, Page: wire.Paged(ctx, page, size, total), Unavailable: side.Unavailable()}, nil
}
