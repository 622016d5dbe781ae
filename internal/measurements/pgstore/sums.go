package pgstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/domain/instant"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/tables"
)

// sumStatements is addStatements where blocks are added up by their own store. What the
// head has is added here; the blocks of the same are left out there, whose ranges are cut.
func (s *Store) sumStatements(ctx context.Context, series subjects, span measurements.Span, sums []statementSum) error {
	var asked []blocks.StatementRange
	for _, piece := range span.Pieces() {
		ranges := series.ranges(piece.From, piece.To)
		open, closed := detailTables(codec.Statements, piece.Size)
		inHead := make([][]timegrid.Window, len(series)) // in order
		err := tables.EachOfHead(ctx, s.db, open, ranges, func(place int, at time.Time, body []byte) error {
			inHead[place] = append(inHead[place], timegrid.Window{From: at, To: at.Add(time.Microsecond)})
			return sums[place].add(body, piece.Size != timegrid.Minute)
		})
		if err != nil {
			return fmt.Errorf("read the %s of %d series: %w", open, len(series), err)
		}
		if open == blocks.Raw {
			if err := s.wholeHours(ctx, series, inHead); err != nil {
				return err
			}
		}
		for place, r := range ranges {
			asked = append(asked, without(open, r, inHead[place])...)
			if closed != "" {
				asked = append(asked, blocks.StatementRange{Table: closed, Range: r})
			}
		}
	}
	places := make(map[string]int, len(series))
	for place, of := range series {
		places[of.Subject] = place
	}
	return s.ledger.Blocks.(blocks.Summer).SumStatements(ctx, asked, func(of blocks.Series, sum codec.Detail) error {
		return sums[places[of.Subject]].add(sum.Encode(), true)
	})
}

// without are ranges of a table that have all of one but what starts in some windows.
func without(table blocks.Table, r blocks.Range, windows []timegrid.Window) (left []blocks.StatementRange) {
	add := func(from, to time.Time) {
		if from.Before(to) {
			left = append(left, blocks.StatementRange{Table: table, Range: blocks.Range{Series: r.Series, From: from, To: to}})
		}
	}
	from := r.From
	for _, w := range windows {
		add(from, w.From)
		from = instant.Later(from, w.To)
	}
	add(from, r.To)
	return left
}

// wholeHours puts hours in the place of the times of raw samples that the head has of them,
// where no sample of them is in a block: nearly all. Should they be compacted before the
// blocks are read, they do not count twice.
func (s *Store) wholeHours(ctx context.Context, series subjects, inHead [][]timegrid.Window) error {
	hours := make([][]tables.Bucket, len(series)) // of each
	var all []tables.Bucket
	for place, times := range inHead {
		for _, at := range times {
			hour := tables.At(series[place].ID, timegrid.Hour.Floor(at.From))
			if n := len(hours[place]); n == 0 || hours[place][n-1] != hour {
				hours[place], all = append(hours[place], hour), append(all, hour)
			}
		}
	}
	packed, err := tables.Packed(ctx, s.db, all)
	if err != nil {
		return err
	}
	for place := range inHead {
		var windows []timegrid.Window
		for _, hour := range hours[place] {
			if !packed[hour] {
				windows = append(windows, timegrid.Window{From: hour.Start, To: hour.Start.Add(time.Hour)})
			}
		}
		for _, at := range inHead[place] {
			if packed[tables.At(series[place].ID, timegrid.Hour.Floor(at.From))] {
				windows = append(windows, at)
			}
		}
		slices.SortFunc(windows, func(a, b timegrid.Window) int { return a.From.Compare(b.From) })
		inHead[place] = windows
	}
	return nil
}
