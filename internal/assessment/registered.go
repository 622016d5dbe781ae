package assessment

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"muster/domain/fleet"
)

// Registered is an instance that has a connection registered.
type Registered struct {
	Organization uuid.UUID `db:"organization_id"`
	Instance     uuid.UUID `db:"instance_id"`
	Engine       fleet.Engine
	// Revision is another one when the connection is.
	Revision string
}

// Registered lists the connections of the whole installation, for the collectors.
func (s *Store) Registered(ctx context.Context) ([]Registered, error) {
	var all []Registered
	err := s.db.SelectContext(ctx, &all, `SELECT organization_id, instance_id, engine, md5(sealed_dsn) AS revision
		FROM assessment_targets ORDER BY organization_id, instance_id`)
	if err != nil {
		return nil, fmt.Errorf("list the registered connections: %w", err)
	}
	return all, nil
}
