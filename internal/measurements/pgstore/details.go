package pgstore

import (
	"context"
	_ "embed" // the statement
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/statement"
)

//go:embed sql/span_details.sql
var spanDetails string

// detailSpan asks for details of a series and size, or for raw samples where that is a
// minute; Open: only for details of which days and weeks are still made.
type detailSpan struct {
	detailRange
	Open bool
}

// readDetails hands what each series has in a span to part: of minutes raw samples, else
// details; and the series to end, behind its last part. The bytes are good until part
// returns. Series without any are left out.
func (s *Store) readDetails(ctx context.Context, kind string, series subjects, span measurements.Span, part func(body []byte, inDetail bool) error, end func(of subject) error) error {
	if len(series) == 0 {
		return nil
	}
	var asked []detailSpan
	var of []int // which series a span is of
	pieces := span.Pieces()
	for i, one := range series {
		for _, piece := range pieces {
			wanted := detailSpan{detailRange{one.ID, string(piece.Size), piece.From, piece.To}, false}
			asked, of = append(asked, wanted), append(of, i)
			if kind == codec.Hosts && piece.Size == timegrid.Day { // their days are made when the week is over
				wanted.Size, wanted.Open = string(timegrid.Hour), true
				asked, of = append(asked, wanted), append(of, i)
			}
		}
	}
	last := -1 // the series of the part before
	done := func() error {
		if last < 0 {
			return nil
		}
		return end(series[last])
	}
	err := s.eachRaw(ctx, spanDetails, func(row [][]byte) error {
		if len(row) != 2 || len(row[0]) != 8 {
			return codec.ErrBytes
		}
		place := int(binary.BigEndian.Uint64(row[0]))
		if i := of[place]; i != last {
			if i < last {
				return fmt.Errorf("series %d comes twice", series[i].ID)
			}
			if err := done(); err != nil {
				return err
			}
			last = i
		}
		if err := part(row[1], asked[place].Size != string(timegrid.Minute)); err != nil {
			return fmt.Errorf("series %d: %w", series[last].ID, err)
		}
		return nil
	}, statement.Columns(asked)...)
	if err == nil {
		err = done()
	}
	if err != nil {
		return fmt.Errorf("read the details of %d series: %w", len(series), err)
	}
	return nil
}

// readStatements hands what each instance executed in a span to take, which is good until
// that returns. Instances without a sample are left out.
func (s *Store) readStatements(ctx context.Context, series subjects, span measurements.Span, take func(instance uuid.UUID, all codec.Detail)) error {
	var sum codec.Adder
	return s.readDetails(ctx, codec.Statements, series, span, sum.Add, func(of subject) error {
		instance, err := of.instance()
		if err == nil {
			take(instance, sum.Sum())
		}
		sum.Reset()
		return err
	})
}
