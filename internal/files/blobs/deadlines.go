package blobs

import (
	"context"
	"fmt"
	"time"

	"muster/internal/concurrency/supervise"
)

// Deadlines are how long the store may keep us waiting.
type Deadlines struct {
	Answer   time.Duration // for the first byte, or for a yes or no
	Progress time.Duration // between two bytes, and for a step that shows none of its own
}

// defaultDeadlines are the contract's (§26).
var defaultDeadlines = Deadlines{Answer: 10 * time.Second, Progress: 30 * time.Second}

// closeTimeout bounds the goodbye.
const closeTimeout = time.Second

// callsAtOnce bounds the calls under way. Each may hang in the kernel (a network
// file system that is away), where nothing ends it, and holds a thread as long: past
// this number a store that hangs takes no more of them.
const callsAtOnce = 64

// TimeoutError reports that the store did not answer in time. It is a net.Error.
type TimeoutError struct{ After time.Duration }

func (e *TimeoutError) Error() string { return fmt.Sprintf("no answer within %s", e.After) }

// Timeout and Temporary make it a net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// Temporary says that trying again may help.
func (e *TimeoutError) Temporary() bool { return true }

// givenUp is why a call was not waited for any longer. It may still be under way.
type givenUp struct{ error }

func (e *givenUp) Unwrap() error { return e.error }

// call makes one call to the store and gives up waiting for it after limit, or when
// ctx ends: a *givenUp. Where the call does not listen to its context either, it goes
// on by itself; drop then gets what it returns, and may do what f might have done.
func call[T any](ctx context.Context, s *Store, limit time.Duration, f func() (T, error), drop func(T)) (T, error) {
	return callWhile(ctx, s, limit, nil, f, drop)
}

// callWhile is call for what shows progress: with each sign of it the limit begins anew.
func callWhile[T any](ctx context.Context, s *Store, limit time.Duration, progress <-chan struct{}, f func() (T, error), drop func(T)) (T, error) {
	var none T
	patience := time.NewTimer(limit)
	defer patience.Stop()
	tooLate := &TimeoutError{After: limit}
	select {
	case s.calls <- struct{}{}:
	case <-patience.C:
		return none, tooLate
	case <-ctx.Done():
		return none, ctx.Err()
	}
	type outcome struct {
		value T
		err   error
	}
	ended, given := make(chan outcome), make(chan struct{})
	defer close(given)
	go func() {
		defer func() { <-s.calls }()
		value, err := supervise.Value(f)
		select {
		case ended <- outcome{value, err}:
		case <-given: // up, or nobody is left to tell
			if drop != nil {
				_ = supervise.Call(func() error { drop(value); return nil })
			}
		}
	}()
	for {
		select {
		case o := <-ended:
			return o.value, o.err
		case <-progress:
			patience.Reset(limit)
		case <-patience.C:
			return none, &givenUp{tooLate}
		case <-ctx.Done():
			return none, &givenUp{ctx.Err()}
		}
	}
}

// do is call for what returns no value.
func do(ctx context.Context, s *Store, limit time.Duration, f func() error) error {
	_, err := call(ctx, s, limit, func() (struct{}, error) { return struct{}{}, f() }, nil)
	return err
}
