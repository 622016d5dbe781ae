package projections_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/eventstore/topic"
	"muster/projections"
)

// acts is a handler that writes a row for each event, with nothing that would hide a second one.
type acts struct {
	*scene
	fails atomic.Pointer[error] // of each page that has a poisoned event
}

func newActs(s *scene) *acts {
	s.t.Helper()
	s.exec(`CREATE TABLE acts (position bigint NOT NULL, n serial)`)
	if err := topic.AddGroup(s.t.Context(), s.db, "acts", "acts", eventstore.Reports); err != nil {
		s.t.Fatal(err)
	}
	return &acts{scene: s}
}

func (a *acts) group() topic.Group {
	return topic.Group{Name: "acts", Handler: "acts", Log: eventstore.Reports, PageSize: 3, Apply: func(ctx context.Context, tx *sqlx.Tx, events []topic.Event) error {
		for _, e := range events {
			if _, err := tx.ExecContext(ctx, `INSERT INTO acts (position) VALUES ($1)`, e.Position); err != nil {
				return err
			}
			if err := a.fails.Load(); err != nil && e.Type == "poison" {
				return *err
			}
		}
		return nil
	}}
}

// handled is the positions in the order in which they were handled.
func (a *acts) handled() string {
	a.t.Helper()
	var positions []int64
	if err := a.db.SelectContext(a.t.Context(), &positions, `SELECT position FROM acts ORDER BY n`); err != nil {
		a.t.Fatal(err)
	}
	return fmt.Sprint(positions)
}

func (a *acts) wantHandled(want string) {
	a.t.Helper()
	a.until("handled is "+want, func() bool { return a.handled() == want })
}

// runner runs the handler beside a projection.
func (a *acts) runner() (r *projections.Runner, stop func()) {
	a.t.Helper()
	r = a.scene.runner((&sums{}).projection())
	r.Handle(a.group())
	return r, a.run(r)
}

// TestAHandlerHandlesEachEventOnce: whichever process is elected, and however often a
// projection is rebuilt.
func TestAHandlerHandlesEachEventOnce(t *testing.T) {
	t.Parallel()
	a := newActs(newScene(t))
	stream := uuid.New()
	a.appendNumbers(stream, "plain", 1, 2, 3, 4)
	r, stop := a.runner()
	other, _ := a.runner()
	a.wantHandled("[1 2 3 4]")
	if _, err := r.Rebuild(t.Context(), "sums", projections.RebuildOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	stop()
	a.settle(other, a.appendNumbers(stream, "plain", 5))
	a.wantHandled("[1 2 3 4 5]")
}

// TestAnEventThatAHandlerCannotHandleWaits in the dead letters with the rest of its stream, and is handled at
// its retry.
func TestAnEventThatAHandlerCannotHandleWaits(t *testing.T) {
	t.Parallel()
	a := newActs(newScene(t))
	sick, healthy, poison := uuid.New(), uuid.New(), errPoison
	a.fails.Store(&poison)
	a.appendNumbers(healthy, "plain", 1)
	a.appendNumbers(sick, "poison", 2)
	a.appendNumbers(sick, "plain", 3)
	a.appendNumbers(healthy, "plain", 4)
	r, _ := a.runner()
	a.wantHandled("[1 4]")
	var letters []topic.Letter
	a.until("both read models have set it aside", func() bool { letters = a.letters(r); return len(letters) == 2 })
	a.fails.Store(nil)
	for _, l := range letters {
		if l.Handler == "sums" {
			continue
		}
		if replay, err := r.DeadLetters().Retry(t.Context(), uuid.Nil, l.ID); err != nil || replay.Applied != 2 {
			t.Fatalf("retry: %+v, %v", replay, err)
		}
	}
	a.wantHandled("[1 4 2 3]")
}

// TestAPageThatCannotBeHandledIsRetried: a page that this program cannot handle at all is tried again, and
// nothing of it is set aside.
func TestAPageThatCannotBeHandledIsRetried(t *testing.T) {
	t.Parallel()
	a := newActs(newScene(t))
	stream := uuid.New()
	held := error(&topic.HeldError{Err: errors.New("a newer program's")})
	a.fails.Store(&held)
	a.appendNumbers(stream, "plain", 1)
	a.appendNumbers(stream, "poison", 2)
	r, _ := a.runner()
	a.until("it is seen that the page fails", func() bool {
		var failed bool
		err := a.db.GetContext(t.Context(), &failed, `SELECT last_error IS NOT NULL FROM checkpoints WHERE consumer_group = 'acts'`)
		return err == nil && failed
	})
	for _, l := range a.letters(r) {
		if l.Handler == "acts" {
			t.Errorf("set aside: %+v", l)
		}
	}
	a.fails.Store(nil)
	a.wantHandled("[1 2]")
}
