package pgstore

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/engine"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
)

// Statements is documented at measurements.Store.
func (s *Store) Statements(ctx context.Context, organization uuid.UUID, of fleet.Engine, scope measurements.StatementScope, span measurements.Span, now time.Time, take func(measurements.StatementSums)) (sampled, partial bool, err error) {
	if err := s.keeps(ctx, span, measurements.Breakdown{By: measurements.ByStatement}, false); err != nil {
		return false, false, err
	}
	rules := engine.StatementsOf(of)
	if rules.Hides(span.From, now) {
		return false, false, nil
	}
	series, err := s.inScope(ctx, organization, codec.Statements, of, scope.Scope)
	if err != nil {
		return false, false, err
	}
	err = s.readStatements(ctx, series, span, func(instance uuid.UUID, all codec.Detail) {
		for _, d := range all {
			if scope.Database != uuid.Nil && d.Database != scope.Database {
				continue
			}
			sampled = true
			if scope.Sampled != nil {
				scope.Sampled(instance)
			}
			for _, one := range d.Statements {
				if shown := one.Shown(rules); shown.Calls > 0 {
					take(measurements.StatementSums{
						StatementRef: measurements.StatementRef{Instance: instance, Hash: one.Hash}, Database: d.Database,
						Calls: float64(shown.Calls), TotalMs: shown.Total, MaxMs: shown.Max,
					})
				}
			}
		}
	})
	return sampled, series.arePartial(span.From, span.To), err
}

// StatementSeries is documented at measurements.Store.
func (s *Store) StatementSeries(ctx context.Context, organization uuid.UUID, of measurements.NamedStatement, w timegrid.Window, now time.Time) (measurements.StatementSeries, error) {
	n := w.Len()
	series := measurements.StatementSeries{Calls: measurements.Gaps(n), TotalMs: measurements.Gaps(n), MaxMs: measurements.Gaps(n)}
	size := w.Size
	if size == timegrid.Week { // made of days
		size = timegrid.Day
	}
	span := measurements.Span{From: w.Start(), To: w.End(), Size: size}
	if err := s.keeps(ctx, span, measurements.Breakdown{By: measurements.ByStatement}, false); err != nil {
		return series, err
	}
	found, err := s.inScope(ctx, organization, codec.Statements, of.Engine, fleet.Scope{Filtered: true, Instances: []uuid.UUID{of.Instance}})
	if err != nil {
		return series, err
	}
	sums := make(map[int]codec.Delta)
	take := func(_ int, at time.Time, body []byte) error {
		part, sampled, err := codec.Find(body, size != timegrid.Minute, of.Database, of.Hash)
		if err != nil {
			return fmt.Errorf("a statement at %s: %w", at, err)
		}
		if i := w.Index(at); sampled {
			sum, known := sums[i]
			if !known {
				sum = codec.NoExecution(of.Hash)
			}
			sums[i] = sum.Plus(part)
		}
		return nil
	}
	open, closed := detailTables(codec.Statements, size)
	if err := s.eachBoth(ctx, open, found.ranges(span.From, span.To), take); err != nil {
		return series, err
	}
	if closed != "" {
		if err := s.ledger.Blocks.Each(ctx, nil, closed, found.ranges(span.From, span.To), take); err != nil {
			return series, fmt.Errorf("read a statement: %w", err)
		}
	}
	rules := engine.StatementsOf(of.Engine)
	for i, start := range w.Starts() {
		sum, sampled := sums[i]
		if !sampled || rules.Hides(start, now) {
			continue
		}
		shown := sum.Shown(rules)
		series.Calls[i], series.TotalMs[i], series.MaxMs[i] = float64(shown.Calls), shown.Total, shown.Max
	}
	return series, nil
}
