package commands

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
)

// RecordDownload records that the actor fetched the file, at most once an hour.
// A report that is not Ready, or whose window has elapsed by the clock, is a
// *report.TransitionError: record first, then send the file.
func (s *Service) RecordDownload(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	var mark Mark
	err := s.inTx(ctx, func(tx *sqlx.Tx) (err error) {
		mark, err = s.decideReport(ctx, tx, actor, id, func(r *report.Report, now time.Time) ([]report.Event, error) {
			return r.RecordDownload(actor.MemberID, now)
		}, nil)
		return err
	})
	return mark, err
}
