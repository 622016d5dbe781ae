package accounts

import (
	"context"
	"runtime"
	"time"
)

const (
	// maxHashing bounds what hashing takes of memory, 19 MiB each, and how many
	// guesses may be under way when the one that is too many is counted.
	maxHashing = 8
	// maxQueued is how many wait for their turn: some seconds' worth on one core.
	// Who comes later is better told than kept.
	maxQueued  = 256
	queueRetry = 5 * time.Second
)

// hashing lets a few hashes run at once and a bounded number of callers wait.
type hashing struct {
	slots chan struct{}
	queue chan struct{} // those that run and those that wait
}

// newHashing leaves one processor of several to everybody else: whoever floods
// the sign-in must not slow down those who are signed in. With both of two it
// tripled the median of their requests (scripts/load.sh).
func newHashing() hashing {
	slots := min(max(1, runtime.GOMAXPROCS(0)-1), maxHashing)
	return hashing{slots: make(chan struct{}, slots), queue: make(chan struct{}, slots+maxQueued)}
}

// hashSlot waits for the caller's turn to hash. Errors: *Refusal login_throttled
// where too many wait already.
func (s *Store) hashSlot(ctx context.Context) (release func(), err error) {
	select {
	case s.hashing.queue <- struct{}{}:
	default:
		return nil, &Refusal{Code: CodeLoginThrottled, Detail: "too many people are signing in right now; try again", RetryAfter: queueRetry}
	}
	select {
	case s.hashing.slots <- struct{}{}:
		return func() { <-s.hashing.slots; <-s.hashing.queue }, nil
	case <-ctx.Done():
		<-s.hashing.queue
		return nil, ctx.Err()
	}
}
