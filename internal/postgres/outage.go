package postgres

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"muster/internal/concurrency/pause"
)

// Outage is the one place that reports that the database is away, or does not commit. It stands
// before a log's handler. Without it, ten loops that each try again a second later report that
// ten times a second, for as long as it lasts.
//
// A line of a loop that failed because the database may be away is held back until Watch has
// looked. If the database answers, the line is written: it is about another server, or a past
// moment. If it does not answer, Watch says so once, again every minute, and once when it is
// back, with the number of lines that were left out. A line of a request or job is always
// written, so that a person who looks for its id finds it.
type Outage struct {
	next slog.Handler
	own  func(context.Context) bool // the line belongs to a request or job
	*outage
}

// outage is what all handlers that come from one share.
type outage struct {
	every, repeat time.Duration // how often it looks while the database is away, and says so
	noticed       chan struct{}

	mu       sync.Mutex
	watching bool
	away     bool
	held     []heldLine
	left     int // lines left out
}

type heldLine struct {
	handler slog.Handler
	ctx     context.Context
	record  slog.Record
}

// NewOutage returns a handler before next. It holds nothing back until Watch runs.
// own says that a context is that of a request or job.
func NewOutage(next slog.Handler, own func(context.Context) bool) *Outage {
	return &Outage{next: next, own: own, outage: &outage{every: time.Second, repeat: time.Minute, noticed: make(chan struct{}, 1)}}
}

// Enabled implements slog.Handler.
func (o *Outage) Enabled(ctx context.Context, level slog.Level) bool {
	return o.next.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (o *Outage) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Outage{next: o.next.WithAttrs(attrs), own: o.own, outage: o.outage}
}

// WithGroup implements slog.Handler.
func (o *Outage) WithGroup(name string) slog.Handler {
	return &Outage{next: o.next.WithGroup(name), own: o.own, outage: o.outage}
}

// Handle implements slog.Handler.
func (o *Outage) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn || !blamesDatabase(r) || o.own(ctx) || !o.hold(heldLine{o.next, context.WithoutCancel(ctx), r.Clone()}) {
		return o.next.Handle(ctx, r)
	}
	return nil
}

// blamesDatabase says that a line's error may come from a database that is away or does
// not commit: a session whose commit does not return holds its locks. What breaks a connection that is not of a pool of ours has no type of its own, and of a
// transaction that broke database/sql may say no more than that it is over.
func blamesDatabase(r slog.Record) (blames bool) {
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		var server *pgconn.PgError
		blames = ok && (Away(err) || errors.As(err, &server) && server.Code == lockNotAvailable || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, sql.ErrTxDone))
		return !blames
	})
	return blames
}

// hold keeps a line until Watch has looked, or leaves it out; false: Watch is not running.
func (o *outage) hold(line heldLine) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !o.watching:
		return false
	case o.away:
		o.left++
	default:
		o.held = append(o.held, line)
		select {
		case o.noticed <- struct{}{}:
		default: // it will look anyway
		}
	}
	return true
}

// Watch looks whenever a line blames the database, until ctx ends. reach returns an
// error where the database does not answer.
func (o *Outage) Watch(ctx context.Context, reach func(context.Context) error) {
	o.set(func() { o.watching = true })
	defer func() {
		o.set(func() { o.watching, o.away = false, false })
		o.release()
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.noticed:
		}
		if err := reach(ctx); err != nil && ctx.Err() == nil {
			o.last(ctx, err, reach)
		}
		o.release()
	}
}

// last reports an outage from its beginning to its end.
func (o *Outage) last(ctx context.Context, cause error, reach func(context.Context) error) {
	o.set(func() { o.away, o.left, o.held = true, o.left+len(o.held), nil })
	log := slog.New(o.next)
	log.ErrorContext(ctx, "the database "+trouble("is", "does not commit", cause)+"; what fails for that reason is not logged again until it is back", "error", cause)
	since := time.Now()
	told := since
	for pause.For(ctx, o.every) == nil {
		cause = reach(ctx)
		now := time.Now()
		if cause == nil {
			var left int
			o.set(func() { left, o.left, o.away = o.left, 0, false })
			log.WarnContext(ctx, "the database is back", "after", now.Sub(since).Round(time.Second), "linesLeftOut", left)
			return
		}
		if now.Sub(told) >= o.repeat && ctx.Err() == nil {
			told = now
			var left int
			o.set(func() { left = o.left })
			log.ErrorContext(ctx, "the database "+trouble("is still", "still does not commit", cause), "for", now.Sub(since).Round(time.Second), "linesLeftOut", left, "error", cause)
		}
	}
}

// trouble is what the log says of an outage: that the database is away, or is stuck.
func trouble(is, stuck string, cause error) string {
	var commit *StuckError
	if errors.As(cause, &commit) {
		return stuck
	}
	return is + " away"
}

func (o *outage) set(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
}

// release lets the lines go on that were held back.
func (o *outage) release() {
	var lines []heldLine
	o.set(func() { lines, o.held = o.held, nil })
	for _, l := range lines {
		_ = l.handler.Handle(l.ctx, l.record) // as slog itself
	}
}

// reachTimeout is after how long a database that says nothing is away.
const reachTimeout = 5 * time.Second

// Reach returns an error if the database does not answer. It takes no connection of a pool: an
// exhausted pool does not mean that the database is away.
func Reach(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	return conn.Ping(ctx)
}
