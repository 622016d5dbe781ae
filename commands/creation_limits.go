package commands

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

//go:embed creations.sql
var selectCreations string

// retryWhileBuilding is when to ask again while too many reports are being
// built: a build takes seconds.
const retryWhileBuilding = 5 * time.Second

// checkLimits refuses a creation beyond the limits. The claim of report id is
// inserted already, and counts. Creations of one organization go one after the
// other while a limit is set, so that the limits are exact.
func (s *Service) checkLimits(ctx context.Context, tx *sqlx.Tx, actor Actor, id uuid.UUID) error {
	if s.Limits == (Limits{}) {
		return nil
	}
	if err := lockStream(ctx, tx, actor.OrganizationID); err != nil {
		return err
	}
	if err := s.checkBuilding(ctx, tx, actor.OrganizationID); err != nil {
		return err
	}
	return s.checkCreations(ctx, tx, actor, id)
}

func (s *Service) checkBuilding(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) error {
	if s.Limits.BuildingAtOnce == 0 {
		return nil
	}
	var building int
	err := tx.GetContext(ctx, &building, `SELECT count(*) FROM report_claims WHERE organization_id = $1`, organization)
	if err != nil {
		return fmt.Errorf("count reports being built: %w", err)
	}
	if building <= s.Limits.BuildingAtOnce {
		return nil
	}
	return &RuleError{
		Code: "too_many_building", Title: "Too many reports are being built",
		Detail:     fmt.Sprintf("%d reports of this organization are being built; request this one again when one of them is ready.", s.Limits.BuildingAtOnce),
		RetryAfter: retryWhileBuilding,
	}
}

func (s *Service) checkCreations(ctx context.Context, tx *sqlx.Tx, actor Actor, id uuid.UUID) error {
	if s.Limits.CreatesPerHour == 0 {
		return nil
	}
	now := s.clock()
	since := now.Add(-time.Hour)
	var creations struct {
		Made  int          `db:"made"`
		First sql.NullTime `db:"first"`
	}
	if err := tx.GetContext(ctx, &creations, selectCreations, actor.OrganizationID, actor.MemberID, since); err != nil {
		return fmt.Errorf("count reports created: %w", err)
	}
	if creations.Made >= s.Limits.CreatesPerHour {
		return &RuleError{
			Code: "rate_limited", Title: "Too many reports requested",
			Detail:     fmt.Sprintf("A member may create %d reports an hour.", s.Limits.CreatesPerHour),
			RetryAfter: creations.First.Time.Sub(since).Truncate(time.Second) + time.Second,
		}
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM report_creations WHERE organization_id = $1 AND member_id = $2 AND created_at <= $3`,
		actor.OrganizationID, actor.MemberID, since)
	if err != nil {
		return fmt.Errorf("forget old creations: %w", err)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO report_creations (report_id, organization_id, member_id, created_at) VALUES ($1, $2, $3, $4)`,
		id, actor.OrganizationID, actor.MemberID, now)
	if err != nil {
		return fmt.Errorf("count a creation: %w", err)
	}
	return nil
}
