package pgstore

import (
	"context"
	"math"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// WaitEvents is documented at measurements.Store.
func (s *Store) WaitEvents(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, asked timegrid.Window) (measurements.WaitSums, error) {
	w := windowOf(asked)
	e := waitEvents{sampled: make([]bool, w.buckets)}
	for c := range e.Waiting {
		e.Waiting[c] = make(measurements.Values, w.buckets)
	}
	if err := s.readInstances(ctx, organization, sessions, engine, scope, w, e.take); err != nil {
		return measurements.WaitSums{}, err
	}
	return e.sums(), nil
}

// waitEvents is an engine's part while it is read.
type waitEvents struct {
	measurements.WaitSums
	sampled []bool // the buckets in which somebody sampled
}

// take adds what is shown of an instance's row (waitSlot.shown).
func (e *waitEvents) take(part stretch) error {
	for part.more() {
		slot, at, ok := part.next()
		if !ok {
			return errBytes
		}
		if len(slot) == 0 {
			continue
		}
		e.sampled[at] = true
		has, r := slot[0], reader{bytes: slot[1:]}
		if has&isFraction == 0 {
			for c := range e.Waiting {
				if has>>c&1 != 0 {
					e.Waiting[c][at] += r.short()
				}
			}
		} else if has != isFraction {
			denominator := float64(r.uvarint())
			for c := range e.Waiting {
				if has>>c&1 != 0 {
					e.Waiting[c][at] += float64(r.uvarint()) / denominator
				}
			}
		}
		if r.end() != nil {
			return errBytes
		}
	}
	return nil
}

// sums has a gap in all categories where nobody sampled.
func (e *waitEvents) sums() measurements.WaitSums {
	for i, sampled := range e.sampled {
		e.Sampled = e.Sampled || sampled
		for c := range e.Waiting {
			if !sampled {
				e.Waiting[c][i] = math.NaN()
			}
		}
	}
	return e.WaitSums
}
