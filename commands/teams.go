package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/rule"
	"muster/domain/team"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/postgres/statement"
)

// Team is what a team is called, and its terms.
type Team struct {
	Name string
	team.Terms
}

// CreateTeam records a team, which comes after all others. Errors: *usecase.RuleError with every broken
// rule, *accounts.Refusal with team_exists.
func (s *Service) CreateTeam(ctx context.Context, actor usecase.Actor, t Team) (uuid.UUID, usecase.Mark, error) {
	t.Name = strings.TrimSpace(t.Name)
	id := usecase.NewID()
	mark, err := s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := usecase.LockStream(ctx, tx, actor.OrganizationID); err != nil {
			return usecase.Mark{}, err
		}
		if err := usecase.Room(ctx, tx, actor.OrganizationID, "teams", "too_many_items", team.MaxTeams); err != nil {
			return usecase.Mark{}, err
		}
		if err := s.checkTeam(ctx, tx, actor.OrganizationID, t, team.Terms{}); err != nil {
			return usecase.Mark{}, err
		}
		t.Selector = t.Selector.Normal() // behind the check, which names places of the request
		now := s.Clock()
		if err := s.Accounts.SaveTeam(ctx, tx, actor.OrganizationID, accounts.Team{ID: id, Name: t.Name, Terms: accounts.TeamTerms{Terms: t.Terms}, CreatedAt: now}); err != nil {
			return usecase.Mark{}, err
		}
		return usecase.AppendAll(ctx, s.Base, tx, actor, teamPlace(id), usecase.Stream{Version: eventstore.NoStream}, now, []team.Event{team.Created{Terms: t.Terms}})
	})
	return id, mark, err
}

// checkTeam holds a team against every rule at once. What it has already of was may stay,
// whether or not it is there still.
func (s *Service) checkTeam(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, t Team, was team.Terms) error {
	var broken []rule.Broken
	if e := usecase.CheckName("#/name", t.Name); e != nil {
		broken = append(broken, *e)
	}
	terms := t.Broken()
	broken = append(broken, terms...)
	if len(terms) > 0 { // of so many ids none is looked up
		return usecase.FieldErrors(broken)
	}
	names, err := s.Instances.InstanceNames(ctx, organization, t.Selector.InstanceIDs)
	if err != nil {
		return fmt.Errorf("look up instances: %w", err)
	}
	for i, id := range t.Selector.InstanceIDs {
		if _, ok := names[id]; !ok && !slices.Contains(was.Selector.InstanceIDs, id) {
			broken = append(broken, rule.Broken{Pointer: fmt.Sprintf("#/selector/instanceIds/%d", i), Code: "instance_not_in_organization", Detail: "unknown instance"})
		}
	}
	people, err := lockMembers(ctx, tx, organization, t.Members)
	if err != nil {
		return err
	}
	for i, m := range t.Members {
		if !slices.Contains(people, m.ID) && !slices.ContainsFunc(was.Members, func(w team.Member) bool { return w.ID == m.ID }) {
			broken = append(broken, rule.Broken{Pointer: fmt.Sprintf("#/members/%d/memberId", i), Code: "recipient_not_member", Detail: "unknown member"})
		}
	}
	return usecase.FieldErrors(broken)
}

// lockMembers keeps the people of a team from being erased until the transaction ends, and returns
// those that are there.
func lockMembers(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, members []team.Member) ([]uuid.UUID, error) {
	ids := make([]uuid.UUID, len(members))
	for i, m := range members {
		ids[i] = m.ID
	}
	return statement.All[uuid.UUID](ctx, tx, "lock members", `SELECT id FROM members
		WHERE organization_id = $1 AND id = ANY ($2) AND status <> 'erased' ORDER BY id FOR SHARE`, organization, statement.IDs(ids))
}

// ChangeTeam changes what it names; nil stays.
type ChangeTeam struct {
	Name     *string
	Selector *team.Selector
	Members  *[]team.Member
	Position *int // counted from 1
	// Seen are the digests of the states that the change was made from, one of which must be
	// the team's; nil: any.
	Seen []string
}

