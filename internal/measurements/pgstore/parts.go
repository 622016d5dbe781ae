package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"strings"
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
)

const (
	// inParts is how young a sample is that goes into a part.
	inParts = time.Hour
	// partRest is how many samples that are not in blocks are moved out of a part, so that
	// it can be emptied; with more it waits.
	partRest = 5000
	// partPause is how long parts are left alone after a session did not release one, because
	// later readers would wait behind us.
	partPause = 5 * time.Minute
)

// emptyParts empties parts whose data is all in blocks. A part that is in use, as by a backup
// for hours, is left to another time.
func (s *Store) emptyParts(ctx context.Context) error {
	if at := s.busyParts.Load(); at != nil && time.Since(*at) < partPause {
		return nil
	}
	used, err := statement.All[int](ctx, s.db, "look which parts have raw samples", usedParts, s.inParts)
	if err != nil {
		return err
	}
	for _, part := range used {
		err := s.emptyPart(ctx, part)
		if isHeld(err) {
			now := time.Now()
			s.busyParts.Store(&now)
			return nil
		}
		if err != nil {
			return fmt.Errorf("empty part %d of the raw samples: %w", part, err)
		}
	}
	return nil
}

// emptyPart empties a part, unless much of it is not in blocks; the rest of it is moved.
//
// Writers and readers of samples hold all parts until the end of the transaction. So once the
// part is ours none of them is active, and committed data is visible. That is short: a look at
// each series, and TRUNCATE, which frees the disk at once. Sessions that waited for it read
// what is left afterwards, and then blocks.
func (s *Store) emptyPart(ctx context.Context, part int) error {
	table := fmt.Sprintf("raw_samples_%d", part)
	open := strings.ReplaceAll(openInPart, "{part}", table)
	left, err := statement.One[int](ctx, s.db, "look what is not in blocks", `SELECT count(*) FROM (`+open+` LIMIT $1) AS open`, partRest+1)
	if err != nil || left > partRest {
		return err
	}
	return transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
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
