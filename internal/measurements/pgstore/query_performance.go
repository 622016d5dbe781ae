package pgstore

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// oracleDays is how long Oracle has a part in query performance.
const oracleDays = 7 * 24 * time.Hour

// QueryPerformance is documented at measurements.Store.
func (s *Store) QueryPerformance(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, asked timegrid.Window, now time.Time) (measurements.QuerySums, error) {
	w := windowOf(asked)
	p := queryPerformance{QuerySums: measurements.QuerySums{
		TotalMs: make(measurements.Values, w.buckets), Calls: make(measurements.Values, w.buckets), MaxMs: measurements.Gaps(w.buckets),
	}}
	if engine == fleet.Oracle {
		p.since = w.firstSince(now.Add(-oracleDays))
	}
	if err := s.readInstances(ctx, organization, statements, engine, scope, w, p.take); err != nil {
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

// queryPerformance is an engine's part while it is read.
type queryPerformance struct {
	measurements.QuerySums
	since int // the first bucket that the engine has a part in
}

// take adds what an instance's row has.
func (p *queryPerformance) take(part stretch) error {
	for part.more() {
		slot, at, ok := part.next()
		if !ok {
			return errBytes
		}
		if len(slot) == 0 || at < p.since {
			continue
		}
		p.Sampled = true
		switch {
		case len(slot) == 1:
			continue // there was no call
		case len(slot) <= querySlotNumbers:
			return errBytes
		}
		r := reader{bytes: slot[querySlotNumbers:]}
		p.Calls[at] += float64(r.uvarint())
		p.TotalMs[at] += shortOf(slot)
		if most := shortOf(slot[shortSize:]); !(p.MaxMs[at] >= most) { // of a gap neither
			p.MaxMs[at] = most
		}
		if r.end() != nil {
			return errBytes
		}
	}
	return nil
}
