package jobs

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

var (
	//go:embed sql/list.sql
	listSQL string
	//go:embed sql/counts.sql
	countsSQL string
	//go:embed sql/retry_dead.sql
	retryDeadSQL string
	//go:embed sql/drop_dead.sql
	dropDeadSQL string
)

// QueueCounts says how many jobs of a kind there are in each status.
type QueueCounts struct {
	Queued  int64 `db:"queued"`
	Running int64 `db:"running"`
	Dead    int64 `db:"dead"`
}

type listRow struct {
	ID             uuid.UUID  `db:"id"`
	OrganizationID uuid.UUID  `db:"organization_id"`
	Kind           string     `db:"kind"`
	Subject        uuid.UUID  `db:"subject"`
	Key            string     `db:"key"`
	Payload        []byte     `db:"payload"`
	RunAt          time.Time  `db:"run_at"`
	Status         string     `db:"status"`
	Attempts       int        `db:"attempts"`
	WorkerID       string     `db:"worker_id"`
	LeasedUntil    *time.Time `db:"leased_until"`
	DeadAt         *time.Time `db:"dead_at"`
	LastError      string     `db:"last_error"`
	Endings        []byte     `db:"endings"`
	Step           int        `db:"step"`
	TotalSteps     int        `db:"total_steps"`
	Label          string     `db:"label"`
}

func (r listRow) row() (Row, error) {
	row := Row{
		Job: Job{ID: r.ID, OrganizationID: r.OrganizationID, Kind: JobKind(r.Kind), Subject: r.Subject, Key: r.Key,
			Payload: r.Payload, RunAt: r.RunAt},
		Status: r.Status, Attempts: r.Attempts, WorkerID: r.WorkerID, LeasedUntil: r.LeasedUntil, DeadAt: r.DeadAt,
		LastError: r.LastError, Step: r.Step, TotalSteps: r.TotalSteps, Label: r.Label,
	}
	return row, json.Unmarshal(r.Endings, &row.Endings)
}

type listing struct {
	organization uuid.UUID // uuid.Nil: all
	kinds        []JobKind // empty: all
	subjects     []uuid.UUID
	job          uuid.UUID
	dead         bool // only those set aside
	limit        int
}

func (q *Queue) list(ctx context.Context, l listing) ([]Row, error) {
	kinds := make([]string, 0, len(l.kinds))
	for _, k := range l.kinds {
		kinds = append(kinds, string(k))
	}
	subjects := make([]string, 0, len(l.subjects))
	for _, s := range l.subjects {
		subjects = append(subjects, s.String())
	}
	var found []listRow
	if err := sqlx.SelectContext(ctx, q.db, &found, listSQL, orNull(l.organization), kinds, subjects, orNull(l.job), l.dead, l.limit); err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	rows := make([]Row, 0, len(found))
	for _, f := range found {
		row, err := f.row()
		if err != nil {
			return nil, fmt.Errorf("read how the attempts at job %s ended: %w", f.ID, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// List returns the unfinished jobs of one organization (uuid.Nil: of all) of
// the given kinds (none: of all), oldest first, those set aside included.
func (q *Queue) List(ctx context.Context, organization uuid.UUID, limit int, kinds ...JobKind) ([]Row, error) {
	return q.list(ctx, listing{organization: organization, kinds: kinds, limit: limit})
}

// Dead returns the jobs of one organization (uuid.Nil: of all) that were set aside, oldest first.
func (q *Queue) Dead(ctx context.Context, organization uuid.UUID, limit int) ([]Row, error) {
	return q.list(ctx, listing{organization: organization, dead: true, limit: limit})
}

// Get returns one job; ok is false where this organization (uuid.Nil: any) has none of that id.
func (q *Queue) Get(ctx context.Context, organization, job uuid.UUID) (row Row, ok bool, err error) {
	rows, err := q.list(ctx, listing{organization: organization, job: job, limit: 1})
	if err != nil || len(rows) == 0 {
		return Row{}, false, err
	}
	return rows[0], true, nil
}

// DeadBuild returns the report whose build is a job that was set aside; ok is false
// where this organization (uuid.Nil: any) has no such job, or it is not a build.
func (q *Queue) DeadBuild(ctx context.Context, organization, job uuid.UUID) (report uuid.UUID, ok bool, err error) {
	row, ok, err := q.Get(ctx, organization, job)
	return row.Subject, ok && row.Kind == Build && row.Status == StatusDead, err
}

// Progress returns the rows of the build jobs of these reports; a report
// without one is absent.
func (q *Queue) Progress(ctx context.Context, organization uuid.UUID, reports []uuid.UUID) (map[uuid.UUID]Row, error) {
	if len(reports) == 0 {
		return map[uuid.UUID]Row{}, nil
	}
	rows, err := q.list(ctx, listing{organization: organization, kinds: []JobKind{Build}, subjects: reports, limit: len(reports)})
	if err != nil {
		return nil, err
	}
	progress := make(map[uuid.UUID]Row, len(rows))
	for _, r := range rows {
		progress[r.Subject] = r
	}
	return progress, nil
}

// Counts returns how many jobs there are by kind, in one organization or (uuid.Nil) in all.
func (q *Queue) Counts(ctx context.Context, organization uuid.UUID) (map[JobKind]QueueCounts, error) {
	var found []struct {
		Kind string `db:"kind"`
		QueueCounts
	}
	if err := sqlx.SelectContext(ctx, q.db, &found, countsSQL, orNull(organization)); err != nil {
		return nil, fmt.Errorf("count jobs: %w", err)
	}
	counts := make(map[JobKind]QueueCounts, len(found))
	for _, f := range found {
		counts[JobKind(f.Kind)] = f.QueueCounts
	}
	return counts, nil
}

// Retry lets a job that was set aside run again, with all its attempts ahead
// of it. It returns a *NotDeadError where this organization (uuid.Nil: any)
// has no such job.
func (q *Queue) Retry(ctx context.Context, organization, job uuid.UUID) error {
	return q.decide(ctx, retryDeadSQL, organization, job)
}

// Drop forgets a job that was set aside. It returns a *NotDeadError where this
// organization (uuid.Nil: any) has no such job.
func (q *Queue) Drop(ctx context.Context, organization, job uuid.UUID) error {
	return q.decide(ctx, dropDeadSQL, organization, job)
}

func (q *Queue) decide(ctx context.Context, query string, organization, job uuid.UUID) error {
	res, err := q.db.ExecContext(ctx, query, job, orNull(organization))
	if err != nil {
		return fmt.Errorf("decide on job %s: %w", job, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return &NotDeadError{Job: job}
	}
	return nil
}

func orNull(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

// maxError bounds what the table keeps of an error: enough for a chain of
// wrapped sentences, not for a stack trace.
const maxError = 2000

// brief is the error as the table keeps it. PostgreSQL's text takes no NUL.
func brief(err error) string {
	text := strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\x00", ""), "�")
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "") + "…"
	}
	return text
}
