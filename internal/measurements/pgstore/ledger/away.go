package ledger

import (
	"context"
	_ "embed" // the statement
	"errors"
	"fmt"
	"time"

	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
)

//go:embed sql/note_away.sql
var noteAway string

// HeadBound is for how long the head keeps what is measured of series whose blocks cannot
// be reached. After that their samples are refused until they can: PostgreSQL has to have
// room for as much (docs/scale.md reckons it), while senders keep what is refused.
const HeadBound = 24 * time.Hour

// BlocksRetry is how long an hour waits whose blocks cannot be reached.
const BlocksRetry = 30 * time.Second

// IsAway says of an error that blocks cannot be reached.
func IsAway(ctx context.Context, err error) bool {
	var away *blocks.UnavailableError
	return ctx.Err() == nil && errors.As(err, &away)
}

// NoteAway records for all processes which series' blocks are away.
func (l *Ledger) NoteAway(ctx context.Context, away []tables.Bucket) error {
	if len(away) == 0 {
		return nil
	}
	ids := make([]int64, len(away))
	for i, b := range away {
		ids[i] = b.Series
	}
	return statement.Exec(ctx, l.DB, fmt.Sprintf("note that blocks of %d series are away", len(ids)), noteAway, ids)
}
