package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"time"

	"muster/internal/concurrency/pause"
	"muster/internal/measurements/pgstore/compaction"
	"muster/internal/measurements/pgstore/ledger"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/attend.sql
	attend string
)

// attendInterval is how often a process records that samples can be sent: the record of the
// last time may be as old when a process dies.
const attendInterval = time.Minute

// arrival is how it came that samples can be sent: attend.sql has them.
type arrival string

const (
	stillHere  arrival = "here"
	firstEver  arrival = "first"
	wasAway    arrival = "away"
	clockAhead arrival = "clock"
)

// Attend notes that this process takes in what others send until ctx ends; it returns
// ctx's error. Any number of processes may do it, and while none does, nothing is sealed.
func (s *Store) Attend(ctx context.Context) error {
	return pause.Every(ctx, attendInterval, func() { s.noteAttendance(ctx) })
}

// noteAttendance says when sealing waits and why. A first start says nothing: it has no
// hours to seal.
func (s *Store) noteAttendance(ctx context.Context) {
	how, err := s.attend(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		s.ledger.Log.WarnContext(ctx, "it could not be noted that samples are taken in, trying again", "error", err)
	case how == wasAway:
		s.ledger.Log.InfoContext(ctx, fmt.Sprintf("nothing is sealed in the next %.0f hours: "+
			"by the database's clock samples, or some of them, were not taken in for more than an hour, so that they come late", compaction.Settled.Hours()))
	case how == clockAhead:
		s.ledger.Log.InfoContext(ctx, fmt.Sprintf("nothing is sealed in the next %.0f hours: "+
			"the database's clock was set back, so that nobody knows whether samples come late", compaction.Settled.Hours()))
	}
}

func (s *Store) attend(ctx context.Context) (how arrival, err error) {
	how, _, err = statement.Find[arrival](ctx, s.db, "note that samples are taken in", attend, ledger.HeadBound, compaction.AwayAfter)
	return how, err
}
