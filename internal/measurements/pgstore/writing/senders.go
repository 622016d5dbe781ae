package writing

import (
	"bytes"
	"context"
	_ "embed" // the statements
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/instant"
	"muster/internal/measurements"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/take_turns.sql
	takeTurns string
	//go:embed sql/held_turns.sql
	heldTurns string
)

// inTurn holds that statements of an instance come from one sender at a time, and
// leaves out what others counted before it was this one's turn. It returns
// *measurements.HeldError.
func inTurn(ctx context.Context, tx *sqlx.Tx, b measurements.Batch) (kept []measurements.StatementSample, err error) {
	if b.Sender == nil || len(b.Statements) == 0 {
		return b.Statements, nil
	}
	until := make(map[uuid.UUID]time.Time)
	for _, one := range b.Statements {
		if at := instant.Cut(one.At); at.After(until[one.Instance]) {
			until[one.Instance] = at
		}
	}
	instances := slices.SortedFunc(maps.Keys(until), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	if *b.Sender == "" {
		held, err := statement.All[uuid.UUID](ctx, tx, "look who holds statements", heldTurns, b.Organization, statement.IDs(instances))
		if err == nil && len(held) > 0 {
			err = &measurements.HeldError{Instances: held}
		}
		return b.Statements, err
	}
	ends := make([]time.Time, len(instances))
	for i, id := range instances {
		ends[i] = until[id]
	}
	turns, err := statement.All[turn](ctx, tx, fmt.Sprintf("hold the statements of %d instances", len(instances)), takeTurns,
		b.Organization, *b.Sender, statement.IDs(instances), ends, b.Token)
	if err != nil {
		return nil, err
	}
	taken := make(map[uuid.UUID]turn, len(turns))
	for _, t := range turns {
		taken[t.Instance] = t
	}
	held := slices.DeleteFunc(instances, func(id uuid.UUID) bool { _, ours := taken[id]; return ours })
	if len(held) > 0 {
		return nil, &measurements.HeldError{Instances: held}
	}
	kept = slices.DeleteFunc(slices.Clone(b.Statements), func(one measurements.StatementSample) bool {
		since := taken[one.Instance].Since
		return since != nil && beginning(one).Before(*since)
	})
	return kept, noteResumed(ctx, tx, b.Organization, taken, kept)
}

// turn is a turn that a sender has taken.
type turn struct {
	Instance uuid.UUID  `db:"instance_id"`
	Since    *time.Time `db:"since"`   // what began before it others have counted; nil: nobody has
	Resumes  bool       `db:"resumes"` // nothing was kept of it since it was taken over
}

func beginning(s measurements.StatementSample) time.Time { return instant.Cut(s.At.Add(-s.Interval)) }

// noteResumed notes from when on those who took turns over have counted.
func noteResumed(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, taken map[uuid.UUID]turn, kept []measurements.StatementSample) error {
	first := map[uuid.UUID]time.Time{}
	for _, one := range kept {
		at, known := first[one.Instance]
		if taken[one.Instance].Resumes && (!known || beginning(one).Before(at)) {
			first[one.Instance] = beginning(one)
		}
	}
	for id, at := range first {
		if err := statement.Exec(ctx, tx, "note from when on a sender counts", `UPDATE statement_turns SET resumed_at = $3
			WHERE organization_id = $1 AND instance_id = $2`, organization, id, at); err != nil {
			return err
		}
	}
	return nil
}
