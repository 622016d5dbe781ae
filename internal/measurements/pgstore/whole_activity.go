package pgstore

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/activityrow"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/whole_activity_keep.sql
	keepWholeActivity string
	//go:embed sql/whole_activity_read.sql
	readWholeActivity string
)

const (
	// linesOfWhole is how many values of a dimension a row has a line of: those with most sessions.
	linesOfWhole = 1000
	// activityShare is which part of a core may make rows of activity.
	activityShare = 20
	// mostMade is how many numbers the lines of one dimension have while a row is made, 8 MB.
	mostMade = 1 << 20
	// activityRows is how many rows of series take as long as one of activity: it is read whole.
	activityRows = 8
)

// stateOfKey is what a row of a whole has a line of: a value of a dimension, and a state, because
// readers choose states.
type stateOfKey struct {
	measurements.ActivityKey
	state byte
}

func restOfState(k stateOfKey) stateOfKey {
	return stateOfKey{measurements.ActivityKey{Rest: true}, k.state}
}

// activityRow is a row of a whole for one dimension.
type activityRow struct {
	Dimension measurements.Dimension
	Start     time.Time
	Lines     []byte
}

// slotsOf is what rows of a width have: the row of a week has its days and the week.
func slotsOf(width timegrid.Size) level {
	switch width {
	case timegrid.Hour:
		return level{blocks.Minutes, width, 0, codec.MinutesOfHour}
	case timegrid.Day:
		return level{blocks.Hours, width, 0, codec.RestOfDay}
	}
	return level{blocks.Days, timegrid.Week, 0, codec.RestOfWeek}
}

// remakeActivity makes the rows that contain dirty hours anew, each as a whole: which lines it has
// depends on all of its slots.
func (m *making) remakeActivity(ctx context.Context) error {
	for _, width := range []timegrid.Size{timegrid.Hour, timegrid.Day, timegrid.Week} {
		starts := make(map[time.Time]bool)
		for hour := range m.dirty {
			starts[width.Floor(hour)] = true
		}
		for _, start := range slices.SortedFunc(maps.Keys(starts), time.Time.Compare) {
			if err := m.remakeActivityRow(ctx, slotsOf(width), start); err != nil {
				return fmt.Errorf("make the %s of %s: %w", width, start, err)
			}
		}
	}
	return nil
}

// remakeActivityRow reads the rows of the series as remake does.
func (m *making) remakeActivityRow(ctx context.Context, of level, start time.Time) error {
	var a addedActivity
	for range measurements.Dimensions() {
		a.lines = append(a.lines, newLineSet(of.end, m.store.mostMade, restOfState))
	}
	err := m.store.eachBoth(ctx, of.table, m.series.ranges(start, start.Add(of.row.Width())), func(place int, _ time.Time, body []byte) error {
		instance, err := m.series[place].instance()
		if err != nil {
			return err
		}
		row, err := codec.ReadActivityRow(body)
		if err != nil {
			return err
		}
		return a.add(instance, &row, of.end)
	})
	if err != nil {
		return err
	}
	if err := m.store.crash("read"); err != nil {
		return err
	}
	rows := make([]activityRow, len(a.lines))
	for i, by := range measurements.Dimensions() {
		rows[i] = activityRow{by, start, a.row(i, m.store.linesOfWhole)}
	}
	args := append([]any{m.Organization, string(m.Engine), string(of.row)}, statement.Columns(rows)...)
	if err := statement.Exec(ctx, m.tx, "keep rows of "+m.String(), keepWholeActivity, args...); err != nil {
		return err
	}
	return m.store.crash("keep")
}

// addedActivity is what the rows of series come to.
type addedActivity struct {
	sampled, told uint64
	lines         []*lineSet[stateOfKey] // of each dimension
	found         []foundSessions
}

// foundSessions is the average of a combination in a slot.
type foundSessions struct {
	slot int
	codec.Average
}

