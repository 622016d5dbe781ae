package pgstore

import (
	"context"

	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/rowbytes"
)

// Utilization is documented at measurements.Store.
func (s *Store) Utilization(ctx context.Context, organization uuid.UUID, scope measurements.HostScope, asked timegrid.Window) (measurements.Utilization, error) {
	w := windowOf(asked)
	if !scope.Filtered {
		if tile, ok, err := s.wholeUtilization(ctx, organization, w); err != nil || ok {
			return tile, err
		}
	}
	return s.seriesUtilization(ctx, organization, scope, w)
}

// seriesUtilization is the tile, read from the rows of series.
func (s *Store) seriesUtilization(ctx context.Context, organization uuid.UUID, scope measurements.HostScope, w window) (measurements.Utilization, error) {
	series, err := s.hostsIn(ctx, organization, scope)
	if err != nil {
		return measurements.Utilization{}, err
	}
	u := codec.NewUtilization(w.buckets)
	sampled := make(map[int]struct{}, len(series))
	err = s.readRows(ctx, w, series, func(place int, part rowbytes.Stretch) error {
		any, err := u.Take(part)
		if any {
			sampled[place] = struct{}{}
		}
		return err
	})
	if err != nil {
		return measurements.Utilization{}, err
	}
	return u.Tile(len(sampled)), nil
}
