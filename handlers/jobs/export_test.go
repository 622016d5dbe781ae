package jobs

import (
	"context"
	"time"
)

// ClaimOnce says whether there is a build to claim, and claims it.
func (q *Queue) ClaimOnce(ctx context.Context, lostWait time.Duration) (bool, error) {
	_, ok, err := q.claim(ctx, Build, "w", time.Hour, 0, lostWait)
	return ok, err
}
