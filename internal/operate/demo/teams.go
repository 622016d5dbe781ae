package demo

import (
	"context"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/team"
	"muster/internal/postgres/statement"
)

// ownersOfServers are the teams of the demo, by the tag team of its servers. One server has none.
var ownersOfServers = []struct {
	name, tag string
	members   map[int]organization.Role // by place in people
}{
	{"Payments", "payments", map[int]organization.Role{ana: organization.Member, dana: organization.Member}},
	{"Platform", "platform", map[int]organization.Role{jonas: organization.Member, tomas: organization.Member}},
	{"Analytics", "analytics", map[int]organization.Role{tomas: organization.Member, samuel: organization.Viewer}},
}

// teams makes the first of the teams that are not there yet, by how many there ever were: what
// somebody removed stays removed.
func (d *Demo) teams(ctx context.Context, actor usecase.Actor, who []uuid.UUID) error {
	made, err := statement.One[int](ctx, d.DB, "count the demo's teams", `SELECT count(*) FROM teams WHERE organization_id = $1`, actor.OrganizationID)
	if err != nil {
		return err
	}
	for _, t := range ownersOfServers[min(made, len(ownersOfServers)):] {
		owner := commands.Team{Name: t.name, Terms: team.Terms{Selector: team.Selector{Tags: fleet.TagFilter{"team": {t.tag}}}}}
		for place := range people {
			if role, in := t.members[place]; in && who[place] != uuid.Nil {
				owner.Members = append(owner.Members, team.Member{ID: who[place], Role: role})
			}
		}
		_, mark, err := d.Commands.CreateTeam(ctx, actor, owner)
		if err != nil {
			return err
		}
		if err := d.settle(ctx, mark); err != nil {
			return err
		}
	}
	return nil
}
