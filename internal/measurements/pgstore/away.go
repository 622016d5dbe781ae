package pgstore

import (
	"context"
	_ "embed" // the statements
	"errors"
	"fmt"
	"time"

	"muster/internal/measurements/blocks"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/note_away.sql
	noteAway string
	//go:embed sql/forget_away.sql
	forgetAway string
	//go:embed sql/waiting.sql
	waitingForBlocks string
)

// HeadBound is for how long the head keeps what is measured of series whose blocks cannot
// be reached. After that their samples are refused until they can: PostgreSQL has to have
// room for as much (docs/scale.md reckons it), while senders keep what is refused.
const HeadBound = 24 * time.Hour

// blocksRetry is how long an hour waits whose blocks cannot be reached.
const blocksRetry = 30 * time.Second

// errHeadBound is why samples are refused.
var errHeadBound = fmt.Errorf("hours that are over could not be put there for %.0f hours, and no more is taken in of their hosts and instances until they can", HeadBound.Hours())

// isAway says of an error that blocks cannot be reached.
func isAway(ctx context.Context, err error) bool {
	var away *blocks.UnavailableError
	return ctx.Err() == nil && errors.As(err, &away)
}

// refused says that the head takes no more of a series.
func (s series) refused() error {
	return &blocks.UnavailableError{Part: fmt.Sprintf("the server that has %s %s", s.Kind, s.Subject), Err: errHeadBound}
}

// Waiting is for how long the oldest hour has waited for blocks that are away, to be put there
// or to be rolled up, and how many series have such hours; 0: none. At HeadBound samples of a
// series are refused.
type Waiting struct {
	Since  time.Duration
	Series int
}

// Waiting looks what waits for blocks.
func (s *Store) Waiting(ctx context.Context) (Waiting, error) {
	type row struct {
		Seconds float64
		Series  int
	}
	of, err := statement.One[row](ctx, s.db, "look what waits for blocks", waitingForBlocks)
	return Waiting{time.Duration(of.Seconds * float64(time.Second)), of.Series}, err
}

// absent are the series whose blocks a round could not reach: it does not try each of their
// hours.
type absent struct {
	series map[int64]bool
	err    error // of the last one
}

// others are the buckets of series that are not known to be away.
func (a *absent) others(claimed []bucket) (left []bucket) {
	for _, b := range claimed {
		if !a.series[b.Series] {
			left = append(left, b)
		}
	}
	return left
}

// note records for all processes which series' blocks are away.
func (s *Store) note(ctx context.Context, away []bucket) error {
	if len(away) == 0 {
		return nil
	}
	ids := make([]int64, len(away))
	for i, b := range away {
		ids[i] = b.Series
	}
	return statement.Exec(ctx, s.db, fmt.Sprintf("note that blocks of %d series are away", len(ids)), noteAway, ids)
}
