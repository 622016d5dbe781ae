package compaction

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"fmt"
	"slices"
	"time"

	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/ledger"
	"muster/internal/measurements/pgstore/packing"
	"muster/internal/measurements/pgstore/tables"
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
	//go:embed sql/forget_away.sql
	forgetAway string
	//go:embed sql/open_weeks.sql
	noteOpenWeeks string
)

const (
	// compactGroup is how many hours one transaction compacts: their series' writers wait
	// for it. ClickHouse, which makes a file of each insert and merges them, takes a day of
	// hours from 512 in a quarter of the time that it takes them from 64 in.
	compactGroup = 512
	// PackGroup is the number of hours whose raw samples are in memory at once.
	PackGroup = 64
	// OverAfter is the age of an hour's start at which the hour is over: late samples have
	// ten minutes.
	OverAfter = 70 * time.Minute
	// pausedFor is how long nothing of an hour has come when the hour is compacted.
	pausedFor = 10 * time.Minute
	// PackedBytes is how much is packed before it is put.
	PackedBytes = 4 << 20
)

// Compact puts past hours into blocks, returns their number, and empties parts whose data is
// all there. Any number of processes may do it.
func (c *Compactor) Compact(ctx context.Context) (hours int, err error) {
	var waiting []tables.Bucket
	err = c.round(ctx, claimOverHours, compactGroup, func(ctx context.Context, g *group, claimed []tables.Bucket) error {
		n, err := g.compact(ctx, claimed)
		hours += n
		if ledger.IsAway(ctx, err) && len(claimed) == 1 { // of more, each is tried by itself
			waiting = append(waiting, claimed...)
		}
		return err
	}, OverAfter, pausedFor)
	if err := c.ledger.NoteAway(ctx, waiting); err != nil {
		return hours, err
	}
	if err := statement.Exec(ctx, c.ledger.DB, "forget what no longer waits for blocks", forgetAway, OverAfter, ledger.BlocksRetry); err != nil {
		return hours, err
	}
	if err != nil {
		return hours, fmt.Errorf("put hours that are over into blocks: %w", err)
	}
	return hours, c.ledger.Raw.EmptyParts(ctx)
}

// overHour is an hour that is put into blocks.
type overHour struct {
	tables.Bucket
	Packed bool // its raw samples too
}

// compact puts claimed hours, and what the head has of their days and weeks, into blocks,
// and takes them out of the head. Blocks of days and weeks are put each time, so that
// nothing but what open hours come to is lost with the head.
func (g *group) compact(ctx context.Context, claimed []tables.Bucket) (int, error) {
	over, err := statement.All[overHour](ctx, g.Tx, fmt.Sprintf("compact %d hours", len(claimed)), compactHours,
		append(statement.Columns(claimed), pausedFor, g.Ledger.Retention.Raw)...)
	if err != nil || len(over) == 0 {
		return 0, err
	}
	var hours, packed []tables.Bucket
	for _, h := range over {
		b := h.OnGrid()
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
	return len(hours), statement.Exec(ctx, g.Tx, fmt.Sprintf("clear the head of %d hours", len(hours)), clearHead,
		append(statement.Columns(hours), OverAfter)...)
}

// putHead puts what the head has of hours into blocks.
func (g *group) putHead(ctx context.Context, hours []tables.Bucket) error {
	type row struct {
		Table blocks.Table
		tables.Stored
	}
	rows, err := statement.All[row](ctx, g.Tx, fmt.Sprintf("read the head of %d hours", len(hours)), headOfHours, statement.Columns(hours)...)
	if err != nil {
		return err
	}
	of := make(map[blocks.Table][]blocks.Block)
	var detailed []tables.Bucket
	for _, row := range rows {
		b := row.OnGrid()
		if row.Table == blocks.HourDetails {
			detailed = append(detailed, b)
		}
		of[row.Table] = append(of[row.Table], blocks.Block{Series: g.Block(b.Series), Start: b.Start, Body: row.Body})
	}
	if err := g.put(ctx, of); err != nil || len(detailed) == 0 {
		return err
	}
	return statement.Exec(ctx, g.Tx, fmt.Sprintf("note the weeks of %d hours", len(detailed)), noteOpenWeeks, statement.Columns(detailed)...)
}

// put puts blocks, table by table in their order.
func (g *group) put(ctx context.Context, of map[blocks.Table][]blocks.Block) error {
	for _, table := range blocks.Tables() {
		if len(of[table]) == 0 {
			continue
		}
		if err := g.Ledger.Blocks.Put(ctx, g.Tx, table, of[table]); err != nil {
			return err
		}
	}
	return nil
}

// putRaw packs the head's raw samples of hours into blocks, together with those that are
// already there; the head's count. The samples of a few hours are in memory at once, and the
// packed form of some more.
func (g *group) putRaw(ctx context.Context, hours []tables.Bucket) error {
	if len(hours) == 0 {
		return nil
	}
	// A store asks for each kind of series by itself.
	slices.SortStableFunc(hours, func(a, b tables.Bucket) int { return cmp.Compare(g.Series[a.Series].Kind, g.Series[b.Series].Kind) })
	var packed []blocks.Block
	bytes := 0
	for some := range slices.Chunk(hours, PackGroup) {
		more, err := g.pack(ctx, some)
		if err != nil {
			return err
		}
		for _, b := range more {
			bytes += len(b.Body)
		}
		packed = append(packed, more...)
		if bytes < PackedBytes {
			continue
		}
		if err := g.Ledger.Blocks.Put(ctx, g.Tx, blocks.Raw, packed); err != nil {
			return err
		}
		packed, bytes = nil, 0
	}
	if err := g.Ledger.Blocks.Put(ctx, g.Tx, blocks.Raw, packed); err != nil {
		return err
	}
	return statement.Exec(ctx, g.Tx, fmt.Sprintf("clear %d hours of raw samples", len(hours)), clearRaw, statement.Columns(hours)...)
}

// pack is what the raw samples of hours are in blocks.
func (g *group) pack(ctx context.Context, hours []tables.Bucket) ([]blocks.Block, error) {
	asked, ranges := make([]tables.Span, len(hours)), make([]blocks.Range, len(hours))
	for i, h := range hours {
		asked[i] = tables.Span{Bucket: h, Until: h.Start.Add(time.Hour)}
		ranges[i] = blocks.Range{Series: g.Block(h.Series), From: h.Start, To: asked[i].Until}
	}
	of := make(map[tables.Bucket][]codec.Sample) // by the start of the block
	var keys []tables.Bucket
	err := tables.EachSample(ctx, g.Tx, asked, func(place int, at time.Time, body []byte) error {
		key := tables.At(hours[place].Series, at.Truncate(blocks.RawWidth))
		if of[key] == nil {
			keys = append(keys, key)
		}
		of[key] = append(of[key], codec.Sample{At: at, Body: body})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the raw samples of %d hours: %w", len(hours), err)
	}
	err = blocks.EachSample(ctx, g.Ledger.Blocks, g.Tx, ranges, func(place int, at time.Time, body []byte) error {
		key := tables.At(hours[place].Series, at.Truncate(blocks.RawWidth))
		if of[key] != nil { // else the block stays as it is
			of[key] = codec.Insert(of[key], codec.Sample{At: at, Body: slices.Clone(body)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	packed := make([]blocks.Block, len(keys))
	for i, key := range keys {
		series := g.Series[key.Series]
		packed[i] = blocks.Block{Series: series.Block(), Start: key.Start, Body: packing.Pack(series.Kind, key.Start, of[key])}
	}
	return packed, nil
}
