package pgstore

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/engine"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
)

// QueryPerformance is documented at measurements.Store.
func (s *Store) QueryPerformance(ctx context.Context, organization uuid.UUID, of fleet.Engine, scope fleet.Scope, asked timegrid.Window, now time.Time) (measurements.QuerySums, error) {
	w := windowOf(asked)
	since := 0
	if shown := engine.StatementsOf(of).Shown; shown > 0 {
		since = w.firstSince(now.Add(-shown))
	}
	p := codec.NewQueryPerformance(w.buckets, since)
	var err error
	if p.Partial, err = s.readEngine(ctx, organization, codec.Statements, of, scope, w, p.Take); err != nil {
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
