package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"slices"
	"time"

	"muster/domain/timegrid"
	"muster/internal/measurements/pgstore/codec"
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
	//go:embed sql/keep_rests.sql
	keepRests string
	//go:embed sql/host_details.sql
	hostDetails string
	//go:embed sql/keep_details.sql
	keepDetails string
	//go:embed sql/late_details.sql
	lateDetails string
	//go:embed sql/join_details.sql
	joinDetails string
	//go:embed sql/close_details.sql
	closeDetails string
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
	if err := s.round(ctx, claimOver, forgetGroup, closeWeeks); err != nil {
		return fmt.Errorf("close weeks that are over: %w", err)
	}
	if err := s.round(ctx, claimOldHours, forgetGroup, forgetHours); err != nil {
		return fmt.Errorf("forget old hours: %w", err)
	}
	if err := s.forgetRows(ctx, "forget old details", dropDetails); err != nil {
		return err
	}
	if err := s.forgetDictionary(ctx); err != nil {
		return err
	}
	if err := s.forgetRows(ctx, "forget old minutes", forgetMinutes); err != nil {
		return err
	}
	return s.forgetWholes(ctx)
}

// forgetRows deletes rows that nothing is made of any more, some at a time.
func (s *Store) forgetRows(ctx context.Context, what, query string) error {
	for {
		if n, err := statement.Affected(ctx, s.db, what, query, forgetRows); err != nil || n < forgetRows {
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

// closeWeeks closes the details of weeks: nothing is made of them any more. What the
// weeks and their days come to becomes their rest: should a sample arrive yet of an hour
// that never had one, its hour is added to it. A week of which that cannot be read keeps
// its details open: it is logged, and tried again in the next round.
func closeWeeks(ctx context.Context, g *group, claimed []bucket) error {
	read, err := g.readOver(ctx, claimed)
	if err != nil {
		return err
	}
	var closed []bucket
	var weeks, days []stored
	for _, week := range read {
		if k := g.kind(week.Series); k.OfDetails() {
			if err := week.keepRests(k); err != nil {
				g.store.log.ErrorContext(ctx, "details of a week cannot be closed, trying again later",
					"series", week.Series, "week", week.Start, "error", err)
				continue
			}
			weeks, days = append(weeks, week.stored), append(days, week.days...)
		}
		closed = append(closed, week.bucket)
	}
	rests := slices.Concat(statement.Columns(weeks), statement.Columns(days))
	if err := statement.Exec(ctx, g.tx, fmt.Sprintf("keep the rests of %d weeks", len(weeks)), keepRests, rests...); err != nil {
		return err
	}
	if err := g.makeDays(ctx, closed); err != nil {
		return err
	}
	if err := g.joinLate(ctx, closed); err != nil {
		return err
	}
	return statement.Exec(ctx, g.tx, fmt.Sprintf("close the details of %d weeks", len(closed)), closeDetails, statement.Columns(closed)...)
}

// makeDays makes the details of days of their hours', where rolling up does not.
func (g *group) makeDays(ctx context.Context, weeks []bucket) error {
	what := fmt.Sprintf("make the days of %d weeks", len(weeks))
	hours, err := statement.All[stored](ctx, g.tx, what, hostDetails, statement.Columns(weeks)...)
	if err != nil {
		return err
	}
	parts := make(map[bucket][][]byte)
	for _, hour := range hours {
		day := hour.onGrid().floor(timegrid.Day)
		parts[day] = append(parts[day], hour.Body)
	}
	var days []stored
	for day, of := range parts {
		body, err := g.kind(day.Series).Join(of)
		if err != nil {
			return fmt.Errorf("%s: series %d on %s: %w", what, day.Series, day.Start, err)
		}
		days = append(days, storedAs(day, body))
	}
	return statement.Exec(ctx, g.tx, what, keepDetails, statement.Columns(days)...)
}

// joinLate adds the details of samples that came when their week was closed to those that
// there are.
func (g *group) joinLate(ctx context.Context, weeks []bucket) error {
	type lateDetail struct {
		detailed
		Closed []byte
	}
	what := fmt.Sprintf("join what came late for %d weeks", len(weeks))
	late, err := statement.All[lateDetail](ctx, g.tx, what, lateDetails, statement.Columns(weeks)...)
	if err != nil || len(late) == 0 {
		return err
	}
	joined := make([]detailed, len(late))
	for i, one := range late {
		joined[i] = one.detailed
		if joined[i].Body, err = g.kind(one.Series).Join([][]byte{one.Closed, one.Body}); err != nil {
			return fmt.Errorf("%s: series %d at %s: %w", what, one.Series, one.Start, err)
		}
	}
	return statement.Exec(ctx, g.tx, what, joinDetails, statement.Columns(joined)...)
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
func (o *over) keepRests(k codec.Kind) (err error) {
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
func copySlot(k codec.Kind, from []byte, i int, to []byte, j int) ([]byte, error) {
	slot, err := k.Slot(from, i)
	if err != nil || slot == nil {
		return to, err
	}
	return k.Set(to, j, slot)
}
