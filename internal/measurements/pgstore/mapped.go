package pgstore

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// InstancesOn says what runs on hosts by the newest of their samples that says so.
// Hosts of which none does, or which run nothing we know, are missing.
func (s *Store) InstancesOn(ctx context.Context, organization uuid.UUID, names []string) (map[string][]uuid.UUID, error) {
	on := make(map[string][]uuid.UUID)
	err := query(ctx, s.db, func(row scanner) error {
		var host string
		var instance uuid.UUID
		if err := row.Scan(&host, &instance); err != nil {
			return err
		}
		on[host] = append(on[host], instance)
		return nil
	}, `SELECT subject, unnest(instances) FROM measured_series WHERE organization_id = $1 AND kind = $2 AND subject = ANY ($3)`,
		organization, hosts, names)
	if err != nil {
		return nil, fmt.Errorf("read what runs on %d hosts: %w", len(names), err)
	}
	return on, nil
}
