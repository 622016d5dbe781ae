package projections

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/eventstore/topic"
	"muster/internal/postgres/transact"
)

// sweep drops the tables of generations whose grace has passed and of versions
// that no process has read for a day. A failure is tried again a minute later.
func (l *leader) sweep(ctx context.Context, projections []Projection) {
	if time.Since(l.swept) < time.Minute {
		return
	}
	l.swept = time.Now()
	for _, p := range projections {
		if err := l.sweepGenerations(ctx, p); err != nil && ctx.Err() == nil {
			l.log.WarnContext(ctx, "old generations cannot be dropped yet", "projection", p.Name, "error", err)
		}
		if err := l.sweepVersions(ctx, p); err != nil && ctx.Err() == nil {
			l.log.WarnContext(ctx, "unused versions cannot be dropped yet", "projection", p.Name, "error", err)
		}
	}
}

func (l *leader) sweepGenerations(ctx context.Context, p Projection) error {
	var groups []string
	err := l.pool.SelectContext(ctx, &groups, `SELECT consumer_group FROM projection_generations
WHERE projection = $1 AND version = $2 AND dropped_at IS NULL AND ended_at < now() - make_interval(secs => $3)`,
		p.Name, p.Version, Grace.Seconds())
	if err != nil {
		return err
	}
	for _, group := range groups {
		err := transact.Once(ctx, l.pool, nil, func(tx *sqlx.Tx) error {
			if _, err := tx.ExecContext(ctx, giveWay); err != nil {
				return err
			}
			return drop(ctx, tx, group)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *leader) sweepVersions(ctx context.Context, p Projection) error {
	var versions []int
	err := l.pool.SelectContext(ctx, &versions, `SELECT version FROM projection_versions
WHERE projection = $1 AND version <> $2 AND used_at < now() - make_interval(secs => $3)`,
		p.Name, p.Version, Unused.Seconds())
	if err != nil {
		return err
	}
	for _, version := range versions {
		if err := transact.Once(ctx, l.pool, nil, func(tx *sqlx.Tx) error { return dropVersion(ctx, tx, p.Name, version) }); err != nil {
			return err
		}
	}
	return nil
}

// dropVersion removes everything of a version, unless it has just been used
// again: its row in projection_versions comes first, because touch holds that
// row until Prepare has found or made the tables. A program of that version that
// comes back later starts it anew.
func dropVersion(ctx context.Context, tx *sqlx.Tx, name string, version int) error {
	unused, err := tx.ExecContext(ctx, `DELETE FROM projection_versions
WHERE projection = $1 AND version = $2 AND used_at < now() - make_interval(secs => $3)`, name, version, Unused.Seconds())
	if err != nil {
		return err
	}
	if n, err := unused.RowsAffected(); err != nil || n == 0 {
		return err
	}
	p := Projection{Name: name, Version: version}
	if _, err := tx.ExecContext(ctx, `DROP SCHEMA IF EXISTS `+quoted(p.Views())+` CASCADE`); err != nil {
		return err
	}
	var groups []string
	err = tx.SelectContext(ctx, &groups,
		`SELECT consumer_group FROM projection_generations WHERE projection = $1 AND version = $2`, name, version)
	if err != nil {
		return err
	}
	for _, group := range groups {
		if err := topic.RemoveGroup(ctx, tx, group); err != nil {
			return err
		}
		if err := drop(ctx, tx, group); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx,
		`DELETE FROM projection_generations WHERE projection = $1 AND version = $2`, name, version)
	return err
}
