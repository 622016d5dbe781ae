package commands

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
)

// RecordMail records what became of one recipient's mail: a report.EmailSent
// or a report.EmailFailed. A mail that was sent stays sent. Errors beside those
// of StartBuild: *report.NotRecipientError.
func (s *Service) RecordMail(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, outcome report.Event) (Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, _ time.Time) ([]report.Event, error) {
		return r.RecordMail(outcome)
	}, nil)
}
