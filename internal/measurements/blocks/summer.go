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
	// SumStatements hands what each series comes to in all its ranges to take, in the order
	// in which series come first; one of which no block has a sample is left out. Ranges
	// of a series and table must not overlap. Series are ones of codec.Statements. The
	// error is an *UnavailableError where not all of them can be read; what can be read
	// was handed to take then. Floats are added in any order: sums differ in their last
	// bits from one time to the next.
	SumStatements(ctx context.Context, ranges []StatementRange, take func(of Series, sum codec.Detail) error) error
}
