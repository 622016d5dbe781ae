package lease_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"muster/internal/concurrency/lease"
)

var errAway = errors.New("the database is away")

// renewals keeps a lease of 30 s whose renewals end as given, with the last answer repeated,
// and returns when they were tried, what the failures were, and why it was lost.
func renewals(t *testing.T, until time.Duration, answers ...error) (tried []time.Duration, failed []error, lost error) {
	t.Helper()
	began := time.Now()
	work, end := context.WithCancelCause(t.Context())
	stop := lease.Kept{
		Term: 30 * time.Second, What: "the lease was lost",
		Renew: func(context.Context) error {
			tried = append(tried, time.Since(began))
			return answers[min(len(tried), len(answers))-1]
		},
		Failed: func(err error) { failed = append(failed, err) },
		Lost:   end,
	}.Keep(t.Context())
	select {
	case <-work.Done():
	case <-time.After(until):
	}
	stop()
	return tried, failed, context.Cause(work)
}

func seconds(n ...int) (d []time.Duration) {
	for _, s := range n {
		d = append(d, time.Duration(s)*time.Second)
	}
	return d
}

// TestALeaseIsRenewedAtEachThird until it is stopped, which waits for nothing.
func TestALeaseIsRenewedAtEachThird(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tried, failed, lost := renewals(t, 35*time.Second, nil)
		if !slices.Equal(tried, seconds(10, 20, 30)) || failed != nil || lost != nil {
			t.Errorf("tried at %v, failed %v, lost %v", tried, failed, lost)
		}
	})
}

// TestARenewalThatFailsIsTriedAgain and is forgotten once one succeeds.
func TestARenewalThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tried, failed, lost := renewals(t, 95*time.Second, errAway, errAway, nil, errAway, errAway, nil)
		if len(tried) != 9 || len(failed) != 4 || lost != nil {
			t.Errorf("tried at %v, failed %v, lost %v", tried, failed, lost)
		}
	})
}

// TestALeaseWithoutRenewalIsLostAfterItsTerm, and says every reason.
func TestALeaseWithoutRenewalIsLostAfterItsTerm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second, third := errors.New("first"), errors.New("second"), errors.New("third")
		tried, failed, err := renewals(t, time.Hour, nil, first, second, third, errAway)
		var lost *lease.LostError
		if !errors.As(err, &lost) || lost.What != "the lease was lost" {
			t.Fatalf("lost %v", err)
		}
		for _, one := range []error{first, second, third, errAway} {
			if !errors.Is(lost, one) {
				t.Errorf("%v does not say %v", lost, one)
			}
		}
		// Renewed at 10 s: at 40 s the term is just over, at 50 s it is.
		if !slices.Equal(tried, seconds(10, 20, 30, 40, 50)) || len(failed) != 4 {
			t.Errorf("tried at %v, failed %v", tried, failed)
		}
	})
}

// TestATakenLeaseEndsAtOnce: nothing more is renewed, and the earlier failure is not forgotten.
func TestATakenLeaseEndsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tried, _, err := renewals(t, time.Hour, errAway, &lease.LostError{What: "taken by another"})
		var lost *lease.LostError
		if !errors.As(err, &lost) || lost.What != "taken by another" || !errors.Is(err, errAway) {
			t.Errorf("lost %v", err)
		}
		if !slices.Equal(tried, seconds(10, 20)) {
			t.Errorf("tried at %v", tried)
		}
	})
}

// TestAStopIsNoFailedRenewal: a renewal that the stop cuts off is no failure.
func TestAStopIsNoFailedRenewal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		renewing := make(chan struct{})
		stop := lease.Kept{
			Term: time.Second,
			Renew: func(ctx context.Context) error {
				close(renewing)
				<-ctx.Done()
				return ctx.Err()
			},
			Failed: func(err error) { t.Errorf("failed: %v", err) },
			Lost:   func(err error) { t.Errorf("lost: %v", err) },
		}.Keep(t.Context())
		<-renewing
		stop()
	})
}

// TestARenewalThatHangsIsGivenUpAfterAThird, so that the next can be tried.
func TestARenewalThatHangsIsGivenUpAfterAThird(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		work, end := context.WithCancelCause(t.Context())
		defer lease.Kept{
			Term:  30 * time.Second,
			Renew: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			Lost:  end,
		}.Keep(t.Context())()
		<-work.Done()
		if took := time.Since(began); took != 40*time.Second || !errors.Is(context.Cause(work), context.DeadlineExceeded) {
			t.Errorf("lost after %s: %v", took, context.Cause(work))
		}
	})
}
