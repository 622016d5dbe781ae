package blocks

import (
	"context"

	"muster/internal/measurements/pgstore/codec"
)

// StatementRange asks for the statements of a series in a span. Of Raw, From and To are
// those of samples; of the other tables, those of blocks' starts.
type StatementRange struct {
	Table Table
	Range
}

// Summer is a Store that adds statements up where they are, instead of handing out bodies
// that are added up here (codec.Adder).
type Summer interface {
	// SumStatements passes the sum of each series in all its ranges to take, in the order in
	// which series come first; a series without a sample in a block is left out. Ranges of a
	// series and table must not overlap. Series are of codec.Statements. The error is an
	// *UnavailableError if not all of them can be read; the readable ones were passed to take
	// then. Floats are added in any order: sums differ in their last bits from one time to the
	// next.
	SumStatements(ctx context.Context, ranges []StatementRange, take func(of Series, sum codec.Detail) error) error
}
