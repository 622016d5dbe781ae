package supervise_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/internal/concurrency/supervise"
	"muster/internal/testing/logtest"
)

// The times of these tests are a bubble's: nobody waits.

// desk is a supervisor, with what it logs and counts.
type desk struct {
	*supervise.Supervisor

	log    logtest.Log
	mu     sync.Mutex     // of what follows
	counts map[string]int // restarts by loop; 0: it is known
}

func (d *desk) count(name string, more int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts[name] += more
}

func (d *desk) restarted(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts[name]
}

func newDesk() *desk {
	d := &desk{counts: map[string]int{}}
	d.Supervisor = supervise.New(slog.New(slog.NewTextHandler(&d.log, nil)), supervise.Counts{
		Known:     func(name string) { d.count(name, 0) },
		Restarted: func(name string) { d.count(name, 1) },
	})
	return d
}

// begin runs a loop in the bubble; ended gets its error.
func (d *desk) begin(name string, run func(context.Context) error) (stop func(), ended <-chan error) {
	ctx, cancel := context.WithCancel(context.Background())
	err := make(chan error, 1)
	go func() { err <- d.Run(ctx, name, run) }()
	return cancel, err
}

func (d *desk) inTrouble(t *testing.T, want bool) {
	t.Helper()
	if err := d.Check(t.Context()); (err != nil) != want {
		t.Errorf("the check says %v", err)
	}
}

var errBroken = errors.New("broken")

// TestALoopThatEndsIsStartedAgain, however it ends, and shows that it did.
func TestALoopThatEndsIsStartedAgain(t *testing.T) {
	t.Parallel()
	for name, fall := range map[string]func() error{
		"by a panic":               func() error { panic("broken") },
		"by a panic with an error": func() error { panic(errBroken) },
		"by an index":              func() error { return []error{}[len(t.Name()):][0] },
		"by an error":              func() error { return errBroken },
		"by returning":             func() error { return nil },
		"by a stray cancellation":  func() error { return context.Canceled },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk()
				var runs atomic.Int32
				stop, ended := d.begin("watch", func(ctx context.Context) error {
					if runs.Add(1) == 1 {
						return fall()
					}
					<-ctx.Done()
					return ctx.Err()
				})
				synctest.Wait()
				d.inTrouble(t, true)
				if d.restarted("watch") != 1 || runs.Load() != 1 {
					t.Errorf("%d restarts after %d runs", d.restarted("watch"), runs.Load())
				}
				said := d.log.String()
				if !strings.Contains(said, "level=ERROR") || !strings.Contains(said, "loop=watch") || strings.Contains(said, "stack=") != strings.Contains(said, "panic") {
					t.Errorf("it logs %s", said)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if runs.Load() != 2 {
					t.Errorf("%d runs a second later", runs.Load())
				}
				d.inTrouble(t, true)
				time.Sleep(time.Minute + time.Millisecond)
				d.inTrouble(t, false)
				stop()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestTheContextOfARunEndsWithIt, so that what a run began ends before the next.
func TestTheContextOfARunEndsWithIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		var left context.Context
		stop, ended := d.begin("watch", func(ctx context.Context) error {
			if left == nil {
				left = ctx
				panic("broken")
			}
			if left.Err() == nil {
				t.Error("the first run goes on beside the second")
			}
			<-ctx.Done()
			return nil
		})
		time.Sleep(2 * time.Second)
		stop()
		<-ended
	})
}

// TestPausesGrow from a second to a minute, and begin anew after five minutes without a fall.
func TestPausesGrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		var pauses []time.Duration
		last, all := time.Now(), make(chan struct{})
		stop, ended := d.begin("watch", func(ctx context.Context) error {
			pauses = append(pauses, time.Since(last).Round(time.Second))
			switch len(pauses) {
			case 9:
				time.Sleep(5 * time.Minute)
			case 10:
				close(all)
			}
			last = time.Now()
			panic("broken")
		})
		<-all
		stop()
		<-ended
		want := []time.Duration{0, 1, 2, 4, 8, 16, 32, 60, 60, 1}
		for i, p := range pauses {
			if p != want[i]*time.Second {
				t.Errorf("pauses of %v, want %v seconds", pauses, want)
				break
			}
		}
	})
}

