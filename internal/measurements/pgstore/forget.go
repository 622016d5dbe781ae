package pgstore

import (
	"context"
	_ "embed" // the statements
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/claim_over.sql
	claimOver string
	//go:embed sql/close_weeks.sql
	closeWeeks string
	//go:embed sql/still_open.sql
	stillOpen string
	//go:embed sql/claim_packed.sql
	claimPacked string
	//go:embed sql/unpacked.sql
	noteUnpacked string
	//go:embed sql/packed_before.sql
	packedBefore string
)

const (
	// forgetRows is how many rows one statement forgets.
	forgetRows = 5000
	// forgetGroup is how many weeks, or hours, of a series one transaction holds.
	forgetGroup = 128
)

// forget drops what is older than its retention: details first, whose rests go to rows of
// hours.
func (s *Store) forget(ctx context.Context) error {
	closing := s.round(ctx, claimOver, forgetGroup, closeDetails)
	if closing != nil {
		closing = fmt.Errorf("close weeks that are over: %w", closing)
	}
	unpacking := s.round(ctx, claimPacked, packGroup, unpack, s.retention.raw)
	if unpacking != nil {
		unpacking = fmt.Errorf("unpack hours that are not sealed: %w", unpacking)
	}
	return errors.Join(closing, unpacking, s.forgetDictionary(ctx), s.forgetWholes(ctx), s.forgetBlocks(ctx))
}

// forgetBlocks drops blocks that are older than they are kept.
func (s *Store) forgetBlocks(ctx context.Context) error {
	now, err := statement.One[time.Time](ctx, s.db, "read the time", `SELECT now()`)
	if err != nil {
		return err
	}
	raw, err := statement.One[time.Time](ctx, s.db, "look which raw samples are not needed", packedBefore, s.retention.raw)
	if err != nil {
		return err
	}
	hours, err := statement.One[time.Time](ctx, s.db, "look which weeks are open", stillOpen, s.retention.hours)
	if err != nil {
		return err
	}
	for table, before := range map[blocks.Table]time.Time{
		blocks.Raw: raw, blocks.Minutes: now.Add(-s.retention.minutes), blocks.Hours: hours,
		blocks.ClosedHourDetails: measurements.KeptSince(timegrid.Hour, now), blocks.ClosedDayDetails: measurements.KeptSince(timegrid.Day, now),
	} {
		err = errors.Join(err, s.blocks.Forget(ctx, table, before.UTC()))
	}
	return err
}

// forgetSome deletes rows that nothing is made of any more, forgetRows at a time, which is
// the statement's last argument.
func forgetSome(ctx context.Context, db *sqlx.DB, what, query string, args ...any) error {
	for args = append(args, forgetRows); ; {
		if n, err := statement.Affected(ctx, db, what, query, args...); err != nil || n < forgetRows {
			return err
		}
	}
}

// unpack puts raw samples of hours back into the head, so that blocks of raw samples can be
// dropped by their time.
func unpack(ctx context.Context, g *group, claimed []bucket) error {
	ranges := make([]blocks.Range, len(claimed))
	for i, b := range claimed {
		ranges[i] = blocks.Range{Series: g.series[b.Series].block(), From: b.Start, To: b.Start.Add(time.Hour)}
	}
	var rows []stored
	err := g.store.eachPacked(ctx, g.tx, ranges, func(place int, at time.Time, body []byte) error {
		rows = append(rows, stored{bucket{claimed[place].Series, at}, slices.Clone(body)})
		return nil
	})
	if err != nil {
		return err
	}
	what := fmt.Sprintf("unpack %d hours", len(claimed))
	if _, err := statement.All[bucket](ctx, g.tx, what, insertRaw, append(statement.Columns(rows), g.store.inParts)...); err != nil { // what is there is newer
		return err
	}
	return statement.Exec(ctx, g.tx, what, noteUnpacked, statement.Columns(claimed)...)
}

// overWeek is a week that is over, and its days with their hours.
type overWeek struct {
	bucket
	row  []byte
	days []blocks.Block
	open map[blocks.Table][]blocks.Block // details
	late map[blocks.Table][]blocks.Block // what closed ones there are already
}

