package schedules

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/schedule"
	"muster/internal/postgres/statement"
)

// Past is a run of a schedule, by the schedule's name.
type Past struct {
	Name   string          `db:"name"`
	DueAt  time.Time       `db:"due_at"`
	Status schedule.Status `db:"status"`
	Reason string          `db:"reason"`
}

// Between returns the runs that were due in a window, the oldest first. Runs of a removed schedule have no name.
func (r *Reader) Between(ctx context.Context, organization uuid.UUID, from, to time.Time) ([]Past, error) {
	return statement.All[Past](ctx, r.db, "read the runs of a window", `
		SELECT coalesce(s.name, '') AS name, r.due_at, r.status, r.reason
		FROM schedules_v1.runs r
		LEFT JOIN schedules_v1.schedules s ON s.id = r.schedule_id AND s.organization_id = r.organization_id
		WHERE r.organization_id = $1 AND r.due_at >= $2 AND r.due_at < $3
		ORDER BY r.due_at, r.schedule_id`, organization, from, to)
}
