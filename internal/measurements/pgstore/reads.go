package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/rowbytes"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/hosts_in_scope.sql
	hostsInScope string
	//go:embed sql/instances_in_scope.sql
	instancesInScope string
)

// level is where the buckets of a size are: a table, the width of a row, and which of its
// slots they are.
type level struct {
	table      blocks.Table
	row        timegrid.Size
	first, end int
}

func levelOf(size timegrid.Size) level {
	switch size {
	case timegrid.Minute:
		return level{blocks.Minutes, timegrid.Hour, 0, codec.MinutesOfHour}
	case timegrid.Hour:
		return level{blocks.Hours, timegrid.Day, 0, codec.RestOfDay}
	case timegrid.Day:
		return level{blocks.Days, timegrid.Week, 0, codec.WeekItself}
	}
	return level{blocks.Days, timegrid.Week, codec.WeekItself, codec.RestOfWeek}
}

// window is a window as its rows are read.
type window struct {
	timegrid.Window
	level
	buckets int
}

func windowOf(w timegrid.Window) window { return window{w, levelOf(w.Size), w.Len()} }

// slots are the slots of a row that starts at a time which are in the window, each with its bucket.
func (w window) slots(start time.Time) iter.Seq2[int, int] {
	of := w.Index(start) - w.first // the bucket of slot 0
	return func(yield func(slot, bucket int) bool) {
		for slot := max(w.first, -of); slot < min(w.end, w.buckets-of); slot++ {
			if !yield(slot, of+slot) {
				return
			}
		}
	}
}

// stretch is what a row of the window has.
func (w window) stretch(start time.Time, row []byte) (rowbytes.Stretch, error) {
	of := w.Index(start) - w.first // the bucket of slot 0
	return rowbytes.Cut(row, of, max(0, of+w.first), min(w.buckets, of+w.end))
}

// readRows hands what the rows of some series have within the window to take, with the
// place of the series; of sessions only what is shown.
func (s *Store) readRows(ctx context.Context, w window, series subjects, take func(place int, s rowbytes.Stretch) error) error {
	return s.eachRow(ctx, w, true, series, func(place int, start time.Time, row []byte) error {
		part, err := w.stretch(start, row)
		if err != nil {
			return err
		}
		return take(place, part)
	})
}

// eachRow hands the rows of some series that the window touches to take, whole or what
// is shown of sessions. The bytes are good until take returns.
func (s *Store) eachRow(ctx context.Context, w window, shown bool, series subjects, take func(place int, start time.Time, row []byte) error) error {
	ranges := series.ranges(w.row.Floor(w.Start()), w.End())
	for i := range ranges {
		ranges[i].Front = shown && ranges[i].Series.Kind == codec.Sessions
	}
	return s.eachBoth(ctx, w.table, ranges, take)
}

// found is a row of what was asked for.
type found struct {
	place int
	at    int64 // µs
}

// eachBoth passes the rows of ranges in the head and in blocks to take; raw samples with their
// times. If both have one, the head's counts. The head is read first: data that is compacted in
// between is found twice, and not never. Ranges with every row in the head are not looked up in
// blocks. The bytes are valid until take returns.
func (s *Store) eachBoth(ctx context.Context, table blocks.Table, ranges []blocks.Range, take func(place int, at time.Time, body []byte) error) error {
	if len(ranges) == 0 {
		return nil
	}
	failed := func(err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("read the %s of %d series: %w", table, len(ranges), err)
	}
	inHead, rows := make(map[found]bool), make([]int64, len(ranges))
	err := tables.EachOfHead(ctx, s.db, table, ranges, func(place int, at time.Time, body []byte) error {
		inHead[found{place, at.UnixMicro()}] = true
		rows[place]++
		return take(place, at, body)
	})
	if err != nil {
		return failed(err)
	}
	var left []blocks.Range
	var places []int
	for place, r := range ranges {
		if rows[place] < rowsOf(table, r) {
			left, places = append(left, r), append(places, place)
		}
	}
	if len(left) == 0 {
		return nil
	}
	other := func(place int, at time.Time, body []byte) error {
		place = places[place]
		if len(inHead) > 0 && inHead[found{place, at.UnixMicro()}] {
			return nil
		}
		return take(place, at, body)
	}
	if table != blocks.Raw {
		return failed(s.ledger.Blocks.Each(ctx, nil, table, left, other))
	}
	return failed(blocks.EachSample(ctx, s.ledger.Blocks, nil, left, other))
}

