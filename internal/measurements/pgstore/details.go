package pgstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
)

// detailsTogether is how many series are added up at a time: each has its sums.
const detailsTogether = 256

// detailTables are where the details of a piece of a span are; of minutes there are raw
// samples.
func detailTables(kind string, size timegrid.Size) (open, closed blocks.Table) {
	switch {
	case size == timegrid.Minute:
		return blocks.Raw, ""
	case size == timegrid.Hour:
		return blocks.HourDetails, blocks.ClosedHourDetails
	case kind == codec.Hosts: // their days are made when the week is over
		return blocks.HourDetails, blocks.ClosedDayDetails
	}
	return blocks.DayDetails, blocks.ClosedDayDetails
}

// readDetails hands what some series have in a span to part, with the place of the series:
// of minutes raw samples, else details. The bytes are good until part returns.
func (s *Store) readDetails(ctx context.Context, kind string, series subjects, span measurements.Span, part func(place int, body []byte, inDetail bool) error) error {
	for _, piece := range span.Pieces() {
		ranges := series.ranges(piece.From, piece.To)
		take := func(place int, _ time.Time, body []byte) error {
			if err := part(place, body, piece.Size != timegrid.Minute); err != nil {
				return fmt.Errorf("series %d: %w", series[place].ID, err)
			}
			return nil
		}
		open, closed := detailTables(kind, piece.Size)
		if err := s.eachBoth(ctx, open, ranges, take); err != nil {
			return err
		}
		if closed == "" {
			continue
		}
		if err := s.ledger.Blocks.Each(ctx, nil, closed, ranges, take); err != nil {
			return fmt.Errorf("read the %s of %d series: %w", closed, len(ranges), err)
		}
	}
	return nil
}

// readStatements hands what each instance executed in a span to take, which is good until
// that returns. Instances without a sample are left out.
func (s *Store) readStatements(ctx context.Context, series subjects, span measurements.Span, take func(instance uuid.UUID, all codec.Detail)) error {
	add := s.addStatements
	if _, sums := s.ledger.Blocks.(blocks.Summer); sums {
		add = s.sumStatements
	}
	sums := make([]statementSum, min(detailsTogether, len(series)))
	for together := range slices.Chunk(series, detailsTogether) {
		if err := add(ctx, together, span, sums); err != nil {
			return err
		}
		for place, of := range together {
			sum := &sums[place]
			if !sum.sampled {
				continue
			}
			instance, err := of.instance()
			if err != nil {
				return err
			}
			take(instance, sum.Sum())
			sum.Reset()
			sum.sampled = false
		}
	}
	return nil
}

// statementSum is what an instance executed.
type statementSum struct {
	codec.Adder
	sampled bool
}

func (s *statementSum) add(body []byte, inDetail bool) error {
	s.sampled = true
	return s.Add(body, inDetail)
}

// addStatements adds up what some series have in a span.
func (s *Store) addStatements(ctx context.Context, series subjects, span measurements.Span, sums []statementSum) error {
	return s.readDetails(ctx, codec.Statements, series, span, func(place int, body []byte, inDetail bool) error {
		return sums[place].add(body, inDetail)
	})
}
