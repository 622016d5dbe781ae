package rollup

import (
	"context"
	_ "embed" // the statements
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/domain/timegrid"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/ledger"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

var (
	//go:embed sql/claim_newest.sql
	claimNewest string
	//go:embed sql/claim_next.sql
	claimNext string
	//go:embed sql/claim_held.sql
	claimHeld string
	//go:embed sql/dirty.sql
	dirtyHours string
	//go:embed sql/postpone.sql
	postponeHours string
	//go:embed sql/claim_hour.sql
	claimHour string
	//go:embed sql/await_blocks.sql
	awaitBlocks string
	//go:embed sql/whole_mark.sql
	markWhole string
)

const (
	// GroupHours is how many hours of series one transaction rolls up: two days of an imported
	// series, and some 50 ms for which its writers may have to wait.
	GroupHours = 48
	// GroupBytes is how much a group reads of series whose hours are large. The first
	// hour is rolled up whatever its size, the others then wait.
	GroupBytes = 16 << 20
)

// Roller rolls up the hours of a ledger.
type Roller struct {
	ledger   *ledger.Ledger
	rolledTo atomic.Int64 // the series behind which Roll goes on with its rounds
}

// Of returns a roller of a ledger.
func Of(l *ledger.Ledger) *Roller { return &Roller{ledger: l} }

// Roll rolls up what is dirty now, of any organization, and returns the number of hours of
// series; 0: nothing is left that no other process works on. Any number of processes may do it.
//
// It alternates between two groups: a group of the newest hours, so that current samples are
// shown in seconds, and then, while there is more, a group of the next series in their order,
// so that an import is processed too, days at a time. Hours that become dirty after a group
// that was not full wait for the next call: running after each sample would take a transaction
// for each. An hour that cannot be rolled up is logged, waits and stays dirty; it is no error.
func (r *Roller) Roll(ctx context.Context) (hours int, err error) {
	if err := r.recover(ctx); err != nil {
		return 0, err
	}
	for more := true; more; {
		newest, err := r.rollGroup(ctx, claimNewest)
		hours += newest.rolled
		if err != nil {
			return hours, err
		}
		if more = newest.full || newest.cut; !newest.full {
			continue
		}
		next, err := r.rollGroup(ctx, claimNext, r.rolledTo.Load())
		hours += next.rolled
		if err != nil {
			return hours, err
		}
		r.rolledTo.Store(next.last) // 0, from the front again, where it was the end
	}
	held, err := r.rollHeld(ctx)
	if hours += held; err != nil {
		return hours, err
	}
	return hours, r.recovered(ctx)
}

// rollHeld rolls up the hour that has been dirty for the longest time. For its series
// it waits, but not for one whose writer has hung: the others would wait with it.
func (r *Roller) rollHeld(ctx context.Context) (hours int, err error) {
	err = transact.Once(ctx, r.ledger.DB, nil, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `SET LOCAL lock_timeout = '1s'`); err != nil {
			return fmt.Errorf("limit how long to wait: %w", err)
		}
		o, err := r.rollClaimed(ctx, tx, claimHeld, 1)
		hours = o.rolled
		return err
	})
	var stuck *stuckError
	switch {
	case ledger.IsAway(ctx, err) && errors.As(err, &stuck):
		r.tellAway(ctx, stuck.hours[0], err)
		return 0, r.await(ctx, stuck.hours)
	case tables.IsHeld(err):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("roll up the hour that waits the longest: %w", err)
	}
	return hours, nil
}

// outcome is what became of a group.
type outcome struct {
	claimed, rolled int
	full            bool  // there may be more that could have been claimed
	cut             bool  // some of it was left, because it is large
	last            int64 // the last series of a full group; 0: it was not full
}

// rollGroup rolls up the hours that a claim finds, in one transaction. Where blocks of some
// of them cannot be reached, each is rolled up by itself, and those that cannot wait.
func (r *Roller) rollGroup(ctx context.Context, claim string, args ...any) (o outcome, err error) {
	err = transact.Once(ctx, r.ledger.DB, nil, func(tx *sqlx.Tx) error {
		o, err = r.rollClaimed(ctx, tx, claim, GroupHours, args...)
		return err
	})
	var stuck *stuckError
	if ledger.IsAway(ctx, err) && errors.As(err, &stuck) {
		o.rolled, err = r.rollEach(ctx, stuck.hours)
	}
	if err != nil {
		return outcome{}, fmt.Errorf("roll up a group of hours: %w", err)
	}
	return o, nil
}

