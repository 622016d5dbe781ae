package pgstore

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
)

// oracleDays is how long Oracle has a part in query performance.
const oracleDays = 7 * 24 * time.Hour

// QueryPerformance is documented at measurements.Store.
func (s *Store) QueryPerformance(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, asked timegrid.Window, now time.Time) (measurements.QuerySums, error) {
	w := windowOf(asked)
	since := 0
	if engine == fleet.Oracle {
		since = w.firstSince(now.Add(-oracleDays))
	}
	p := codec.NewQueryPerformance(w.buckets, since)
	var err error
	if p.Partial, err = s.readEngine(ctx, organization, codec.Statements, engine, scope, w, p.Take); err != nil {
		return measurements.QuerySums{}, err
	}
	return p.QuerySums, nil
}

// firstSince is the first bucket that starts at a time or after it.
func (w window) firstSince(t time.Time) int {
	i := w.Index(t)
	if w.Size.Floor(t).Before(t) {
		i++
	}
	return i
}
