package commands

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
)

// ChangeInstance changes what is not nil.
type ChangeInstance struct {
	Name    *string
	Version *string
	Active  *bool
}

// ChangeInstance changes an instance. Errors: *NotFoundError, *RuleError.
func (s *Service) ChangeInstance(ctx context.Context, actor Actor, id uuid.UUID, c ChangeInstance) (mark Mark, err error) {
	err = s.inTx(ctx, func(tx *sqlx.Tx) (err error) {
		mark, err = s.ChangeInstanceTx(ctx, tx, actor, id, c)
		return err
	})
	return mark, err
}

// ChangeInstanceTx is ChangeInstance in the caller's transaction, last in it, so
// that a new connection string is kept together with the rest of the change.
func (s *Service) ChangeInstanceTx(ctx context.Context, tx *sqlx.Tx, actor Actor, id uuid.UUID, c ChangeInstance) (Mark, error) {
	check := fleetCheck{now: s.clock()}
	if c.Name != nil {
		check.text("#/name", *c.Name, 1)
	}
	check.optional("#/version", c.Version)
	if err := check.err(); err != nil {
		return Mark{}, err
	}
	return s.withInstanceTx(ctx, tx, actor, id, func(w *fleetWriter, instance *fleet.Instance, at stream) error {
		d := instance.Details()
		if c.Name != nil {
			d.Name = *c.Name
		}
		if c.Version != nil {
			d.Version = *c.Version
		}
		if c.Active != nil {
			d.Active = *c.Active
		}
		events, err := instance.Change(d)
		if err != nil {
			return err
		}
		return w.keepInstance(id, at, instance, instance.ExternalID(), events)
	})
}
