package commands

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/accounts"
)

// ChangeMember is what changes about a member; nil stays.
type ChangeMember struct {
	Role   *organization.Role
	Status *string // active, disabled
}

// ChangeMember changes role or status. Either ends the member's sessions;
// disabling withdraws their invitation and revokes their API tokens too, at once
// and with an event for each token. Errors:
// *NotFoundError, *RuleError with last_admin, invalid_state or invalid_parameter.
func (s *Service) ChangeMember(ctx context.Context, actor Actor, id uuid.UUID, c ChangeMember) (accounts.Member, Mark, error) {
	if c.Role != nil && !c.Role.Valid() {
		return accounts.Member{}, Mark{}, fieldError("#/role", "invalid_parameter", "is not a role")
	}
	var mark Mark
	err := s.inTx(ctx, func(tx *sqlx.Tx) (err error) {
		if err = s.Accounts.LockInvitation(ctx, tx, actor.OrganizationID, id); err != nil {
			return err
		}
		mark, err = s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			tokens, err := s.Accounts.WorkingTokens(ctx, tx, actor.OrganizationID, id)
			if err != nil {
				return nil, err
			}
			return changeMember(o, id, c, tokens)
		}, func(events []organization.Event) error {
			for _, e := range events {
				if changed, ok := e.(organization.MemberChanged); ok {
					return s.Accounts.UpdateMember(ctx, tx, actor.OrganizationID, id, changed.Role, changed.Status)
				}
			}
			return nil
		})
		return err
	})
	if err != nil {
		return accounts.Member{}, Mark{}, err
	}
	member, ok, err := s.Accounts.Member(ctx, actor.OrganizationID, id)
	if err == nil && !ok { // erased since
		err = &NotFoundError{What: "member"}
	}
	return member, mark, err
}

// changeMember decides about the member and, where they are disabled, about
// each of their tokens.
func changeMember(o *organization.Organization, id uuid.UUID, c ChangeMember, tokens []uuid.UUID) ([]organization.Event, error) {
	events, err := o.Change(id, c.Role, c.Status)
	if err != nil || len(events) == 0 || c.Status == nil || *c.Status != organization.Disabled {
		return events, err
	}
	revoked, err := revokeAll(o, tokens)
	return append(events, revoked...), err
}

func revokeAll(o *organization.Organization, tokens []uuid.UUID) ([]organization.Event, error) {
	var events []organization.Event
	for _, token := range tokens {
		revoked, err := o.Revoke(token)
		if err != nil {
			return nil, err
		}
		events = append(events, revoked...)
	}
	return events, nil
}
