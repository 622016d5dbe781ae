package eventstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/internal/statement"
	"muster/internal/supervise"
)

const (
	appendEach = `SELECT append_each($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
	// groupBytes is how much is written together. It bounds what a statement has, and
	// how long a small append waits for those it shares it with: 500 usual events.
	groupBytes = 256 << 10
	// eventBytes is what an event takes beside its data and metadata, about.
	eventBytes = 512
)

// groupCommit is how a store's appends to one log are written. Whoever finds nobody
// writing writes at once, as if it were alone. Those that come meanwhile wait, and then
// are written together, in one statement: so there is no timer, and the longer a commit
// takes, the more share the next one.
type groupCommit struct {
	db  *sqlx.DB
	log Log

	mu      sync.Mutex
	writing bool
	waiting []*waiter // in the order in which they came; only while somebody writes
}

// waiter is an append that came while another one was written.
type waiter struct {
	*write
	ctx     context.Context //nolint:containedctx // the waiter's own, which outlives no call
	outcome chan outcome
}

type outcome struct {
	position int64
	err      error
	alone    bool // nothing was written of it: it has to ask by a statement of its own
}

// shareable says whether an append may be written with others. One that locks external
// keys may wait for them, and the others would wait with it.
func (w *write) shareable() bool {
	return len(w.streams) == 1 && !w.keyed && w.size() <= groupBytes
}

func (w *write) size() int {
	n := 0
	for i := range w.events {
		n += eventBytes + len(w.events[i].Data) + len(w.events[i].Metadata)
	}
	return n
}

func (g *groupCommit) append(ctx context.Context, w *write) (int64, error) {
	own, first := g.join(ctx, w)
	if first {
		defer g.handOn()
		return w.append(ctx, g.db)
	}
	select {
	case o := <-own.outcome:
		if o.alone {
			return w.append(ctx, g.db)
		}
		return o.position, o.err
	case <-ctx.Done():
		g.leave(own)
		return 0, &statement.Error{What: fmt.Sprintf("append to log %s", g.log), Err: ctx.Err()}
	}
}

// join makes an append the one that writes, where there is none, or lets it wait.
func (g *groupCommit) join(ctx context.Context, w *write) (own *waiter, first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.writing {
		g.writing = true
		return nil, true
	}
	own = &waiter{write: w, ctx: ctx, outcome: make(chan outcome, 1)}
	g.waiting = append(g.waiting, own)
	return own, false
}

// leave takes out who waits no longer. Whoever is being written already may be written.
func (g *groupCommit) leave(own *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, own); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
}

// handOn has those written that came meanwhile, until nobody waits.
func (g *groupCommit) handOn() {
	group := g.take()
	if len(group) == 0 {
		return
	}
	go func() {
		for ; len(group) > 0; group = g.take() {
			g.write(group)
			// Those that were told come back before the next group is closed. Without it 32
			// clients are two groups that take turns: 0.8 of the rate, and 0.66 where a
			// commit takes 4 ms (medians of 8 seconds each in turn).
			runtime.Gosched()
		}
	}()
}

// take returns who is to be written next; where nobody waits, nobody writes. A stream is
// in a group once, so that each is judged by the version that the log has.
func (g *groupCommit) take() (group []*waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	bytes, streams := 0, make(map[uuid.UUID]bool, len(g.waiting))
	var later []*waiter
	for _, w := range g.waiting {
		bytes += w.size()
		if id := w.streams[0].id; len(group) > 0 && bytes > groupBytes || streams[id] {
			later = append(later, w)
		} else {
			group, streams[id] = append(group, w), true
		}
	}
	g.waiting, g.writing = later, len(group) > 0
	return group
}

// write writes a group and tells each its outcome. A panic is the outcome of all that were
// not told: the next group is written all the same.
func (g *groupCommit) write(group []*waiter) {
	err := supervise.Call(func() error {
		g.writeTogether(group)
		return nil
	})
	if err == nil {
		return
	}
	for _, w := range group {
		select {
		case w.outcome <- outcome{err: fmt.Errorf("append to log %s: %w", g.log, err)}:
		default: // was told before
		}
	}
}

func (g *groupCommit) writeTogether(group []*waiter) {
	ctx, end := whileAnyWaits(group)
	defer end()
	if len(group) == 1 {
		position, err := group[0].append(ctx, g.db)
		group[0].outcome <- outcome{position: position, err: err}
		return
	}
	positions, err := statement.All[int64](ctx, g.db, "append to log "+string(g.log), appendEach, arraysOf(g.log, group)...)
	for i, w := range group {
		switch {
		case ofContents(err):
			w.outcome <- outcome{alone: true}
		case err != nil:
			w.outcome <- outcome{err: err}
		default:
			w.outcome <- outcome{position: positions[i], alone: positions[i] == 0}
		}
	}
}

// arraysOf are the arguments of append_each.
func arraysOf(log Log, group []*waiter) []any {
	all := write{log: log}
	for i, w := range group {
		all.streams = append(all.streams, w.streams...)
		all.events = append(all.events, w.events...)
		all.stream = append(all.stream, slices.Repeat([]int32{int32(i + 1)}, len(w.events))...)
	}
	of := all.arrays()
	return slices.Delete(of, 5, 7) // the keys, of which there are none
}

// whileAnyWaits is a context that ends when all of a group have given up: one of them
// alone must not take the statement from the others.
func whileAnyWaits(group []*waiter) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(group[0].ctx))
	var left atomic.Int64
	left.Store(int64(len(group)))
	ends := []func() bool{}
	for _, w := range group {
		ends = append(ends, context.AfterFunc(w.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range ends {
			stop()
		}
		cancel()
	}
}

// ofContents recognises that the database refused what one append of a group has (data
// exceptions and broken constraints, by SQLSTATE's class), and so wrote none of them.
func ofContents(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && (server.Code[:2] == "22" || server.Code[:2] == "23")
}
