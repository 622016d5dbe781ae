package commands

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/domain/rule"
	"muster/domain/schedule"
	"muster/domain/team"
	"muster/internal/accounts"
)

// WorldOf is the part of the organization in which a member lives. Somebody who is no member, or no
// longer, sees nothing.
func (s *Service) WorldOf(ctx context.Context, org, member uuid.UUID) (team.World, error) {
	who, ok, err := s.Accounts.Member(ctx, org, member)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return team.World{}, nil
	case who.Role != organization.Team:
		return nil, nil
	}
	teams, err := s.Accounts.Teams(ctx, org)
	if err != nil {
		return nil, err
	}
	world, _, err := accounts.WorldOf(ctx, s.Instances, org, member, teams)
	return world, err
}

// Covers are the instances that a report of a scope would be about now, if somebody who lives in a
// world asks for it. None: it is about the whole organization or, in a world, about nothing.
func (s *Service) Covers(ctx context.Context, org uuid.UUID, world team.World, scope schedule.Scope) ([]uuid.UUID, error) {
	selector := team.Selector{Tags: scope.Tags}
	switch {
	case len(scope.InstanceIDs) > 0:
		return scope.InstanceIDs, nil
	case len(scope.Tags) == 0 && world == nil:
		return nil, nil
	case len(scope.Tags) == 0:
		selector.InstanceIDs = world.Instances()
	}
	names, err := s.Instances.SelectedNames(ctx, org, selector)
	if err != nil {
		return nil, fmt.Errorf("look up the servers of a scope: %w", err)
	}
	maps.DeleteFunc(names, func(id uuid.UUID, _ string) bool { return !world.Acts(id) })
	return slices.Collect(maps.Keys(names)), nil
}

// seenOnly is the rule that somebody with the role team breaks who names a server on which they may not act.
const seenOnly = "is a server that your teams let you see and not change"

// resolveWorld names the servers that a request of somebody with the role team is about where it
// names none: all on which they may act. It refuses those that they only see.
func (s *Service) resolveWorld(ctx context.Context, actor usecase.Actor, r *RequestReport) (all bool, broken rule.Set, err error) {
	for i, id := range r.InstanceIDs {
		if actor.World.Sees(id) && !actor.World.Acts(id) {
			broken.Add(fmt.Sprintf("#/scope/instanceIds/%d", i), "forbidden", seenOnly)
		}
	}
	kind, unknown := report.Find(r.Kind)
	if actor.World == nil || len(r.InstanceIDs)+len(r.Tags) > 0 || unknown != nil || kind.OneInstance { // report.Validate reports the fault
		return false, broken, nil
	}
	if r.InstanceIDs, err = s.Covers(ctx, actor.OrganizationID, actor.World, schedule.Scope{}); err != nil {
		return false, nil, err
	}
	if len(r.InstanceIDs) == 0 { // no id would mean all
		broken.Add("#/scope/instanceIds", "instance_not_in_organization", "your teams have no active instance on which you may act")
	}
	return true, broken, nil
}
