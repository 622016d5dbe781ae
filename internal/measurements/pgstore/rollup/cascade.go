package rollup

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"maps"
	"slices"
	"time"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/head_hours.sql
	headHours string
	//go:embed sql/head_days.sql
	headDays string
	//go:embed sql/head_details.sql
	headDetails string
	//go:embed sql/keep_rolled.sql
	keepRolled string
)

// cascade carries hours that were rolled up on to their days and weeks.
type cascade struct {
	group       *group
	days, weeks map[tables.Bucket]*longer
}

// longer is a day or a week, whose slot is made of shorter buckets.
type longer struct {
	tables.Bucket
	row    []byte               // the shorter ones' slots; nil: there are none yet
	parts  map[time.Time][]byte // the shorter ones' details that are in the head, where the kind has any
	others []byte               // what the others come to; nil: that has to be made of their blocks
	blocks [][]byte             // those
	made   bool                 // others was made of them
	detail []byte               // made of all
}

// partsOf is how long a day's or a week's parts are, where their blocks are, and how long it is.
type partsOf struct {
	size   timegrid.Size
	blocks blocks.Table
	whole  timegrid.Size
}

var (
	ofDays  = partsOf{timegrid.Hour, blocks.HourDetails, timegrid.Day}
	ofWeeks = partsOf{timegrid.Day, blocks.DayDetails, timegrid.Week}
)

// readCascade reads the other inputs of the days and weeks of hours: from the head, and from
// blocks what the head does not have.
func (g *group) readCascade(ctx context.Context, hours []*dirtyHour) (*cascade, error) {
	c := &cascade{group: g, days: make(map[tables.Bucket]*longer), weeks: make(map[tables.Bucket]*longer)}
	for _, h := range hours {
		for size, among := range map[timegrid.Size]map[tables.Bucket]*longer{timegrid.Day: c.days, timegrid.Week: c.weeks} {
			if b := h.Floor(size); among[b] == nil {
				among[b] = &longer{Bucket: b, parts: make(map[time.Time][]byte)}
			}
		}
	}
	if err := c.readRows(ctx, "days", headHours, blocks.Hours, c.days); err != nil {
		return nil, err
	}
	if err := c.readRows(ctx, "weeks", headDays, blocks.Days, c.weeks); err != nil {
		return nil, err
	}
	if err := c.readDetails(ctx); err != nil {
		return nil, err
	}
	// What is not in the head yet may be in a block, so that the others were made with it.
	for _, h := range hours {
		if day := c.days[h.Floor(timegrid.Day)]; day.parts[h.Start] == nil {
			day.others = nil
		}
		if day, week := h.Floor(timegrid.Day), c.weeks[h.Floor(timegrid.Week)]; week.parts[day.Start] == nil {
			week.others = nil
		}
	}
	if err := c.readOthers(ctx, ofDays, c.days, func(b tables.Bucket) bool { return c.isRolled(hours, b) }); err != nil {
		return nil, err
	}
	return c, c.readOthers(ctx, ofWeeks, c.weeks, func(b tables.Bucket) bool { return c.days[b] != nil })
}

// isRolled says that an hour is among those that are rolled up.
func (c *cascade) isRolled(hours []*dirtyHour, b tables.Bucket) bool {
	return slices.ContainsFunc(hours, func(h *dirtyHour) bool { return h.Bucket == b })
}

// inOrder are the days or weeks that are wanted, by series and time.
func inOrder(among map[tables.Bucket]*longer, wanted func(*longer) bool) []*longer {
	var all []*longer
	for _, l := range among {
		if wanted(l) {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b *longer) int { return a.Compare(b.Bucket) })
	return all
}

func (c *cascade) readRows(ctx context.Context, what, query string, table blocks.Table, into map[tables.Bucket]*longer) error {
	asked := statement.Columns(slices.Collect(maps.Keys(into)))
	rows, err := statement.All[tables.Stored](ctx, c.group.Tx, fmt.Sprintf("read %d %s", len(into), what), query, asked...)
	if err != nil {
		return err
	}
	for _, row := range rows {
		into[row.OnGrid()].row = row.Body
	}
	missing := inOrder(into, func(l *longer) bool { return l.row == nil })
	return c.group.eachBlock(ctx, table, missing, time.Microsecond, func(l *longer, _ time.Time, body []byte) {
		l.row = body
	})
}

// readDetails reads what the head has of the parts of days and weeks.
func (c *cascade) readDetails(ctx context.Context) error {
	type detailRange struct {
		Series       int64
		Size         string
		Since, Until time.Time
	}
	var asked []detailRange
	for of, among := range map[partsOf]map[tables.Bucket]*longer{ofDays: c.days, ofWeeks: c.weeks} {
		for b := range among {
			if c.group.Kind(b.Series).OfDetails() {
				asked = append(asked, detailRange{b.Series, string(of.size), b.Start, b.Start.Add(of.whole.Width())})
			}
		}
	}
	if len(asked) == 0 {
		return nil
	}
	type part struct {
		tables.Stored
		Size timegrid.Size
		Rest bool
	}
	what := fmt.Sprintf("read the details of %d days and weeks", len(asked))
	rows, err := statement.All[part](ctx, c.group.Tx, what, headDetails, statement.Columns(asked)...)
	for _, row := range rows {
		of, among := ofDays, c.days
		if row.Size == timegrid.Day {
			of, among = ofWeeks, c.weeks
		}
		b := row.OnGrid()
		l := among[b.Floor(of.whole)]
		if row.Rest {
			l.others = row.Body
		} else {
			l.parts[b.Start] = row.Body
		}
	}
	return err
}

