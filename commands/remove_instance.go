package commands

import (
	"context"

	"github.com/google/uuid"

	"muster/domain/fleet"
)

// RemoveInstance takes an instance and its databases out of every list and
// count; their history stays in the log. Errors: *NotFoundError, also for one
// that is removed already.
func (s *Service) RemoveInstance(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	return s.withInstance(ctx, actor, id, func(w *fleetWriter, instance *fleet.Instance, _ stream) error {
		return w.removeInstance(ctx, id, instance.ExternalID())
	})
}
