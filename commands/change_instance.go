package commands

import (
	"context"

	"github.com/google/uuid"

	"muster/domain/fleet"
)

// ChangeInstance changes what is not nil.
type ChangeInstance struct {
	Name    *string
	Version *string
	Active  *bool
}

// ChangeInstance changes an instance. Errors: *NotFoundError, *RuleError.
func (s *Service) ChangeInstance(ctx context.Context, actor Actor, id uuid.UUID, c ChangeInstance) (Mark, error) {
	check := fleetCheck{now: s.clock()}
	if c.Name != nil {
		check.text("#/name", *c.Name, 1)
	}
	check.optional("#/version", c.Version)
	if err := check.err(); err != nil {
		return Mark{}, err
	}
	return s.withInstance(ctx, actor, id, func(w *fleetWriter, instance *fleet.Instance, at stream) error {
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
