package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"slices"
	"time"

	"muster/domain/timegrid"
	"muster/internal/statement"
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

func forgetHours(ctx context.Context, g *group, claimed []bucket) error {
	_, err := g.tx.ExecContext(ctx, dropHours, statement.Columns(claimed)...)
	return err
}

// over is a week that is over, and its days with their hours.
type over struct {
	stored
	days []stored
}

// forgetDetails forgets the details of weeks. What the weeks and their days come to
// becomes their rest: should a sample arrive yet of an hour that never had one, its
// hour is added to it. A week of which that cannot be read keeps its details: it is
// logged, and tried again in the next round.
func forgetDetails(ctx context.Context, g *group, claimed []bucket) error {
	read, err := g.readOver(ctx, claimed)
	if err != nil {
		return err
	}
	var weeks, days []stored
	for _, week := range read {
		if err := week.keepRests(g.kind(week.Series)); err != nil {
			g.store.log.ErrorContext(ctx, "details of a week cannot be forgotten, trying again later",
				"series", week.Series, "week", week.Start, "error", err)
			continue
		}
		weeks, days = append(weeks, week.stored), append(days, week.days...)
	}
	_, err = g.tx.ExecContext(ctx, dropDetails, slices.Concat(statement.Columns(weeks), statement.Columns(days))...)
	return err
}

// readOver reads those of claimed weeks that still are over.
func (g *group) readOver(ctx context.Context, claimed []bucket) (weeks []*over, err error) {
	type weekAndDay struct {
		stored
		Day   *time.Time
		Hours []byte
	}
	rows, err := statement.All[weekAndDay](ctx, g.tx, fmt.Sprintf("read %d weeks", len(claimed)), stillOver, statement.Columns(claimed)...)
	for _, row := range rows {
		week := row.onGrid()
		if n := len(weeks); n == 0 || weeks[n-1].bucket != week {
			weeks = append(weeks, &over{stored: storedAs(week, row.Body)})
		}
		if row.Day != nil {
			last := weeks[len(weeks)-1]
			last.days = append(last.days, storedAs(bucket{row.Series, *row.Day}.onGrid(), row.Hours))
		}
	}
	return weeks, err
}

// keepRests makes what the week's row has of itself and of its days their rests.
func (o *over) keepRests(k kind) (err error) {
	for i := range o.days {
		day := &o.days[i]
		if day.Body, err = copySlot(k, o.Body, day.within(timegrid.Week, timegrid.Day), day.Body, restOfDay); err != nil {
			return fmt.Errorf("keep the rest of %s: %w", day.Start, err)
		}
	}
	if o.Body, err = copySlot(k, o.Body, weekItself, o.Body, restOfWeek); err != nil {
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
