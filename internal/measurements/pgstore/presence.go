package pgstore

import (
	"context"
	_ "embed" // the statements
	"time"

	"muster/internal/pause"
	"muster/internal/statement"
)

var (
	//go:embed sql/attend.sql
	attend string
	//go:embed sql/attended.sql
	attended string
)

// attendInterval is how often it is noted that samples can be sent: what is known of the
// last time may be as old when a process dies.
const attendInterval = time.Minute

// Attend notes that this process takes in what others send until ctx ends; it returns
// ctx's error. Any number of processes may do it, and while none does, nothing is sealed.
func (s *Store) Attend(ctx context.Context) error {
	return pause.Every(ctx, attendInterval, func() {
		back, err := s.attend(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "it could not be noted that samples are taken in, trying again", "error", err)
		}
		if back {
			s.log.InfoContext(ctx, "nothing is sealed in the next 6 hours: by the database's clock nobody took samples in for more than an hour, so that they come late")
		}
	})
}

func (s *Store) attend(ctx context.Context) (back bool, err error) {
	back, _, err = statement.Find[bool](ctx, s.db, "note that samples are taken in", attend)
	return back, err
}
