package channel

import (
	"context"
	"encoding/json"
	"fmt"

	"muster/internal/postgres/statement"
)

// Read returns the first events of a delivery, or with alerts only those of alerts, and how
// many more there are. A test has none.
func (t Tools) Read(ctx context.Context, d Delivery, alerts bool) (notices []Notice, omitted int, err error) {
	if d.Test {
		return []Notice{}, 0, nil
	}
	rows, err := statement.All[struct {
		Notice []byte `db:"notice"`
		All    int    `db:"all_of_them"`
	}](ctx, t.DB, "read the events of a delivery", `SELECT notice, count(*) OVER () AS all_of_them FROM delivery_events
		WHERE delivery_id = $1 AND dropped = '' AND (NOT $3 OR type LIKE 'alert.%') ORDER BY at, position, event_id LIMIT $2`, d.ID, Most, alerts)
	if err != nil {
		return nil, 0, err
	}
	notices = make([]Notice, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal(row.Notice, &notices[i]); err != nil {
			return nil, 0, fmt.Errorf("read a notice: %w", err)
		}
		omitted = row.All - len(rows)
	}
	return notices, omitted, nil
}
