package accounts

import (
	"context"
	"errors"
	"testing"
)

// TestHashingIsBounded: few at once, a bounded queue, and a caller that leaves the queue makes
// room.
func TestHashingIsBounded(t *testing.T) {
	t.Parallel()
	s := &Store{hashing: hashing{slots: make(chan struct{}, 1), queue: make(chan struct{}, 2)}}
	release, err := s.hashSlot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gone, hangUp := context.WithCancel(t.Context())
	waited := make(chan error)
	go func() {
		_, err := s.hashSlot(gone)
		waited <- err
	}()
	for len(s.hashing.queue) < 2 { // the one that waits is in the queue
		select {
		case err := <-waited:
			t.Fatalf("two at once: %v", err)
		default:
		}
	}
	var refusal *Refusal
	if _, err := s.hashSlot(t.Context()); !errors.As(err, &refusal) || refusal.Code != CodeLoginThrottled || refusal.RetryAfter == 0 {
		t.Errorf("one more than may wait: %v", err)
	}
	hangUp()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("who hangs up: %v", err)
	}
	release()
	if len(s.hashing.queue) != 0 || len(s.hashing.slots) != 0 {
		t.Errorf("%d are queued, %d hash", len(s.hashing.queue), len(s.hashing.slots))
	}
	if release, err = s.hashSlot(t.Context()); err != nil {
		t.Fatal(err)
	}
	release()
}
