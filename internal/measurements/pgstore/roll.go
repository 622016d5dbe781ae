package pgstore

import (
	"context"
	_ "embed" // the statements
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/domain/timegrid"
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
	//go:embed sql/raw.sql
	rawSamples string
	//go:embed sql/postpone.sql
	postponeHours string
)

const (
	// groupHours is how many hours of series one transaction rolls up: two days of one
	// that is imported, and some 50 ms for which its writers may have to wait.
	groupHours = 48
	// groupBytes is how much a group reads of series whose hours are large. The first
	// hour is rolled up whatever its size, the others then wait.
	groupBytes = 16 << 20
)

// Roll rolls up what is dirty now, of any organization, and says how many hours of
// series that were; 0: nothing is left that nobody else is at. Any number of
// processes may do it.
//
// It takes turns: a group of the newest hours, so that what is measured now is shown
// in seconds, and then, while there is more than that, a group of the next series in
// their order, so that an import is worked off too, days at a time. What becomes dirty
// behind a group that was not full waits for the next call: to run after each sample
// takes a transaction for each. An hour that cannot be rolled up is logged, waits and
// stays dirty; it is no error.
func (s *Store) Roll(ctx context.Context) (hours int, err error) {
	for more := true; more; {
		newest, err := s.rollGroup(ctx, claimNewest)
		hours += newest.rolled
		if err != nil {
			return hours, err
		}
		if more = newest.full || newest.cut; !newest.full {
			continue
		}
		next, err := s.rollGroup(ctx, claimNext, s.rolledTo.Load())
		hours += next.rolled
		if err != nil {
			return hours, err
		}
		s.rolledTo.Store(next.last) // 0, from the front again, where it was the end
	}
	held, err := s.rollHeld(ctx)
	return hours + held, err
}

// rollHeld rolls up the hour that has been dirty for the longest time. For its series
// it waits, but not for one whose writer has hung: the others would wait with it.
func (s *Store) rollHeld(ctx context.Context) (hours int, err error) {
	err = transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `SET LOCAL lock_timeout = '1s'`); err != nil {
			return fmt.Errorf("limit how long to wait: %w", err)
		}
		o, err := s.rollClaimed(ctx, tx, claimHeld, 1)
		hours = o.rolled
		return err
	})
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && refused.Code == "55P03": // lock_not_available
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

// rollGroup rolls up the hours that a claim finds, in one transaction.
func (s *Store) rollGroup(ctx context.Context, claim string, args ...any) (o outcome, err error) {
	err = transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		o, err = s.rollClaimed(ctx, tx, claim, groupHours, args...)
		return err
	})
	if err != nil {
		return outcome{}, fmt.Errorf("roll up a group of hours: %w", err)
	}
	return o, nil
}

func (s *Store) rollClaimed(ctx context.Context, tx *sqlx.Tx, claim string, limit int, args ...any) (o outcome, err error) {
	g := &group{tx: tx, store: s, series: make(map[int64]series)}
	claimed, err := g.claim(ctx, claim, append([]any{limit}, args...)...)
	if err != nil || len(claimed.series) == 0 {
		return o, err
	}
	o.claimed = len(claimed.series)
	if o.full = o.claimed == limit; o.full {
		o.last = claimed.series[limit-1]
	}
	o.rolled, err = g.roll(ctx, claimed)
	o.cut = g.cut
	return o, err
}

// group is what one transaction rolls up.
type group struct {
	tx     *sqlx.Tx
	store  *Store
	series map[int64]series // locked
	hours  []*dirtyHour     // in the order of series and time
	cut    bool             // some that were claimed are left: all would be too large
}

// dirtyHour is an hour of a series that is to be rolled up.
type dirtyHour struct {
	bucket
	dirty   uint64
	weight  int64    // of what has to be read for it in bytes, where that may be much
	minutes []byte   // as they are; nil: there are none
	samples []sample // what rolling up needs

	rolled, detail []byte // what was made of it
}

