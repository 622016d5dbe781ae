package findings

import (
	"context"
	_ "embed"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/history_since.sql
	historySinceSQL string
	//go:embed sql/history_gone.sql
	historyGoneSQL string
)

// Past asks for the findings of some instances at earlier times.
type Past struct {
	Organization uuid.UUID
	Instances    []uuid.UUID
	Checks       []string
	Database     *string     // its findings and the instance-wide ones alone; nil: all
	At           []time.Time // ascending
	Due          Due
}

// Gone counts, of one severity, the findings that were there at a time and have gone since.
type Gone struct {
	At      time.Time `db:"at"`
	Rank    int       `db:"severity"`
	Gone    int       `db:"gone"`
	Overdue int       `db:"overdue"` // at that time
}

// History returns the first finding on record (nil: there is none) and the counts. A finding that went and came back
// counts where it was there the first time. Findings are kept for a year after they went.
func History(ctx context.Context, q sqlx.QueryerContext, p Past) (since *time.Time, gone []Gone, err error) {
	since, err = statement.One[*time.Time](ctx, q, "read since when findings are on record", historySinceSQL, p.Organization, statement.IDs(p.Instances))
	if err != nil {
		return nil, nil, err
	}
	within := p.Due.within()
	gone, err = statement.All[Gone](ctx, q, "count findings that have gone", historyGoneSQL,
		p.Organization, statement.IDs(p.Instances), p.Checks, p.At, within[:], p.Database)
	return since, gone, err
}