// stuckError is why the hours of a group were not rolled up.
type stuckError struct {
	hours []tables.Bucket
	error
}

func (e *stuckError) Unwrap() error { return e.error }

// rollEach rolls up hours one by one, and postpones those whose blocks cannot be reached.
func (r *Roller) rollEach(ctx context.Context, hours []tables.Bucket) (rolled int, err error) {
	var waiting []tables.Bucket
	for _, hour := range hours {
		err := transact.Once(ctx, r.ledger.DB, nil, func(tx *sqlx.Tx) error {
			o, err := r.rollClaimed(ctx, tx, claimHour, 1, hour.Series, hour.Start)
			rolled += o.rolled
			return err
		})
		switch {
		case ledger.IsAway(ctx, err):
			r.tellAway(ctx, hour, err)
			waiting = append(waiting, hour)
		case err != nil:
			return rolled, err
		}
	}
	return rolled, r.await(ctx, waiting)
}

func (r *Roller) tellAway(ctx context.Context, hour tables.Bucket, err error) {
	r.ledger.Log.WarnContext(ctx, "an hour of samples cannot be rolled up, trying again later", "series", hour.Series, "hour", hour.Start, "error", err)
}

// await postpones hours whose blocks cannot be reached, and records their series.
func (r *Roller) await(ctx context.Context, hours []tables.Bucket) error {
	if len(hours) == 0 {
		return nil
	}
	// In this order: otherwise the code that forgets what no longer waits (Compact) would not
	// see that these do.
	err := statement.Exec(ctx, r.ledger.DB, fmt.Sprintf("postpone %d hours", len(hours)), awaitBlocks,
		append(statement.Columns(hours), ledger.BlocksRetry)...)
	if err != nil {
		return err
	}
	return r.ledger.NoteAway(ctx, hours)
}

func (r *Roller) rollClaimed(ctx context.Context, tx *sqlx.Tx, claim string, limit int, args ...any) (o outcome, err error) {
	of, claimed, err := r.ledger.Claim(ctx, tx, claim, append([]any{limit}, args...)...)
	if err != nil || len(claimed) == 0 {
		return o, err
	}
	g := &group{Group: of}
	o.claimed = len(claimed)
	if o.full = o.claimed == limit; o.full {
		o.last = claimed[limit-1].Series
	}
	if o.rolled, err = g.roll(ctx, claimed); err != nil {
		err = &stuckError{claimed, err}
	}
	o.cut = g.cut
	return o, err
}

// group is what one transaction rolls up.
type group struct {
	*ledger.Group
	hours []*dirtyHour // in the order of series and time
	cut   bool         // some that were claimed are left: all would be too large
}

// dirtyHour is an hour of a series to roll up.
type dirtyHour struct {
	tables.Bucket
	Dirty  uint64 `db:"minutes"`
	Slots  []byte // the minutes as they are; nil: there are none
	Packed bool   // some of its raw samples are in blocks
	Before bool   // some of the hour before it
	Weight int64  // of what has to be read for it in bytes, where that may be much
	Known  []byte // the detail as it is, of a kind that adds to it

	samples        []codec.Sample // what rolling up needs
	rolled, detail []byte         // what was made of it
}

// roll rolls up claimed hours from the raw samples to the weeks, and says how many.
func (g *group) roll(ctx context.Context, claimed []tables.Bucket) (int, error) {
	if err := g.readDirty(ctx, claimed); err != nil {
		return 0, err
	}
	if err := g.readRaw(ctx); err != nil {
		return 0, err
	}
	var done []*dirtyHour
	var failed []tables.Bucket
	for _, h := range g.hours {
		if err := h.roll(g.Kind(h.Series), g.Series[h.Series]); err != nil {
			g.fails(ctx, h, err)
			failed = append(failed, h.Bucket)
			continue
		}
		done = append(done, h)
	}
	c, err := g.readCascade(ctx, done)
	if err != nil {
		return 0, err
	}
	done = c.carry(done, func(h *dirtyHour, err error) {
		g.fails(ctx, h, err)
		failed = append(failed, h.Bucket)
	})
	if len(failed) > 0 {
		err := statement.Exec(ctx, g.Tx, fmt.Sprintf("postpone %d hours", len(failed)), postponeHours, statement.Columns(failed)...)
		if err != nil {
			return 0, err
		}
	}
	if err := g.markWhole(ctx, done); err != nil {
		return 0, err
	}
	return len(done), g.keep(ctx, c, done)
}

