package wire

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/organization"
	domain "muster/domain/team"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/projections/alerts"
	projected "muster/projections/fleet"
)

// Filter is what a request says of the servers that it is about: those that have one of the ids
// or names, and the tags, and the owner. Of one key of tags any value will do. nil and empty are no filter.
type Filter struct {
	IDs   *[]uuid.UUID
	Names *[]string
	Tags  *[]string  // "env:prod"
	Owner *uuid.UUID // a team
	IDsAs string     // the parameter that IDs come from; empty: instanceId
}

// Check returns the filter by tags, and the rules that the filter breaks.
func (f Filter) Check() (fleet.TagFilter, []api.FieldError) {
	broken := append(Overlong(cmp.Or(f.IDsAs, "instanceId"), len(Value(f.IDs))), Overlong("instanceName", len(Value(f.Names)))...)
	tags := fleet.TagFilter{}
	for _, word := range Value(f.Tags) {
		key, value, ok := fleet.ParseTag(word)
		if !ok {
			return nil, append(broken, brokenRule("tag", "invalid_parameter", "must be a key and a value with a colon between them, as in env:prod", nil))
		}
		tags.Add(key, value)
	}
	return tags, broken
}

// FleetScope is what a filter leaves of what the caller sees of their organization, or one problem of
// the rules that the filter and other parameters break. Every operation that is about more than
// one server reads its servers here.
func FleetScope(ctx context.Context, servers *projected.Reader, f Filter, broken ...[]api.FieldError) (fleet.Scope, error) {
	tags, rules := f.Check()
	if p := BrokenRules(append(broken, rules)...); p != nil {
		return fleet.Scope{}, p
	}
	caller := Caller(ctx)
	scope, err := servers.Scope(ctx, caller.Organization.ID, Value(f.IDs), Value(f.Names), tags)
	if err != nil {
		return fleet.Scope{}, err
	}
	if f.Owner != nil {
		owned, err := ownedBy(ctx, servers, *f.Owner)
		if err != nil {
			return fleet.Scope{}, err
		}
		if !scope.Filtered {
			scope = fleet.Scope{Filtered: true, Instances: slices.Collect(maps.Keys(owned))}
		} else {
			scope.Instances = slices.DeleteFunc(scope.Instances, func(id uuid.UUID) bool { return !owned[id] })
		}
	}
	if !scope.Filtered {
		return caller.Scope(), nil
	}
	scope.Instances = slices.DeleteFunc(scope.Instances, func(id uuid.UUID) bool { return !Sees(ctx, id) })
	return scope, nil
}

// NamedInstance is an instance as an answer names it, by its last name if it was removed.
func NamedInstance(names map[uuid.UUID]projected.Named, id uuid.UUID) api.ContributingInstance {
	is := names[id]
	return api.ContributingInstance{Id: id, Name: is.Name, Engine: api.Engine(is.Engine), Removed: is.Removed}
}

// FilteredIDs are the ids that a filter leaves, for a list in which none stands for all: where
// nothing passes the filter it is an id that no server has.
func FilteredIDs(ctx context.Context, servers *projected.Reader, f Filter, broken ...[]api.FieldError) ([]uuid.UUID, error) {
	if len(Value(f.Tags)) == 0 && f.Owner == nil && Caller(ctx).World == nil { // also of servers that were removed
		_, rules := f.Check()
		if p := BrokenRules(append(broken, rules)...); p != nil {
			return nil, p
		}
		return Value(f.IDs), nil
	}
	scope, err := FleetScope(ctx, servers, f, broken...)
	if err != nil || len(scope.Instances) > 0 {
		return scope.Instances, err
	}
	return []uuid.UUID{uuid.Nil}, nil
}

// EnterWorld gives somebody with the role team the part of the organization that they see, and
// the role that their teams give them: member where one of them does, else viewer.
func EnterWorld(ctx context.Context, servers *projected.Reader, teams func(context.Context) ([]accounts.Team, error), p *accounts.Principal) error {
	all, err := teams(ctx)
	if err != nil {
		return err
	}
	var acts bool
	p.World, acts, err = accounts.WorldOf(ctx, servers, p.Organization.ID, p.Member.ID, all)
	p.Member.Role = organization.Viewer
	if acts {
		p.Member.Role = organization.Member
	}
	return err
}

