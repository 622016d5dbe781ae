package pgstore

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"fmt"
	"slices"
	"time"

	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/claim_over_hours.sql
	claimOverHours string
	//go:embed sql/compact.sql
	compactHours string
	//go:embed sql/head_of_hours.sql
	headOfHours string
	//go:embed sql/clear_head.sql
	clearHead string
	//go:embed sql/clear_raw.sql
	clearRaw string
	//go:embed sql/open_weeks.sql
	noteOpenWeeks string
)

const (
	// compactGroup is how many hours one transaction compacts: their series' writers wait
	// for it. ClickHouse, which makes a file of each insert and merges them, takes a day of
	// hours from 512 in a quarter of the time that it takes them from 64 in.
	compactGroup = 512
	// packGroup is the number of hours whose raw samples are in memory at once.
	packGroup = 64
	// overAfter is the age of an hour's start at which the hour is over: late samples have
	// ten minutes.
	overAfter = 70 * time.Minute
	// pausedFor is how long nothing of an hour has come when the hour is compacted.
	pausedFor = 10 * time.Minute
	// packedBytes is how much is packed before it is put.
	packedBytes = 4 << 20
)

// Compact puts past hours into blocks, returns their number, and empties parts whose data is
// all there. Any number of processes may do it.
func (s *Store) Compact(ctx context.Context) (hours int, err error) {
	var waiting []bucket
	err = s.round(ctx, claimOverHours, compactGroup, func(ctx context.Context, g *group, claimed []bucket) error {
		n, err := g.compact(ctx, claimed)
		hours += n
		if isAway(ctx, err) && len(claimed) == 1 { // of more, each is tried by itself
			waiting = append(waiting, claimed...)
		}
		return err
	}, overAfter, pausedFor)
	if err := s.note(ctx, waiting); err != nil {
		return hours, err
	}
	if err := statement.Exec(ctx, s.db, "forget what no longer waits for blocks", forgetAway, overAfter, blocksRetry); err != nil {
		return hours, err
	}
	if err != nil {
		return hours, fmt.Errorf("put hours that are over into blocks: %w", err)
	}
	return hours, s.emptyParts(ctx)
}

// overHour is an hour that is put into blocks.
type overHour struct {
	bucket
	Packed bool // its raw samples too
}

// compact puts claimed hours, and what the head has of their days and weeks, into blocks,
// and takes them out of the head. Blocks of days and weeks are put each time, so that
// nothing but what open hours come to is lost with the head.
func (g *group) compact(ctx context.Context, claimed []bucket) (int, error) {
	over, err := statement.All[overHour](ctx, g.tx, fmt.Sprintf("compact %d hours", len(claimed)), compactHours,
		append(statement.Columns(claimed), pausedFor, g.store.retention.raw)...)
	if err != nil || len(over) == 0 {
		return 0, err
	}
	var hours, packed []bucket
	for _, h := range over {
		b := h.onGrid()
		hours = append(hours, b)
		if h.Packed {
			packed = append(packed, b)
		}
	}
	if err := g.putHead(ctx, hours); err != nil {
		return 0, err
	}
	if err := g.putRaw(ctx, packed); err != nil {
		return 0, err
	}
	return len(hours), statement.Exec(ctx, g.tx, fmt.Sprintf("clear the head of %d hours", len(hours)), clearHead,
		append(statement.Columns(hours), overAfter)...)
}

// putHead puts what the head has of hours into blocks.
func (g *group) putHead(ctx context.Context, hours []bucket) error {
	type row struct {
		Table blocks.Table
		stored
	}
	rows, err := statement.All[row](ctx, g.tx, fmt.Sprintf("read the head of %d hours", len(hours)), headOfHours, statement.Columns(hours)...)
	if err != nil {
		return err
	}
	of := make(map[blocks.Table][]blocks.Block)
	var detailed []bucket
	for _, row := range rows {
		b := row.onGrid()
		if row.Table == blocks.HourDetails {
			detailed = append(detailed, b)
		}
		of[row.Table] = append(of[row.Table], blocks.Block{Series: g.series[b.Series].block(), Start: b.Start, Body: row.Body})
	}
	if err := g.put(ctx, of); err != nil || len(detailed) == 0 {
		return err
	}
	return statement.Exec(ctx, g.tx, fmt.Sprintf("note the weeks of %d hours", len(detailed)), noteOpenWeeks, statement.Columns(detailed)...)
}

