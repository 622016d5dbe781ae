package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
)

// MonitoringStartedIn is when the earliest instance in scope was registered,
// inactive ones too; nil where there is none.
func (r *Reader) MonitoringStartedIn(ctx context.Context, organization uuid.UUID, scope domain.Scope) (*time.Time, error) {
	query, args := `SELECT min(created_at) FROM fleet_v1.instances WHERE organization_id = $1`, []any{organization}
	if scope.Filtered {
		query, args = query+` AND id = ANY ($2)`, append(args, scope.Instances)
	}
	var at *time.Time
	if err := r.db.GetContext(ctx, &at, query, args...); err != nil {
		return nil, fmt.Errorf("read when monitoring started: %w", err)
	}
	if at != nil {
		*at = at.UTC()
	}
	return at, nil
}
