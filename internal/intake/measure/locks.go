package measure

import (
	"strconv"
	"time"

	"muster/internal/watch"
)

// LockWaits are the signals of sessions that wait for locks. An engine's rows say whether the
// locks are advisory ("1" or "0"), how many sessions wait, and for how many of unit the longest
// does; without waiting sessions there is no row. describe adds the rest of a row; nil:
// nothing. Both signals are made, otherwise a wait that is over would not end. Errors:
// ErrNonsense.
func LockWaits(rows [][]string, unit time.Duration, describe func(row []string, d *watch.Details)) ([]watch.Sign, error) {
	signs := []watch.Sign{{Rule: watch.LockWait}, {Rule: watch.LockWait, Mount: watch.Advisory}}
	for _, row := range rows {
		class, err := strconv.Atoi(row[0])
		if err != nil || class < 0 || class > 1 {
			return nil, ErrNonsense
		}
		sessions, err := strconv.Atoi(row[1])
		if err != nil {
			return nil, ErrNonsense
		}
		longest, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			return nil, ErrNonsense
		}
		sign := &signs[class]
		sign.Value, sign.Details.Sessions = max(longest*unit.Minutes(), 0), sessions
		if describe != nil {
			describe(row, &sign.Details)
		}
	}
	return signs, nil
}
