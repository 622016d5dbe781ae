package pgstore

import (
	"context"
	"math"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
)

// ServerFigures is documented at measurements.Store.
func (s *Store) ServerFigures(ctx context.Context, organization uuid.UUID, of fleet.Engine, instance uuid.UUID, asked timegrid.Window) (measurements.ServerFigures, error) {
	w := windowOf(asked)
	if err := s.keepsSince(ctx, asked.Size, asked.Start(), measurements.DayDetailsKept, true); err != nil {
		return nil, err
	}
	series, err := s.inScope(ctx, organization, codec.Servers, of, fleet.Scope{Filtered: true, Instances: []uuid.UUID{instance}})
	if err != nil {
		return nil, err
	}
	found := measurements.ServerFigures{}
	err = s.eachRow(ctx, w, false, series, func(_ int, start time.Time, row []byte) error {
		slots, err := codec.FigureSlots(row)
		if err != nil {
			return err
		}
		for slot, at := range w.slots(start) {
			if slot >= len(slots) || len(slots[slot]) == 0 {
				continue
			}
			if err := codec.EachFigure(slots[slot], func(of measurements.FigureOf, sum codec.FigureSum) { addFigure(found, of, at, w.buckets, sum) }); err != nil {
				return err
			}
		}
		return nil
	})
	found.FillDatabases()
	return found, err
}

func addFigure(found measurements.ServerFigures, of measurements.FigureOf, at, buckets int, sum codec.FigureSum) {
	if found[of] == nil {
		found[of] = measurements.NewFigureSeries(buckets)
	}
	line := found[of]
	line.Told[at], line.Holders[at] = sum.Telling(), sum.Holder()
	if value, ok := sum.Value(of.Figure); ok {
		line.Values[at] = value
	}
	if math.IsNaN(line.Values[at]) {
		line.Holders[at] = nil
	}
}
