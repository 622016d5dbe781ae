package commands

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
)

// RecordInputsErased records that the inputs document was deleted by rule
// (retention, member_erased).
func (s *Service) RecordInputsErased(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, rule string) (Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, _ time.Time) ([]report.Event, error) {
		return r.EraseInputs(rule)
	}, nil)
}
