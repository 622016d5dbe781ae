package commands

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
)

// EraseMember forgets a member: their row is emptied, what they signed in with
// is gone, mails that still wait for them fail, and the inputs documents of the
// reports that name them are queued for erasure. It cannot be undone. Errors:
// *NotFoundError, also for one who is erased already, *RuleError with last_admin.
//
// forget runs before the append, in the same transaction: whoever else keeps what
// names the member deletes it there; nil: nobody does.
//
// An invitation comes before the stream, as for whoever accepts it. The row comes
// before the reports: see RecordPeople.
func (s *Service) EraseMember(ctx context.Context, actor Actor, id uuid.UUID, forget func(tx *sqlx.Tx) error) (Mark, error) {
	var mark Mark
	err := s.inTx(ctx, func(tx *sqlx.Tx) error {
		if err := s.Accounts.LockInvitation(ctx, tx, actor.OrganizationID, id); err != nil {
			return err
		}
		var err error
		mark, err = s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return s.eraseMember(ctx, tx, o, actor.OrganizationID, id)
		}, func([]organization.Event) error {
			if err := s.Accounts.EraseMember(ctx, tx, actor.OrganizationID, id); err != nil {
				return err
			}
			if err := s.eraseTraces(ctx, tx, actor.OrganizationID, id); err != nil || forget == nil {
				return err
			}
			return forget(tx)
		})
		return err
	})
	return mark, err
}

// eraseMember decides about the member and about each of their tokens.
func (s *Service) eraseMember(ctx context.Context, tx *sqlx.Tx, o *organization.Organization, org, id uuid.UUID) ([]organization.Event, error) {
	erased, err := o.Erase(id)
	if err != nil {
		return nil, err
	}
	tokens, err := s.Accounts.WorkingTokens(ctx, tx, org, id)
	if err != nil {
		return nil, err
	}
	revoked, err := revokeAll(o, tokens)
	return append(revoked, erased...), err
}

// eraseTraces queues what only a worker can do.
func (s *Service) eraseTraces(ctx context.Context, tx *sqlx.Tx, org, id uuid.UUID) error {
	var reports []uuid.UUID
	err := tx.SelectContext(ctx, &reports, `SELECT report_id FROM report_people WHERE organization_id = $1 AND member_id = $2 ORDER BY report_id`, org, id)
	if err != nil {
		return fmt.Errorf("look for reports that name a member: %w", err)
	}
	for _, report := range reports {
		if err := s.Jobs.InsertErasure(ctx, tx, org, report); err != nil {
			return err
		}
	}
	return s.Jobs.HastenMails(ctx, tx, org, id)
}