// TestLoopsOfOneName are counted together: one that is in trouble is shown beside a sound one.
func TestLoopsOfOneName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		sound, soundEnded := d.begin("measure a server", func(ctx context.Context) error { <-ctx.Done(); return nil })
		falls, fallsEnded := d.begin("measure a server", func(context.Context) error { panic("broken") })
		time.Sleep(10 * time.Minute)
		d.inTrouble(t, true)
		falls()
		<-fallsEnded
		d.inTrouble(t, false) // nobody is to run it any more
		sound()
		<-soundEnded
	})
}

// TestStopping ends a loop at once, also in its pause, and returns what the loop says of it.
func TestStopping(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		stop, ended := d.begin("watch", func(ctx context.Context) error { <-ctx.Done(); return errBroken })
		stop()
		if err := <-ended; !errors.Is(err, errBroken) {
			t.Error(err)
		}
		began := time.Now()
		stop, ended = d.begin("watch", func(ctx context.Context) error { panic(errBroken) })
		synctest.Wait()
		stop()
		if err := <-ended; err != nil || time.Since(began) != 0 {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		stop, ended = d.begin("watch", func(ctx context.Context) error { <-ctx.Done(); panic(errBroken) })
		stop()
		if err := <-ended; !errors.Is(err, errBroken) {
			t.Errorf("a panic while stopping is %v", err)
		}
	})
}

// TestWorkThatHasAnEnd is done once, and begun again if it fails.
func TestWorkThatHasAnEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, runs := newDesk(), 0
		err := d.Finish(t.Context(), "demo", func(context.Context) error {
			if runs++; runs == 1 {
				panic("broken")
			}
			return nil
		})
		if err != nil || runs != 2 || d.restarted("demo") != 1 {
			t.Errorf("%v, %d runs, %d restarts", err, runs, d.restarted("demo"))
		}
		d.inTrouble(t, false)
	})
}

// TestATurnThatPanics is an error of its caller, and trouble until a turn ends well.
func TestATurnThatPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		var panicked *supervise.PanicError
		if err := d.Turn(t.Context(), "chore", func(context.Context) error { panic(errBroken) }); !errors.As(err, &panicked) || !errors.Is(err, errBroken) {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		d.inTrouble(t, true)
		if err := d.Turn(t.Context(), "chore", func(context.Context) error { return errBroken }); !errors.Is(err, errBroken) {
			t.Error(err)
		}
		d.inTrouble(t, false) // an error is the chore's to tell
		if d.restarted("chore") != 1 {
			t.Errorf("%d falls counted", d.restarted("chore"))
		}
	})
}

// TestALoopRestartsWithoutASupervisor, too.
func TestALoopRestartsWithoutASupervisor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var nobody *supervise.Supervisor
		runs := 0
		if err := nobody.Finish(t.Context(), "demo", func(context.Context) error {
			if runs++; runs < 3 {
				panic("broken")
			}
			return nil
		}); err != nil || runs != 3 {
			t.Errorf("%v after %d runs", err, runs)
		}
	})
}

// TestAMemberOfAGroupThatPanics is an error of the group, and ends the others.
func TestAMemberOfAGroupThatPanics(t *testing.T) {
	t.Parallel()
	group, ctx := supervise.WithContext(t.Context())
	group.Go(func() error { <-ctx.Done(); return nil })
	group.Go(func() error { panic(errBroken) })
	var panicked *supervise.PanicError
	if err := group.Wait(); !errors.As(err, &panicked) || !errors.Is(err, errBroken) || !strings.Contains(string(panicked.Stack), "supervise_test") {
		t.Errorf("%v", err)
	}
	var plain supervise.Group
	plain.SetLimit(1)
	for range 3 {
		plain.Go(func() error { panic("broken") })
	}
	if err := plain.Wait(); !errors.As(err, &panicked) {
		t.Errorf("%v", err)
	}
}
