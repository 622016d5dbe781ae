package projections

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/statement"
)

// Tally says how many of some rows each counter counts.
func Tally[C comparable, R any](rows map[uuid.UUID]R, counter func(R) C) map[C]int64 {
	counts := make(map[C]int64)
	for _, row := range rows {
		counts[counter(row)]++
	}
	return counts
}

// Count writes by how much a page moved each counter: the statement takes an array
// for each field of C, and one of the differences. It returns the counters that went
// down, of which some may have come to nothing.
func Count[C comparable](ctx context.Context, tx *sqlx.Tx, what, query string, before, after map[C]int64) (fewer []C, err error) {
	delta := after
	for c, n := range before {
		delta[c] -= n
	}
	var counters []C
	var numbers []int64
	for c, n := range delta {
		if n == 0 {
			continue
		}
		if n < 0 {
			fewer = append(fewer, c)
		}
		counters, numbers = append(counters, c), append(numbers, n)
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	return fewer, statement.Exec(ctx, tx, what, query, append(statement.Columns(counters), numbers)...)
}
