package projections

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"muster/eventstore/topic"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/postgres/transact"
)

// RebuildOptions say how a rebuild ends.
type RebuildOptions struct {
	// StopOnDifference keeps the old generation where the new one differs.
	StopOnDifference bool
}

// RebuildProgress is how far a rebuild has come.
type RebuildProgress struct {
	Position int64 // events applied
	Target   int64 // events the live generation has applied
	State    string
}

// StoppedError says that the new generation differs and was not switched to.
type StoppedError struct{ Difference Difference }

func (e *StoppedError) Error() string {
	return e.Difference.Projection + " was rebuilt, differs from what is live, and was not switched to"
}

// RequestRebuild asks the elected process to rebuild a projection and returns
// at once. It returns a *RebuildInProgressError where that is being done, and an
// *UnknownProjectionError.
func (r *Runner) RequestRebuild(ctx context.Context, name string, options RebuildOptions) error {
	p, err := r.projection(name)
	if err != nil {
		return err
	}
	err = transact.Once(ctx, r.db, nil, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, lockKey("prepare", p.Name)); err != nil {
			return err
		}
		_, err := create(ctx, tx, p, stateFilling, options.StopOnDifference)
		return err
	})
	if isUniqueViolation(err) {
		return &RebuildInProgressError{Name: name}
	}
	if err != nil {
		return fmt.Errorf("request rebuild of %s: %w", name, err)
	}
	r.announce(ctx, control)
	return nil
}

// Rebuild asks for a rebuild, or joins the one in progress, and returns its
// difference once it is live. Where no process is elected, this one stands for
// election meanwhile and does it. A difference that stopped it comes as a
// *StoppedError.
func (r *Runner) Rebuild(ctx context.Context, name string, options RebuildOptions, progress func(RebuildProgress)) (Difference, error) {
	p, err := r.projection(name)
	if err != nil {
		return Difference{}, err
	}
	err = r.RequestRebuild(ctx, name, options)
	var inProgress *RebuildInProgressError
	if err != nil && !errors.As(err, &inProgress) {
		return Difference{}, err
	}
	requested, err := newest(ctx, r.db, p)
	if err != nil {
		return Difference{}, err
	}
	if !r.running.Load() {
		ctx, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = supervise.New(r.log, supervise.Counts{}).Run(ctx, "projections", r.Run)
		}()
		defer func() { stop(); <-done }()
	}
	return r.await(ctx, p, requested.ID, progress)
}

// await follows a generation until it is live or ended.
func (r *Runner) await(ctx context.Context, p Projection, id int64, progress func(RebuildProgress)) (Difference, error) {
	for {
		var g generation
		err := r.db.GetContext(ctx, &g, `SELECT id, generation, consumer_group, state, stop_on_difference, difference
FROM projection_generations WHERE id = $1`, id)
		if err != nil {
			return Difference{}, fmt.Errorf("follow rebuild of %s: %w", p.Name, err)
		}
		d, err := g.difference()
		if err != nil {
			return Difference{}, err
		}
		switch g.State {
		case stateLive, stateRetired:
			return d, nil
		case stateStopped:
			return d, &StoppedError{Difference: d}
		}
		if progress != nil {
			step, err := r.step(ctx, p, g)
			if err != nil {
				return Difference{}, err
			}
			progress(step)
		}
		if ctx.Err() != nil {
			return Difference{}, ctx.Err()
		}
		_ = pause.For(ctx, fillEach)
	}
}

func (r *Runner) step(ctx context.Context, p Projection, g generation) (RebuildProgress, error) {
	s := RebuildProgress{State: g.State}
	err := r.db.QueryRowContext(ctx, selectProgress, g.Group, p.Name, p.Version).Scan(&s.Position, &s.Target)
	return s, err
}

// Diff returns the difference that the last finished comparison found; ok is
// false where the projection was never rebuilt.
func (r *Runner) Diff(ctx context.Context, name string) (d Difference, ok bool, err error) {
	p, err := r.projection(name)
	if err != nil {
		return d, false, err
	}
	var g generation
	err = r.db.GetContext(ctx, &g, selectGeneration+`AND difference IS NOT NULL ORDER BY generation DESC LIMIT 1`,
		p.Name, p.Version)
	if errors.Is(err, sql.ErrNoRows) {
		return d, false, nil
	}
	if err != nil {
		return d, false, fmt.Errorf("read difference of %s: %w", name, err)
	}
	d, err = g.difference()
	return d, err == nil, err
}

