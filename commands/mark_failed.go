package commands

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
)

// MarkFailed ends a request with a code and a sentence, and releases its
// claim. One that never started goes through Building.
func (s *Service) MarkFailed(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, failed report.Failed) (Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, _ time.Time) ([]report.Event, error) {
		return r.Fail(failed)
	}, func(r *report.Report, _ []report.Event) error {
		return releaseClaim(ctx, tx, r, organization)
	})
}
