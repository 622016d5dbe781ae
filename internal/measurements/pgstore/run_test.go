package pgstore

import (
	"context"
	"errors"
	"testing"

	"muster/internal/measurements/pgstore/codec"
)

// TestRun rolls up and seals, whatever fails at first, and ends with its context.
func TestRun(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Sessions, "a", past, 1))
	s.roll()
	s.quieten(2 * quiet)
	s.write(measured(codec.Sessions, "b", past, 1))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	for s.count(`SELECT (SELECT count(*) FROM dirty_hours) + (SELECT count(*) FROM measured_hours) `) > 1 && t.Context().Err() == nil {
		continue // b is rolled up, a is sealed
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	s.check()
}
