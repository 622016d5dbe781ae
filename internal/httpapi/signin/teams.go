package signin

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/team"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

const teamsPath = "/api/v1/teams/"

func (s *MemberRoutes) ListTeams(ctx context.Context, _ api.ListTeamsRequestObject) (api.ListTeamsResponseObject, error) {
	teams, err := s.Accounts.Teams(ctx, wire.Caller(ctx).Organization.ID)
	if err != nil {
		return nil, err
	}
	items, err := s.showTeams(ctx, teams, 0, len(teams))
	return api.ListTeams200JSONResponse{Items: items}, err
}

func (s *MemberRoutes) GetTeam(ctx context.Context, r api.GetTeamRequestObject) (api.GetTeamResponseObject, error) {
	shown, tag, err := s.team(ctx, r.TeamId)
	return api.GetTeam200JSONResponse{Body: shown, Headers: api.GetTeam200ResponseHeaders{ETag: tag}}, err
}

// team is one as it is now, and its ETag.
func (s *MemberRoutes) team(ctx context.Context, id uuid.UUID) (shown api.Team, tag string, err error) {
	teams, err := s.Accounts.Teams(ctx, wire.Caller(ctx).Organization.ID)
	if err != nil {
		return api.Team{}, "", err
	}
	at := slices.IndexFunc(teams, func(t accounts.Team) bool { return t.ID == id })
	if at < 0 {
		return api.Team{}, "", wire.Found(false, nil, "team")
	}
	items, err := s.showTeams(ctx, teams, at, at+1)
	if err != nil {
		return api.Team{}, "", err
	}
	return items[0], wire.StateTag(teams[at]), nil
}

// showTeams shows the teams of the organization from one place to another. all are in their order.
func (s *MemberRoutes) showTeams(ctx context.Context, all []accounts.Team, from, to int) ([]api.Team, error) {
	teams := all[from:to]
	names, err := wire.MemberNames(ctx, s.Accounts, accounts.MembersOf(teams))
	if err != nil {
		return nil, err
	}
	var side wire.Side
	matches, owns, err := s.countServers(ctx, accounts.Selectors(all), from, to)
	unknown := side.Lacks(ctx, err, "items.instanceCount", "items.ownedCount")
	items := make([]api.Team, len(teams))
	for i, t := range teams {
		items[i] = api.Team{
			Id: t.ID, Name: t.Name, Position: t.Position, CreatedAt: t.CreatedAt.UTC(), Selector: showSelector(t.Terms.Selector), Members: showMembers(t.Terms.Members, names),
			Unavailable: side.Unavailable(),
		}
		if !unknown {
			items[i].InstanceCount, items[i].OwnedCount = &matches[i], &owns[i]
		}
	}
	return items, nil
}

// countServers counts the servers that the selectors from one place to another match, and those that none before
// matches.
func (s *MemberRoutes) countServers(ctx context.Context, selectors []team.Selector, from, to int) (matches, owns []int64, err error) {
	servers, err := s.Fleet.Matching(ctx, wire.Caller(ctx).Organization.ID, selectors[from:to]...)
	matches, owns = make([]int64, to-from), make([]int64, to-from)
	for id, tags := range servers {
		owner := team.Owner(selectors, id, tags)
		for i := max(owner, from); i < to; i++ {
			if i == owner {
				owns[i-from]++
			}
			if i == owner || selectors[i].Matches(id, tags) {
				matches[i-from]++
			}
		}
	}
	return matches, owns, err
}

func showSelector(s team.Selector) api.TeamSelector {
	tags := map[string][]string{}
	for key, values := range s.Tags {
		tags[key] = values
	}
	ids := wire.NeverNull(s.InstanceIDs)
	return api.TeamSelector{Tags: &tags, InstanceIds: &ids}
}

// showMembers leaves out who was erased.
func showMembers(members []team.Member, names map[uuid.UUID]string) []api.TeamMember {
	shown := []api.TeamMember{}
	for _, m := range members {
		if name := names[m.ID]; name != "" {
			shown = append(shown, api.TeamMember{MemberId: m.ID, Name: &name, Role: api.TeamMemberRole(m.Role)})
		}
	}
	return shown
}

func selectorOf(s api.TeamSelector) team.Selector {
	return team.Selector{Tags: fleet.TagFilter(wire.Value(s.Tags)), InstanceIDs: wire.Value(s.InstanceIds)}
}

func membersOf(members []api.TeamMember) []team.Member {
	return wire.List(members, func(m api.TeamMember) team.Member {
		return team.Member{ID: m.MemberId, Role: organization.Role(m.Role)}
	})
}

func (s *MemberRoutes) CreateTeam(ctx context.Context, r api.CreateTeamRequestObject) (api.CreateTeamResponseObject, error) {
	id, mark, err := s.Commands.CreateTeam(ctx, wire.Actor(ctx), commands.Team{
		Name: r.Body.Name, Terms: team.Terms{Selector: selectorOf(r.Body.Selector), Members: membersOf(wire.Value(r.Body.Members))},
	})
	if err != nil {
		return nil, fieldOf(err, accounts.CodeTeamExists, "#/name")
	}
	wire.Settle(ctx, s.Waiter, mark)
	shown, tag, err := s.team(ctx, id)
	return api.CreateTeam201JSONResponse{Body: shown, Headers: api.CreateTeam201ResponseHeaders{Location: teamsPath + id.String(), ETag: tag}}, err
}

func (s *MemberRoutes) ChangeTeam(ctx context.Context, r api.ChangeTeamRequestObject) (api.ChangeTeamResponseObject, error) {
	c := commands.ChangeTeam{Name: r.Body.Name, Position: r.Body.Position}
	if r.Params.IfMatch != nil {
		c.Seen = wire.StatesSeen(*r.Params.IfMatch)
	}
	if r.Body.Selector != nil {
		selector := selectorOf(*r.Body.Selector)
		c.Selector = &selector
	}
	if r.Body.Members != nil {
		members := membersOf(*r.Body.Members)
		c.Members = &members
	}
	mark, err := s.Commands.ChangeTeam(ctx, wire.Actor(ctx), r.TeamId, c)
	if err != nil {
		return nil, fieldOf(err, accounts.CodeTeamExists, "#/name")
	}
	wire.Settle(ctx, s.Waiter, mark)
	shown, tag, err := s.team(ctx, r.TeamId)
	return api.ChangeTeam200JSONResponse{Body: shown, Headers: api.ChangeTeam200ResponseHeaders{ETag: tag}}, err
}

func (s *MemberRoutes) RemoveTeam(ctx context.Context, r api.RemoveTeamRequestObject) (api.RemoveTeamResponseObject, error) {
	mark, err := s.Commands.RemoveTeam(ctx, wire.Actor(ctx), r.TeamId)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	return api.RemoveTeam204Response{}, nil
}
