package projections

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/eventstore/topic"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/postgres/listen"
	"muster/internal/postgres/transact"
)

// control is the wake-up subject for work that is not an event: a rebuild was asked for.
const control = "control"

// Times of the runner.
const (
	Grace     = time.Hour       // a replaced generation stays this long
	Unused    = 24 * time.Hour  // a version without readers for this long is dropped
	waitBound = time.Second     // the longest a write waits for its projections
	touchEach = 5 * time.Minute // how often a process says which versions it reads
	touchLate = time.Hour       // a process that starts need not say so again within this time
	lookEach  = time.Second     // how often the election and the generations are looked at
	fillEach  = 100 * time.Millisecond
)

// Runner keeps the projections of this program filled, and answers for them in
// processes where another one does. Prepare first; Run only in processes with
// the role projections; everything else works in any process.
type Runner struct {
	db          *sqlx.DB
	url         string
	log         *slog.Logger
	projections []Projection
	handlers    []topic.Group
	wake        *listen.Wake // a log has grown, a rebuild was asked for
	progress    *listen.Wake // a checkpoint of this process has moved
	running     atomic.Bool
	leading     atomic.Bool
	caughtUp    atomic.Bool
	most        int // connections of the groups; 0: as many as they can use at once
}

// NewRunner returns the runner of all projections of this program. url names
// the same database as db, for the connections that the runner opens by itself:
// one for the election, one to listen, Connections in all while it runs.
func NewRunner(db *sqlx.DB, url string, log *slog.Logger, projections ...Projection) *Runner {
	return &Runner{
		db: db, url: url, log: log, projections: projections,
		wake: listen.NewWake(), progress: listen.NewWake(),
	}
}

// Handle has the elected process run groups that act on the world, beside the projections. Such a group
// exists once, whatever the program's version: a migration makes its checkpoint, and no rebuild touches it.
// Call it before Run.
func (r *Runner) Handle(groups ...topic.Group) { r.handlers = append(r.handlers, groups...) }

// Share has the groups share at most so many connections: they wait for each other, and fewer are opened. For
// tests of something else, in each of which a runner starts. Call it before Run.
func (r *Runner) Share(most int) { r.most = most }

// Connections is how many connections Run may open beside db.
func (r *Runner) Connections() int { return r.connections(office{r.projections, r.handlers}) + 2 }

// connections is how many of them the groups of an office have.
func (r *Runner) connections(held office) int { return cmp.Or(r.most, held.connections()) }

// Prepare makes the tables and views of every projection of this version that
// has none yet, so that readers find them, though empty until Run has filled
// them. Any number of processes may do so at once.
func (r *Runner) Prepare(ctx context.Context) error {
	ready, err := r.prepared(ctx)
	if err != nil {
		return fmt.Errorf("look whether the projections are prepared: %w", err)
	}
	for _, p := range r.projections {
		if ready[p.Name] {
			continue
		}
		err := transact.Once(ctx, r.db, nil, func(tx *sqlx.Tx) error {
			if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, lockKey("prepare", p.Name)); err != nil {
				return err
			}
			if err := touch(ctx, tx, p); err != nil {
				return err
			}
			live, _, err := active(ctx, tx, p)
			if err != nil || live != nil {
				return err
			}
			g, err := create(ctx, tx, p, stateLive, false)
			if err != nil {
				return err
			}
			return show(ctx, tx, p, g)
		})
		if err != nil {
			return fmt.Errorf("prepare projection %s: %w", p.Name, err)
		}
	}
	return r.setBack(ctx)
}

// prepared names the projections that have nothing to prepare: another process, or an earlier command, has made
// them and has said lately that it reads this version. It is one statement instead of a transaction for each.
func (r *Runner) prepared(ctx context.Context) (map[string]bool, error) {
	names, versions := make([]string, len(r.projections)), make([]int, len(r.projections))
	for i, p := range r.projections {
		names[i], versions[i] = p.Name, p.Version
	}
	var ready []string
	err := r.db.SelectContext(ctx, &ready, `SELECT v.projection FROM unnest($1::text[], $2::int[]) AS own (projection, version)
JOIN projection_versions v USING (projection, version)
JOIN projection_generations g USING (projection, version)
WHERE g.state = $3 AND v.used_at > now() - make_interval(secs => $4)`, names, versions, stateLive, touchLate.Seconds())
	of := make(map[string]bool, len(ready))
	for _, name := range ready {
		of[name] = true
	}
	return of, err
}

