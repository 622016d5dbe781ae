package pgstore

import (
	"context"
	"errors"
	"testing"

	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/ledger"
)

// TestRun rolls up and seals, whatever fails at first, and ends with its context.
func TestRun(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Sessions, "a", past, 1))
	s.roll()
	s.quieten(2 * ledger.Standard.Raw)
	s.write(measured(codec.Sessions, "b", past, 1))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	s.eventually(func() []string { // b is rolled up, a is sealed
		left := s.dirty()
		if s.count(`SELECT count(*) FROM measured_hours`) > 1 {
			left = append(left, "an hour that is to be sealed")
		}
		return left
	})
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	s.check()
}