// add adds the row of an instance.
func (a *addedActivity) add(instance uuid.UUID, row *codec.ActivityRow, slots int) error {
	averages := row.Averages()
	a.found = a.found[:0]
	for slot := range slots {
		found, sampled, told, err := averages.Of(slot)
		if err != nil {
			return err
		}
		if sampled {
			a.sampled |= 1 << slot
		}
		if told {
			a.told |= 1 << slot
		}
		for _, one := range found {
			a.found = append(a.found, foundSessions{slot, one})
		}
	}
	lines := make([]int, len(row.Combinations))
	for i, by := range measurements.Dimensions() {
		set := a.lines[i]
		set.fold()
		var last stateOfKey
		for c := range row.Combinations {
			one := &row.Combinations[c]
			key := stateOfKey{one.Key(instance, by), one.State}
			if c > 0 && key == last { // they are in order: often
				lines[c] = lines[c-1]
				continue
			}
			lines[c], last = set.line(key), key
		}
		for _, one := range a.found {
			set.values[lines[one.Combination]][one.slot] += one.Sessions
		}
	}
	return nil
}

// row is the row of a dimension, with the lines of its greatest keys.
func (a *addedActivity) row(dimension, most int) []byte {
	set := a.lines[dimension]
	keys, places, sums := []measurements.ActivityKey(nil), make(map[measurements.ActivityKey]int), []float64(nil)
	for i, key := range set.keys {
		place, known := places[key.ActivityKey]
		if !known {
			place = len(keys)
			places[key.ActivityKey] = place
			keys, sums = append(keys, key.ActivityKey), append(sums, 0)
		}
		for _, v := range set.values[i] {
			sums[place] += v
		}
	}
	if len(keys) > most {
		greatest := greatest(sums, most, func(i int) measurements.ActivityKey { return keys[i] })
		left := newLineSet(set.buckets, set.most, restOfState)
		for i, key := range set.keys {
			if !greatest[places[key.ActivityKey]] && !key.Rest {
				key = restOfState(key)
			}
			to := left.values[left.line(key)]
			for slot, v := range set.values[i] {
				to[slot] += v
			}
		}
		set = left
	}
	of := activityrow.Row{Sampled: a.sampled, Told: a.told}
	totals := make([]measurements.Values, len(measurements.States()))
	for i, key := range set.keys {
		of.Lines = append(of.Lines, activityrow.NewLine(key.ActivityKey, key.state, set.values[i]))
		if totals[key.state] == nil {
			totals[key.state] = make(measurements.Values, set.buckets)
		}
		for slot, v := range set.values[i] {
			totals[key.state][slot] += v
		}
	}
	for state, total := range totals {
		if total != nil {
			of.Totals = append(of.Totals, activityrow.NewLine(measurements.ActivityKey{}, byte(state), total))
		}
	}
	return of.Encode()
}

// greatest says of each place whether its sum is one of so many greatest ones; of equal sums those
// of the first keys are. Most sums are below all that were found, and take one comparison.
func greatest(sums []float64, most int, key func(int) measurements.ActivityKey) []bool {
	order := func(i, j int) int {
		if sums[i] != sums[j] {
			return cmp.Compare(sums[j], sums[i])
		}
		return key(i).Compare(key(j))
	}
	var found []int
	for i := range sums {
		if len(found) == most {
			if most == 0 || order(i, found[most-1]) > 0 {
				continue
			}
			found = found[:most-1]
		}
		at, _ := slices.BinarySearchFunc(found, i, order)
		found = slices.Insert(found, at, i)
	}
	are := make([]bool, len(sums))
	for _, i := range found {
		are[i] = true
	}
	return are
}

// wholeActivity reads activity from the rows of a whole: first which lines are the greatest, and
// then these. All others are the rest.
func (s *Store) wholeActivity(ctx context.Context, of whole, w window, q measurements.ActivityQuery) (measurements.ActivityPart, error) {
	rows, err := s.readWholeActivity(ctx, of, w, q)
	if err != nil {
		return measurements.ActivityPart{}, err
	}
	lines := s.newLines(w.buckets, false, q)
	found, err := sumsOf(rows, w, lines)
	if err != nil {
		return measurements.ActivityPart{}, err
	}
	most := min(s.linesOfWhole, s.mostNumbers/w.buckets)
	if q.Limit > 0 {
		most = min(most, q.Limit)
	}
	shown := greatest(found.sums, most, func(i int) measurements.ActivityKey { return found.ids[i].Key() })
	hidden := 0
	for place, sum := range found.sums {
		if rest := found.ids[place] == restID; rest || sum == 0 {
			shown[place] = rest && sum > 0
		}
		if sum > 0 && !shown[place] {
			hidden++
		}
	}
	if err := lines.addRows(w, rows, found, shown, hidden > most); err != nil {
		return measurements.ActivityPart{}, err
	}
	part := lines.part()
	part.RestLines = hidden
	if rest, there := found.places[restID]; there && shown[rest] {
		part.RestLines++
	}
	return part, nil
}

