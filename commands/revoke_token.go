package commands

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/accounts"
)

// RevokeToken ends a token at once. A member revokes their own, an
// administrator any of the organization. One that is revoked already stays so.
// Errors: *NotFoundError, also for a token that is not the caller's to revoke.
func (s *Service) RevokeToken(ctx context.Context, by accounts.Principal, requestID, kind string, id uuid.UUID) (Mark, error) {
	owner := by.Member.ID
	if by.Can(organization.ScopeAdmin) {
		owner = uuid.Nil
	}
	actor := Actor{OrganizationID: by.Organization.ID, MemberID: by.Member.ID, RequestID: requestID}
	var mark Mark
	err := s.inTx(ctx, func(tx *sqlx.Tx) (err error) {
		mark, err = s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			ok, err := s.Accounts.RevokeToken(ctx, tx, by.Organization.ID, owner, kind, id)
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, &NotFoundError{What: "token"}
			}
			return o.Revoke(id)
		}, nil)
		return err
	})
	return mark, err
}
