package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"muster/internal/concurrency/pause"
)

func TestAWaitTakesItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := pause.For(t.Context(), time.Hour); err != nil || time.Since(began) != time.Hour {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// TestAWaitEndsWithItsContext, at once, and does not begin where that has ended.
func TestAWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		began := time.Now()
		time.AfterFunc(time.Second, stop)
		for _, wait := range []func() error{
			func() error { return pause.For(ctx, time.Hour) },
			func() error { return pause.For(ctx, 0) },
			func() error { return pause.Unless(ctx, time.Hour, make(chan int)) },
		} {
			if err := wait(); !errors.Is(err, context.Canceled) || time.Since(began) != time.Second {
				t.Errorf("%v after %s", err, time.Since(began))
			}
		}
	})
}

// TestAWaitIsCutShort by what comes, also by what came before it began.
func TestAWaitIsCutShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, wake := time.Now(), make(chan struct{}, 1)
		wake <- struct{}{}
		if err := pause.Unless(t.Context(), time.Hour, wake); err != nil || time.Since(began) != 0 {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		time.AfterFunc(time.Minute, func() { close(wake) })
		if err := pause.Unless(t.Context(), time.Hour, wake); err != nil || time.Since(began) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// TestALongTurnDropsTheNextOne: the first is at once. A turn that takes two and a half
// intervals delays the next and drops the one after that.
func TestALongTurnDropsTheNextOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		began := time.Now()
		var turns []time.Duration
		err := pause.Every(ctx, 2*time.Second, func() {
			turns = append(turns, time.Since(began))
			switch len(turns) {
			case 2:
				_ = pause.For(ctx, 5*time.Second)
			case 4:
				stop()
			}
		})
		want := []time.Duration{0, 2 * time.Second, 7 * time.Second, 8 * time.Second}
		for i := range want {
			if len(turns) != len(want) || turns[i] != want[i] {
				t.Fatalf("turns at %v, want %v", turns, want)
			}
		}
		if !errors.Is(err, context.Canceled) || time.Since(began) != 8*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestJitterIsATenth(t *testing.T) {
	t.Parallel()
	for range 1000 {
		if d := pause.Jittered(time.Minute); d < 54*time.Second || d > 66*time.Second {
			t.Fatal(d)
		}
	}
}

// TestCountsAreFlushedAtTheEndToo: after each interval, and once more when the context is
// over, within a time of its own. Of failures in a row the first one is reported.
func TestCountsAreFlushedAtTheEndToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second+time.Millisecond)
		defer stop()
		broken := errors.New("broken")
		outcomes := []error{nil, broken, broken, nil, broken, broken}
		calls, told := 0, 0
		var last time.Duration
		err := pause.Flushing(ctx, time.Second, 7*time.Second, func(ctx context.Context) error {
			if ctx.Err() != nil {
				t.Error("called with a context that is over")
			}
			if deadline, ok := ctx.Deadline(); ok {
				last = time.Until(deadline)
			}
			calls++
			return outcomes[calls-1]
		}, func(error) { told++ })
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, broken) || calls != 6 || told != 2 || last != 7*time.Second {
			t.Errorf("%d calls, %d failures told, %s for the last: %v", calls, told, last, err)
		}
	})
}
