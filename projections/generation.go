package projections

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/eventstore/topic"
)

// States of a generation.
const (
	stateFilling  = "filling"  // behind the live one, never ahead of it
	stateCompared = "compared" // its difference is known, the switch is due
	stateLive     = "live"     // the generation that the views show
	stateRetired  = "retired"  // replaced, kept for the grace time
	stateStopped  = "stopped"  // its difference held it up
)

// generation is one filling of a projection's tables.
type generation struct {
	ID               int64  `db:"id"`
	Number           int    `db:"generation"`
	Group            string `db:"consumer_group"`
	State            string `db:"state"`
	StopOnDifference bool   `db:"stop_on_difference"`
	Difference       []byte `db:"difference"`
}

const selectGeneration = `SELECT id, generation, consumer_group, state, stop_on_difference, difference
FROM projection_generations WHERE projection = $1 AND version = $2 `

// active returns a projection's live generation and the one being filled, if any.
func active(ctx context.Context, q sqlx.QueryerContext, p Projection) (live, filling *generation, err error) {
	var all []generation
	err = sqlx.SelectContext(ctx, q, &all,
		selectGeneration+`AND state IN ('live', 'filling', 'compared')`, p.Name, p.Version)
	if err != nil {
		return nil, nil, fmt.Errorf("read generations of %s: %w", p.Name, err)
	}
	for i := range all {
		if all[i].State == stateLive {
			live = &all[i]
		} else {
			filling = &all[i]
		}
	}
	return live, filling, nil
}

func newest(ctx context.Context, q sqlx.QueryerContext, p Projection) (generation, error) {
	var g generation
	err := sqlx.GetContext(ctx, q, &g, selectGeneration+`ORDER BY generation DESC LIMIT 1`, p.Name, p.Version)
	return g, err
}

// create makes the next generation: its row, its tables and its checkpoints at
// the beginning of the logs.
func create(ctx context.Context, tx *sqlx.Tx, p Projection, state string, stopOnDifference bool) (generation, error) {
	var number int
	err := tx.GetContext(ctx, &number,
		`SELECT coalesce(max(generation), 0) + 1 FROM projection_generations WHERE projection = $1 AND version = $2`,
		p.Name, p.Version)
	if err != nil {
		return generation{}, err
	}
	g := generation{Number: number, Group: p.groupName(number), State: state, StopOnDifference: stopOnDifference}
	err = tx.GetContext(ctx, &g.ID, `INSERT INTO projection_generations
    (projection, version, generation, consumer_group, state, stop_on_difference, switched_at)
VALUES ($1, $2, $3, $4, $5, $6, CASE WHEN $5 = 'live' THEN now() END) RETURNING id`,
		p.Name, p.Version, g.Number, g.Group, g.State, g.StopOnDifference)
	if err != nil {
		return g, err
	}
	for _, log := range p.Logs {
		if err := topic.AddGroup(ctx, tx, g.Group, p.Name, log); err != nil {
			return g, err
		}
	}
	if _, err := tx.ExecContext(ctx, `CREATE SCHEMA `+quoted(g.Group)); err != nil {
		return g, err
	}
	if err := enterSchema(ctx, tx, g.Group); err != nil {
		return g, err
	}
	if _, err := tx.ExecContext(ctx, p.Schema); err != nil {
		return g, fmt.Errorf("make tables of %s: %w", g.Group, err)
	}
	return g, nil
}

// enterSchema puts a generation's tables first in the transaction's search path.
func enterSchema(ctx context.Context, tx *sqlx.Tx, schema string) error {
	_, err := tx.ExecContext(ctx,
		`SELECT set_config('search_path', quote_ident($1) || ', public', true)`, schema)
	return err
}

// enterPage is enterSchema for a page. Its commit need not wait for the disk:
// after a crash of the server rows and checkpoint are both as they were, and the
// page comes again. And it looks its rows up by their indexes: a connection
// that planned while the tables were small kept reading them from end to end as
// they grew, 4.2 of the 8.3 s of a rebuild of 200,000 events.
func enterPage(ctx context.Context, tx *sqlx.Tx, schema string) error {
	_, err := tx.ExecContext(ctx, `SELECT set_config('search_path', quote_ident($1) || ', public', true),
       set_config('synchronous_commit', 'off', true), set_config('enable_seqscan', 'off', true)`, schema)
	return err
}

// show points the readers' views at a generation. All move in the caller's transaction, so
// nobody reads a mixture.
func show(ctx context.Context, tx *sqlx.Tx, p Projection, g generation) error {
	if _, err := tx.ExecContext(ctx, `CREATE SCHEMA IF NOT EXISTS `+quoted(p.Views())); err != nil {
		return err
	}
	tables, err := tablesOf(ctx, tx, g.Group)
	if err != nil {
		return err
	}
	for _, t := range tables {
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`CREATE OR REPLACE VIEW %s AS SELECT * FROM %s`,
			quoted(p.Views(), t.Name), quoted(g.Group, t.Name)))
		if err != nil {
			return fmt.Errorf("show %s: %w", g.Group, err)
		}
	}
	return nil
}

// end takes a generation out of service; its tables stay for the grace time.
func end(ctx context.Context, tx *sqlx.Tx, g generation, state string) error {
	_, err := tx.ExecContext(ctx,
		`UPDATE projection_generations SET state = $1, ended_at = now() WHERE id = $2`, state, g.ID)
	if err != nil {
		return err
	}
	return topic.RemoveGroup(ctx, tx, g.Group)
}

// drop removes an ended generation's tables. It does so one by one and without
// CASCADE: a table that a view still shows must not go.
func drop(ctx context.Context, tx *sqlx.Tx, group string) error {
	tables, err := tablesOf(ctx, tx, group)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if _, err := tx.ExecContext(ctx, `DROP TABLE `+quoted(group, t.Name)); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `DROP SCHEMA IF EXISTS `+quoted(group)); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx,
		`UPDATE projection_generations SET dropped_at = now() WHERE consumer_group = $1`, group)
	return err
}

// fillingPage is how many events a rebuild applies at once: it needs five times fewer round
// trips, and nobody waits for one of its events.
const fillingPage = 5 * topic.PageSize

// group is the consumer group that fills a generation from one log. A generation that follows
// another one uses larger pages.
func (p Projection) group(g generation, log eventstore.Log, follow string) topic.Group {
	size := topic.PageSize
	if follow != "" {
		size = fillingPage
	}
	return topic.Group{
		Name: g.Group, Handler: p.Name, Log: log, Follow: follow, PageSize: size,
		Decode: p.Decode,
		Apply: func(ctx context.Context, tx *sqlx.Tx, events []Event) error {
			if err := enterPage(ctx, tx, g.Group); err != nil {
				return err
			}
			return p.Apply(ctx, tx, events)
		},
	}
}

// difference decodes what was found when the generation was compared.
func (g generation) difference() (Difference, error) {
	var d Difference
	if g.Difference == nil {
		return d, nil
	}
	return d, json.Unmarshal(g.Difference, &d)
}

func quoted(name ...string) string { return pgx.Identifier(name).Sanitize() }

func isUniqueViolation(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505"
}
