package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"maps"
	"slices"
	"time"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/statement"
)

var (
	//go:embed sql/rolled_hours.sql
	rolledHours string
	//go:embed sql/rolled_days.sql
	rolledDays string
	//go:embed sql/details.sql
	readDetails string
	//go:embed sql/keep_rolled.sql
	keepRolled string
)

// Where the slots of rows are: a day's row holds its hours and the rest of it, a week's
// row its days, itself, and its rest.
const (
	restOfDay  = 24
	weekItself = 7
	restOfWeek = 8
)

// cascade carries hours that were rolled up on to their days and weeks.
type cascade struct {
	group       *group
	days, weeks map[bucket]*longer
}

// longer is a day or a week, whose slot is made of shorter buckets.
type longer struct {
	bucket
	row    []byte               // the shorter ones' slots; nil: there are none yet
	parts  map[time.Time][]byte // the shorter ones' details, where the kind has any
	detail []byte               // made of them
}

// readCascade reads what the days and weeks of hours are made of besides them.
func (g *group) readCascade(ctx context.Context, hours []*dirtyHour) (*cascade, error) {
	c := &cascade{group: g, days: make(map[bucket]*longer), weeks: make(map[bucket]*longer)}
	var days, weeks buckets
	var details detailRanges
	for _, h := range hours {
		if day := h.floor(timegrid.Day); c.days[day] == nil {
			c.days[day] = &longer{bucket: day, parts: make(map[time.Time][]byte)}
			days.addBucket(day)
			if h.detail != nil {
				details.addBucket(day, timegrid.Hour, timegrid.Day)
			}
		}
		if week := h.floor(timegrid.Week); c.weeks[week] == nil {
			c.weeks[week] = &longer{bucket: week, parts: make(map[time.Time][]byte)}
			weeks.addBucket(week)
			if h.detail != nil {
				details.addBucket(week, timegrid.Day, timegrid.Week)
			}
		}
	}
	if err := c.readRows(ctx, rolledHours, days, c.days); err != nil {
		return nil, fmt.Errorf("read %d days: %w", len(days.series), err)
	}
	if err := c.readRows(ctx, rolledDays, weeks, c.weeks); err != nil {
		return nil, fmt.Errorf("read %d weeks: %w", len(weeks.series), err)
	}
	return c, c.readDetails(ctx, details)
}

func (c *cascade) readRows(ctx context.Context, statement string, asked buckets, into map[bucket]*longer) error {
	if len(asked.series) == 0 {
		return nil
	}
	return query(ctx, c.group.tx, func(row scanner) error {
		var b bucket
		var slots []byte
		if err := row.Scan(&b.series, &b.start, &slots); err != nil {
			return err
		}
		b.start = grid(b.start)
		into[b].row = slots
		return nil
	}, statement, asked.series, asked.starts)
}

// detailRanges are the columns that ask for the details within buckets.
type detailRanges struct {
	buckets
	sizes []string
	until []time.Time
}

// addBucket asks for the details of a size within a bucket of a longer one.
func (r *detailRanges) addBucket(b bucket, of, within timegrid.Size) {
	r.buckets.addBucket(b)
	r.sizes, r.until = append(r.sizes, string(of)), append(r.until, b.start.Add(within.Width()))
}

func (c *cascade) readDetails(ctx context.Context, asked detailRanges) error {
	if len(asked.series) == 0 {
		return nil
	}
	err := query(ctx, c.group.tx, func(row scanner) error {
		var b bucket
		var size timegrid.Size
		var body []byte
		if err := row.Scan(&b.series, &size, &b.start, &body); err != nil {
			return err
		}
		b.start = grid(b.start)
		if size == timegrid.Hour {
			c.days[b.floor(timegrid.Day)].parts[b.start] = body
		} else {
			c.weeks[b.floor(timegrid.Week)].parts[b.start] = body
		}
		return nil
	}, readDetails, asked.series, asked.sizes, asked.starts, asked.until)
	if err != nil {
		return fmt.Errorf("read the details of %d days and weeks: %w", len(asked.series), err)
	}
	return nil
}

// carry makes the days and weeks of hours anew, series by series, and returns the
// hours of which that succeeded; the others it hands to failed, and drops whatever was
// begun of their series.
func (c *cascade) carry(hours []*dirtyHour, failed func(*dirtyHour, error)) (done []*dirtyHour) {
	for len(hours) > 0 {
		n := 1
		for n < len(hours) && hours[n].series == hours[0].series {
			n++
		}
		of := hours[:n]
		hours = hours[n:]
		err := c.carrySeries(of)
		if err == nil {
			done = append(done, of...)
			continue
		}
		for _, h := range of {
			failed(h, err)
			delete(c.days, h.floor(timegrid.Day))
			delete(c.weeks, h.floor(timegrid.Week))
		}
	}
	return done
}

