package tables

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements/blocks"
	"muster/internal/postgres/statement"
)

// Series is a row of measured_series.
type Series struct {
	ID           int64     `db:"series_id"`
	Organization uuid.UUID `db:"organization_id"`
	Kind         string
	Subject      string
	Engine       fleet.Engine
	WatchedFrom  *time.Time `db:"watched_from"` // of statements: the start of their first interval
}

// Block is the series as its blocks are known by.
func (s Series) Block() blocks.Series {
	return blocks.Series{ID: s.ID, Organization: s.Organization, Kind: s.Kind, Subject: s.Subject, Engine: s.Engine}
}

const allSeries = `SELECT id AS series_id, organization_id, kind, subject, engine FROM measured_series ORDER BY id`

// AllSeries lists the series of all organizations by their number.
func AllSeries(ctx context.Context, q sqlx.QueryerContext) ([]Series, error) {
	return statement.All[Series](ctx, q, "list series", allSeries)
}

// Subjects are instances as the subjects of their series.
func Subjects(instances []uuid.UUID) []string {
	texts := make([]string, len(instances))
	for i, id := range instances {
		texts[i] = id.String()
	}
	return texts
}
