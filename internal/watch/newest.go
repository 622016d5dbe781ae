package watch

import (
	"context"
	_ "embed" // the statements
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/newest_of.sql
	newestOf string
	//go:embed sql/worst_of.sql
	worstOf string
	//go:embed sql/full_first.sql
	fullFirst string
	//go:embed sql/hosts_of.sql
	hostsOf string
)

// Newest is the newest figure of a rule of an instance, and its peak.
type Newest struct {
	Value   float64
	Details Details
	At      time.Time
	Peak    *float64   // the greatest of the last 30 days; nil: none is kept
	PeakAt  *time.Time // its minute
}

// NewestOf returns the newest figure of a rule about a whole instance; ok is false if there is none.
func NewestOf(ctx context.Context, q sqlx.QueryerContext, organization, instance uuid.UUID, rule Rule, now time.Time) (n Newest, ok bool, err error) {
	row, ok, err := statement.Find[struct {
		Value   float64
		Details Details
		At      time.Time
		Peak    *float64
		Hour    *time.Time
		Minute  *int
	}](ctx, q, "read the newest figure of a rule", newestOf, organization, instance, string(rule), now.Add(-Past).Truncate(time.Hour))
	if err != nil || !ok {
		return n, false, err
	}
	n = Newest{Value: row.Value, Details: row.Details, At: row.At.UTC(), Peak: row.Peak}
	if row.Hour != nil && row.Minute != nil {
		at := row.Hour.UTC().Add(time.Duration(*row.Minute) * time.Minute)
		n.PeakAt = &at
	}
	return n, true, nil
}

// Worst is the worst figure of a rule of an instance.
type Worst struct {
	Value   float64
	Unknown int // databases of which there is no figure, because nobody knows it
}

// WorstOf returns the worst figure of a rule of each instance that has one since a time: of FullIn that of what is
// full first: of the volumes of its hosts, or of what it tells itself.
func WorstOf(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, instances []uuid.UUID, rule Rule, since time.Time) (map[uuid.UUID]Worst, error) {
	query, args := worstOf, []any{organization, statement.IDs(instances), since.UTC(), string(rule)}
	if rule == FullIn {
		query, args[3] = fullFirst, NotFull
	}
	rows, err := statement.All[struct {
		Instance uuid.UUID `db:"instance_id"`
		Worst
	}](ctx, q, "read the worst figures of a rule", query, args...)
	if err != nil {
		return nil, err
	}
	worst := make(map[uuid.UUID]Worst, len(rows))
	for _, row := range rows {
		worst[row.Instance] = row.Worst
	}
	return worst, nil
}

// HostOf is a host that an instance was last seen on.
type HostOf struct {
	Instance uuid.UUID `db:"instance"`
	Host     string    `db:"host"`
}

// HostsOf are the hosts that instances were last seen on, by the hosts' volumes.
func HostsOf(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, instances []uuid.UUID) ([]HostOf, error) {
	return statement.All[HostOf](ctx, q, "find the hosts of instances", hostsOf, organization, string(host), statement.IDs(instances))
}