// rowsOf is the maximum number of rows of slots in a range; for other tables it is unknown.
func rowsOf(table blocks.Table, r blocks.Range) int64 {
	var width time.Duration
	switch table {
	case blocks.Minutes:
		width = timegrid.Hour.Width()
	case blocks.Hours:
		width = timegrid.Day.Width()
	case blocks.Days:
		width = timegrid.Week.Width()
	default:
		return math.MaxInt64
	}
	return int64((r.To.Sub(r.From)-1)/width) + 1 // of all times there is, Sub is the longest duration
}

// readInstances passes the data of an engine's instances in scope within the window to take, as
// readRows does, and says whether some of it is partial.
func (s *Store) readInstances(ctx context.Context, organization uuid.UUID, kind string, engine fleet.Engine, scope fleet.Scope, w window, take func(rowbytes.Stretch) error) (partial bool, err error) {
	found, err := s.inScope(ctx, organization, kind, engine, scope)
	if err != nil {
		return false, err
	}
	return found.arePartial(w.Start(), w.End()), s.readRows(ctx, w, found, func(_ int, part rowbytes.Stretch) error { return take(part) })
}

// subject is a series, and its host or instance.
type subject struct {
	tables.Series
	PartialFrom *time.Time `db:"partial_from"` // of an instance: samples of a part only
	PartialTo   *time.Time `db:"partial_to"`
	Instances   int        // that run on a host, as its newest sample names them
	Ready       bool       // what the head lost in a crash has been made anew
}

// instance is the instance of the series.
func (s subject) instance() (uuid.UUID, error) {
	id, err := uuid.Parse(s.Subject)
	if err != nil {
		return id, fmt.Errorf("series %d: %w", s.ID, err)
	}
	return id, nil
}

type subjects []subject

func (s subjects) ids() []int64 {
	ids := make([]int64, len(s))
	for i, one := range s {
		ids[i] = one.ID
	}
	return ids
}

// ranges asks for the same time of all of them.
func (s subjects) ranges(from, to time.Time) []blocks.Range {
	ranges := make([]blocks.Range, len(s))
	for i, one := range s {
		ranges[i] = blocks.Range{Series: one.Block(), From: from, To: to}
	}
	return ranges
}

// inScope finds the series of an engine's instances.
func (s *Store) inScope(ctx context.Context, organization uuid.UUID, kind string, engine fleet.Engine, scope fleet.Scope) (subjects, error) {
	return s.find(ctx, fmt.Sprintf("find the series of %s", engine), instancesInScope,
		organization, kind, string(engine), !scope.Filtered, tables.Subjects(scope.Instances))
}

// hostsIn finds the series of hosts.
func (s *Store) hostsIn(ctx context.Context, organization uuid.UUID, scope measurements.HostScope) (subjects, error) {
	names := slices.Clone(scope.Names)
	for _, name := range scope.Names {
		names = append(names, fleet.HostKey(name))
	}
	return s.find(ctx, "find the hosts in scope", hostsInScope, organization, !scope.Filtered, statement.IDs(scope.Instances), names)
}

// find finds series whose rows can be read.
func (s *Store) find(ctx context.Context, what, query string, args ...any) (subjects, error) {
	found, err := statement.All[subject](ctx, s.db, what, query, args...)
	if err == nil && len(found) > 0 && !found[0].Ready {
		err = &measurements.RecoveringError{}
	}
	return found, err
}

// arePartial says that some of the series have samples of a part only from a time on and
// before another.
func (s subjects) arePartial(from, to time.Time) bool {
	for _, one := range s {
		if one.PartialFrom != nil && one.PartialFrom.Before(to) && !one.PartialTo.Before(from) {
			return true
		}
	}
	return false
}
