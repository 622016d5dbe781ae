package tables

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/blocks"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

//go:embed sql/changed_series.sql
var changedSeries string

var _ blocks.Movable = Blocks{}

// everyTable are the statements, or names, of all tables of blocks in one.
func everyTable(one, between string) string {
	all := make([]string, 0, len(blocks.Tables()))
	for _, table := range blocks.Tables() {
		all = append(all, in(one, table))
	}
	return strings.Join(all, between)
}

// Series is documented at blocks.Movable.
func (t Blocks) Series(ctx context.Context, take func(blocks.Series) error) error {
	return t.hand(ctx, "list series", take, allSeries)
}

// Mark is documented at blocks.Movable: the first transaction that may be under way, in any
// database of the server.
func (t Blocks) Mark(ctx context.Context) (string, error) {
	return statement.One[string](ctx, t.DB, "note the time", `SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::numeric % 4294967296)::text`)
}

// Changed is documented at blocks.Movable. Blocks are taken away only beside others of their
// series that are put (compaction.Forget).
func (t Blocks) Changed(ctx context.Context, since string, take func(blocks.Series) error) error {
	changed := everyTable(`SELECT series_id FROM {table} WHERE age(xmin) <= age($1::text::xid)`, " UNION ALL ")
	return t.hand(ctx, "list series with new blocks", take, strings.ReplaceAll(changedSeries, "{changed}", changed), since)
}

func (t Blocks) hand(ctx context.Context, what string, take func(blocks.Series) error, query string, args ...any) error {
	found, err := statement.All[Series](ctx, t.DB, what, query, args...)
	for _, one := range found {
		if err == nil {
			err = take(one.Block())
		}
	}
	return err
}

// Size is documented at blocks.Movable. What PostgreSQL says of a table that has parts is
// without them.
func (t Blocks) Size(ctx context.Context) (int64, error) {
	return statement.One[int64](ctx, t.DB, "measure blocks", `SELECT sum(pg_total_relation_size(oid)) FROM pg_class
		WHERE coalesce(pg_partition_root(oid), oid) IN (`+everyTable(`'{table}'::regclass`, ", ")+`)`)
}

// dropPatience is how long Drop waits for readers of the tables, for example a backup: later
// readers wait behind it.
const dropPatience = `SET LOCAL lock_timeout = '5s'`

// Drop is documented at blocks.Movable.
func (t Blocks) Drop(ctx context.Context) error {
	return transact.Once(ctx, t.DB, nil, func(tx *sqlx.Tx) error {
		err := statement.Exec(ctx, tx, "wait no longer", dropPatience)
		if err == nil {
			err = statement.Exec(ctx, tx, "drop all blocks", `TRUNCATE `+everyTable("{table}", ", "))
		}
		if err != nil {
			return fmt.Errorf("a backup may be reading them: %w", err)
		}
		return nil
	})
}
