package fleet

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// Keyed finds instances by their external ids, in exactly these letters, in no order.
// How many databases they have is not looked up.
func (r *Reader) Keyed(ctx context.Context, organization uuid.UUID, externalIDs []string) ([]Instance, error) {
	instances := []Instance{}
	err := r.db.SelectContext(ctx, &instances, `SELECT id, organization_id, external_id, name, engine, version, host, active, created_at
FROM fleet_v1.instances WHERE organization_id = $1 AND external_id = ANY ($2)`, organization, externalIDs)
	if err != nil {
		return nil, fmt.Errorf("find %d instances by external id: %w", len(externalIDs), err)
	}
	for i := range instances {
		instances[i].CreatedAt = instances[i].CreatedAt.UTC()
	}
	return instances, nil
}

// DatabasesKeyed finds databases by instance and external id, in exactly these
// letters, in no order: externalIDs[i] is asked for on instances[i].
func (r *Reader) DatabasesKeyed(ctx context.Context, organization uuid.UUID, instances []uuid.UUID, externalIDs []string) ([]Database, error) {
	databases := []Database{}
	err := r.db.SelectContext(ctx, &databases, `SELECT id, instance_id, external_id, name, created_at FROM fleet_v1.databases
WHERE organization_id = $1 AND instance_id = ANY ($2) AND (instance_id, external_id) IN (SELECT * FROM unnest($2::uuid[], $3::text[]))`,
		organization, instances, externalIDs)
	if err != nil {
		return nil, fmt.Errorf("find %d databases by external id: %w", len(externalIDs), err)
	}
	for i := range databases {
		databases[i].CreatedAt = databases[i].CreatedAt.UTC()
	}
	return databases, nil
}
