package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// MonitoringStartedAt is the registration time of the organization's earliest
// instance, inactive ones too; nil where it has none.
func (r *Reader) MonitoringStartedAt(ctx context.Context, organization uuid.UUID) (*time.Time, error) {
	var at *time.Time
	err := r.db.GetContext(ctx, &at, `SELECT min(created_at) FROM fleet_v1.instances WHERE organization_id = $1`, organization)
	if err != nil {
		return nil, fmt.Errorf("read when monitoring started: %w", err)
	}
	return at, nil
}