// carrySeries carries hours of one series.
func (c *cascade) carrySeries(hours []*dirtyHour) error {
	k, engine := c.group.kind(hours[0].series), c.group.series[hours[0].series].engine
	var days, weeks []*longer // in order, none twice
	for _, h := range hours {
		day, week := c.days[h.floor(timegrid.Day)], c.weeks[h.floor(timegrid.Week)]
		if err := day.take(k, engine, h, week); err != nil {
			return fmt.Errorf("carry the hour %s to its day: %w", h.start, err)
		}
		if len(days) == 0 || days[len(days)-1] != day {
			days = append(days, day)
		}
		if len(weeks) == 0 || weeks[len(weeks)-1] != week {
			weeks = append(weeks, week)
		}
	}
	for _, day := range days {
		slot, err := day.total(k, engine, restOfDay+1, restOfDay)
		if err != nil {
			return fmt.Errorf("roll up the day %s: %w", day.start, err)
		}
		week := c.weeks[day.floor(timegrid.Week)]
		if week.row, err = k.set(week.row, day.within(timegrid.Week, timegrid.Day), slot); err != nil {
			return fmt.Errorf("carry the day %s to its week: %w", day.start, err)
		}
		if day.detail != nil {
			week.parts[day.start] = day.detail
		}
	}
	for _, week := range weeks {
		slot, err := week.total(k, engine, weekItself, restOfWeek)
		if err != nil {
			return fmt.Errorf("roll up the week %s: %w", week.start, err)
		}
		if week.row, err = k.set(week.row, weekItself, slot); err != nil {
			return fmt.Errorf("set the week %s: %w", week.start, err)
		}
	}
	return nil
}

// take sets an hour of the day. A day whose hours are forgotten, but which its week
// still has, starts with what it was as its rest.
func (l *longer) take(k kind, engine fleet.Engine, h *dirtyHour, week *longer) error {
	if l.row == nil && week.row != nil {
		was, err := k.slot(week.row, l.within(timegrid.Week, timegrid.Day))
		if err != nil {
			return err
		}
		if was != nil {
			if l.row, err = k.set(nil, restOfDay, was); err != nil {
				return err
			}
		}
	}
	slot, err := k.total(engine, h.rolled, minutesOfHour, h.detail)
	if err != nil {
		return err
	}
	if h.detail != nil {
		l.parts[h.start] = h.detail
	}
	l.row, err = k.set(l.row, h.within(timegrid.Day, timegrid.Hour), slot)
	return err
}

// total makes the slot of the bucket of the first n slots of its row or, where the kind
// has details, of those and of the rest, whose own are forgotten.
func (l *longer) total(k kind, engine fleet.Engine, n, rest int) ([]byte, error) {
	if len(l.parts) == 0 {
		return k.total(engine, l.row, n, nil)
	}
	starts := slices.SortedFunc(maps.Keys(l.parts), time.Time.Compare)
	parts := make([][]byte, len(starts))
	for i, start := range starts {
		parts[i] = l.parts[start]
	}
	var err error
	if l.detail, err = k.join(parts); err != nil {
		return nil, err
	}
	known, err := k.total(engine, nil, 0, l.detail)
	if err != nil || l.row == nil {
		return known, err
	}
	was, err := k.slot(l.row, rest)
	if err != nil || was == nil {
		return known, err
	}
	both, err := k.set(nil, 0, was)
	if err != nil {
		return nil, err
	}
	if both, err = k.set(both, 1, known); err != nil {
		return nil, err
	}
	return k.total(engine, both, 2, nil)
}

// keep writes what hours were rolled up to, and takes their marks away.
func (g *group) keep(ctx context.Context, c *cascade, done []*dirtyHour) error {
	if len(done) == 0 {
		return nil
	}
	var minutes, days, weeks, details bodies
	var sizes []string
	for _, h := range done {
		minutes.addBody(h.bucket, h.rolled)
		if h.detail != nil {
			details.addBody(h.bucket, h.detail)
			sizes = append(sizes, string(timegrid.Hour))
		}
	}
	for _, day := range c.days {
		days.addBody(day.bucket, day.row)
		if day.detail != nil {
			details.addBody(day.bucket, day.detail)
			sizes = append(sizes, string(timegrid.Day))
		}
	}
	for _, week := range c.weeks {
		weeks.addBody(week.bucket, week.row)
	}
	return statement.Exec(ctx, g.tx, fmt.Sprintf("keep %d hours", len(done)), keepRolled,
		minutes.series, minutes.starts, minutes.bytes, days.series, days.starts, days.bytes,
		weeks.series, weeks.starts, weeks.bytes, details.series, sizes, details.starts, details.bytes)
}
