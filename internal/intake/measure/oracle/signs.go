package oracle

import (
	"context"
	_ "embed" // the queries
	"time"

	"muster/internal/intake/measure"
	"muster/internal/servers"
	"muster/internal/watch"
)

//go:embed sql/lock_wait.sql
var lockWaitQuery string

//go:embed sql/cluster_lock_wait.sql
var clusterLockWaitQuery string

// Signs reads which sessions wait for locks. If the account may not see what sessions wait for,
// the result is that nothing is known, and not that no session waits.
func (r *reader) Signs(ctx context.Context, l *measure.Line) ([]watch.Sign, error) {
	if _, denied := r.lacking["sessions"]; denied || r.running == nil {
		return nil, nil
	}
	rows, err := servers.Query(ctx, l, 3, r.in(lockWaitQuery, clusterLockWaitQuery))
	if err != nil {
		return nil, err
	}
	return measure.LockWaits(rows, time.Second, nil)
}
