package jobs

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/postgres/statement"
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

// QueueCounts has the number of jobs of a kind in each status, and for how long the oldest job
// without a worker has been due; 0: none is due.
type QueueCounts struct {
	Queued  int64         `db:"queued"`
	Running int64         `db:"running"`
	Dead    int64         `db:"dead"`
	Due     time.Duration `db:"due"`
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
	return statement.All[Row](ctx, q.db, "list jobs", listSQL,
		orNull(l.organization), texts(l.kinds), texts(l.subjects), orNull(l.job), l.dead, l.limit)
}

// texts are never nil, which would be NULL.
func texts[T any](of []T) []string {
	all := make([]string, len(of))
	for i, one := range of {
		all[i] = fmt.Sprint(one)
	}
	return all
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
	type counted struct {
		Kind JobKind `db:"kind"`
		QueueCounts
	}
	found, err := statement.All[counted](ctx, q.db, "count jobs", countsSQL, orNull(organization))
	counts := make(map[JobKind]QueueCounts, len(found))
	for _, f := range found {
		counts[f.Kind] = f.QueueCounts
	}
	return counts, err
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
	n, err := statement.Affected(ctx, q.db, fmt.Sprintf("decide on job %s", job), query, job, orNull(organization))
	if err == nil && n == 0 {
		err = &NotDeadError{Job: job}
	}
	return err
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
