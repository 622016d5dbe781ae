package exceptions

import (
	"context"
	_ "embed" // the query
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/exception"
	"muster/domain/team"
	"muster/internal/postgres/statement"
)

//go:embed sql/page.sql
var pageQuery string

// Reader answers from the live generation of the exceptions projection. Every
// query carries the organization.
type Reader struct{ db *sqlx.DB }

// NewReader returns a reader on db.
func NewReader(db *sqlx.DB) *Reader { return &Reader{db: db} }

// Exception is one exception as it stands at the time of the query.
type Exception struct {
	ID             uuid.UUID        `db:"id"`
	OrganizationID uuid.UUID        `db:"organization_id"`
	Status         exception.Status `db:"status"`
	CheckID        string           `db:"check_id"`
	InstanceID     *uuid.UUID       `db:"instance_id"` // nil: all
	DatabaseID     *uuid.UUID       `db:"database_id"` // nil: all
	ObjectRef      string           `db:"object_ref"`  // empty: all
	Reason         string           `db:"reason"`
	Until          time.Time        `db:"until"`
	RequestedBy    uuid.UUID        `db:"requested_by"`
	RequestedAt    time.Time        `db:"requested_at"`
	DecidedBy      *uuid.UUID       `db:"decided_by"` // the last administrator who granted or revoked it
	DecidedAt      *time.Time       `db:"decided_at"`
}

// Query selects a page of exceptions. Empty lists do not narrow.
type Query struct {
	Organization uuid.UUID
	IDs          []uuid.UUID
	Statuses     []exception.Status
	Instances    []uuid.UUID // those that name one of these
	Checks       []string
	Within       team.World // only those for all servers and those for one of it; nil: the whole organization
	Page, Size   int        // 1-based
}

// Page returns a page of exceptions as they stand at a time, newest first, and
// how many there are in all.
func (r *Reader) Page(ctx context.Context, q Query, at time.Time) ([]Exception, int64, error) {
	statuses := make([]string, len(q.Statuses))
	for i, s := range q.Statuses {
		statuses[i] = string(s)
	}
	type counted struct {
		Exception
		Total int64 `db:"total"`
	}
	rows, err := statement.All[counted](ctx, r.db, "read exceptions", pageQuery, q.Organization, at, q.IDs, statuses, q.Instances, q.Checks,
		q.Size, int64(q.Page-1)*int64(q.Size), q.Within.Instances())
	if err != nil {
		return nil, 0, err
	}
	exceptions := make([]Exception, 0, len(rows))
	var total int64
	for _, row := range rows {
		exceptions, total = append(exceptions, row.Exception), row.Total
	}
	if len(rows) == 0 && q.Page > 1 { // past the end: only the count is wanted
		q.Page, q.Size = 1, 1
		_, total, err = r.Page(ctx, q, at)
	}
	return exceptions, total, err
}

// Exception returns one as it stands at a time; ok is false where this part of the
// organization has none of that id.
func (r *Reader) Exception(ctx context.Context, organization uuid.UUID, within team.World, id uuid.UUID, at time.Time) (x Exception, ok bool, err error) {
	found, _, err := r.Page(ctx, Query{Organization: organization, IDs: []uuid.UUID{id}, Within: within, Page: 1, Size: 1}, at)
	if err != nil || len(found) == 0 {
		return Exception{}, false, err
	}
	return found[0], true, nil
}

// InForce returns every exception that is granted and has not lapsed at a time.
func (r *Reader) InForce(ctx context.Context, organization uuid.UUID, at time.Time) ([]Exception, error) {
	// One page, so that none slips between two.
	all, _, err := r.Page(ctx, Query{
		Organization: organization, Statuses: []exception.Status{exception.StatusGranted}, Page: 1, Size: math.MaxInt32,
	}, at)
	return all, err
}
