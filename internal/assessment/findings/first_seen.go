package findings

import (
	"context"
	_ "embed"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

//go:embed sql/first_seen.sql
var firstSeenSQL string

// FirstSeen says since when each finding of some instances is there, by its id.
func FirstSeen(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID]time.Time, error) {
	rows, err := statement.All[struct {
		ID uuid.UUID `db:"id"`
		At time.Time `db:"first_seen_at"`
	}](ctx, q, "read since when findings are there", firstSeenSQL, organization, statement.IDs(instances))
	seen := make(map[uuid.UUID]time.Time, len(rows))
	for _, row := range rows {
		seen[row.ID] = row.At
	}
	return seen, err
}
