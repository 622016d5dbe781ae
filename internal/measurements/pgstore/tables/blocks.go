package tables

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/blocks"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/put_blocks.sql
	putBlocks string
	//go:embed sql/drop_blocks.sql
	dropBlocks string
	//go:embed sql/each_block.sql
	eachBlock string
	//go:embed sql/forget_blocks.sql
	forgetBlocks string
	//go:embed sql/forget_kind.sql
	forgetKind string
)

// Blocks is blocks.Store in the ledger's own database: a table of rows for each of theirs,
// of raw samples one for each day (days.go). It knows series by their numbers there.
type Blocks struct{ DB *sqlx.DB }

var _ blocks.Store = Blocks{}

// in is a statement about the blocks of a table.
func in(query string, table blocks.Table) string {
	return strings.ReplaceAll(query, "{table}", "block_"+string(table))
}

// Put is documented at blocks.Store.
func (t Blocks) Put(ctx context.Context, tx *sqlx.Tx, table blocks.Table, of []blocks.Block) error {
	var kept []Stored
	var gone []Bucket
	for _, b := range of {
		key := Bucket{b.Series.ID, b.Start}
		if b.Body == nil {
			gone = append(gone, key)
		} else {
			kept = append(kept, Stored{key, b.Body})
		}
	}
	if table == blocks.Raw && len(kept) > 0 {
		if err := t.makeDays(ctx, tx, kept); err != nil {
			return fmt.Errorf("make tables for days of raw samples: %w", err)
		}
	}
	if len(kept) > 0 {
		if err := statement.Exec(ctx, tx, fmt.Sprintf("put %d blocks of %s", len(kept), table), in(putBlocks, table), statement.Columns(kept)...); err != nil {
			return err
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return statement.Exec(ctx, tx, fmt.Sprintf("drop %d blocks of %s", len(gone), table), in(dropBlocks, table), statement.Columns(gone)...)
}

// Each is documented at blocks.Store.
func (t Blocks) Each(ctx context.Context, tx *sqlx.Tx, table blocks.Table, ranges []blocks.Range, take func(place int, start time.Time, body []byte) error) error {
	return eachOf(ctx, t.DB, tx, in(eachBlock, table), ranges, take)
}

// Forget is documented at blocks.Store.
func (t Blocks) Forget(ctx context.Context, table blocks.Table, kind string, before time.Time) error {
	switch {
	case kind != blocks.AnyKind:
		return Forget(ctx, t.DB, fmt.Sprintf("forget old blocks of %s of %s", table, kind), in(forgetKind, table), kind, before)
	case table == blocks.Raw:
		return t.dropDays(ctx, before)
	}
	return Forget(ctx, t.DB, fmt.Sprintf("forget old blocks of %s", table), in(forgetBlocks, table), before)
}

// DeleteOrganization is documented at blocks.Store.
func (t Blocks) DeleteOrganization(ctx context.Context, organization uuid.UUID) error {
	for _, table := range blocks.Tables() {
		err := statement.Exec(ctx, t.DB, fmt.Sprintf("delete an organization's blocks of %s", table),
			in(`DELETE FROM {table} b USING measured_series s WHERE s.organization_id = $1 AND b.series_id = s.id`, table), organization)
		if err != nil {
			return err
		}
	}
	return nil
}
