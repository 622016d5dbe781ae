package oracle

import (
	"context"
	_ "embed" // the queries
	"strconv"

	"muster/internal/intake/measure"
	"muster/internal/servers"
	"muster/internal/watch"
)

//go:embed sql/lock_wait.sql
var lockWaitQuery string

//go:embed sql/cluster_lock_wait.sql
var clusterLockWaitQuery string

// Signs asks for the longest wait for a lock. Who may not see what sessions wait for has
// nothing to say about it, rather than that nobody waits.
func (r *reader) Signs(ctx context.Context, l *measure.Line) ([]watch.Sign, error) {
	if _, denied := r.lacking["sessions"]; denied || r.running == nil {
		return nil, nil
	}
	row, err := servers.Row(ctx, l, 1, r.in(lockWaitQuery, clusterLockWaitQuery))
	if err != nil {
		return nil, err
	}
	seconds, err := strconv.ParseFloat(row[0], 64)
	if err != nil {
		return nil, measure.ErrNonsense
	}
	return []watch.Sign{{Rule: watch.LockWait, Value: max(seconds/60, 0)}}, nil
}
