package commands

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/eventstore"
)

// worker is the actor of a build's life.
func worker(organization uuid.UUID) Actor {
	return Actor{OrganizationID: organization, Component: "worker"}
}

// lockReport makes every other writer of a report wait until tx ends. Its
// claim, if it still has one, comes first: that is what whoever asks for the
// same report locks before they meet the stream.
func lockReport(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID) error {
	_, err := tx.ExecContext(ctx, `SELECT FROM report_claims WHERE organization_id = $1 AND report_id = $2 FOR UPDATE`, organization, id)
	if err != nil {
		return fmt.Errorf("lock the claim of report %s: %w", id, err)
	}
	return lockStream(ctx, tx, id)
}

// decideReport folds a report under its lock, and appends what decide returns.
// before runs between the two where there is anything to append: whatever else
// belongs to the transaction must happen before the log is locked.
func (s *Service) decideReport(
	ctx context.Context, tx *sqlx.Tx, actor Actor, id uuid.UUID,
	decide func(r *report.Report, now time.Time) ([]report.Event, error),
	before func(r *report.Report, events []report.Event) error,
) (Mark, error) {
	if err := lockReport(ctx, tx, actor.OrganizationID, id); err != nil {
		return Mark{}, err
	}
	var r report.Report
	at, err := fold(ctx, s, tx, actor.OrganizationID, id, r.Apply)
	if err != nil {
		return Mark{}, err
	}
	if r.Status() == "" {
		return Mark{}, &NotFoundError{What: "report"}
	}
	now := s.clock() // one instant for what is decided and for when it happened
	events, err := decide(&r, now)
	if err != nil || len(events) == 0 {
		return Mark{Log: eventstore.Reports}, err
	}
	if before != nil {
		if err := before(&r, events); err != nil {
			return Mark{}, err
		}
	}
	return s.appendReport(ctx, tx, actor, id, at, now, events)
}

func (s *Service) appendReport(ctx context.Context, tx *sqlx.Tx, actor Actor, id uuid.UUID, at stream, now time.Time, events []report.Event) (Mark, error) {
	return appendAll(ctx, s, tx, actor, place{eventstore.Reports, report.StreamType, id}, at, now, events)
}

// releaseClaim lets the next identical request create a report of its own.
func releaseClaim(ctx context.Context, tx *sqlx.Tx, r *report.Report, organization uuid.UUID) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM report_claims WHERE organization_id = $1 AND fingerprint = $2`, organization, r.Fingerprint())
	if err != nil {
		return fmt.Errorf("release the claim of a report: %w", err)
	}
	return nil
}