// closeDetails closes the details of weeks: nothing is made from them any more. The results of
// the weeks and their days become their rest: if a sample arrives later for an hour that never
// had one, its hour is added to it. A week whose results cannot be read keeps its details open:
// it is logged, and tried again in the next round.
func closeDetails(ctx context.Context, g *group, claimed []bucket) error {
	closing, err := statement.All[bucket](ctx, g.tx, fmt.Sprintf("close %d weeks", len(claimed)), closeWeeks, statement.Columns(claimed)...)
	if err != nil || len(closing) == 0 {
		return err
	}
	weeks, err := g.readOver(ctx, closing)
	if err != nil {
		return err
	}
	put := make(map[blocks.Table][]blocks.Block)
	var kept []bucket
	for _, week := range weeks {
		if err := week.close(g.kind(week.Series), g.series[week.Series], put); err != nil {
			g.store.log.ErrorContext(ctx, "details of a week cannot be closed, trying again later",
				"series", week.Series, "week", week.Start, "error", err)
			kept = append(kept, week.bucket)
		}
	}
	if err := g.put(ctx, put); err != nil || len(kept) == 0 {
		return err
	}
	return statement.Exec(ctx, g.tx, fmt.Sprintf("keep %d weeks open", len(kept)), noteOpenWeeks, statement.Columns(kept)...)
}

// readOver reads the data of weeks.
func (g *group) readOver(ctx context.Context, claimed []bucket) ([]*overWeek, error) {
	weeks := make([]*overWeek, len(claimed))
	ranges := make([]blocks.Range, len(claimed))
	for i, b := range claimed {
		weeks[i] = &overWeek{bucket: b.onGrid(), open: make(map[blocks.Table][]blocks.Block), late: make(map[blocks.Table][]blocks.Block)}
		ranges[i] = blocks.Range{Series: g.series[b.Series].block(), From: b.Start.UTC(), To: b.Start.UTC().Add(timegrid.Week.Width())}
	}
	for _, table := range []blocks.Table{blocks.Days, blocks.Hours, blocks.HourDetails, blocks.DayDetails, blocks.ClosedHourDetails, blocks.ClosedDayDetails} {
		err := g.store.blocks.Each(ctx, g.tx, table, ranges, func(place int, start time.Time, body []byte) error {
			week, one := weeks[place], blocks.Block{Series: ranges[place].Series, Start: start, Body: slices.Clone(body)}
			switch table {
			case blocks.Days:
				week.row = one.Body
			case blocks.Hours:
				week.days = append(week.days, one)
			case blocks.HourDetails, blocks.DayDetails:
				week.open[table] = append(week.open[table], one)
			default:
				week.late[table] = append(week.late[table], one)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read %d weeks: %w", len(claimed), err)
		}
	}
	return weeks, nil
}

// close adds the blocks to put for a week.
func (o *overWeek) close(k codec.Kind, of series, put map[blocks.Table][]blocks.Block) (err error) {
	changed := make(map[blocks.Table][]blocks.Block)
	if k.OfDetails() {
		for _, day := range o.days {
			if day.Body, err = copySlot(k, o.row, bucket{o.Series, day.Start}.within(timegrid.Week, timegrid.Day), day.Body, restOfDay); err != nil {
				return fmt.Errorf("keep the rest of %s: %w", day.Start, err)
			}
			changed[blocks.Hours] = append(changed[blocks.Hours], day)
		}
		if o.row, err = copySlot(k, o.row, weekItself, o.row, restOfWeek); err != nil {
			return fmt.Errorf("keep the rest of the week: %w", err)
		}
		changed[blocks.Days] = []blocks.Block{{Series: of.block(), Start: o.Start, Body: o.row}}
	}
	if err := o.makeDays(k, of); err != nil {
		return err
	}
	for open, closed := range map[blocks.Table]blocks.Table{blocks.HourDetails: blocks.ClosedHourDetails, blocks.DayDetails: blocks.ClosedDayDetails} {
		known := make(map[time.Time][]byte)
		for _, one := range o.late[closed] {
			known[one.Start] = one.Body
		}
		for _, one := range o.open[open] {
			changed[open] = append(changed[open], blocks.Block{Series: one.Series, Start: one.Start})
			if was := known[one.Start]; was != nil {
				if one.Body, err = k.Join([][]byte{was, one.Body}); err != nil {
					return fmt.Errorf("join what came late for %s: %w", one.Start, err)
				}
			}
			changed[closed] = append(changed[closed], one)
		}
	}
	for table, of := range changed {
		put[table] = append(put[table], of...)
	}
	return nil
}

// makeDays makes the details of days of their hours', where rolling up does not.
func (o *overWeek) makeDays(k codec.Kind, of series) error {
	if k.OfDetails() {
		return nil
	}
	parts := make(map[time.Time][][]byte)
	for _, hour := range o.open[blocks.HourDetails] {
		day := timegrid.Day.Floor(hour.Start)
		parts[day] = append(parts[day], hour.Body)
	}
	for day, hours := range parts {
		body, err := k.Join(hours)
		if err != nil {
			return fmt.Errorf("make the day %s: %w", day, err)
		}
		if body != nil {
			o.open[blocks.DayDetails] = append(o.open[blocks.DayDetails], blocks.Block{Series: of.block(), Start: day, Body: body})
		}
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
