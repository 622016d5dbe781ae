package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

var (
	//go:embed sql/claim_quiet.sql
	claimQuiet string
	//go:embed sql/seal.sql
	sealHours string
	//go:embed sql/delete_raw.sql
	deleteRaw string
	//go:embed sql/hold_one.sql
	holdOne string
)

// sealGroup is how many hours one transaction seals: some 15,000 raw samples.
const sealGroup = 64

// Seal closes hours for which no sample has arrived for as long as raw samples are kept, and
// deletes their raw samples and data beyond its retention. It returns the number of sealed
// hours. Any number of processes may do it.
//
// It waits for senders that are late because they could not send before (Attend): while the
// intake is away for more than an hour, and in the six hours after that, it does nothing.
func (s *Store) Seal(ctx context.Context) (hours int, err error) {
	if ok, err := statement.One[bool](ctx, s.db, "look whether the intake was away", attended, awayAfter, settled); err != nil || !ok {
		return 0, err
	}
	if _, err := s.Compact(ctx); err != nil && !isAway(ctx, err) { // what is not compacted is not sealed
		return 0, err
	}
	err = s.round(ctx, claimQuiet, sealGroup, func(ctx context.Context, g *group, claimed []bucket) error {
		sealed, err := g.seal(ctx, claimed)
		hours += sealed
		return err
	}, s.retention.raw)
	if err != nil {
		return hours, fmt.Errorf("seal hours: %w", err)
	}
	return hours, s.forget(ctx)
}

// round claims groups and processes each in a transaction of its own, until there are no more.
// Args are the further arguments of the claim besides its size. A claim continues after the
// last bucket of the previous one ($2 and $3): buckets that failed, or that another process
// holds, are left to the next round, and buckets that must stay are not looked at again for
// every group. If blocks cannot be reached, each of a group is processed by itself, and the
// round continues without their series; the error says so at its end.
func (s *Store) round(
	ctx context.Context, claim string, size int, do func(context.Context, *group, []bucket) error, args ...any,
) error {
	var last bucket
	away := absent{series: make(map[int64]bool)}
	for found := size; found == size; {
		var claimed []bucket
		err := transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) (err error) {
			if err := s.atHome(ctx, tx); err != nil {
				return err
			}
			g := &group{tx: tx, store: s, series: make(map[int64]series)}
			claimed, err = g.claim(ctx, claim, append([]any{size, last.Series, last.Start}, args...)...)
			if found = len(claimed); err != nil || found == 0 {
				return err
			}
			last = claimed[found-1]
			if claimed = away.others(claimed); len(claimed) == 0 {
				return nil
			}
			return do(ctx, g, claimed)
		})
		if isAway(ctx, err) {
			err = s.eachAlone(ctx, claimed, &away, do)
		}
		if err != nil {
			return err
		}
	}
	return away.err
}

// eachAlone does something to buckets one by one, and adds those to away whose blocks cannot
// be reached.
func (s *Store) eachAlone(ctx context.Context, claimed []bucket, away *absent, do func(context.Context, *group, []bucket) error) error {
	for _, b := range claimed {
		if away.series[b.Series] {
			continue
		}
		err := transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
			if err := s.atHome(ctx, tx); err != nil {
				return err
			}
			of, free, err := statement.Find[series](ctx, tx, "hold a series", holdOne, b.Series)
			if err != nil || !free {
				return err
			}
			return do(ctx, &group{tx: tx, store: s, series: map[int64]series{b.Series: of}}, []bucket{b})
		})
		switch {
		case isAway(ctx, err):
			away.series[b.Series], away.err = true, err
		case err != nil:
			return err
		}
	}
	return nil
}

func (g *group) seal(ctx context.Context, claimed []bucket) (int, error) {
	hours := make([]hourOfWeek, len(claimed))
	for i, hour := range claimed {
		hours[i] = hour.ofWeek()
	}
	sealed, err := statement.All[bucket](ctx, g.tx, fmt.Sprintf("seal %d hours", len(hours)), sealHours,
		append(statement.Columns(hours), g.store.retention.raw)...)
	if err != nil {
		return 0, err
	}
	type reaching struct {
		bucket
		Seconds float64
	}
	rows := make([]reaching, len(sealed))
	for i, hour := range sealed {
		rows[i] = reaching{hour, g.kind(hour.Series).Reach().Seconds()}
	}
	return len(rows), statement.Exec(ctx, g.tx, fmt.Sprintf("delete the raw samples of %d hours", len(rows)), deleteRaw, statement.Columns(rows)...)
}
