package topic_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jmoiron/sqlx"

	"muster/eventstore/topic"
	"muster/internal/postgres/listen"
)

// reading runs the scene's group until the test ends, with several readers, as if several
// processes believed to be elected. The channel gets what they apply.
func (s *scene) reading(readers int) <-chan struct{} {
	s.t.Helper()
	moved := make(chan struct{}, 1)
	for range readers {
		router, err := topic.NewRouter(message.RouterConfig{CloseTimeout: time.Minute}, watermill.NopLogger{})
		if err != nil {
			s.t.Fatal(err)
		}
		go func() { _ = router.Run(context.WithoutCancel(s.t.Context())) }()
		<-router.Running()
		stop, err := topic.Subscribe(context.WithoutCancel(s.t.Context()), router, s.db, s.group, listen.NewWake(), slog.New(slog.DiscardHandler), func() {
			select {
			case moved <- struct{}{}:
			default:
			}
		})
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { stop(); _ = router.Close() })
	}
	return moved
}

// until waits until the group has come to a position.
func (s *scene) until(moved <-chan struct{}, last int64) {
	s.t.Helper()
	for position := int64(0); position < last; {
		if err := s.db.Get(&position, `SELECT min(position) FROM checkpoints WHERE consumer_group = $1`, s.group.Name); err != nil {
			s.t.Fatal(err)
		}
		select {
		case <-moved:
		case <-time.After(topic.SafetyPoll):
		}
	}
}

// TestPagesThatAreReadAhead are applied once each and in order: by one reader, whose
// connection is lost meanwhile, and by two that take the next page from one another.
func TestPagesThatAreReadAhead(t *testing.T) {
	t.Parallel()
	for _, readers := range []int{1, 2} {
		t.Run(fmt.Sprint(readers, " readers"), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.db.MustExec(`CREATE TABLE applied (nth bigserial, position bigint PRIMARY KEY)`)
			s.group.PageSize = 10
			var pages, large atomic.Int64
			s.group.Apply = func(ctx context.Context, tx *sqlx.Tx, events []topic.Event) error {
				if len(events) == s.group.PageSize {
					large.Add(1)
				}
				for _, e := range events {
					if _, err := tx.ExecContext(ctx, `INSERT INTO applied (position) VALUES ($1)`, e.Position); err != nil {
						return err
					}
				}
				if pages.Add(1)%7 == 0 {
					_, err := tx.ExecContext(ctx, `SELECT pg_terminate_backend(pg_backend_pid())`)
					return err
				}
				return nil
			}
			last := s.appendTypes(slices.Repeat([]string{"healthy"}, 305)...)
			s.until(s.reading(readers), last)
			var applied []int64
			if err := s.db.Select(&applied, `SELECT position FROM applied ORDER BY nth`); err != nil || int64(len(applied)) != last || !slices.IsSorted(applied) {
				t.Errorf("%d of %d events are applied, %v, in the order %v", len(applied), last, err, applied)
			}
			if n, err := s.dead.List(t.Context(), [16]byte{}, [16]byte{}, 1); err != nil || len(n) != 0 {
				t.Errorf("parked are %v, %v", n, err)
			}
			if large.Load() < 30 {
				t.Errorf("%d pages were full, want 30 and more", large.Load())
			}
		})
	}
}

// TestReadingAheadDoesNotOvertake who is followed.
func TestReadingAheadDoesNotOvertake(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	if err := topic.AddGroup(t.Context(), s.db, "leaders", s.group.Handler, s.group.Log); err != nil {
		t.Fatal(err)
	}
	s.group.PageSize, s.group.Follow = 10, "leaders"
	var applied atomic.Int64
	s.group.Apply = func(_ context.Context, _ *sqlx.Tx, events []topic.Event) error {
		applied.Store(events[len(events)-1].Position)
		return nil
	}
	last := s.appendTypes(slices.Repeat([]string{"healthy"}, 50)...)
	lead := func(to int64) {
		s.db.MustExec(`UPDATE checkpoints SET position = $1 WHERE consumer_group = 'leaders'`, to)
	}
	lead(25)
	moved := s.reading(1)
	s.until(moved, 25)
	if got := applied.Load(); got != 25 {
		t.Errorf("the group has come to %d, who it follows to 25", got)
	}
	lead(last)
	s.until(moved, last)
}
