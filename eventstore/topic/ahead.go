package topic

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"muster/internal/concurrency/supervise"
)

// ahead is the page after the current one. It is read and decoded on a connection of its own
// while the current one is applied, so that its own transaction has one wait less. Events never
// change and the position of a followed log never goes back: the page that was read ahead is
// what would be read then, or less.
type ahead struct {
	after  int64 // the position in front of its first event
	stop   context.CancelFunc
	done   chan struct{}
	events []Event
	err    error
}

// readAhead starts to read the page behind a position.
func (g Group) readAhead(ctx context.Context, db *sqlx.DB, after int64) *ahead {
	a := &ahead{after: after, done: make(chan struct{})}
	ctx, a.stop = context.WithCancel(ctx)
	go func() {
		defer close(a.done)
		defer a.stop()
		a.err = supervise.Call(func() error {
			page, err := readPage(ctx, db, g.Log, selectAhead, g.Log, after, g.Follow, g.PageSize)
			if err != nil {
				return fmt.Errorf("read ahead of position %d: %w", after, err)
			}
			a.events = g.decode(page)
			return nil
		})
	}()
	return a
}

// wait returns the page once it is read; nil: there is none, or it could not be read, and the
// next read returns that error.
func (a *ahead) wait() *ahead {
	if a == nil {
		return nil
	}
	<-a.done
	if a.err != nil || len(a.events) == 0 {
		return nil
	}
	return a
}

// drop ends reading and waits for that.
func (a *ahead) drop() {
	if a != nil {
		a.stop()
		<-a.done
	}
}

// last is the position of its last event.
func (a *ahead) last() int64 { return a.events[len(a.events)-1].Position }