// restID is the id of the line of the rest.
var restID = activityrow.IDOf(measurements.ActivityKey{Rest: true})

// foundLines are the different lines of rows, with what they come to in a window.
type foundLines struct {
	places map[activityrow.ID]int
	ids    []activityrow.ID
	sums   []float64
	of     [][]int // the place of each line of each row
}

func sumsOf(rows []organizationRow, w window, lines *activityLines) (foundLines, error) {
	f := foundLines{places: make(map[activityrow.ID]int), of: make([][]int, len(rows))}
	for i := range rows {
		slots := rows[i].note(w, lines)
		f.of[i] = make([]int, len(rows[i].Lines))
		for j := range rows[i].Lines {
			line := &rows[i].Lines[j]
			sum, err := line.Sum(slots)
			if err != nil {
				return f, err
			}
			place, known := f.places[line.ID]
			if !known {
				place = len(f.ids)
				f.places[line.ID] = place
				f.ids, f.sums = append(f.ids, line.ID), append(f.sums, 0)
			}
			f.of[i][j] = place
			f.sums[place] += sum
		}
	}
	return f, nil
}

// addRows adds the lines that are shown, and the others as the rest: each of them, or, if they are
// many, what all lines have more than those that are shown.
func (l *activityLines) addRows(w window, rows []organizationRow, found foundLines, shown []bool, many bool) error {
	rest := restOf(measurements.ActivityKey{})
	for i := range rows {
		row := &rows[i]
		of := w.Index(row.start) - w.first // the bucket of slot 0
		for j := range row.Lines {
			place := found.of[i][j]
			if found.sums[place] == 0 || many && !shown[place] { // nothing of it is in the window, or the totals tell
				continue
			}
			key := rest
			if shown[place] {
				key = found.ids[place].Key()
			}
			if many && key.Rest {
				continue
			}
			if err := row.Lines[j].AddTo(l.values[l.line(key)], of, w.first, w.end); err != nil {
				return err
			}
		}
	}
	if !many {
		return nil
	}
	left := make(measurements.Values, l.buckets)
	for i := range rows {
		for j := range rows[i].Totals {
			if err := rows[i].Totals[j].AddTo(left, w.Index(rows[i].start)-w.first, w.first, w.end); err != nil {
				return err
			}
		}
	}
	const rounding = 1e-9 // of a total, far above the error of short numbers
	for bucket, total := range left {
		for _, values := range l.values {
			left[bucket] -= values[bucket]
		}
		if left[bucket] < total*rounding {
			left[bucket] = 0
		}
	}
	copy(l.values[l.line(rest)], left)
	return nil
}

// organizationRow is a row of a whole, with the lines of the states that count.
type organizationRow struct {
	start time.Time
	activityrow.Row
}

func (s *Store) readWholeActivity(ctx context.Context, of whole, w window, q measurements.ActivityQuery) ([]organizationRow, error) {
	what := fmt.Sprintf("read the activity by %s of %s", q.By, of)
	type stored struct {
		Start time.Time
		Lines []byte
	}
	found, err := statement.All[stored](ctx, s.db, what, readWholeActivity,
		of.Organization, string(of.Engine), string(q.By), string(w.row), w.row.Floor(w.Start()), w.End())
	rows := make([]organizationRow, len(found))
	for i, one := range found {
		row, err := activityrow.Decode(one.Lines)
		if err != nil {
			return nil, fmt.Errorf("%s from %s on: %w", what, one.Start, err)
		}
		uncounted := func(l activityrow.Line) bool { return !q.Counts(l.State()) }
		row.Totals, row.Lines = slices.DeleteFunc(row.Totals, uncounted), slices.DeleteFunc(row.Lines, uncounted)
		rows[i] = organizationRow{one.Start.UTC(), row}
	}
	return rows, err
}

// note notes in which buckets sessions were sampled, and returns which slots are in the window.
func (r *organizationRow) note(w window, lines *activityLines) (slots uint64) {
	for slot, bucket := range w.slots(r.start) {
		slots |= 1 << slot
		lines.sampled[bucket], lines.told[bucket] = r.Sampled>>slot&1 == 1, r.Told>>slot&1 == 1
	}
	return slots
}
