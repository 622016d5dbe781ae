package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// said is what a log says, a line at a time.
type said chan string

func (s said) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		s <- string(line)
	}
	return len(p), nil
}

type ownKey struct{}

// TestAnOutageIsLoggedOnce: when it begins, again after a while, and when it is over;
// what else is logged stays.
func TestAnOutageIsLoggedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // its 20 ms pass when the test waits for a line, however busy the machine is
		lines := make(said, 1000)
		o := NewOutage(slog.NewTextHandler(lines, nil), func(ctx context.Context) bool { return ctx.Value(ownKey{}) != nil })
		o.every, o.repeat = time.Millisecond, 20*time.Millisecond
		log := slog.New(o).With("loop", "one")
		lost, refused := &ConnectionLostError{Err: io.EOF}, errors.New("connection refused")
		var mu sync.Mutex
		state := refused
		reach := func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			return state
		}
		next := func(want string) string {
			t.Helper()
			line := <-lines
			if !strings.Contains(line, want) {
				t.Fatalf("the log says %q, want %q", line, want)
			}
			return line
		}

		log.Warn("before anybody looks", "error", lost)
		next("before anybody looks")
		ctx, stop := context.WithCancel(t.Context())
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			o.Watch(ctx, reach)
		}()
		for first := slog.NewRecord(time.Now(), slog.LevelWarn, "first", 0); !o.hold(heldLine{o.next, ctx, first}); {
			runtime.Gosched() // until it watches
		}
		next("the database is away")
		for i := range 50 {
			log.Warn("trying again", "n", i, "error", fmt.Errorf("claim: %w", lost))
		}
		log.Warn("of a faulty event", "error", errors.New("no such type"))
		next("of a faulty event")
		log.WarnContext(context.WithValue(ctx, ownKey{}, true), "request failed", "error", lost)
		next("request failed")
		log.Info("by the way", "error", lost)
		next("by the way")
		if still := next("the database is still away"); !strings.Contains(still, "linesLeftOut=51") || !strings.Contains(still, "connection refused") {
			t.Errorf("meanwhile: %s", still)
		}
		mu.Lock()
		state = nil
		mu.Unlock()
		for line := range lines {
			if strings.Contains(line, "the database is back") {
				if !regexp.MustCompile(`level=WARN .* after=\d+m?s linesLeftOut=51`).MatchString(line) {
					t.Errorf("at the end: %s", line)
				}
				break
			}
		}
		log.Warn("of another server", "error", lost) // ours answers
		next("of another server")
		stop()
		<-watched
		log.Warn("after anybody looks", "error", lost)
		next("after anybody looks")
	})
}

// TestHangingCommitsAreReported as such, if loops fail at locks.
func TestHangingCommitsAreReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lines := make(said, 1000)
		o := NewOutage(slog.NewTextHandler(lines, nil), func(context.Context) bool { return false })
		o.repeat = time.Minute
		ctx, stop := context.WithCancel(t.Context())
		began, watched := time.Now(), make(chan struct{})
		go func() {
			defer close(watched)
			o.Watch(ctx, func(context.Context) error {
				if time.Since(began) > 90*time.Second {
					return nil
				}
				return &StuckError{For: time.Since(began), WaitsFor: "SyncRep"}
			})
		}()
		synctest.Wait()
		slog.New(o).Warn("cannot claim a job", "error", fmt.Errorf("claim: %w", &pgconn.PgError{Code: "55P03", Message: "canceling statement due to lock timeout"}))
		for _, want := range [][]string{
			{"the database does not commit", "on SyncRep: no synchronous standby"}, {"the database still does not commit", "linesLeftOut=1"}, {"the database is back"},
		} {
			line := <-lines
			for _, words := range want {
				if !strings.Contains(line, words) {
					t.Errorf("the log says %q, want %q", line, words)
				}
			}
		}
		stop()
		<-watched
	})
}
