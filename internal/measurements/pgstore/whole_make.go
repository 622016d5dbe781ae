package pgstore

import (
	"context"
	_ "embed" // the statements
	"maps"
	"math/bits"
	"slices"
	"time"

	"muster/domain/instant"
	"muster/domain/timegrid"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/rowbytes"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/whole_rows.sql
	wholeRowsIn string
	//go:embed sql/whole_keep.sql
	keepWhole string
)

// windows are those of every size that contain dirty data. They may contain more: rows that are
// made anew are right in any case. Windows older than the retention of series are made from all
// their slots, because those of others may be forgotten.
func (m *making) windows(now time.Time) (all []timegrid.Window) {
	hours := slices.SortedFunc(maps.Keys(m.dirty), time.Time.Compare)
	last := map[timegrid.Size]*timegrid.Window{}
	var of [4][]*timegrid.Window
	for _, hour := range hours {
		minutes, old := m.dirty[hour], now.Add(-m.store.ledger.Retention.Minutes)
		if hour.Before(old) {
			minutes = codec.AllMinutes
		}
		day, hourEnd := timegrid.Day.Floor(hour), hour.Add(time.Hour)
		dayFrom, dayTo := hour, hourEnd
		if day.Before(now.Add(-m.store.ledger.Retention.Hours)) {
			dayFrom, dayTo = day, day.AddDate(0, 0, 1)
		}
		week := timegrid.Week.Floor(hour)
		for i, w := range []timegrid.Window{
			{From: hour.Add(time.Duration(bits.TrailingZeros64(minutes)) * time.Minute), To: hour.Add(time.Duration(bits.Len64(minutes)) * time.Minute), Size: timegrid.Minute},
			{From: dayFrom, To: dayTo, Size: timegrid.Hour},
			{From: day, To: day.AddDate(0, 0, 1), Size: timegrid.Day},
			{From: week, To: week.AddDate(0, 0, 7), Size: timegrid.Week},
		} {
			row := levelOf(w.Size).row
			if before := last[w.Size]; before != nil && !row.Floor(w.From).After(row.Floor(before.To.Add(-1)).Add(row.Width())) {
				before.To = instant.Later(before.To, w.To)
				continue
			}
			last[w.Size] = &w
			of[i] = append(of[i], &w)
		}
	}
	for _, windows := range of {
		for _, w := range windows {
			all = append(all, *w)
		}
	}
	return all
}

// remake makes the slots of a window anew from those of the series.
//
// They are read on a connection of their own, by statements that begin after the marks were
// taken: the setter of a mark has committed its data.
func (m *making) remake(ctx context.Context, asked timegrid.Window) error {
	w := windowOf(asked)
	sum := codec.NewWhole(m.Kind, w.buckets)
	seen := m.sampled(w)
	err := m.store.readRows(ctx, w, m.series, func(place int, part rowbytes.Stretch) error {
		seen.note(place, part)
		return sum.Take(part)
	})
	if err != nil {
		return err
	}
	if err := m.store.crash("read"); err != nil {
		return err
	}
	first, end := w.row.Floor(w.Start()), w.End()
	width := string(w.row)
	rows, err := statement.All[wholeRow](ctx, m.tx, "read the rows of "+m.String(), wholeRowsIn, m.with(width, first, end)...)
	if err != nil {
		return err
	}
	known := make(map[time.Time]wholeRow, len(rows))
	for _, row := range rows {
		known[row.Start.UTC()] = row
	}
	var kept []wholeRow
	for start := first; start.Before(end); start = start.Add(w.row.Width()) {
		row, there := known[start]
		row.Start = start
		if err := row.set(w, sum, seen); err != nil {
			return err
		}
		if there || len(row.Slots) > 0 || len(row.Hosts) > 1 {
			kept = append(kept, row)
		}
	}
	args := m.with(append([]any{width}, statement.Columns(kept)...)...)
	if err := statement.Exec(ctx, m.tx, "keep rows of "+m.String(), keepWhole, args...); err != nil {
		return err
	}
	return m.store.crash("keep")
}

// wholeRow is a row of a whole.
type wholeRow struct {
	Start        time.Time
	Slots, Hosts []byte
}

// set sets the slots of the row that are in a window. Hosts is nil where nothing of them
// has changed.
func (r *wholeRow) set(w window, sum codec.Whole, seen *sampled) (err error) {
	of := w.Index(r.Start) - w.first // the bucket of slot 0
	at, end := max(0, of+w.first), min(w.buckets, of+w.end)
	slots := make([][]byte, end-at)
	for i := range slots {
		slots[i] = sum.Slot(at + i)
	}
	if r.Slots, err = codec.SetSlots(r.Slots, at-of, slots); err != nil {
		return err
	}
	if r.Slots == nil { // of an hour that is empty again
		r.Slots = []byte{}
	}
	before := r.Hosts
	r.Hosts = nil
	if seen == nil {
		return nil
	}
	known, err := codec.DecodePresence(before)
	if err != nil {
		return err
	}
	now := known.Replace(slotsFrom(at-of, end-of), seen.presence(of))
	if before == nil || !now.Equal(known) {
		r.Hosts = now.Encode()
	}
	return nil
}

// slotsFrom has the bits of slots from one on and before another.
func slotsFrom(first, end int) uint64 { return (1<<(end-first) - 1) << first }

// sampled says in which buckets of a window each host has a sample.
type sampled struct {
	window
	front  int // the bucket of the first row's slot 0: none of the window's, or its first
	series []int64
	rows   map[int][]uint64 // of each, by the bucket of the row's slot 0
}

// sampled is empty at first; nil if it is not needed: for instances, and for weeks, whose days
// say it.
func (m *making) sampled(w window) *sampled {
	if m.Kind != codec.Hosts || w.Size == timegrid.Week {
		return nil
	}
	s := &sampled{window: w, front: w.Index(w.row.Floor(w.Start())), series: m.series.ids(), rows: make(map[int][]uint64)}
	return s
}

// note notes what a row of a series has.
func (s *sampled) note(place int, part rowbytes.Stretch) {
	if s == nil {
		return
	}
	for bucket := range part.Filled() {
		of := bucket - (bucket-s.front)%s.end
		row := s.rows[of]
		if row == nil {
			row = make([]uint64, len(s.series))
			s.rows[of] = row
		}
		row[place] |= 1 << (bucket - of)
	}
}

// presence is the data of the row whose slot 0 belongs to a bucket.
func (s *sampled) presence(of int) codec.Presence {
	row := s.rows[of]
	if row == nil {
		return codec.Presence{}
	}
	return codec.Presence{Series: s.series, Slots: row}
}
