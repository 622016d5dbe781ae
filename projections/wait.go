package projections

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/eventstore"
	"muster/internal/concurrency/pause"
)

// Pauses between looks at the checkpoints where another process moves them.
const (
	firstLook = 2 * time.Millisecond
	lastLook  = 50 * time.Millisecond
)

// CatchUp is Wait for what is in the log now.
func (r *Runner) CatchUp(ctx context.Context, log eventstore.Log, only ...string) (bool, error) {
	head, err := eventstore.New(r.db).Head(ctx, r.db, log)
	if err != nil {
		return false, fmt.Errorf("look how far the log %s is: %w", log, err)
	}
	return r.Wait(ctx, log, head.Position, only...), nil
}

// Wait is Waiter's. It wakes the groups by itself: a caller that waits for a position has
// committed it.
func (r *Runner) Wait(ctx context.Context, log eventstore.Log, position int64, only ...string) bool {
	ctx, cancel := context.WithTimeout(ctx, waitBound)
	defer cancel()
	var names []string
	var versions []int
	for _, p := range r.projections {
		if slices.Contains(p.Logs, log) && (len(only) == 0 || slices.Contains(only, p.Name)) {
			names, versions = append(names, p.Name), append(versions, p.Version)
		}
	}
	r.announce(ctx, string(log))
	// In the leading process a signal follows every commit; elsewhere looking
	// often is what is left.
	for next := firstLook; ; next = min(2*next, lastLook) {
		moved := r.progress.Changed(string(log))
		var passed int
		err := r.db.QueryRowContext(ctx, selectPassed, names, versions, log, position).Scan(&passed)
		if err != nil {
			return false
		}
		if passed == len(names) {
			return true
		}
		look := next
		if r.Leading() {
			look = lastLook
		}
		if pause.Unless(ctx, look, moved) != nil {
			return false
		}
	}
}
