package alerts

import (
	"context"
	_ "embed" // the queries
	"strings"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/domain/fleet"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/behind.sql
	behindQuery string
	//go:embed sql/behind_alerts.sql
	behindAlerts string
	//go:embed sql/behind_instances.sql
	behindInstances string
)

// Behind asks which alerts History counts between From and To, To exclusive: as active,
// or as resolved.
type Behind struct {
	Organization uuid.UUID
	Scope        fleet.Scope
	From, To     time.Time
	Active       bool
	Most         int // so many at most
}

// BehindAlert is one of them.
type BehindAlert struct {
	ID         uuid.UUID       `db:"id"`
	InstanceID *uuid.UUID      `db:"instance_id"`
	DatabaseID *uuid.UUID      `db:"database_id"`
	Title      string          `db:"title"`
	Severity   domain.Severity `db:"severity"`
	State      domain.State    `db:"state"`
	All        int64           `db:"all_of_them"` // how many there are
}

// BehindInstance is an instance with how many of them are about it; nil: those about none.
type BehindInstance struct {
	InstanceID *uuid.UUID `db:"instance_id"`
	Alerts     int64      `db:"alerts"`
	Instances  int64      `db:"instances"` // how many there are
	All        int64      `db:"all_of_them"`
}

// BehindByAlert returns the alerts, the worst first, and of those the newest.
func (r *Reader) BehindByAlert(ctx context.Context, b Behind) ([]BehindAlert, error) {
	query, args, err := r.behind(ctx, b, behindAlerts)
	if err != nil {
		return nil, err
	}
	return statement.All[BehindAlert](ctx, r.db, "read the alerts behind a count", query, args...)
}

// BehindByInstance returns the instances that the alerts are about, those with most of
// them first.
func (r *Reader) BehindByInstance(ctx context.Context, b Behind) ([]BehindInstance, error) {
	query, args, err := r.behind(ctx, b, behindInstances)
	if err != nil {
		return nil, err
	}
	return statement.All[BehindInstance](ctx, r.db, "read the instances behind a count of alerts", query, args...)
}

func (r *Reader) behind(ctx context.Context, b Behind, query string) (string, []any, error) {
	elsewhere, err := r.elsewhere(ctx, b.Organization, b.Scope)
	query, args := scoped(strings.ReplaceAll(query, "{{behind}}", behindQuery), b.Scope, elsewhere, b.Organization, b.From, b.To, b.Active, b.Most)
	return query, args, err
}
