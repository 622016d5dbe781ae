package pgstore

import (
	"cmp"
	"context"
	_ "embed" // the statement
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/compaction"
	"muster/internal/measurements/pgstore/dictionary"
	"muster/internal/measurements/pgstore/ledger"
	"muster/internal/measurements/pgstore/placement"
	"muster/internal/measurements/pgstore/rollup"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/measurements/pgstore/writing"
	"muster/internal/postgres/statement"
)

//go:embed sql/behind.sql
var howFarBehind string

// Store is measurements.Store on PostgreSQL. It reads tiles, and consists of the rooms that do the
// rest.
type Store struct {
	*dictionary.Dictionary
	*writing.Writer
	*placement.Placement
	*rollup.Roller
	*compaction.Compactor

	db     *sqlx.DB
	ledger *ledger.Ledger
	told   atomic.Bool // that blocks have moved

	wholeFrom, wholeRows  int                     // the constants, but in tests
	mostNumbers, mostMade int                     // likewise
	linesOfWhole          int                     // likewise
	crashAt               func(step string) error // where a test lets Whole die; nil: nowhere

	// Loops runs the loops of Run; nil: their failures are not reported.
	Loops *supervise.Supervisor
}

var _ measurements.Store = (*Store)(nil)

// New returns a store on db, which keeps all of it. Time is the database's clock.
func New(db *sqlx.DB, log *slog.Logger) *Store { return NewOn(db, tables.Blocks{DB: db}, log) }

// NewOn returns a store whose ledger and head are in db, and whose blocks are elsewhere.
func NewOn(db *sqlx.DB, kept blocks.Store, log *slog.Logger) *Store {
	l, d := ledger.New(db, kept, log), dictionary.In(db)
	return &Store{
		Dictionary: d, Writer: writing.Of(l, d), Placement: l.Placement, Roller: rollup.Of(l), Compactor: compaction.Of(l, d),
		db: db, ledger: l, wholeFrom: wholeFrom, wholeRows: wholeRows,
		mostNumbers: mostNumbers, mostMade: mostMade, linesOfWhole: linesOfWhole,
	}
}

const (
	// rollInterval is how often a process looks for dirty hours: with the time of the rollup it
	// has to stay well below the 15 s in which a series shows a sample.
	rollInterval = 2 * time.Second
	// compactInterval is how often hours that are over are put into blocks.
	compactInterval = 20 * time.Second
	// sealInterval is how often hours are sealed and old rows forgotten.
	sealInterval = 5 * time.Minute
)

// Run rolls up, makes the rows of whole organizations, compacts, seals and forgets until
// ctx ends; it returns ctx's error. A failure is logged, and tried again at the next turn.
// Any number of processes may do it.
func (s *Store) Run(ctx context.Context) error {
	var all supervise.Group
	loop := func(name string, run func(context.Context) error) {
		all.Go(func() error { return s.Loops.Run(ctx, name, run) })
	}
	loop("roll samples up", func(ctx context.Context) error {
		return s.each(ctx, rollInterval, "samples could not be rolled up, trying again", s.Roll)
	})
	var sealed time.Time
	loop("put hours away", func(ctx context.Context) error { // one after the other: each passes over what the other holds
		return s.each(ctx, compactInterval, "hours that are over could not be put away, trying again", func(ctx context.Context) (int, error) {
			if time.Since(sealed) < sealInterval {
				return s.Compact(ctx)
			}
			sealed = time.Now()
			hours, err := s.Seal(ctx)
			return hours, errors.Join(err, s.BeginHere(ctx))
		})
	})
	loop("make whole organizations", func(ctx context.Context) error { return s.runWhole(ctx, wholeShare, s.wholeTiles) })
	loop("make activity of whole organizations", func(ctx context.Context) error { return s.runWhole(ctx, activityShare, s.wholeActivities) })
	loop("find whole organizations", func(ctx context.Context) error {
		return s.each(ctx, sealInterval, "whole organizations could not be found, trying again", s.findWholes)
	})
	return cmp.Or(all.Wait(), ctx.Err())
}

func (s *Store) each(ctx context.Context, interval time.Duration, failure string, do func(context.Context) (int, error)) error {
	return pause.Every(ctx, interval, func() {
		_, err := do(ctx)
		switch {
		case err == nil:
		case placement.HasMoved(err):
			if s.told.CompareAndSwap(false, true) {
				s.ledger.Log.ErrorContext(ctx, "samples are kept, and nothing is made of them until this process is restarted with another --measurements-url", "error", err)
			}
		case ctx.Err() == nil:
			s.ledger.Log.WarnContext(ctx, failure, "error", err)
		}
	})
}

// Retain sets how long rows are kept, before anything runs; the standard is ledger.Standard.
func (s *Store) Retain(kept ledger.Retention) { s.ledger.Retention = kept }

// Behind is how long ago the oldest sample arrived that is not rolled up yet, or not in
// the rows of its whole organization; 0: none is.
func (s *Store) Behind(ctx context.Context) (time.Duration, error) {
	seconds, err := statement.One[float64](ctx, s.db, "read what is not rolled up yet", howFarBehind)
	return time.Duration(seconds * float64(time.Second)), err
}

// crash is where a test lets Whole die.
func (s *Store) crash(step string) error {
	if s.crashAt == nil {
		return nil
	}
	return s.crashAt(step)
}
