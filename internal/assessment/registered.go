package assessment

import (
	"context"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/postgres/statement"
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
	return statement.All[Registered](ctx, s.db, "list the registered connections", `SELECT organization_id, instance_id, engine, md5(sealed_dsn) AS revision
		FROM assessment_targets ORDER BY organization_id, instance_id`)
}