// claim locks the series of hours that a statement finds.
func (g *group) claim(ctx context.Context, statement string, args ...any) (buckets, error) {
	var claimed buckets
	err := query(ctx, g.tx, func(row scanner) error {
		var one series
		var hour time.Time
		if err := row.Scan(&one.id, &one.name, &one.engine, &hour); err != nil {
			return err
		}
		g.series[one.id] = one
		claimed.addBucket(bucket{one.id, grid(hour)})
		return nil
	}, statement, args...)
	if err != nil {
		return buckets{}, fmt.Errorf("claim: %w", err)
	}
	return claimed, nil
}

// roll rolls up claimed hours from the raw samples to the weeks, and says how many.
func (g *group) roll(ctx context.Context, claimed buckets) (int, error) {
	if err := g.readDirty(ctx, claimed); err != nil {
		return 0, err
	}
	if err := g.readRaw(ctx); err != nil {
		return 0, err
	}
	var done []*dirtyHour
	var failed buckets
	for _, h := range g.hours {
		if err := h.roll(g.kind(h.series), g.series[h.series]); err != nil {
			g.fails(ctx, h, err)
			failed.addBucket(h.bucket)
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
		failed.addBucket(h.bucket)
	})
	if len(failed.series) > 0 {
		if _, err := g.tx.ExecContext(ctx, postponeHours, failed.series, failed.starts); err != nil {
			return 0, fmt.Errorf("postpone %d hours: %w", len(failed.series), err)
		}
	}
	return len(done), g.keep(ctx, c, done)
}

func (g *group) kind(series int64) kind { return g.store.kinds(g.series[series].name) }

func (g *group) fails(ctx context.Context, h *dirtyHour, err error) {
	g.store.log.ErrorContext(ctx, "an hour of samples cannot be rolled up, trying again later",
		"series", h.series, "hour", h.start, "error", err)
}

// readDirty reads what is dirty of claimed hours, as many as a group may.
func (g *group) readDirty(ctx context.Context, claimed buckets) error {
	var weight int64
	err := query(ctx, g.tx, func(row scanner) error {
		var h dirtyHour
		if err := row.Scan(&h.series, &h.start, &h.dirty, &h.minutes, &h.weight); err != nil {
			return err
		}
		h.start = grid(h.start)
		if h.minutes == nil { // new, or forgotten while its raw samples were not
			h.dirty = allMinutes
		}
		if weight += h.weight; weight > groupBytes && len(g.hours) > 0 {
			g.cut = true
			return nil
		}
		g.hours = append(g.hours, &h)
		return nil
	}, dirtyHours, claimed.series, claimed.starts)
	if err != nil {
		return fmt.Errorf("read what is dirty: %w", err)
	}
	return nil
}

// readRaw reads the samples that the hours are rolled up from.
func (g *group) readRaw(ctx context.Context) error {
	var since buckets
	var until []time.Time
	var of []*dirtyHour
	for _, h := range g.hours {
		for _, span := range h.spans(g.kind(h.series)) {
			since.addBucket(bucket{h.series, span.From})
			until, of = append(until, span.To), append(of, h)
		}
	}
	err := query(ctx, g.tx, func(row scanner) error {
		var place int
		var s sample
		if err := row.Scan(&place, &s.at, &s.body); err != nil {
			return err
		}
		s.at = s.at.UTC()
		of[place].samples = append(of[place].samples, s)
		return nil
	}, rawSamples, since.series, since.starts, until)
	if err != nil {
		return fmt.Errorf("read the raw samples of %d hours: %w", len(g.hours), err)
	}
	return nil
}

// spans are the times of the samples that are needed.
func (h *dirtyHour) spans(k kind) []timegrid.Window {
	if k.whole() {
		return []timegrid.Window{{From: h.start.Add(-k.reach()), To: h.start.Add(time.Hour)}}
	}
	return spans(h.start, h.dirty, k.reach())
}

// roll makes the minutes and the detail of the hour.
func (h *dirtyHour) roll(k kind, of series) (err error) {
	h.rolled, h.detail, err = k.roll(of.engine, h.start, h.dirty, h.samples, h.minutes)
	if err != nil {
		return fmt.Errorf("roll up %d samples: %w", len(h.samples), err)
	}
	return nil
}
