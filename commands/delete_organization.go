package commands

import (
	"context"

	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/organization"
)

// DeleteOrganization ends the actor's organization: its log records that, its members are
// erased with their credentials and those of its machines, and nothing can be inserted for it
// from then on. Package departure deletes its other data. Errors: *usecase.NotFoundError, also if it
// was deleted before.
func (s *Service) DeleteOrganization(ctx context.Context, actor usecase.Actor) (usecase.Mark, error) {
	return s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		return s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return o.Delete(actor.OrganizationID)
		}, func([]organization.Event) error {
			return s.Accounts.DeleteOrganization(ctx, tx, actor.OrganizationID)
		})
	})
}
