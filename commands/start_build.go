package commands

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
)

// StartBuild records that worker took the request: BuildStarted where it was
// Queued, BuildResumed with reason where it was Building already. The same
// worker and attempt twice are one fact.
//
// Like every use case that takes a transaction it must be called last in it:
// from its append to the commit the log's head row is locked. Errors of all of
// them: *NotFoundError, *report.TransitionError.
func (s *Service) StartBuild(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, workerID string, attempt int, reason string) (Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, _ time.Time) ([]report.Event, error) {
		return r.Start(workerID, attempt, reason)
	}, nil)
}
