package readiness_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/internal/process/readiness"
)

// The times of these tests are a bubble's: nobody waits.

// supplier is something that a check looks at.
type supplier struct {
	looks atomic.Int64
	fail  atomic.Bool
	hangs chan struct{} // nil: it answers at once
}

func (s *supplier) check(name string, required bool) readiness.Need {
	return readiness.Need{Name: name, Required: required, Run: func(context.Context) (*time.Duration, error) {
		s.looks.Add(1)
		if s.hangs != nil {
			<-s.hangs // deaf to its context, as a system call is
		}
		if s.fail.Load() {
			return nil, errors.New("away")
		}
		lag := 3 * time.Second
		return &lag, nil
	}}
}

func asked(t *testing.T, b *readiness.Board) string {
	t.Helper()
	status, findings := b.Ask(t.Context())
	said := string(status)
	for _, f := range findings {
		said += fmt.Sprintf(" %s:%t", f.Name, f.OK)
	}
	return said
}

func TestStatusFollowsTheFailedChecks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var database, blobs, mail supplier
		b := readiness.New(slog.New(slog.DiscardHandler), database.check("database", true), blobs.check("blobs", false), mail.check("mail", false))
		expect := func(want string) {
			t.Helper()
			time.Sleep(time.Second) // what was found does not hold any more
			if got := asked(t, b); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
		expect("ready database:true blobs:true mail:true")
		if _, findings := b.Ask(t.Context()); findings[0].Lag == nil || *findings[0].Lag != 3*time.Second {
			t.Errorf("the lag is %v", findings[0].Lag)
		}
		mail.fail.Store(true)
		expect("degraded database:true blobs:true mail:false")
		database.fail.Store(true)
		expect("unready database:false blobs:true mail:false")
		mail.fail.Store(false)
		expect("unready database:false blobs:true mail:true")
		database.fail.Store(false)
		expect("ready database:true blobs:true mail:true")
	})
}

// TestConcurrentCallersShareOneCheck: at the same time, and within a second.
func TestConcurrentCallersShareOneCheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mail supplier
		b := readiness.New(slog.New(slog.DiscardHandler), mail.check("mail", false))
		for second := range 3 {
			var askers sync.WaitGroup
			for range 100 {
				askers.Go(func() { b.Ask(t.Context()) })
			}
			askers.Wait()
			if n := mail.looks.Load(); n != int64(second+1) {
				t.Errorf("in second %d, %d looks", second+1, n)
			}
			time.Sleep(time.Second)
		}
	})
}

// TestAHangingCheck costs the first callers two seconds, all checks together, the later ones nothing, and one
// goroutine, however long it hangs.
func TestAHangingCheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		blobs, mail := supplier{hangs: make(chan struct{})}, supplier{hangs: make(chan struct{})}
		b := readiness.New(slog.New(slog.NewTextHandler(&log, nil)), blobs.check("blobs", false), mail.check("mail", false))
		began := time.Now()
		took := func(want time.Duration) {
			t.Helper()
			if got := asked(t, b); got != "degraded blobs:false mail:false" {
				t.Errorf("it is %s", got)
			}
			if since := time.Since(began); since != want {
				t.Errorf("the answer came after %s, want %s", since, want)
			}
			began = time.Now()
		}
		took(2 * time.Second)
		for range 1000 {
			took(0)
		}
		if blobs.looks.Load() != 1 || mail.looks.Load() != 1 {
			t.Errorf("%d and %d looks", blobs.looks.Load(), mail.looks.Load())
		}
		time.Sleep(time.Minute)
		began = time.Now()
		took(0)
		close(blobs.hangs)
		close(mail.hangs)
		synctest.Wait()
		if got := asked(t, b); got != "ready blobs:true mail:true" {
			t.Errorf("when it answers again it is %s", got)
		}
		if lines := strings.Count(log.String(), "check=blobs"); lines != 3 { // fails, still fails, passes again
			t.Errorf("the log has %d lines of it:\n%s", lines, log.String())
		}
	})
}

// TestACheckPassesAgainOnlyIfItEverDid: at a start it passes for the first time.
func TestACheckPassesAgainOnlyIfItEverDid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var failing error
		b := readiness.New(slog.New(slog.NewTextHandler(&log, nil)), readiness.Need{
			Name: "demo", Run: func(context.Context) (*time.Duration, error) { return nil, failing },
		})
		for _, want := range []string{`msg="a check passes" check=demo`, `msg="a check passes again" check=demo`} {
			for _, failing = range []error{errors.New("not yet"), nil} {
				asked(t, b)
				time.Sleep(time.Minute)
			}
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log lacks %s:\n%s", want, &log)
			}
			log.Reset()
		}
	})
}

func TestACallerThatLeavesDoesNotEndTheCheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mail := supplier{hangs: make(chan struct{})}
		b := readiness.New(slog.New(slog.DiscardHandler), mail.check("mail", false))
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		began := time.Now()
		if status, _ := b.Ask(ctx); status != readiness.Degraded || time.Since(began) != time.Millisecond {
			t.Errorf("%s after %s", status, time.Since(began))
		}
		close(mail.hangs)
		synctest.Wait()
		if got := asked(t, b); got != "ready mail:true" || mail.looks.Load() != 1 {
			t.Errorf("%s after %d looks", got, mail.looks.Load())
		}
	})
}
