package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"time"

	"muster/domain/timegrid"
)

var (
	//go:embed sql/forget_minutes.sql
	forgetMinutes string
	//go:embed sql/claim_old_hours.sql
	claimOldHours string
	//go:embed sql/forget_hours.sql
	dropHours string
	//go:embed sql/claim_over.sql
	claimOver string
	//go:embed sql/still_over.sql
	stillOver string
	//go:embed sql/forget_details.sql
	dropDetails string
)

const (
	// forgetRows is how many rows one statement forgets.
	forgetRows = 5000
	// forgetGroup is how many rows, or weeks of a series, one transaction forgets that
	// holds their series.
	forgetGroup = 128
)

// forget deletes what is older than its retention: details first, whose rests go to
// rows of hours.
func (s *Store) forget(ctx context.Context) error {
	if err := s.round(ctx, claimOver, forgetGroup, forgetDetails); err != nil {
		return fmt.Errorf("forget details of weeks that are over: %w", err)
	}
	if err := s.round(ctx, claimOldHours, forgetGroup, forgetHours); err != nil {
		return fmt.Errorf("forget old hours: %w", err)
	}
	for {
		result, err := s.db.ExecContext(ctx, forgetMinutes, forgetRows)
		if err != nil {
			return fmt.Errorf("forget old minutes: %w", err)
		}
		if n, err := result.RowsAffected(); err != nil || n < forgetRows {
			return err
		}
	}
}

func forgetHours(ctx context.Context, g *group, claimed buckets) error {
	_, err := g.tx.ExecContext(ctx, dropHours, claimed.series, claimed.starts)
	return err
}

// over is a week that is over.
type over struct {
	bucket
	row  []byte
	days bodies // of hours
}

// forgetDetails forgets the details of weeks. What the weeks and their days come to
// becomes their rest: should a sample arrive yet of an hour that never had one, its
// hour is added to it. A week of which that cannot be read keeps its details: it is
// logged, and tried again in the next round.
func forgetDetails(ctx context.Context, g *group, claimed buckets) error {
	read, err := g.readOver(ctx, claimed)
	if err != nil {
		return fmt.Errorf("read %d weeks: %w", len(claimed.series), err)
	}
	var weeks, days bodies
	for _, week := range read {
		if err := week.keepRests(g.kind(week.series)); err != nil {
			g.store.log.ErrorContext(ctx, "details of a week cannot be forgotten, trying again later",
				"series", week.series, "week", week.start, "error", err)
			continue
		}
		weeks.addBody(week.bucket, week.row)
		for i, row := range week.days.bytes {
			days.addBody(week.days.bucket(i), row)
		}
	}
	_, err = g.tx.ExecContext(ctx, dropDetails, weeks.series, weeks.starts, weeks.bytes, days.series, days.starts, days.bytes)
	return err
}

// readOver reads those of claimed weeks that still are over.
func (g *group) readOver(ctx context.Context, claimed buckets) (weeks []*over, err error) {
	err = query(ctx, g.tx, func(row scanner) error {
		var week over
		var start *time.Time
		var day []byte
		if err := row.Scan(&week.series, &week.start, &week.row, &start, &day); err != nil {
			return err
		}
		week.start = grid(week.start)
		if n := len(weeks); n == 0 || weeks[n-1].bucket != week.bucket {
			weeks = append(weeks, &week)
		}
		if start != nil {
			weeks[len(weeks)-1].days.addBody(bucket{week.series, grid(*start)}, day)
		}
		return nil
	}, stillOver, claimed.series, claimed.starts)
	return weeks, err
}

// keepRests makes what the week's row has of itself and of its days their rests.
func (o *over) keepRests(k kind) (err error) {
	for i, day := range o.days.bytes {
		start := o.days.bucket(i)
		if o.days.bytes[i], err = copySlot(k, o.row, start.within(timegrid.Week, timegrid.Day), day, restOfDay); err != nil {
			return fmt.Errorf("keep the rest of %s: %w", start.start, err)
		}
	}
	if o.row, err = copySlot(k, o.row, weekItself, o.row, restOfWeek); err != nil {
		return fmt.Errorf("keep the rest of the week: %w", err)
	}
	return nil
}

// copySlot returns a row with a slot of another one.
func copySlot(k kind, from []byte, i int, to []byte, j int) ([]byte, error) {
	slot, err := k.slot(from, i)
	if err != nil || slot == nil {
		return to, err
	}
	return k.set(to, j, slot)
}
