package compaction

import (
	"context"
	_ "embed" // the statements
	"errors"
	"fmt"
	"slices"
	"time"

	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/measurements/replication"
	"muster/internal/measurements/room"
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
	//go:embed sql/whole_forget.sql
	dropWholeRows string
	//go:embed sql/whole_activity_forget.sql
	dropWholeActivity string
)

// ForgetGroup is how many weeks, or hours, of a series one transaction holds.
const ForgetGroup = 128

// Forget drops what is older than its retention, of blocking too: details first, whose rests go to
// rows of hours.
func (c *Compactor) Forget(ctx context.Context) error {
	closing := c.round(ctx, claimOver, ForgetGroup, closeDetails)
	if closing != nil {
		closing = fmt.Errorf("close weeks that are over: %w", closing)
	}
	unpacking := c.round(ctx, claimPacked, PackGroup, unpack, c.ledger.Retention.Raw)
	if unpacking != nil {
		unpacking = fmt.Errorf("unpack hours that are not sealed: %w", unpacking)
	}
	return errors.Join(closing, unpacking, c.dictionary.ForgetStatements(ctx), c.forgetWholes(ctx), c.forgetBlocks(ctx), blocking.Forget(ctx, c.ledger.DB), replication.Forget(ctx, c.ledger.DB), room.Forget(ctx, c.ledger.DB), backups.Forget(ctx, c.ledger.DB))
}

// forgetBlocks drops blocks that are older than they are kept.
func (c *Compactor) forgetBlocks(ctx context.Context) error {
	now, err := statement.One[time.Time](ctx, c.ledger.DB, "read the time", `SELECT now()`)
	if err != nil {
		return err
	}
	raw, err := statement.One[time.Time](ctx, c.ledger.DB, "look which raw samples are not needed", packedBefore, c.ledger.Retention.Raw)
	if err != nil {
		return err
	}
	hours, err := c.closedSince(ctx, c.ledger.Retention.Hours)
	if err != nil {
		return err
	}
	for table, before := range map[blocks.Table]time.Time{
		blocks.Raw: raw, blocks.Minutes: now.Add(-c.ledger.Retention.Minutes), blocks.Hours: hours,
		blocks.ClosedHourDetails: measurements.KeptSince(timegrid.Hour, now), blocks.ClosedDayDetails: measurements.KeptSince(timegrid.Day, now),
	} {
		err = errors.Join(err, c.ledger.Blocks.Forget(ctx, table, blocks.AnyKind, before.UTC()))
	}
	return errors.Join(err, c.forgetActivity(ctx, now))
}

// closedSince is before when no week is open, and blocks are older than they are kept.
func (c *Compactor) closedSince(ctx context.Context, kept time.Duration) (time.Time, error) {
	return statement.One[time.Time](ctx, c.ledger.DB, "look which weeks are open", stillOpen, kept)
}

// forgetActivity drops blocks of what sessions do of which each bucket is older than it is kept. Hours and days
// of a week that is open stay: the day, or the week, is made of them. Minutes are made of raw samples alone.
func (c *Compactor) forgetActivity(ctx context.Context, now time.Time) error {
	kept := c.ledger.Retention.Activity
	hours, err := c.closedSince(ctx, kept.Hours+timegrid.Day.Width())
	if err != nil {
		return err
	}
	days, err := c.closedSince(ctx, kept.Days+timegrid.Week.Width())
	if err != nil {
		return err
	}
	for table, before := range map[blocks.Table]time.Time{blocks.Minutes: now.Add(-kept.Minutes - time.Hour), blocks.Hours: hours, blocks.Days: days} {
		err = errors.Join(err, c.ledger.Blocks.Forget(ctx, table, codec.Activity, before.UTC()))
	}
	return err
}

// forgetWholes deletes rows of whole organizations that are older than those of series are kept.
func (c *Compactor) forgetWholes(ctx context.Context) error {
	return errors.Join(
		tables.Forget(ctx, c.ledger.DB, "forget old rows of whole organizations", dropWholeRows, c.ledger.Retention.Minutes, c.ledger.Retention.Hours),
		tables.Forget(ctx, c.ledger.DB, "forget old activity of whole organizations", dropWholeActivity,
			c.ledger.Retention.Activity.Minutes, c.ledger.Retention.Activity.Hours, c.ledger.Retention.Activity.Days),
	)
}

