package history

import (
	"context"
	_ "embed" // the query
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/postgres/statement"
)

//go:embed sql/ended.sql
var endedQuery string

// Ended counts the reports whose build ended in a window, and the mails of those that could not be delivered.
type Ended struct {
	Ready, Failed, Mails int
	Named                []string // those that failed: kind and scope, the first ones
}

type endedRow struct {
	Kind   report.Kind   `db:"kind"`
	Status report.Status `db:"status"`
	Label  string        `db:"scope_label"`
	Mails  int           `db:"mails"`
}

// EndedBetween returns the reports that ended in a window, and names the most that failed first.
func (r *Reader) EndedBetween(ctx context.Context, organization uuid.UUID, from, to time.Time, most int) (e Ended, err error) {
	rows, err := statement.All[endedRow](ctx, r.db, "read the reports that ended in a window", endedQuery, organization, from, to)
	for _, row := range rows {
		e.Mails += row.Mails
		if row.Status != report.StatusFailed {
			e.Ready++
			continue
		}
		e.Failed++
		if len(e.Named) < most {
			e.Named = append(e.Named, row.Kind.Title()+": "+row.Label)
		}
	}
	return e, err
}