// to is the team as it will be.
func (c ChangeTeam) to(t accounts.Team) Team {
	will := Team{Name: t.Name, Terms: t.Terms.Terms}
	usecase.Set(&will.Name, c.Name)
	usecase.Set(&will.Selector, c.Selector)
	usecase.Set(&will.Members, c.Members)
	will.Name = strings.TrimSpace(will.Name)
	return will
}

// ChangeTeam records it. Errors: *usecase.NotFoundError, *usecase.RuleError, also with precondition_failed,
// *accounts.Refusal with team_exists.
func (s *Service) ChangeTeam(ctx context.Context, actor usecase.Actor, id uuid.UUID, c ChangeTeam) (usecase.Mark, error) {
	return s.decideTeam(ctx, actor, id, func(tx *sqlx.Tx, was accounts.Team) ([]team.Event, error) {
		if c.Seen != nil && !slices.Contains(c.Seen, was.Digest()) {
			return nil, &usecase.RuleError{Code: "precondition_failed", Detail: "The team has changed since you read it. Read it again and repeat your change."}
		}
		will := c.to(was)
		if err := s.checkTeam(ctx, tx, actor.OrganizationID, will, was.Terms.Terms); err != nil {
			return nil, err
		}
		will.Selector = will.Selector.Normal()
		is := accounts.Team{ID: id, Name: will.Name, Terms: accounts.TeamTerms{Terms: will.Terms}, Position: was.Position, CreatedAt: was.CreatedAt}
		usecase.Set(&is.Position, c.Position)
		if is.Digest() == was.Digest() {
			return nil, nil
		}
		changed := team.Changed{NameChanged: is.Name != was.Name, Terms: will.Terms}
		if is.Position != was.Position {
			changed.Position = is.Position
			if err := s.moveTeam(ctx, tx, actor.OrganizationID, is); err != nil {
				return nil, err
			}
		}
		return []team.Event{changed}, s.Accounts.SaveTeam(ctx, tx, actor.OrganizationID, is)
	})
}

// moveTeam gives a team its place, which has to be one of the teams'.
func (s *Service) moveTeam(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, t accounts.Team) error {
	teams, err := accounts.TeamsOf(ctx, tx, organization)
	if err != nil {
		return err
	}
	if t.Position < 1 || t.Position > len(teams) {
		return usecase.FieldError("#/position", "out_of_range", fmt.Sprintf("must be 1 to %d, the number of teams", len(teams)))
	}
	return s.Accounts.MoveTeam(ctx, tx, organization, t.ID, t.Position)
}

// RemoveTeam takes a team away; what it owned is the next team's. Errors: *usecase.NotFoundError.
func (s *Service) RemoveTeam(ctx context.Context, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	return s.decideTeam(ctx, actor, id, func(tx *sqlx.Tx, _ accounts.Team) ([]team.Event, error) {
		return []team.Event{team.Removed{}}, s.Accounts.RemoveTeam(ctx, tx, actor.OrganizationID, id)
	})
}

// decideTeam decides about a team under the lock of the organization's teams.
func (s *Service) decideTeam(ctx context.Context, actor usecase.Actor, id uuid.UUID, choose func(tx *sqlx.Tx, was accounts.Team) ([]team.Event, error)) (usecase.Mark, error) {
	return s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := usecase.LockStream(ctx, tx, actor.OrganizationID); err != nil {
			return usecase.Mark{}, err
		}
		was, ok, err := s.Accounts.Team(ctx, tx, actor.OrganizationID, id)
		switch {
		case err != nil:
			return usecase.Mark{}, err
		case !ok:
			return usecase.Mark{}, &usecase.NotFoundError{What: "team"}
		}
		return usecase.Decide(ctx, s.Base, tx, actor, teamPlace(id), func(any, time.Time) {}, func(time.Time) ([]team.Event, error) { return choose(tx, was) }, nil)
	})
}

func teamPlace(id uuid.UUID) usecase.StreamPlace {
	return usecase.StreamPlace{Log: eventstore.Organization, StreamType: team.Stream, ID: id}
}