// unpack puts raw samples of hours back into the head, so that blocks of raw samples can be
// dropped by their time.
func unpack(ctx context.Context, g *group, claimed []tables.Bucket) error {
	ranges := make([]blocks.Range, len(claimed))
	for i, b := range claimed {
		ranges[i] = blocks.Range{Series: g.Block(b.Series), From: b.Start, To: b.Start.Add(time.Hour)}
	}
	var rows []tables.Stored
	err := blocks.EachSample(ctx, g.Ledger.Blocks, g.Tx, ranges, func(place int, at time.Time, body []byte) error {
		rows = append(rows, tables.StoredAs(tables.At(claimed[place].Series, at), slices.Clone(body)))
		return nil
	})
	if err != nil {
		return err
	}
	what := fmt.Sprintf("unpack %d hours", len(claimed))
	if _, err := g.Ledger.Raw.Insert(ctx, g.Tx, what, rows); err != nil { // what is there is newer
		return err
	}
	return statement.Exec(ctx, g.Tx, what, noteUnpacked, statement.Columns(claimed)...)
}

// overWeek is a week that is over, and its days with their hours.
type overWeek struct {
	tables.Bucket
	row  []byte
	days []blocks.Block
	open map[blocks.Table][]blocks.Block // details
	late map[blocks.Table][]blocks.Block // what closed ones there are already
}

// closeDetails closes the details of weeks: nothing is made from them any more. The results of
// the weeks and their days become their rest: if a sample arrives later for an hour that never
// had one, its hour is added to it. A week whose results cannot be read keeps its details open:
// it is logged, and tried again in the next round.
func closeDetails(ctx context.Context, g *group, claimed []tables.Bucket) error {
	closing, err := statement.All[tables.Bucket](ctx, g.Tx, fmt.Sprintf("close %d weeks", len(claimed)), closeWeeks, statement.Columns(claimed)...)
	if err != nil || len(closing) == 0 {
		return err
	}
	weeks, err := g.readOver(ctx, closing)
	if err != nil {
		return err
	}
	put := make(map[blocks.Table][]blocks.Block)
	var kept []tables.Bucket
	for _, week := range weeks {
		if err := week.close(g.Kind(week.Series), g.Series[week.Series], put); err != nil {
			g.Ledger.Log.ErrorContext(ctx, "details of a week cannot be closed, trying again later",
				"series", week.Series, "week", week.Start, "error", err)
			kept = append(kept, week.Bucket)
		}
	}
	if err := g.put(ctx, put); err != nil || len(kept) == 0 {
		return err
	}
	return statement.Exec(ctx, g.Tx, fmt.Sprintf("keep %d weeks open", len(kept)), noteOpenWeeks, statement.Columns(kept)...)
}

// readOver reads the data of weeks.
func (g *group) readOver(ctx context.Context, claimed []tables.Bucket) ([]*overWeek, error) {
	weeks := make([]*overWeek, len(claimed))
	ranges := make([]blocks.Range, len(claimed))
	for i, b := range claimed {
		weeks[i] = &overWeek{Bucket: b.OnGrid(), open: make(map[blocks.Table][]blocks.Block), late: make(map[blocks.Table][]blocks.Block)}
		ranges[i] = blocks.Range{Series: g.Block(b.Series), From: b.Start.UTC(), To: b.Start.UTC().Add(timegrid.Week.Width())}
	}
	for _, table := range []blocks.Table{blocks.Days, blocks.Hours, blocks.HourDetails, blocks.DayDetails, blocks.ClosedHourDetails, blocks.ClosedDayDetails} {
		err := g.Ledger.Blocks.Each(ctx, g.Tx, table, ranges, func(place int, start time.Time, body []byte) error {
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
func (o *overWeek) close(k codec.Kind, of tables.Series, put map[blocks.Table][]blocks.Block) (err error) {
	changed := make(map[blocks.Table][]blocks.Block)
	if k.OfDetails() {
		for _, day := range o.days {
			if day.Body, err = codec.CopySlot(k, o.row, tables.At(o.Series, day.Start).Within(timegrid.Week, timegrid.Day), day.Body, codec.RestOfDay); err != nil {
				return fmt.Errorf("keep the rest of %s: %w", day.Start, err)
			}
			changed[blocks.Hours] = append(changed[blocks.Hours], day)
		}
		if o.row, err = codec.CopySlot(k, o.row, codec.WeekItself, o.row, codec.RestOfWeek); err != nil {
			return fmt.Errorf("keep the rest of the week: %w", err)
		}
		changed[blocks.Days] = []blocks.Block{{Series: of.Block(), Start: o.Start, Body: o.row}}
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
func (o *overWeek) makeDays(k codec.Kind, of tables.Series) error {
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
			o.open[blocks.DayDetails] = append(o.open[blocks.DayDetails], blocks.Block{Series: of.Block(), Start: day, Body: body})
		}
	}
	return nil
}
