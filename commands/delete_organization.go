package commands

import (
	"context"

	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
)

// DeleteOrganization ends the actor's organization: its log says so, its members are
// forgotten with all that they and its machines sign in with, and nothing can be inserted
// for it from then on. What else is kept for it is package departure's to delete.
// Errors: *NotFoundError, also where it was deleted before.
func (s *Service) DeleteOrganization(ctx context.Context, actor Actor) (Mark, error) {
	return s.inTxMarked(ctx, func(tx *sqlx.Tx) (Mark, error) {
		return s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return o.Delete(actor.OrganizationID)
		}, func([]organization.Event) error {
			return s.Accounts.DeleteOrganization(ctx, tx, actor.OrganizationID)
		})
	})
}
