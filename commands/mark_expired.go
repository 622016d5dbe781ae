package commands

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
)

// MarkExpired records that the retention window has elapsed. Before it has,
// the answer is a *report.NotDueError with the time to come back.
func (s *Service) MarkExpired(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID) (Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, now time.Time) ([]report.Event, error) {
		return r.Expire(now)
	}, nil)
}
