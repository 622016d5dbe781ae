package writing

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/domain/instant"
	"muster/internal/measurements"
	"muster/internal/postgres/statement"
)

//go:embed sql/mark_watched.sql
var markWatched string

// keepWatched notes of instances when the first interval of their statements began.
func keepWatched(ctx context.Context, tx *sqlx.Tx, h held, samples []measurements.StatementSample) error {
	first := make(map[int64]time.Time)
	for _, s := range samples {
		series, began := h.statementsOf(s.Instance), instant.Cut(s.At.Add(-s.Interval))
		if known, ok := first[series]; !ok || began.Before(known) {
			first[series] = began
		}
	}
	type marked struct {
		Series int64
		Since  time.Time
	}
	var rows []marked
	for series, since := range first {
		if known := h.rows[series].WatchedFrom; known == nil || since.Before(*known) {
			rows = append(rows, marked{series, since})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return statement.Exec(ctx, tx, fmt.Sprintf("note since when the statements of %d series are watched", len(rows)), markWatched, statement.Columns(rows)...)
}