func (g *group) fails(ctx context.Context, h *dirtyHour, err error) {
	g.Ledger.Log.ErrorContext(ctx, "an hour of samples cannot be rolled up, trying again later",
		"series", h.Series, "hour", h.Start, "error", err)
}

// readDirty reads what is dirty of claimed hours, as many as a group may.
func (g *group) readDirty(ctx context.Context, claimed []tables.Bucket) error {
	hours, err := statement.All[dirtyHour](ctx, g.Tx, "read what is dirty", dirtyHours, statement.Columns(claimed)...)
	var weight int64
	for i := range hours {
		h := &hours[i]
		h.Bucket = h.OnGrid()
		if h.Slots == nil { // new, or open again
			h.Dirty = codec.AllMinutes
		}
		if weight += h.Weight; weight > GroupBytes && len(g.hours) > 0 {
			g.cut = true
			break
		}
		g.hours = append(g.hours, h)
	}
	return err
}

// readRaw reads the samples that the hours are rolled up from.
func (g *group) readRaw(ctx context.Context) error {
	var asked []tables.Span
	var of []*dirtyHour
	for _, h := range g.hours {
		for _, span := range h.spans(g.Kind(h.Series)) {
			asked, of = append(asked, tables.Span{Bucket: tables.At(h.Series, span.From), Until: span.To}), append(of, h)
		}
	}
	err := tables.EachSample(ctx, g.Tx, asked, func(place int, at time.Time, body []byte) error { // most of what a group reads, by far
		of[place].samples = append(of[place].samples, codec.Sample{At: at, Body: body})
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the raw samples of %d hours: %w", len(g.hours), err)
	}
	return g.readPacked(ctx)
}

// readPacked reads the samples that are in blocks. The head counts where both have one.
func (g *group) readPacked(ctx context.Context) error {
	var ranges []blocks.Range
	var of []*dirtyHour
	for _, h := range g.hours {
		for _, span := range h.spans(g.Kind(h.Series)) {
			if h.Packed && h.Start.Before(span.To) || h.Before && span.From.Before(h.Start) {
				ranges = append(ranges, blocks.Range{Series: g.Block(h.Series), From: span.From, To: span.To})
				of = append(of, h)
			}
		}
	}
	return blocks.EachSample(ctx, g.Ledger.Blocks, g.Tx, ranges, func(place int, at time.Time, body []byte) error {
		h := of[place]
		h.samples = codec.Insert(h.samples, codec.Sample{At: at, Body: slices.Clone(body)})
		return nil
	})
}

// eachBlock hands the blocks of a table that days or weeks have to take, from their start
// for as long as width says.
func (g *group) eachBlock(ctx context.Context, table blocks.Table, of []*longer, width time.Duration, take func(l *longer, start time.Time, body []byte)) error {
	ranges := make([]blocks.Range, len(of))
	for i, l := range of {
		ranges[i] = blocks.Range{Series: g.Block(l.Series), From: l.Start, To: l.Start.Add(width)}
	}
	return g.Ledger.Blocks.Each(ctx, g.Tx, table, ranges, func(place int, start time.Time, body []byte) error {
		take(of[place], start, slices.Clone(body))
		return nil
	})
}

// spans are the times of the samples that are needed.
func (h *dirtyHour) spans(k codec.Kind) []timegrid.Window {
	if k.Whole() {
		return []timegrid.Window{{From: h.Start.Add(-k.Reach()), To: h.Start.Add(time.Hour)}}
	}
	return codec.Spans(h.Start, h.Dirty, k.Reach())
}

// roll makes the minutes and the detail of the hour.
func (h *dirtyHour) roll(k codec.Kind, of tables.Series) (err error) {
	h.rolled, h.detail, err = k.Roll(of.Engine, h.Start, h.Dirty, h.samples, h.Slots, h.Known)
	if err != nil {
		return fmt.Errorf("roll up %d samples: %w", len(h.samples), err)
	}
	return nil
}

// markWhole notes for whole organizations what a group has rolled up, while its marks are
// still there.
func (g *group) markWhole(ctx context.Context, done []*dirtyHour) error {
	type mark struct {
		tables.Bucket
		Minutes int64
	}
	rows := make([]mark, len(done))
	for i, h := range done {
		rows[i] = mark{h.Bucket, int64(h.Dirty)}
	}
	return statement.Exec(ctx, g.Tx, fmt.Sprintf("mark %d hours for whole organizations", len(rows)), markWhole, statement.Columns(rows)...)
}
