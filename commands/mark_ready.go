package commands

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
)

// MarkReady records the finished file and releases the claim. RecipientIDs (with
// whoever joined meanwhile) and ExpiresAt are set here, from RetentionSeconds.
//
// finish runs before the append, with the event as it will be recorded: it
// inserts the mail, expiry and erasure jobs, so that everybody locks jobs before
// the log. It does not run where this Ready is
// recorded already; a Ready with another file is a *report.TransitionError.
func (s *Service) MarkReady(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, ready report.Ready, finish func(report.Ready) error) (Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, now time.Time) ([]report.Event, error) {
		return r.Ready(ready, now)
	}, func(r *report.Report, events []report.Event) error {
		if err := releaseClaim(ctx, tx, r, organization); err != nil {
			return err
		}
		for _, e := range events {
			if recorded, ok := e.(report.Ready); ok && finish != nil {
				return finish(recorded)
			}
		}
		return nil
	})
}