// setBack sets groups to the end of their log that are ahead of it, so that they apply what
// comes next.
func (r *Runner) setBack(ctx context.Context) error {
	ahead, err := topic.SetBack(ctx, r.db)
	for _, a := range ahead {
		r.log.ErrorContext(ctx, "more was applied than the log has: it was cut off, or set back to an older state", "group", a.Group, "log", a.Log, "events", a.Events)
	}
	return err
}

// touch records that a process reads this version.
func touch(ctx context.Context, db sqlx.ExecerContext, p Projection) error {
	_, err := db.ExecContext(ctx, `INSERT INTO projection_versions (projection, version) VALUES ($1, $2)
ON CONFLICT (projection, version) DO UPDATE SET used_at = now()`, p.Name, p.Version)
	return err
}

// Run stands for election and, once elected, keeps every projection filled and
// does the rebuilds that were asked for, until ctx ends. It returns ctx's
// error, or that of a panic; a database that goes away is waited for.
func (r *Runner) Run(ctx context.Context) error {
	if !r.running.CompareAndSwap(false, true) {
		return fmt.Errorf("projections run already")
	}
	defer r.running.Store(false)
	group, ctx := supervise.WithContext(ctx)
	group.Go(func() error {
		topic.Listen(ctx, r.url, r.wake, r.log)
		return ctx.Err()
	})
	group.Go(func() error {
		r.touchAll(ctx)
		return ctx.Err()
	})
	group.Go(func() error {
		for ctx.Err() == nil {
			err := r.stand(ctx)
			var panicked *supervise.PanicError
			if errors.As(err, &panicked) {
				return err
			}
			if err != nil && ctx.Err() == nil {
				r.log.WarnContext(ctx, "projections pause", "error", err)
				_ = pause.For(ctx, lookEach)
			}
		}
		return ctx.Err()
	})
	return group.Wait()
}

// Leading reports whether this process fills the projections.
func (r *Runner) Leading() bool { return r.leading.Load() }

func (r *Runner) touchAll(ctx context.Context) {
	for ctx.Err() == nil {
		for _, p := range r.projections {
			if err := touch(ctx, r.db, p); err != nil && ctx.Err() == nil {
				r.log.WarnContext(ctx, "use of a projection cannot be recorded", "projection", p.Name, "error", err)
			}
		}
		_ = pause.For(ctx, touchEach)
	}
}

// Announce says that a log has grown, here and in the other processes. A writer that calls Wait
// does not need it. Any other writer saves its readers up to a second.
func (r *Runner) Announce(ctx context.Context, log eventstore.Log) {
	r.announce(ctx, string(log))
}

func (r *Runner) announce(ctx context.Context, subject string) {
	r.wake.Raise(subject)
	if r.Leading() {
		return
	}
	if err := topic.Announce(ctx, r.db, subject); err != nil && ctx.Err() == nil {
		r.log.DebugContext(ctx, "announcement fails, the safety poll covers it", "error", err)
	}
}

func (r *Runner) projection(name string) (Projection, error) {
	for _, p := range r.projections {
		if p.Name == name {
			return p, nil
		}
	}
	return Projection{}, &UnknownProjectionError{Name: name}
}

// DeadLetters returns the events of the projections and handlers that were set aside.
func (r *Runner) DeadLetters() *topic.DeadLetters {
	return topic.NewDeadLetters(r.db, func(name string, log eventstore.Log) (topic.Group, bool) {
		for _, g := range r.handlers {
			if g.Name == name && g.Log == log {
				return g, true
			}
		}
		for _, p := range r.projections {
			if p.owns(name) {
				return p.group(generation{Group: name}, log, ""), true
			}
		}
		return topic.Group{}, false
	})
}
