package commands

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
)

// CompleteStep records a finished step of the build. A step at or before the
// last one of this attempt is known already.
func (s *Service) CompleteStep(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, step report.StepCompleted) (Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, _ time.Time) ([]report.Event, error) {
		return r.CompleteStep(step)
	}, nil)
}
