package tables

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

var (
	//go:embed sql/used_parts.sql
	usedParts string
	//go:embed sql/open_in_part.sql
	openInPart string
	//go:embed sql/insert_raw.sql
	insertRaw string
)

const (
	// inParts is how young a sample is that goes into a part.
	inParts = time.Hour
	// PartRest is how many samples that are not in blocks are moved out of a part, so that
	// it can be emptied; with more it waits.
	PartRest = 5000
	// partPause is how long parts are left alone after a session did not release one, because
	// later readers would wait behind us.
	partPause = 5 * time.Minute
)

// RawSamples are the raw samples of the head, in parts: a part has those of a half hour, so
// that it is emptied at once when they are all in blocks.
type RawSamples struct {
	db   *sqlx.DB
	busy atomic.Pointer[time.Time] // when a session did not release a part

	Young time.Duration // how young a sample is that goes into a part: the constant, but in tests
}

// RawSamplesIn returns those of a database.
func RawSamplesIn(db *sqlx.DB) *RawSamples { return &RawSamples{db: db, Young: inParts} }

// Insert stores the rows that are new, each by its very time, and returns their keys. Their
// series are locked in tx.
func (r *RawSamples) Insert(ctx context.Context, tx *sqlx.Tx, what string, rows []Stored) ([]Bucket, error) {
	return statement.All[Bucket](ctx, tx, what, insertRaw, append(statement.Columns(rows), r.Young)...)
}

// EmptyParts empties parts whose data is all in blocks. A part that is in use, as by a backup
// for hours, is left to another time.
func (r *RawSamples) EmptyParts(ctx context.Context) error {
	if at := r.busy.Load(); at != nil && time.Since(*at) < partPause {
		return nil
	}
	used, err := statement.All[int](ctx, r.db, "look which parts have raw samples", usedParts, r.Young)
	if err != nil {
		return err
	}
	for _, part := range used {
		err := r.EmptyPart(ctx, part)
		if IsHeld(err) {
			now := time.Now()
			r.busy.Store(&now)
			return nil
		}
		if err != nil {
			return fmt.Errorf("empty part %d of the raw samples: %w", part, err)
		}
	}
	return nil
}

// EmptyPart empties a part, unless much of it is not in blocks; the rest of it is moved.
//
// Writers and readers of samples hold all parts until the end of the transaction. So once the
// part is ours none of them is active, and committed data is visible. That is short: a look at
// each series, and TRUNCATE, which frees the disk at once. Sessions that waited for it read
// what is left afterwards, and then blocks.
func (r *RawSamples) EmptyPart(ctx context.Context, part int) error {
	table := fmt.Sprintf("raw_samples_%d", part)
	open := strings.ReplaceAll(openInPart, "{part}", table)
	left, err := statement.One[int](ctx, r.db, "look what is not in blocks", `SELECT count(*) FROM (`+open+` LIMIT $1) AS open`, PartRest+1)
	if err != nil || left > PartRest {
		return err
	}
	return transact.Once(ctx, r.db, nil, func(tx *sqlx.Tx) error {
		for _, step := range []struct{ what, query string }{
			{"limit how long to wait", shortPatience},
			{"hold it", `LOCK TABLE ` + table + ` IN ACCESS EXCLUSIVE MODE`},
			{"move what is not in blocks", `INSERT INTO raw_samples_rest (series_id, at, body) ` + open},
			{"give it back", `TRUNCATE ` + table},
		} {
			if err := statement.Exec(ctx, tx, step.what, step.query); err != nil {
				return err
			}
		}
		return nil
	})
}
