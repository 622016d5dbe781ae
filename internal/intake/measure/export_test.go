package measure

import (
	"context"
	"time"
)

// Turn is what Run does between two waits.
func (s *Server) Turn(ctx context.Context) error {
	err := s.turn(ctx)
	s.say(ctx, err)
	return err
}

// Wait is how long Run waits then.
func (s *Server) Wait() time.Duration { return s.wait() }

// UntilRested is when the list after one is read.
func UntilRested(now, began time.Time, took, every, phase time.Duration) time.Duration {
	return untilRested(now, began, took, every, phase)
}
