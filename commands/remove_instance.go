package commands

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
)

// RemoveInstance takes an instance and its databases out of every list and
// count; their history stays in the log. Errors: *NotFoundError, also for one
// that is removed already.
func (s *Service) RemoveInstance(ctx context.Context, actor Actor, id uuid.UUID) (mark Mark, err error) {
	err = s.inTx(ctx, func(tx *sqlx.Tx) (err error) {
		mark, err = s.RemoveInstanceTx(ctx, tx, actor, id)
		return err
	})
	return mark, err
}

// RemoveInstanceTx is RemoveInstance in the caller's transaction, last in it, so
// that its connection string goes with it.
func (s *Service) RemoveInstanceTx(ctx context.Context, tx *sqlx.Tx, actor Actor, id uuid.UUID) (Mark, error) {
	return s.withInstanceTx(ctx, tx, actor, id, func(w *fleetWriter, instance *fleet.Instance, _ stream) error {
		return w.removeInstance(ctx, id, instance.ExternalID())
	})
}
