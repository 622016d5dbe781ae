package lease

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
)

// LostError says that a lease ended before what it was for: its term was over, another
// took it, or what was leased is gone. Nothing under it may be committed.
type LostError struct {
	What string // the whole sentence: "the claim on instance … was lost"
	Err  error  // why it could not be renewed, each failure; nil: nothing failed
}

func (e *LostError) Error() string {
	if e.Err == nil {
		return e.What
	}
	return e.What + ": " + e.Err.Error()
}

func (e *LostError) Unwrap() error { return e.Err }

// IsLost reports whether err, or the cause of ctx's end, is a lost lease.
func IsLost(ctx context.Context, err error) bool {
	var lost *LostError
	return errors.As(err, &lost) || errors.As(context.Cause(ctx), &lost)
}

// Guard judges a statement under a fence: a *LostError with the sentence what if it matched no
// row.
func Guard(result sql.Result, err error, doing, what string) error {
	var rows int64
	if err == nil {
		rows, err = result.RowsAffected()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if rows == 0 {
		return &LostError{What: what}
	}
	return nil
}

// Kept is a lease while it is kept.
type Kept struct {
	Term  time.Duration
	What  string                          // the sentence of its LostError
	Renew func(ctx context.Context) error // under the fence; has a third of the term
	// Failed is called for each renewal that failed for another reason than a lost lease, and
	// is tried again; nil: it is not called.
	Failed func(err error)
	// Lost gets the *LostError, once.
	Lost context.CancelCauseFunc
}

// Keep renews the lease until ctx ends, the lease is lost, or stop is called, which
// returns when no renewal is under way any more.
func (k Kept) Keep(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var renewing supervise.Group
	renewing.Go(func() error {
		if err := k.keep(ctx); err != nil {
			k.Lost(err)
		}
		return nil
	})
	return func() { cancel(); renewing.Join() }
}

// keep returns a *LostError, or nil when ctx ends.
func (k Kept) keep(ctx context.Context) error {
	renewed := time.Now() // monotonic: only differences are used
	var failures []error  // since then
	for pause.For(ctx, k.Term/3) == nil {
		began := time.Now()
		err := k.renew(ctx)
		var lost *LostError
		switch {
		case err == nil:
			renewed, failures = began, nil
			continue
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &lost):
			return &LostError{What: lost.What, Err: errors.Join(append(failures, lost.Err)...)}
		}
		failures = append(failures, err)
		if k.Failed != nil {
			k.Failed(err)
		}
		if time.Since(renewed) > k.Term {
			return &LostError{What: k.What, Err: errors.Join(failures...)}
		}
	}
	return nil
}

func (k Kept) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, k.Term/3)
	defer cancel()
	return supervise.Call(func() error { return k.Renew(ctx) })
}
