package schedules

import (
	"context"
	_ "embed" // the queries
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/schedule"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/page.sql
	pageQuery string
	//go:embed sql/count.sql
	countQuery string
	//go:embed sql/runs.sql
	runsQuery string
)

// Reader answers from the live generation of the schedules projection. Every query
// carries the organization.
type Reader struct{ db *sqlx.DB }

// NewReader returns a reader on db.
func NewReader(db *sqlx.DB) *Reader { return &Reader{db: db} }

// Schedule is one schedule.
type Schedule struct {
	schedule.State
	ID             uuid.UUID
	OrganizationID uuid.UUID
	CreatedAt      time.Time
	LastRun        *Run // nil: none yet
}

// Due are the due times that have come by now and have no fact yet, the oldest first.
func (s Schedule) Due(zone *time.Location, now time.Time) []time.Time {
	return schedule.Restore(s.State).Due(zone, now)
}

// Coming are the n due times after an instant, without those that have a fact.
func (s Schedule) Coming(zone *time.Location, after time.Time, n int) []time.Time {
	return schedule.Restore(s.State).Coming(zone, after, n)
}

// Run is what became of a due time.
type Run struct {
	schedule.Run
	At time.Time // when that was recorded
}

// runRow is a run as the tables have it.
type runRow struct {
	DueAt  time.Time       `db:"due_at"`
	Status schedule.Status `db:"status"`
	Report uuid.NullUUID   `db:"report_id"`
	Reason string          `db:"reason"`
	At     time.Time       `db:"at"`
	Total  int64           `db:"total"`
}

func (r runRow) run() Run {
	return Run{Run: schedule.Run{DueAt: r.DueAt, Status: r.Status, ReportID: r.Report.UUID, Reason: r.Reason}, At: r.At}
}

// Page returns a page of schedules by name, and how many there are in all. Pages count
// from 1.
func (r *Reader) Page(ctx context.Context, organization uuid.UUID, page, size int) ([]Schedule, int64, error) {
	all, total, err := r.page(ctx, organization, nil, size, int64(page-1)*int64(size))
	if err == nil && len(all) == 0 && page > 1 { // past the end: only the count is wanted
		total, err = r.Count(ctx, r.db, organization)
	}
	return all, total, err
}

// Schedule returns one; ok is false where this organization has none of that id.
func (r *Reader) Schedule(ctx context.Context, organization, id uuid.UUID) (s Schedule, ok bool, err error) {
	found, _, err := r.page(ctx, organization, &id, 1, 0)
	if err != nil || len(found) == 0 {
		return Schedule{}, false, err
	}
	return found[0], true, nil
}

func (r *Reader) page(ctx context.Context, organization uuid.UUID, id *uuid.UUID, size int, offset int64) ([]Schedule, int64, error) {
	rows, err := statement.All[struct {
		ID             uuid.UUID        `db:"id"`
		OrganizationID uuid.UUID        `db:"organization_id"`
		OwnerID        uuid.UUID        `db:"owner_id"`
		Terms          []byte           `db:"terms"`
		From           time.Time        `db:"due_from"`
		CreatedAt      time.Time        `db:"created_at"`
		DueAt          *time.Time       `db:"run_due_at"`
		Status         *schedule.Status `db:"run_status"`
		Report         uuid.NullUUID    `db:"run_report_id"`
		Reason         *string          `db:"run_reason"`
		At             *time.Time       `db:"run_at"`
		Total          int64            `db:"total"`
	}](ctx, r.db, "read schedules", pageQuery, organization, size, offset, id)
	schedules, total := make([]Schedule, 0, len(rows)), int64(0)
	for _, row := range rows {
		s := Schedule{ID: row.ID, OrganizationID: row.OrganizationID, CreatedAt: row.CreatedAt}
		s.OwnerID, s.From = row.OwnerID, row.From
		if err := json.Unmarshal(row.Terms, &s.Terms); err != nil {
			return nil, 0, fmt.Errorf("read schedule %s: %w", row.ID, err)
		}
		if row.DueAt != nil {
			run := runRow{DueAt: *row.DueAt, Status: *row.Status, Report: row.Report, Reason: *row.Reason, At: *row.At}.run()
			s.LastRun, s.Ran = &run, row.DueAt.Equal(row.From)
		}
		schedules, total = append(schedules, s), row.Total
	}
	return schedules, total, err
}

// Count is how many schedules an organization has, as far as q sees them, including those that
// the projection has not applied yet.
func (r *Reader) Count(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID) (int64, error) {
	return statement.One[int64](ctx, q, "count schedules", countQuery, organization)
}

// Runs returns runs of a schedule, the newest first, and how many there are in all;
// offset is how many of them to leave out.
func (r *Reader) Runs(ctx context.Context, organization, id uuid.UUID, offset int64, size int) ([]Run, int64, error) {
	rows, err := statement.All[runRow](ctx, r.db, "read runs", runsQuery, organization, id, size, offset)
	if err != nil {
		return nil, 0, err
	}
	runs, total := make([]Run, 0, len(rows)), int64(0)
	for _, row := range rows {
		runs, total = append(runs, row.run()), row.Total
	}
	if len(rows) == 0 {
		total, err = statement.One[int64](ctx, r.db, "count runs", `SELECT count(*) FROM schedules_v1.runs WHERE organization_id = $1 AND schedule_id = $2`, organization, id)
	}
	return runs, total, err
}
