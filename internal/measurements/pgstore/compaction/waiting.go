package compaction

import (
	"context"
	_ "embed" // the statement
	"time"

	"muster/internal/postgres/statement"
)

//go:embed sql/waiting.sql
var waitingForBlocks string

// Waiting is for how long the oldest hour has waited for blocks that are away, to be put there
// or to be rolled up, and how many series have such hours; 0: none. At HeadBound samples of a
// series are refused.
type Waiting struct {
	Since  time.Duration
	Series int
}

// Waiting looks what waits for blocks.
func (c *Compactor) Waiting(ctx context.Context) (Waiting, error) {
	type row struct {
		Seconds float64
		Series  int
	}
	of, err := statement.One[row](ctx, c.ledger.DB, "look what waits for blocks", waitingForBlocks)
	return Waiting{time.Duration(of.Seconds * float64(time.Second)), of.Series}, err
}
