package pgstore

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"muster/internal/statement"
)

// InstancesOn says what runs on hosts by the newest of their samples that says so.
// Hosts of which none does, or which run nothing we know, are missing.
func (s *Store) InstancesOn(ctx context.Context, organization uuid.UUID, names []string) (map[string][]uuid.UUID, error) {
	type mapped struct {
		Subject  string
		Instance uuid.UUID
	}
	rows, err := statement.All[mapped](ctx, s.db, fmt.Sprintf("read what runs on %d hosts", len(names)),
		`SELECT subject, unnest(instances) AS instance FROM measured_series WHERE organization_id = $1 AND kind = $2 AND subject = ANY ($3)`,
		organization, hosts, names)
	if err != nil {
		return nil, err
	}
	on := make(map[string][]uuid.UUID)
	for _, row := range rows {
		on[row.Subject] = append(on[row.Subject], row.Instance)
	}
	return on, nil
}