// readOthers reads the parts of days or weeks that are only in blocks and whose results are
// unknown. Those that are rolled up now do not count, whatever their blocks have.
func (c *cascade) readOthers(ctx context.Context, of partsOf, among map[tables.Bucket]*longer, rolled func(tables.Bucket) bool) error {
	unknown := inOrder(among, func(l *longer) bool { return l.others == nil && c.group.Kind(l.Series).OfDetails() })
	return c.group.eachBlock(ctx, of.blocks, unknown, of.whole.Width(), func(l *longer, start time.Time, body []byte) {
		if l.parts[start] == nil && !rolled(tables.At(l.Series, start)) {
			l.blocks = append(l.blocks, body)
		}
	})
}

// carry computes the days and weeks of hours anew, series by series, and returns the successful
// hours. It passes the others to failed, and drops everything that was begun for their series.
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
			delete(c.days, h.Floor(timegrid.Day))
			delete(c.weeks, h.Floor(timegrid.Week))
		}
	}
	return done
}

// carrySeries carries hours of one series.
func (c *cascade) carrySeries(hours []*dirtyHour) error {
	k, engine := c.group.Kind(hours[0].Series), c.group.Series[hours[0].Series].Engine
	var days, weeks []*longer // in order, none twice
	for _, h := range hours {
		day, week := c.days[h.Floor(timegrid.Day)], c.weeks[h.Floor(timegrid.Week)]
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
		slot, err := day.total(k, engine, codec.RestOfDay+1, codec.RestOfDay)
		if err != nil {
			return fmt.Errorf("roll up the day %s: %w", day.Start, err)
		}
		week := c.weeks[day.Floor(timegrid.Week)]
		if week.row, err = k.Set(week.row, day.Within(timegrid.Week, timegrid.Day), slot); err != nil {
			return fmt.Errorf("carry the day %s to its week: %w", day.Start, err)
		}
		if day.detail != nil {
			week.parts[day.Start] = day.detail
		}
	}
	for _, week := range weeks {
		slot, err := week.total(k, engine, codec.WeekItself, codec.RestOfWeek)
		if err != nil {
			return fmt.Errorf("roll up the week %s: %w", week.Start, err)
		}
		if week.row, err = k.Set(week.row, codec.WeekItself, slot); err != nil {
			return fmt.Errorf("set the week %s: %w", week.Start, err)
		}
	}
	return nil
}

// take sets an hour of the day. A day whose hours are forgotten, but which its week
// still has, starts with what it was as its rest.
func (l *longer) take(k codec.Kind, engine fleet.Engine, h *dirtyHour, week *longer) (err error) {
	if l.row == nil {
		if l.row, err = codec.CopySlot(k, week.row, l.Within(timegrid.Week, timegrid.Day), nil, codec.RestOfDay); err != nil {
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
	l.row, err = k.Set(l.row, h.Within(timegrid.Day, timegrid.Hour), slot)
	return err
}

// total makes the slot of the bucket of the first n slots of its row or, where the kind
// has details, of those and of the rest, whose own are forgotten.
func (l *longer) total(k codec.Kind, engine fleet.Engine, n, rest int) ([]byte, error) {
	if len(l.parts) == 0 {
		return k.Total(engine, l.row, n, nil)
	}
	if l.others == nil {
		l.others, l.made = []byte{}, true
		if len(l.blocks) > 0 {
			var err error
			if l.others, err = k.Join(l.blocks); err != nil {
				return nil, err
			}
		}
	}
	starts := slices.SortedFunc(maps.Keys(l.parts), time.Time.Compare)
	parts := make([][]byte, len(starts), len(starts)+1)
	for i, start := range starts {
		parts[i] = l.parts[start]
	}
	if len(l.others) > 0 {
		parts = append(parts, l.others)
	}
	var err error
	if l.detail, err = k.Join(parts); err != nil {
		return nil, err
	}
	known, err := k.Total(engine, nil, 0, l.detail)
	if err != nil {
		return nil, err
	}
	both, err := codec.CopySlot(k, l.row, rest, nil, 0)
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
	type restOf struct {
		tables.Stored
		Size timegrid.Size
	}
	var minutes, days, weeks, hourDetails, dayDetails []tables.Stored
	var rests []restOf
	for _, h := range done {
		minutes = append(minutes, tables.StoredAs(h.Bucket, h.rolled))
		if h.detail != nil {
			hourDetails = append(hourDetails, tables.StoredAs(h.Bucket, h.detail))
		}
	}
	for _, day := range c.days {
		days = append(days, tables.StoredAs(day.Bucket, day.row))
		if day.detail != nil {
			dayDetails = append(dayDetails, tables.StoredAs(day.Bucket, day.detail))
		}
		if day.made {
			rests = append(rests, restOf{tables.StoredAs(day.Bucket, day.others), ofDays.size})
		}
	}
	for _, week := range c.weeks {
		weeks = append(weeks, tables.StoredAs(week.Bucket, week.row))
		if week.made {
			rests = append(rests, restOf{tables.StoredAs(week.Bucket, week.others), ofWeeks.size})
		}
	}
	rows := slices.Concat(statement.Columns(minutes), statement.Columns(days), statement.Columns(weeks),
		statement.Columns(hourDetails), statement.Columns(dayDetails), statement.Columns(rests))
	return statement.Exec(ctx, g.Tx, fmt.Sprintf("keep %d hours", len(done)), keepRolled, rows...)
}
