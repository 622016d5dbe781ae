package fleet

import (
	"context"
	_ "embed" // the statement
	"fmt"

	"github.com/google/uuid"
)

// Active tells whether an instance is to be assessed: false for inactive,
// removed, unknown and foreign ones alike.
func (r *Reader) Active(ctx context.Context, organization, instance uuid.UUID) (bool, error) {
	i, ok, err := r.Instance(ctx, organization, instance)
	return ok && i.Active, err
}

//go:embed sql/active_among.sql
var activeAmong string

// ActiveAmong is Active for many at once, of any organizations: instances[i] is
// asked for in organizations[i]. It returns those that are active.
func (r *Reader) ActiveAmong(ctx context.Context, organizations, instances []uuid.UUID) (map[uuid.UUID]bool, error) {
	var ids []uuid.UUID
	if err := r.db.SelectContext(ctx, &ids, activeAmong, organizations, instances); err != nil {
		return nil, fmt.Errorf("read which of %d instances are active: %w", len(instances), err)
	}
	active := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		active[id] = true
	}
	return active, nil
}
