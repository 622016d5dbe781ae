package accounts

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/team"
	"muster/internal/postgres/statement"
)

// Team is a team as it is now.
type Team struct {
	ID        uuid.UUID
	Name      string
	Terms     TeamTerms
	Position  int       // its place among the organization's teams, counted from 1
	CreatedAt time.Time `db:"created_at"`
}

// TeamTerms are the terms of a team, kept as JSON.
type TeamTerms struct{ team.Terms }

// Scan implements sql.Scanner.
func (t *TeamTerms) Scan(src any) error { return statement.ScanJSON(src, &t.Terms) }

// Digest names what a change of the team changes: whoever changes it says which state they saw.
func (t Team) Digest() string {
	return organization.Digest(struct {
		Name     string
		Terms    team.Terms
		Position int
	}{t.Name, t.Terms.Terms, t.Position})
}

// Selectors are those of teams, in their order.
func Selectors(teams []Team) []team.Selector {
	all := make([]team.Selector, len(teams))
	for i, t := range teams {
		all[i] = t.Terms.Selector
	}
	return all
}

// Ownership tells the team that owns a server with some tags: the first that selects it; nil: none
// does.
func Ownership(teams []Team) func(server uuid.UUID, tags fleet.Tags) *Team {
	selectors := Selectors(teams)
	return func(server uuid.UUID, tags fleet.Tags) *Team {
		if at := team.Owner(selectors, server, tags); at >= 0 {
			return &teams[at]
		}
		return nil
	}
}

// Worlds says what teams select; *fleet.Reader of projections does.
type Worlds interface {
	// World is what somebody sees who belongs to teams with the selectors in, and may act on what
	// those of acting match.
	World(ctx context.Context, organization uuid.UUID, in, acting []team.Selector) (team.World, error)
}

// WorldOf is the part of an organization in which somebody with the role team lives, by the teams of
// that organization. acts says whether they may act in any of it.
func WorldOf(ctx context.Context, worlds Worlds, org, member uuid.UUID, teams []Team) (world team.World, acts bool, err error) {
	in, acting := Belongs(teams, member)
	world, err = worlds.World(ctx, org, Selectors(in), Selectors(acting))
	return world, len(acting) > 0, err
}

// Belongs are the teams that somebody belongs to, and those of them in which they may act.
func Belongs(teams []Team, member uuid.UUID) (in, acting []Team) {
	for _, t := range teams {
		for _, m := range t.Terms.Members {
			if m.ID != member {
				continue
			}
			if in = append(in, t); m.Role == organization.Member {
				acting = append(acting, t)
			}
		}
	}
	return in, acting
}

// MembersOf are the members of teams, each once.
func MembersOf(teams []Team) (members []uuid.UUID) {
	seen := map[uuid.UUID]bool{}
	for _, t := range teams {
		for _, m := range t.Terms.Members {
			if !seen[m.ID] {
				seen[m.ID] = true
				members = append(members, m.ID)
			}
		}
	}
	return members
}

// teamsQuery has the teams of an organization, each with its place. Teams whose place nobody chose
// come last, in the order in which they were created.
const teamsQuery = `SELECT id, name, terms, created_at, row_number() OVER (ORDER BY position NULLS LAST, created_at, id) AS position
	FROM teams WHERE organization_id = $1 AND removed_at IS NULL`

// Teams are the teams of an organization in their order: the first one that matches a server owns it.
func (s *Store) Teams(ctx context.Context, org uuid.UUID) ([]Team, error) {
	return TeamsOf(ctx, s.db, org)
}

// TeamsOf is Teams, as q sees them.
func TeamsOf(ctx context.Context, q sqlx.QueryerContext, org uuid.UUID) ([]Team, error) {
	return statement.All[Team](ctx, q, "list teams", teamsQuery+` ORDER BY 5`, org)
}

// Team returns one as tx sees it; ok is false where this organization has none of that id.
func (s *Store) Team(ctx context.Context, q sqlx.QueryerContext, org, id uuid.UUID) (t Team, ok bool, err error) {
	return statement.Find[Team](ctx, q, "look up a team", `SELECT * FROM (`+teamsQuery+`) AS t WHERE id = $2`, org, id)
}

// SaveTeam stores a team. Errors: *Refusal team_exists where the organization has another one of
// that name.
func (s *Store) SaveTeam(ctx context.Context, tx *sqlx.Tx, org uuid.UUID, t Team) error {
	terms, err := json.Marshal(t.Terms.Terms)
	if err != nil {
		return err
	}
	taken, err := statement.One[bool](ctx, tx, "look for a team of that name", `SELECT EXISTS (SELECT FROM teams
		WHERE organization_id = $1 AND lower(name) = lower($2) AND id <> $3 AND removed_at IS NULL)`, org, t.Name, t.ID)
	switch {
	case err != nil:
		return err
	case taken:
		return &Refusal{Code: CodeTeamExists, Detail: "the organization has a team of that name"}
	}
	return statement.Exec(ctx, tx, "store a team", `INSERT INTO teams (id, organization_id, name, terms, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, terms = excluded.terms`, t.ID, org, t.Name, string(terms), t.CreatedAt)
}

// MoveTeam gives a team a place. The others keep their order.
func (s *Store) MoveTeam(ctx context.Context, tx *sqlx.Tx, org, id uuid.UUID, position int) error {
	return statement.Exec(ctx, tx, "move a team", `UPDATE teams SET position = placed.position
		FROM (SELECT id, CASE WHEN id = $2 THEN $3 ELSE at + (at >= $3)::int END AS position
			FROM (SELECT id, row_number() OVER (ORDER BY id = $2, position NULLS LAST, created_at, id) AS at
				FROM teams WHERE organization_id = $1 AND removed_at IS NULL) AS others) AS placed
		WHERE teams.id = placed.id`, org, id, position)
}

// RemoveTeam takes a team away.
func (s *Store) RemoveTeam(ctx context.Context, tx *sqlx.Tx, org, id uuid.UUID) error {
	return statement.Exec(ctx, tx, "remove a team", `UPDATE teams SET removed_at = $3 WHERE organization_id = $1 AND id = $2 AND removed_at IS NULL`, org, id, s.clock())
}