// Tags are a filter by tags on the wire; null where it has none.
func Tags(f fleet.TagFilter) *map[string][]string {
	if len(f) == 0 {
		return nil
	}
	tags := map[string][]string(f)
	return &tags
}

// Sees reports whether the caller sees an instance of their organization.
func Sees(ctx context.Context, instance uuid.UUID) bool {
	return Caller(ctx).World.Sees(instance)
}

// SeenAlert is an alert as the caller sees it. Somebody with the role team sees those that concern
// a server of theirs, without the other servers, and none that is about the whole organization.
// found says whether there is one.
func SeenAlert(ctx context.Context, a alerts.Alert, found bool) (_ alerts.Alert, ok bool) {
	if !found || Caller(ctx).World == nil {
		return a, found
	}
	return a.Within(func(id uuid.UUID) bool { return Sees(ctx, id) })
}

// ActsOn is the server by which the caller may act on an alert that they see: one that it concerns
// and on which they may act. If there is none, it is the alert's own.
func ActsOn(ctx context.Context, a alerts.Alert) uuid.UUID {
	all := a.Instances()
	for _, i := range all {
		if Acts(ctx, i.ID) {
			return i.ID
		}
	}
	if len(all) == 0 {
		return uuid.Nil
	}
	return all[0].ID
}

// MayAct refuses a change of an instance that the caller sees and may not change.
func MayAct(ctx context.Context, instance uuid.UUID) error {
	if Acts(ctx, instance) {
		return nil
	}
	return &Problem{Code: "forbidden", Detail: usecase.OthersServer}
}

// Acts reports whether the caller may change an instance that they see, as far as their teams go.
func Acts(ctx context.Context, instance uuid.UUID) bool {
	return Caller(ctx).World.Acts(instance)
}

// Changes reports whether the caller may change what concerns an instance that they see: by their role or
// token, and by their teams.
func Changes(ctx context.Context, instance uuid.UUID) bool {
	return Caller(ctx).Can(organization.ScopeAlertsWrite) && Acts(ctx, instance)
}

// Teams are those of the caller's organization in their order, read once in a request.
func Teams(ctx context.Context) ([]accounts.Team, error) { return CallOf(ctx).Teams(ctx) }

// ownedBy are the servers that a team owns; of an unknown or foreign team none.
func ownedBy(ctx context.Context, servers *projected.Reader, team uuid.UUID) (map[uuid.UUID]bool, error) {
	teams, err := Teams(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(teams, func(t accounts.Team) bool { return t.ID == team })
	if at < 0 {
		return nil, nil
	}
	selectors := accounts.Selectors(teams)
	matching, err := servers.Matching(ctx, Caller(ctx).Organization.ID, selectors[at])
	if err != nil {
		return nil, err
	}
	owned := make(map[uuid.UUID]bool, len(matching))
	for id, tags := range matching {
		if domain.Owner(selectors, id, tags) == at {
			owned[id] = true
		}
	}
	return owned, nil
}

// OwnerNames are the names of the owners of all instances of the caller's organization, for a list that is
// sorted by them; one that nobody owns is absent.
func OwnerNames(ctx context.Context, servers *projected.Reader) (map[uuid.UUID]string, error) {
	teams, err := Teams(ctx)
	if err != nil {
		return nil, err
	}
	owner := accounts.Ownership(teams)
	tags, err := servers.Matching(ctx, Caller(ctx).Organization.ID, accounts.Selectors(teams)...)
	names := make(map[uuid.UUID]string, len(tags))
	for id, tags := range tags {
		if t := owner(id, tags); t != nil {
			names[id] = t.Name
		}
	}
	return names, err
}

// Owners are the teams that own instances of the caller's organization; one that nobody owns is absent.
func Owners(ctx context.Context, servers *projected.Reader, instances []uuid.UUID) (map[uuid.UUID]*api.Reference, error) {
	teams, err := Teams(ctx)
	if err != nil || len(teams) == 0 || len(instances) == 0 {
		return nil, err
	}
	owner := accounts.Ownership(teams)
	tags, err := servers.TagsOf(ctx, Caller(ctx).Organization.ID, instances)
	owners := make(map[uuid.UUID]*api.Reference, len(tags))
	for id, tags := range tags {
		if t := owner(id, tags); t != nil {
			owners[id] = &api.Reference{Id: t.ID, Name: t.Name}
		}
	}
	return owners, err
}
