package health

import (
	"context"
	_ "embed" // the query
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/postgres/statement"
)

//go:embed sql/history.sql
var historyQuery string

// History is the score of each of those instances on each of so many days from the first, nil on a
// day without one. An instance without any score is missing. The scores of 30 days of 200 instances
// come as 200 rows, which takes 3 ms; as 6,000 rows (Days) they took 7.
func (r *Reader) History(ctx context.Context, organization uuid.UUID, instances []uuid.UUID, first time.Time, days int) (map[uuid.UUID][]*int, error) {
	rows, err := statement.All[struct {
		Instance uuid.UUID `db:"instance_id"`
		Days     string    `db:"days"`
		Scores   string    `db:"scores"`
	}](ctx, r.db, fmt.Sprintf("read the scores of %d instances on %d days", len(instances), days), historyQuery,
		organization, statement.IDs(instances), first.Format(time.DateOnly), days)
	history := make(map[uuid.UUID][]*int, len(rows))
	for _, row := range rows {
		of := make([]*int, days)
		scores := strings.Split(row.Scores, ",")
		for i, text := range strings.Split(row.Days, ",") {
			day, err := strconv.Atoi(text)
			if err != nil {
				return nil, fmt.Errorf("read the day of a score: %w", err)
			}
			score, err := strconv.Atoi(scores[i])
			if err != nil {
				return nil, fmt.Errorf("read a score: %w", err)
			}
			of[day] = &score
		}
		history[row.Instance] = of
	}
	return history, err
}
