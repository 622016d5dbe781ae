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
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/statement"
)

var (
	//go:embed sql/rolled_hours.sql
	rolledHours string
	//go:embed sql/rolled_days.sql
	rolledDays string
	//go:embed sql/details.sql
	rangeDetails string
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

// detailed is a bucket with its detail, as rolled_details has it.
type detailed struct {
	stored
	Size timegrid.Size
}

// detailRange asks for the details of a size within a longer bucket.
type detailRange struct {
	Series       int64
	Size         string
	Since, Until time.Time
}

// readCascade reads what the days and weeks of hours are made of besides them.
func (g *group) readCascade(ctx context.Context, hours []*dirtyHour) (*cascade, error) {
	c := &cascade{group: g, days: make(map[bucket]*longer), weeks: make(map[bucket]*longer)}
	var details []detailRange
	expect := func(b bucket, among map[bucket]*longer, size, of timegrid.Size, ofDetails bool) {
		if among[b] != nil {
			return
		}
		among[b] = &longer{bucket: b, parts: make(map[time.Time][]byte)}
		if ofDetails {
			details = append(details, detailRange{b.Series, string(of), b.Start, b.Start.Add(size.Width())})
		}
	}
	for _, h := range hours {
		ofDetails := g.kind(h.Series).OfDetails()
		expect(h.floor(timegrid.Day), c.days, timegrid.Day, timegrid.Hour, ofDetails)
		expect(h.floor(timegrid.Week), c.weeks, timegrid.Week, timegrid.Day, ofDetails)
	}
	if err := c.readRows(ctx, "days", rolledHours, c.days); err != nil {
		return nil, err
	}
	if err := c.readRows(ctx, "weeks", rolledDays, c.weeks); err != nil {
		return nil, err
	}
	return c, c.readDetails(ctx, details)
}

func (c *cascade) readRows(ctx context.Context, what, query string, into map[bucket]*longer) error {
	asked := statement.Columns(slices.Collect(maps.Keys(into)))
	rows, err := statement.All[stored](ctx, c.group.tx, fmt.Sprintf("read %d %s", len(into), what), query, asked...)
	for _, row := range rows {
		into[row.onGrid()].row = row.Body
	}
	return err
}

func (c *cascade) readDetails(ctx context.Context, asked []detailRange) error {
	if len(asked) == 0 {
		return nil
	}
	what := fmt.Sprintf("read the details of %d days and weeks", len(asked))
	rows, err := statement.All[detailed](ctx, c.group.tx, what, rangeDetails, statement.Columns(asked)...)
	for _, row := range rows {
		b := row.onGrid()
		if row.Size == timegrid.Hour {
			c.days[b.floor(timegrid.Day)].parts[b.Start] = row.Body
		} else {
			c.weeks[b.floor(timegrid.Week)].parts[b.Start] = row.Body
		}
	}
	return err
}

// carry makes the days and weeks of hours anew, series by series, and returns the
// hours of which that succeeded; the others it hands to failed, and drops whatever was
// begun of their series.
func (c *cascade) carry(hours []*dirtyHour, failed func(*dirtyHour, error)) (done []*dirtyHour) {
	for len(hours) > 0 {
		n := 1
		for n < len(hours) && hours[n].Series == hours[0].Series {
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
	k, engine := c.group.kind(hours[0].Series), c.group.series[hours[0].Series].Engine
	var days, weeks []*longer // in order, none twice
	for _, h := range hours {
		day, week := c.days[h.floor(timegrid.Day)], c.weeks[h.floor(timegrid.Week)]
		if err := day.take(k, engine, h, week); err != nil {
			return fmt.Errorf("carry the hour %s to its day: %w", h.Start, err)
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
			return fmt.Errorf("roll up the day %s: %w", day.Start, err)
		}
		week := c.weeks[day.floor(timegrid.Week)]
		if week.row, err = k.Set(week.row, day.within(timegrid.Week, timegrid.Day), slot); err != nil {
			return fmt.Errorf("carry the day %s to its week: %w", day.Start, err)
		}
		if day.detail != nil {
			week.parts[day.Start] = day.detail
		}
	}
	for _, week := range weeks {
		slot, err := week.total(k, engine, weekItself, restOfWeek)
		if err != nil {
			return fmt.Errorf("roll up the week %s: %w", week.Start, err)
		}
		if week.row, err = k.Set(week.row, weekItself, slot); err != nil {
			return fmt.Errorf("set the week %s: %w", week.Start, err)
		}
	}
	return nil
}

// take sets an hour of the day. A day whose hours are forgotten, but which its week
// still has, starts with what it was as its rest.
func (l *longer) take(k codec.Kind, engine fleet.Engine, h *dirtyHour, week *longer) (err error) {
	if l.row == nil {
		if l.row, err = copySlot(k, week.row, l.within(timegrid.Week, timegrid.Day), nil, restOfDay); err != nil {
			return err
		}
	}
	var detail []byte
	if k.OfDetails() {
		detail = h.detail
		l.parts[h.Start] = detail
	}
	slot, err := k.Total(engine, h.rolled, codec.MinutesOfHour, detail)
	if err != nil {
		return err
	}
	l.row, err = k.Set(l.row, h.within(timegrid.Day, timegrid.Hour), slot)
	return err
}

// total makes the slot of the bucket of the first n slots of its row or, where the kind
// has details, of those and of the rest, whose own are forgotten.
func (l *longer) total(k codec.Kind, engine fleet.Engine, n, rest int) ([]byte, error) {
	if len(l.parts) == 0 {
		return k.Total(engine, l.row, n, nil)
	}
	starts := slices.SortedFunc(maps.Keys(l.parts), time.Time.Compare)
	parts := make([][]byte, len(starts))
	for i, start := range starts {
		parts[i] = l.parts[start]
	}
	var err error
	if l.detail, err = k.Join(parts); err != nil {
		return nil, err
	}
	known, err := k.Total(engine, nil, 0, l.detail)
	if err != nil {
		return nil, err
	}
	both, err := copySlot(k, l.row, rest, nil, 0)
	if err != nil || both == nil {
		return known, err
	}
	if both, err = k.Set(both, 1, known); err != nil {
		return nil, err
	}
	return k.Total(engine, both, 2, nil)
}

// keep writes what hours were rolled up to, and takes their marks away.
func (g *group) keep(ctx context.Context, c *cascade, done []*dirtyHour) error {
	if len(done) == 0 {
		return nil
	}
	var minutes, days, weeks []stored
	var details []detailed
	for _, h := range done {
		minutes = append(minutes, storedAs(h.bucket, h.rolled))
		if h.detail != nil {
			details = append(details, detailed{stored{h.bucket, h.detail}, timegrid.Hour})
		}
	}
	for _, day := range c.days {
		days = append(days, storedAs(day.bucket, day.row))
		if day.detail != nil {
			details = append(details, detailed{stored{day.bucket, day.detail}, timegrid.Day})
		}
	}
	for _, week := range c.weeks {
		weeks = append(weeks, storedAs(week.bucket, week.row))
	}
	rows := slices.Concat(statement.Columns(minutes), statement.Columns(days), statement.Columns(weeks), statement.Columns(details))
	return statement.Exec(ctx, g.tx, fmt.Sprintf("keep %d hours", len(done)), keepRolled, rows...)
}
