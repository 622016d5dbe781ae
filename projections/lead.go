package projections

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/sparing"

	"muster/eventstore"
	"muster/eventstore/topic"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
)

// leader runs the groups of the projections for one term.
type leader struct {
	*Runner
	pool    *sqlx.DB // the subscribers' own: a long page must not starve HTTP, nor HTTP the pages
	router  *topic.Router
	running map[groupKey]func()
	swept   time.Time
}

type groupKey struct {
	group string
	log   eventstore.Log
}

// lead fills the projections until ctx ends or something fails that a new
// connection may heal. When it returns, no group of this term applies anything
// any more.
func (r *Runner) lead(ctx context.Context, held office) error {
	pool, closePool, err := r.subscriberPool(ctx, held)
	if err != nil {
		return err
	}
	defer closePool()
	// Errors as well: a Subscription logs what concerns it, once, and what is
	// left is that a transaction ended with its context, at every stop.
	levels := map[slog.Level]slog.Level{slog.LevelInfo: slog.LevelDebug, slog.LevelError: slog.LevelDebug}
	router, err := topic.NewRouter(message.RouterConfig{CloseTimeout: 10 * time.Second},
		watermill.NewSlogLoggerWithLevelMapping(r.log, levels))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if err := supervise.Call(func() error { return router.Run(ctx) }); err != nil {
			r.log.WarnContext(ctx, "the projections' router ends", "error", err)
		}
	}()
	<-router.Running()
	// The context ends before the router closes: then database/sql refuses to
	// commit the page in hand. Closed first, the subscriber would commit it
	// without its checkpoint.
	defer func() {
		cancel()
		_ = router.Close()
		<-stopped
	}()
	l := &leader{Runner: r, pool: pool, router: router, running: map[groupKey]func(){}}
	r.log.InfoContext(ctx, "this process fills the projections", "count", len(held.projections))
	return l.loop(ctx, held)
}

// subscriberPool opens the groups' own pool. A process that freezes inside a
// page loses its checkpoint's lock after a minute.
func (r *Runner) subscriberPool(ctx context.Context, held office) (*sqlx.DB, func(), error) {
	config, err := pgxpool.ParseConfig(r.url)
	if err != nil {
		return nil, nil, err
	}
	config.MaxConns = int32(r.connections(held))
	config.ConnConfig.RuntimeParams["application_name"] = "muster/projections"
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SET idle_in_transaction_session_timeout = '60s'")
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	return sqlx.NewDb(sparing.Open(pool), "pgx"), pool.Close, nil
}

func (l *leader) loop(ctx context.Context, held office) error {
	for {
		asked := l.wake.Changed(control)
		next := lookEach
		for _, g := range held.handlers {
			if err := l.run(ctx, g); err != nil && ctx.Err() == nil {
				l.log.WarnContext(ctx, "a handler does not run, trying again", "group", g.Name, "log", string(g.Log), "error", err)
			}
		}
		for _, p := range held.projections {
			rebuilding, err := l.look(ctx, p)
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				l.log.WarnContext(ctx, "projection cannot be looked after, trying again", "projection", p.Name, "error", err)
			}
			if rebuilding {
				next = fillEach
			}
		}
		if err := l.setBack(ctx); err != nil && ctx.Err() == nil {
			l.log.WarnContext(ctx, "the check for projections ahead of their log failed, trying again", "error", err)
		}
		l.sweep(ctx, held.projections)
		if pause.Unless(ctx, next, asked) != nil {
			return nil
		}
	}
}

// look starts and stops the groups of a projection as its generations ask for,
// and takes a rebuild one step further.
func (l *leader) look(ctx context.Context, p Projection) (rebuilding bool, err error) {
	live, filling, err := active(ctx, l.pool, p)
	if err != nil {
		return false, err
	}
	if live == nil {
		return false, fmt.Errorf("%s has no live generation; was it prepared?", p.Name)
	}
	wanted := map[string]bool{live.Group: true}
	if err := l.fill(ctx, p, *live, ""); err != nil {
		return false, err
	}
	if filling != nil {
		wanted[filling.Group] = true
		if err := l.fill(ctx, p, *filling, live.Group); err != nil {
			return true, err
		}
		err = l.rebuild(ctx, p, *live, *filling)
	}
	for key, stop := range l.running {
		if ours := p.owns(key.group); ours && !wanted[key.group] {
			stop()
			delete(l.running, key)
		}
	}
	return filling != nil, err
}

func (p Projection) owns(group string) bool {
	var number int
	_, err := fmt.Sscanf(group, p.Views()+"_g%d", &number)
	return err == nil && p.groupName(number) == group
}

// fill runs a generation's groups.
func (l *leader) fill(ctx context.Context, p Projection, g generation, follow string) error {
	for _, log := range p.Logs {
		if err := l.run(ctx, p.group(g, log, follow)); err != nil {
			return err
		}
	}
	return nil
}

// run runs a group, unless it runs already.
func (l *leader) run(ctx context.Context, g topic.Group) error {
	key := groupKey{g.Name, g.Log}
	if l.running[key] != nil {
		return nil
	}
	stop, err := topic.Subscribe(ctx, l.router, l.pool, g, l.wake, l.log, func() { l.progress.Raise(string(g.Log)) })
	if err == nil {
		l.running[key] = stop
	}
	return err
}

// rest stops a generation's groups. The current page is rolled back. Code that needs the group
// still takes its checkpoint's lock.
func (l *leader) rest(p Projection, g generation) {
	for _, log := range p.Logs {
		key := groupKey{g.Group, log}
		if stop := l.running[key]; stop != nil {
			stop()
			delete(l.running, key)
		}
	}
}

var readCommitted = &sql.TxOptions{Isolation: sql.LevelReadCommitted}
