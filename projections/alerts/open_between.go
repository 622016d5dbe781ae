package alerts

import (
	"context"
	_ "embed" // the query
	"time"

	"github.com/google/uuid"

	"muster/internal/postgres/statement"
)

//go:embed sql/open_between.sql
var openBetween string

// OpenBetween returns the alerts that were open at some time of a window, by what is known now: those of
// some instances, or with nil all of an organization. Who asks for the state at another time folds their events.
func (r *Reader) OpenBetween(ctx context.Context, organization uuid.UUID, instances []uuid.UUID, from, to time.Time) ([]uuid.UUID, error) {
	var of any
	if instances != nil {
		of = statement.IDs(instances)
	}
	return statement.All[uuid.UUID](ctx, r.db, "read the alerts that were open in a window", openBetween, organization, of, from, to)
}
