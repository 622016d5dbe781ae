package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/domain/timegrid"
	"muster/internal/postgres/transact"
)

var (
	//go:embed sql/claim_quiet.sql
	claimQuiet string
	//go:embed sql/seal.sql
	sealHours string
	//go:embed sql/delete_raw.sql
	deleteRaw string
)

const (
	// quiet is for how long nothing of an hour has arrived when it is sealed. The
	// statements spell it out.
	quiet = 72 * time.Hour
	// sealGroup is how many hours one transaction seals: some 15,000 raw samples.
	sealGroup = 64
)

// Seal deletes the raw samples of hours of which none has arrived for 72 hours, and
// what is older than its retention. It says how many hours it sealed. Any number of
// processes may do it.
func (s *Store) Seal(ctx context.Context) (hours int, err error) {
	err = s.round(ctx, claimQuiet, sealGroup, func(ctx context.Context, g *group, claimed buckets) error {
		sealed, err := g.seal(ctx, claimed)
		hours += sealed
		return err
	})
	if err != nil {
		return hours, fmt.Errorf("seal hours: %w", err)
	}
	return hours, s.forget(ctx)
}

// round claims groups and does something to each, in a transaction of its own, until
// there are no more. A claim goes on behind the last bucket of the one before it ($2 and
// $3): what could not be done, or is somebody else's, is left to the next round, and
// what must stay is not looked at again for every group.
func (s *Store) round(ctx context.Context, claim string, size int, do func(context.Context, *group, buckets) error) error {
	var last bucket
	for found := size; found == size; {
		err := transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
			g := &group{tx: tx, store: s, series: make(map[int64]series)}
			claimed, err := g.claim(ctx, claim, size, last.series, last.start)
			if found = len(claimed.series); err != nil || found == 0 {
				return err
			}
			last = claimed.bucket(found - 1)
			return do(ctx, g, claimed)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *group) seal(ctx context.Context, claimed buckets) (int, error) {
	weeks := make([]time.Time, len(claimed.starts))
	numbers := make([]int32, len(claimed.starts))
	for i, start := range claimed.starts {
		hour := bucket{claimed.series[i], start}
		weeks[i] = timegrid.Week.Floor(start)
		numbers[i] = int32(hour.within(timegrid.Week, timegrid.Hour))
	}
	var sealed buckets
	var reach []float64
	err := query(ctx, g.tx, func(row scanner) error {
		var hour bucket
		if err := row.Scan(&hour.series, &hour.start); err != nil {
			return err
		}
		sealed.addBucket(hour)
		reach = append(reach, g.kind(hour.series).reach().Seconds())
		return nil
	}, sealHours, claimed.series, claimed.starts, weeks, numbers)
	if err != nil {
		return 0, fmt.Errorf("seal %d hours: %w", len(weeks), err)
	}
	if _, err := g.tx.ExecContext(ctx, deleteRaw, sealed.series, sealed.starts, reach); err != nil {
		return 0, fmt.Errorf("delete the raw samples of %d hours: %w", len(sealed.series), err)
	}
	return len(sealed.series), nil
}
