package fleet

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// InstancesOn are the instances that are registered as running on hosts, in exactly
// these letters, by host and then by id. A host without any is missing.
func (r *Reader) InstancesOn(ctx context.Context, organization uuid.UUID, hosts []string) (map[string][]uuid.UUID, error) {
	var rows []struct {
		Host string    `db:"host"`
		ID   uuid.UUID `db:"id"`
	}
	err := r.db.SelectContext(ctx, &rows, `SELECT host, id FROM fleet_v1.instances
WHERE organization_id = $1 AND host = ANY ($2) AND host <> '' ORDER BY host, id`, organization, hosts)
	if err != nil {
		return nil, fmt.Errorf("find the instances on %d hosts: %w", len(hosts), err)
	}
	on := make(map[string][]uuid.UUID)
	for _, row := range rows {
		on[row.Host] = append(on[row.Host], row.ID)
	}
	return on, nil
}