// rebuild takes the next step of a rebuild once the new generation has nearly
// caught up with the live one.
func (l *leader) rebuild(ctx context.Context, p Projection, live, filling generation) error {
	near, err := l.near(ctx, live, filling)
	if err != nil || !near {
		return err
	}
	l.rest(p, filling)
	if filling.State == stateFilling {
		return l.compare(ctx, p, live, filling)
	}
	return l.switchTo(ctx, p, live, filling)
}

func (l *leader) near(ctx context.Context, live, filling generation) (near bool, err error) {
	err = l.pool.QueryRowContext(ctx, `SELECT coalesce(bool_and(l.position - f.position <= $3), false)
FROM checkpoints l JOIN checkpoints f ON f.log = l.log
WHERE l.consumer_group = $1 AND f.consumer_group = $2`, live.Group, filling.Group, topic.PageSize).Scan(&near)
	return near, err
}

// compare brings the new generation to exactly where a snapshot shows the live
// one and records how they differ. The live one goes on meanwhile: only its
// snapshot stands still.
func (l *leader) compare(ctx context.Context, p Projection, live, filling generation) error {
	snapshot := &sql.TxOptions{Isolation: sql.LevelRepeatableRead}
	err := transact.Once(ctx, l.pool, snapshot, func(tx *sqlx.Tx) error {
		d := Difference{Projection: p.Name, Old: live.Group, New: filling.Group, Positions: map[string]int64{}}
		for _, log := range p.Logs {
			var position int64
			err := tx.GetContext(ctx, &position,
				`SELECT position FROM checkpoints WHERE consumer_group = $1 AND log = $2`, live.Group, log)
			if err != nil {
				return err
			}
			d.Positions[string(log)] = position
			if err := p.group(filling, log, "").Advance(ctx, tx, position); err != nil {
				return err
			}
		}
		var err error
		if d.Tables, err = compare(ctx, tx, live.Group, filling.Group); err != nil {
			return err
		}
		return record(ctx, tx, filling, d)
	})
	if err != nil {
		return fmt.Errorf("compare %s with %s: %w", filling.Group, live.Group, err)
	}
	l.wake.Raise(control)
	return nil
}

func record(ctx context.Context, tx *sqlx.Tx, g generation, d Difference) error {
	document, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx,
		`UPDATE projection_generations SET difference = $1, state = 'compared' WHERE id = $2`, document, g.ID)
	if err != nil || d.Empty() || !g.StopOnDifference {
		return err
	}
	return end(ctx, tx, g, stateStopped)
}

// giveWay ends a switch or a drop that waits for readers while they wait for it, so that it is
// tried again. It acts well before PostgreSQL looks for deadlocks (a second, by default) and
// ends a reader.
const giveWay = `SET LOCAL lock_timeout = '200ms'`

// switchTo makes the new generation the live one, at the same position, in one
// transaction with the readers' views.
func (l *leader) switchTo(ctx context.Context, p Projection, live, filling generation) error {
	err := transact.Once(ctx, l.pool, readCommitted, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, giveWay); err != nil {
			return err
		}
		// In the order in which a drop of a dead letter locks them.
		_, err := tx.ExecContext(ctx, `SELECT FROM checkpoints WHERE consumer_group IN ($1, $2)
ORDER BY log, consumer_group FOR UPDATE`, live.Group, filling.Group)
		if err != nil {
			return err
		}
		if err := l.meet(ctx, tx, p, live, filling); err != nil {
			return err
		}
		if err := show(ctx, tx, p, filling); err != nil {
			return err
		}
		if err := end(ctx, tx, live, stateRetired); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx,
			`UPDATE projection_generations SET state = 'live', switched_at = now() WHERE id = $1`, filling.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("switch %s to %s: %w", p.Name, filling.Group, err)
	}
	l.log.InfoContext(ctx, "projection switched", "projection", p.Name, "from", live.Group, "to", filling.Group)
	for _, log := range p.Logs {
		l.progress.Raise(string(log))
		l.wake.Raise(string(log))
	}
	l.wake.Raise(control)
	return nil
}

// meet brings the new generation to the live one's positions.
func (l *leader) meet(ctx context.Context, tx *sqlx.Tx, p Projection, live, filling generation) error {
	for _, log := range p.Logs {
		position, err := p.group(live, log, "").Lock(ctx, tx)
		if err != nil {
			return err
		}
		if err := p.group(filling, log, "").Advance(ctx, tx, position); err != nil {
			return err
		}
	}
	return nil
}
