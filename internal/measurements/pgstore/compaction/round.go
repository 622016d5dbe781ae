package compaction

import (
	"context"

	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/pgstore/ledger"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/transact"
)

// group is what one transaction compacts, seals or closes.
type group struct{ *ledger.Group }

// round claims groups and processes each in a transaction of its own, until there are no more.
// Args are the further arguments of the claim besides its size. A claim continues after the
// last bucket of the previous one ($2 and $3): buckets that failed, or that another process
// holds, are left to the next round, and buckets that must stay are not looked at again for
// every group. If blocks cannot be reached, each of a group is processed by itself, and the
// round continues without their series; the error says so at its end.
func (c *Compactor) round(
	ctx context.Context, claim string, size int, do func(context.Context, *group, []tables.Bucket) error, args ...any,
) error {
	var last tables.Bucket
	away := absent{series: make(map[int64]bool)}
	for found := size; found == size; {
		var claimed []tables.Bucket
		err := transact.Once(ctx, c.ledger.DB, nil, func(tx *sqlx.Tx) error {
			of, buckets, err := c.ledger.Claim(ctx, tx, claim, append([]any{size, last.Series, last.Start}, args...)...)
			claimed = buckets
			if found = len(claimed); err != nil || found == 0 {
				return err
			}
			last = claimed[found-1]
			if claimed = away.others(claimed); len(claimed) == 0 {
				return nil
			}
			return do(ctx, &group{of}, claimed)
		})
		if ledger.IsAway(ctx, err) {
			err = c.eachAlone(ctx, claimed, &away, do)
		}
		if err != nil {
			return err
		}
	}
	return away.err
}

// eachAlone does something to buckets one by one, and adds those to away whose blocks cannot
// be reached.
func (c *Compactor) eachAlone(ctx context.Context, claimed []tables.Bucket, away *absent, do func(context.Context, *group, []tables.Bucket) error) error {
	for _, b := range claimed {
		if away.series[b.Series] {
			continue
		}
		err := transact.Once(ctx, c.ledger.DB, nil, func(tx *sqlx.Tx) error {
			of, free, err := c.ledger.Hold(ctx, tx, b.Series)
			if err != nil || !free {
				return err
			}
			return do(ctx, &group{of}, []tables.Bucket{b})
		})
		switch {
		case ledger.IsAway(ctx, err):
			away.series[b.Series], away.err = true, err
		case err != nil:
			return err
		}
	}
	return nil
}

// absent are the series whose blocks a round could not reach: it does not try each of their
// hours.
type absent struct {
	series map[int64]bool
	err    error // of the last one
}

// others are the buckets of series that are not known to be away.
func (a *absent) others(claimed []tables.Bucket) (left []tables.Bucket) {
	for _, b := range claimed {
		if !a.series[b.Series] {
			left = append(left, b)
		}
	}
	return left
}
