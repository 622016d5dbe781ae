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

//go:embed sql/whole_activity_keep.sql
var keepWholeActivity string

const (
	// linesOfWhole is how many values of a dimension a row has a line of: those with most sessions.
	linesOfWhole = 1000
	// activityShare is which part of a core may make rows of activity.
	activityShare = 20
	// mostMade is how many numbers the lines of one dimension have while a row is made, 16 MB.
	mostMade = 1 << 21
	// activityRows is how many rows of series take as long as one of activity: it is read whole.
	activityRows = 8
)

// stateOfKey is what a row of a whole is made of: a value of a dimension, a state, because readers choose
// states, and a class, a place of measurements.ByClass.
type stateOfKey struct {
	measurements.ActivityKey
	state, class byte
}

func restOfState(k stateOfKey) stateOfKey {
	return stateOfKey{measurements.ActivityKey{Rest: true}, k.state, k.class}
}

// activityRow is a row of a whole for one dimension.
type activityRow struct {
	Dimension measurements.Dimension
	Start     time.Time
	activityrow.Encoded
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
			key := stateOfKey{one.Key(instance, by), one.State, one.Category}
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
func (a *addedActivity) row(dimension, most int) activityrow.Encoded {
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
		greatest := greatest(sums, most, func(i, j int) int { return keys[i].Compare(keys[j]) })
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
	of.Totals = linesOf(set, func(key stateOfKey) stateOfKey { return stateOfKey{state: key.state} })
	of.Lines = linesOf(set, func(key stateOfKey) stateOfKey { return stateOfKey{ActivityKey: key.ActivityKey, state: key.state} })
	return of.Encode()
}

// linesOf are the lines that keys of all classes become.
func linesOf(set *lineSet[stateOfKey], becomes func(stateOfKey) stateOfKey) []activityrow.Line {
	all := make(map[stateOfKey]*activityrow.Classes, len(set.keys))
	var order []stateOfKey
	for i, key := range set.keys {
		of := becomes(key)
		if all[of] == nil {
			all[of], order = new(activityrow.Classes), append(order, of)
		}
		if all[of][key.class] == nil {
			all[of][key.class] = make(measurements.Values, set.buckets)
		}
		for slot, v := range set.values[i] {
			all[of][key.class][slot] += v
		}
	}
	lines := make([]activityrow.Line, len(order))
	for i, of := range order {
		lines[i] = activityrow.NewLine(of.ActivityKey, of.state, all[of])
	}
	return lines
}

// greatest says of each place whether its sum is one of so many greatest ones; keys decide between
// equal sums. Most sums are below all that were found, and take one comparison.
func greatest(sums []float64, most int, keys func(i, j int) int) []bool {
	order := func(i, j int) int {
		if sums[i] != sums[j] {
			return cmp.Compare(sums[j], sums[i])
		}
		return keys(i, j)
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
