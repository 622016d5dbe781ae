package commands

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
)

// RecordInputsErased records that the inputs document was deleted by rule
// (retention, member_erased); whom it named needs no remembering then.
func (s *Service) RecordInputsErased(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, rule string) (Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, _ time.Time) ([]report.Event, error) {
		return r.EraseInputs(rule)
	}, func(*report.Report, []report.Event) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM report_people WHERE organization_id = $1 AND report_id = $2`, organization, id)
		if err != nil {
			return fmt.Errorf("forget whom report %s names: %w", id, err)
		}
		return nil
	})
}
