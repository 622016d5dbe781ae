package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"time"

	"muster/internal/concurrency/pause"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/attend.sql
	attend string
	//go:embed sql/attended.sql
	attended string
)

// attendInterval is how often a process records that samples can be sent: the record of the
// last time may be as old when a process dies.
const attendInterval = time.Minute

const (
	// awayAfter is the time without an intake after which samples count as held up.
	awayAfter = time.Hour
	// settled is how long late samples may take to come; nothing is sealed meanwhile.
	settled = 6 * time.Hour
)

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
		s.log.WarnContext(ctx, "it could not be noted that samples are taken in, trying again", "error", err)
	case how == wasAway:
		s.log.InfoContext(ctx, fmt.Sprintf("nothing is sealed in the next %.0f hours: "+
			"by the database's clock samples, or some of them, were not taken in for more than an hour, so that they come late", settled.Hours()))
	case how == clockAhead:
		s.log.InfoContext(ctx, fmt.Sprintf("nothing is sealed in the next %.0f hours: "+
			"the database's clock was set back, so that nobody knows whether samples come late", settled.Hours()))
	}
}

func (s *Store) attend(ctx context.Context) (how arrival, err error) {
	how, _, err = statement.Find[arrival](ctx, s.db, "note that samples are taken in", attend, HeadBound, awayAfter)
	return how, err
}
