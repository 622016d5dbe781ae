package alerts

import (
	"context"
	"fmt"
	"time"

	domain "muster/domain/alert"
	"muster/projections"
)

// counter is a row of totals.
type counter struct {
	organization rawID
	hour         time.Time
	severity     domain.Severity
	closed       bool
	muted        bool
}

func tally(alerts map[rawID]*folded) map[counter]int64 {
	counts := make(map[counter]int64)
	for _, f := range alerts {
		counts[f.counter()]++
	}
	return counts
}

// count moves the totals by what the page changed. Rows that come to nothing
// go, so that two generations hold the same rows however their pages were cut.
func count(ctx context.Context, tx projections.Tx, before, after map[counter]int64) error {
	delta := after
	for c, n := range before {
		delta[c] -= n
	}
	var organizations, theirs []rawID
	var hours, fewer []time.Time
	var severities []string
	var closed, muted []bool
	var numbers []int64
	for c, n := range delta {
		if n == 0 {
			continue
		}
		if n < 0 {
			theirs, fewer = append(theirs, c.organization), append(fewer, c.hour)
		}
		organizations, hours = append(organizations, c.organization), append(hours, c.hour)
		severities = append(severities, string(c.severity))
		closed, muted, numbers = append(closed, c.closed), append(muted, c.muted), append(numbers, n)
	}
	if len(numbers) == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, writeTotals, organizations, hours, severities, closed, muted, numbers); err != nil {
		return fmt.Errorf("count alerts: %w", err)
	}
	if len(fewer) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM totals WHERE organization_id = ANY ($1) AND hour = ANY ($2) AND alerts = 0`,
		theirs, fewer)
	return err
}