// put puts blocks, table by table in their order.
func (g *group) put(ctx context.Context, of map[blocks.Table][]blocks.Block) error {
	for _, table := range blocks.Tables() {
		if len(of[table]) == 0 {
			continue
		}
		if err := g.store.blocks.Put(ctx, g.tx, table, of[table]); err != nil {
			return err
		}
	}
	return nil
}

// putRaw packs the head's raw samples of hours into blocks, together with those that are
// already there; the head's count. The samples of a few hours are in memory at once, and the
// packed form of some more.
func (g *group) putRaw(ctx context.Context, hours []bucket) error {
	if len(hours) == 0 {
		return nil
	}
	// A store asks for each kind of series by itself.
	slices.SortStableFunc(hours, func(a, b bucket) int { return cmp.Compare(g.series[a.Series].Kind, g.series[b.Series].Kind) })
	var packed []blocks.Block
	bytes := 0
	for some := range slices.Chunk(hours, packGroup) {
		more, err := g.pack(ctx, some)
		if err != nil {
			return err
		}
		for _, b := range more {
			bytes += len(b.Body)
		}
		packed = append(packed, more...)
		if bytes < packedBytes {
			continue
		}
		if err := g.store.blocks.Put(ctx, g.tx, blocks.Raw, packed); err != nil {
			return err
		}
		packed, bytes = nil, 0
	}
	if err := g.store.blocks.Put(ctx, g.tx, blocks.Raw, packed); err != nil {
		return err
	}
	return statement.Exec(ctx, g.tx, fmt.Sprintf("clear %d hours of raw samples", len(hours)), clearRaw, statement.Columns(hours)...)
}

// pack is what the raw samples of hours are in blocks.
func (g *group) pack(ctx context.Context, hours []bucket) ([]blocks.Block, error) {
	type spanOf struct {
		bucket
		Until time.Time
	}
	asked, ranges := make([]spanOf, len(hours)), make([]blocks.Range, len(hours))
	for i, h := range hours {
		asked[i] = spanOf{h, h.Start.Add(time.Hour)}
		ranges[i] = blocks.Range{Series: g.series[h.Series].block(), From: h.Start, To: asked[i].Until}
	}
	of := make(map[bucket][]codec.Sample) // by the start of the block
	var keys []bucket
	err := eachIn(ctx, g.tx, rawSamples, func(place int, at time.Time, body []byte) error {
		key := bucket{hours[place].Series, at.Truncate(blocks.RawWidth)}
		if of[key] == nil {
			keys = append(keys, key)
		}
		of[key] = append(of[key], codec.Sample{At: at, Body: body})
		return nil
	}, statement.Columns(asked)...)
	if err != nil {
		return nil, fmt.Errorf("read the raw samples of %d hours: %w", len(hours), err)
	}
	err = g.store.eachPacked(ctx, g.tx, ranges, func(place int, at time.Time, body []byte) error {
		key := bucket{hours[place].Series, at.Truncate(blocks.RawWidth)}
		if of[key] != nil { // else the block stays as it is
			of[key] = withSample(of[key], codec.Sample{At: at, Body: slices.Clone(body)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	packed := make([]blocks.Block, len(keys))
	for i, key := range keys {
		series := g.series[key.Series]
		packed[i] = blocks.Block{Series: series.block(), Start: key.Start, Body: codec.Pack(series.Kind, key.Start, of[key])}
	}
	return packed, nil
}

// withSample inserts a sample at its place, unless there is one with its time.
func withSample(samples []codec.Sample, s codec.Sample) []codec.Sample {
	in, known := slices.BinarySearchFunc(samples, s.At, func(s codec.Sample, at time.Time) int { return s.At.Compare(at) })
	if known {
		return samples
	}
	return slices.Insert(samples, in, s)
}
