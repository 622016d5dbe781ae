package pgstore

import (
	"context"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
)

// WaitEvents is documented at measurements.Store.
func (s *Store) WaitEvents(ctx context.Context, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, asked timegrid.Window) (measurements.WaitSums, error) {
	w := windowOf(asked)
	e := codec.NewWaitEvents(w.buckets)
	partial, err := s.readEngine(ctx, organization, codec.Sessions, engine, scope, w, e.Take)
	if err != nil {
		return measurements.WaitSums{}, err
	}
	sums := e.Sums()
	sums.Partial = partial
	return sums, nil
}
