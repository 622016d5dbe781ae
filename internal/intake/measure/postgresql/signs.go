package postgresql

import (
	"context"
	_ "embed" // the queries
	"errors"
	"strconv"

	"muster/internal/intake/measure"
	"muster/internal/servers"
	"muster/internal/watch"
)

//go:embed sql/capabilities.sql
var capabilitiesQuery string

//go:embed sql/lock_wait.sql
var lockWaitQuery string

//go:embed sql/lock_wait_13.sql
var lockWait13Query string

//go:embed sql/wraparound.sql
var wraparoundQuery string

// Signs asks a server what the watch judges beside what the samples say. Who may not see
// what sessions wait for has nothing to say about it, rather than that nobody waits.
func (r *reader) Signs(ctx context.Context, l *measure.Line) ([]watch.Sign, error) {
	var signs []watch.Sign
	used, err := number(ctx, l, wraparoundQuery)
	if err == nil {
		signs = append(signs, watch.Sign{Rule: watch.Wraparound, Value: used})
	}
	if !r.mayRead {
		return signs, err
	}
	seconds, lockErr := longestLockWait(ctx, l)
	if lockErr == nil {
		signs = append(signs, watch.Sign{Rule: watch.LockWait, Value: max(seconds/60, 0)})
	}
	return signs, errors.Join(err, lockErr)
}

func longestLockWait(ctx context.Context, s servers.Session) (seconds float64, err error) {
	tells, err := servers.Row(ctx, s, 1, capabilitiesQuery)
	if err != nil {
		return 0, err
	}
	if tells[0] == "t" {
		return number(ctx, s, lockWaitQuery)
	}
	return number(ctx, s, lockWait13Query)
}

func number(ctx context.Context, s servers.Session, query string) (float64, error) {
	row, err := servers.Row(ctx, s, 1, query)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseFloat(row[0], 64)
	if err != nil {
		return 0, measure.ErrNonsense
	}
	return n, nil
}
