package fleet

import (
	"context"

	"github.com/google/uuid"
)

// Active tells whether an instance is to be assessed: false for inactive,
// removed, unknown and foreign ones alike.
func (r *Reader) Active(ctx context.Context, organization, instance uuid.UUID) (bool, error) {
	i, ok, err := r.Instance(ctx, organization, instance)
	return ok && i.Active, err
}
