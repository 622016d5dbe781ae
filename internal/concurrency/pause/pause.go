package pause

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// For waits for d and returns nil, or the error of ctx as soon as that ends: of a
// context that is over already, whatever d is.
func For(ctx context.Context, d time.Duration) error {
	return Unless[struct{}](ctx, d, nil)
}

// Unless is For that ends before, with nil, when something comes from woken or it is
// closed.
func Unless[T any](ctx context.Context, d time.Duration, woken <-chan T) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-woken:
	case <-timer.C:
	}
	return nil
}

// Every calls do at once and then at each interval until ctx ends; it returns ctx's
// error. Turns that come while do is at work are left out.
func Every(ctx context.Context, interval time.Duration, do func()) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		do()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// Flushing calls flush after each interval until ctx ends, and then once more, which may take
// last. failed is called with an error unless the call before failed, too. The error is ctx's,
// and that of the last call.
func Flushing(ctx context.Context, interval, last time.Duration, flush func(context.Context) error, failed func(error)) error {
	for failing := false; For(ctx, interval) == nil; {
		err := flush(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			failed(err)
		}
		failing = err != nil
	}
	within, end := context.WithTimeout(context.WithoutCancel(ctx), last)
	defer end()
	return errors.Join(ctx.Err(), flush(within))
}

// Jittered moves an interval by up to a tenth either way, so that what began
// together does not go on together.
func Jittered(d time.Duration) time.Duration {
	return d + time.Duration((rand.Float64()-0.5)*0.2*float64(d)) //nolint:gosec // G404: nothing is guarded by it
}
