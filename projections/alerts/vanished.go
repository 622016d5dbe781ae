package alerts

import (
	"context"

	"github.com/google/uuid"

	"muster/internal/postgres/statement"
)

// OpenPlace is an instance that alerts are open about, muted ones too.
type OpenPlace struct {
	Organization uuid.UUID `db:"organization_id"`
	Instance     uuid.UUID `db:"instance_id"`
}

// OpenPlaces are the instances of all organizations that alerts are open about, whether they
// are there or not.
func (r *Reader) OpenPlaces(ctx context.Context) ([]OpenPlace, error) {
	return statement.All[OpenPlace](ctx, r.db, "look what alerts are open about", `SELECT DISTINCT organization_id, instance_id
		FROM alerts_v5.alerts WHERE resolved_at IS NULL AND instance_id IS NOT NULL ORDER BY organization_id, instance_id`)
}

// OpenAbout are the ids of the alerts that are open about an instance, at most limit.
func (r *Reader) OpenAbout(ctx context.Context, organization, instance uuid.UUID, limit int) ([]uuid.UUID, error) {
	return statement.All[uuid.UUID](ctx, r.db, "list the open alerts of an instance", `SELECT id FROM alerts_v5.alerts
		WHERE organization_id = $1 AND instance_id = $2 AND resolved_at IS NULL ORDER BY id LIMIT $3`, organization, instance, limit)
}
