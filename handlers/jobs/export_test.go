package jobs

import (
	"context"
	"time"

	"muster/internal/concurrency/fairslots"
)

// ClaimOnce says whether there is a build to claim, and claims it.
func (q *Queue) ClaimOnce(ctx context.Context, lostWait time.Duration) (bool, error) {
	_, ok, err := q.ClaimInTurn(ctx, lostWait, fairslots.NewSlots(1))
	return ok, err
}

// ClaimInTurn claims a build for a process with these slots.
func (q *Queue) ClaimInTurn(ctx context.Context, lostWait time.Duration, slots *fairslots.Slots) (Claimed, bool, error) {
	return q.claim(ctx, Build, "w", time.Hour, 0, lostWait, slots.Order())
}
