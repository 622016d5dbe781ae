package tables

import (
	"context"
	_ "embed" // the statement
	"encoding/binary"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/rowbytes"
	"muster/internal/postgres/statement"
)

//go:embed sql/raw.sql
var rawSamples string

// ofHead is the statement that reads what the head has of a table, as each_block.sql does.
func ofHead(table blocks.Table) string {
	if table == blocks.Raw {
		return rawSamples
	}
	return strings.ReplaceAll(eachBlock, "{table}", "head_"+string(table))
}

// EachOfHead hands the rows of a table that the head has in ranges to take, as blocks.Store
// hands blocks: with the place of the range. Raw samples have their own times. The body is good
// until take returns.
func EachOfHead(ctx context.Context, db *sqlx.DB, table blocks.Table, ranges []blocks.Range, take func(place int, at time.Time, body []byte) error) error {
	return eachOf(ctx, db, nil, ofHead(table), ranges, take)
}

// Span is from the start of a bucket to another time.
type Span struct {
	Bucket
	Until time.Time
}

// EachSample hands the raw samples that the head has in spans to take, with the place of the
// span, in the transaction that holds their series.
func EachSample(ctx context.Context, tx *sqlx.Tx, spans []Span, take func(place int, at time.Time, body []byte) error) error {
	return eachIn(ctx, tx, rawSamples, take, statement.Columns(spans)...)
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
			return rowbytes.ErrBytes
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
