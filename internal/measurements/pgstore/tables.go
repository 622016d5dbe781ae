package pgstore

import (
	"context"
	_ "embed" // the statements
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
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
)

// tables is blocks.Store in the ledger's own database: a table of rows for each of theirs,
// of raw samples one for each day (days.go). It knows series by their numbers there.
type tables struct{ db *sqlx.DB }

var _ blocks.Store = tables{}

// in is a statement about the blocks of a table.
func in(query string, table blocks.Table) string {
	return strings.ReplaceAll(query, "{table}", "block_"+string(table))
}

// ofHead is the statement that reads what the head has of a table, as each_block.sql does.
func ofHead(table blocks.Table) string {
	if table == blocks.Raw {
		return rawSamples
	}
	return strings.ReplaceAll(eachBlock, "{table}", "head_"+string(table))
}

// Put is documented at blocks.Store.
func (t tables) Put(ctx context.Context, tx *sqlx.Tx, table blocks.Table, of []blocks.Block) error {
	var kept []stored
	var gone []bucket
	for _, b := range of {
		key := bucket{b.Series.ID, b.Start}
		if b.Body == nil {
			gone = append(gone, key)
		} else {
			kept = append(kept, stored{key, b.Body})
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
func (t tables) Each(ctx context.Context, tx *sqlx.Tx, table blocks.Table, ranges []blocks.Range, take func(place int, start time.Time, body []byte) error) error {
	return eachOf(ctx, t.db, tx, in(eachBlock, table), ranges, take)
}

// eachOf hands what a statement like each_block.sql finds in ranges to take.
func eachOf(ctx context.Context, db *sqlx.DB, tx *sqlx.Tx, query string, ranges []blocks.Range, take func(place int, start time.Time, body []byte) error) error {
	if len(ranges) == 0 {
		return nil
	}
	type asked struct {
		Series       int64
		Since, Until time.Time
		Front        bool
	}
	rows := make([]asked, len(ranges))
	for i, r := range ranges {
		rows[i] = asked{r.Series.ID, r.From, r.To, r.Front}
	}
	args := statement.Columns(rows)
	if query == rawSamples { // which have no front
		args = args[:3]
	}
	if tx != nil {
		return eachIn(ctx, tx, query, take, args...)
	}
	return eachRaw(ctx, db, query, func(row [][]byte) error {
		if len(row) != 3 || len(row[0]) != 8 || len(row[1]) != 8 {
			return codec.ErrBytes
		}
		return take(int(binary.BigEndian.Uint64(row[0])), pgTime(row[1]), row[2])
	}, args...)
}

// eachIn is the same in a transaction, whose rows have to be copied.
func eachIn(ctx context.Context, tx *sqlx.Tx, query string, take func(place int, start time.Time, body []byte) error, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var place int
		var start time.Time
		var body []byte
		if err := rows.Scan(&place, &start, &body); err != nil {
			return err
		}
		if err := take(place, start.UTC(), body); err != nil {
			return err
		}
	}
	return rows.Err()
}

// eachRaw hands the rows of a statement to take as they are in the binary protocol. The
// bytes are good until take returns: they are where the driver read them, because making
// a copy of 24,000 rows takes as long as reading them.
func eachRaw(ctx context.Context, db *sqlx.DB, query string, take func(row [][]byte) error, args ...any) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return conn.Raw(func(driver any) error {
		rows, err := driver.(*stdlib.Conn).Conn().Query(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := take(rows.RawValues()); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// pgTime is a timestamptz of the binary protocol: microseconds since 2000.
func pgTime(raw []byte) time.Time {
	const epoch = 946_684_800 * 1_000_000
	return time.UnixMicro(int64(binary.BigEndian.Uint64(raw)) + epoch).UTC()
}

// Forget is documented at blocks.Store.
func (t tables) Forget(ctx context.Context, table blocks.Table, before time.Time) error {
	if table == blocks.Raw {
		return t.dropDays(ctx, before)
	}
	return forgetSome(ctx, t.db, fmt.Sprintf("forget old blocks of %s", table), in(forgetBlocks, table), before)
}

// DeleteOrganization is documented at blocks.Store.
func (t tables) DeleteOrganization(ctx context.Context, organization uuid.UUID) error {
	for _, table := range blocks.Tables() {
		err := statement.Exec(ctx, t.db, fmt.Sprintf("delete an organization's blocks of %s", table),
			in(`DELETE FROM {table} b USING measured_series s WHERE s.organization_id = $1 AND b.series_id = s.id`, table), organization)
		if err != nil {
			return err
		}
	}
	return nil
}
