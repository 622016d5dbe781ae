package pgstore

import (
	"cmp"
	"context"
	_ "embed" // the statement
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/postgres/statement"
)

//go:embed sql/behind.sql
var howFarBehind string

// Store is measurements.Store on PostgreSQL.
type Store struct {
	db       *sqlx.DB
	blocks   blocks.Store
	place    *string // where those are; nil: nobody has said (Inhabit)
	log      *slog.Logger
	kinds    func(name string) codec.Kind
	rolledTo atomic.Int64 // the series behind which Roll goes on with its rounds
	told     atomic.Bool  // that blocks have moved
	forgot   atomic.Pointer[time.Time]
	noted    memory // of the dictionary

	busyParts atomic.Pointer[time.Time] // when somebody did not let go of a part

	wholeFrom, wholeRows int                     // the constants, but in tests
	inParts              time.Duration           // likewise
	retention            retention               // standard, but in tests
	crashAt              func(step string) error // where a test lets Whole die; nil: nowhere

	// KeepsTexts says whether an organization keeps the texts of statements, and sees to
	// it that this stays until tx ends; nil: none does.
	KeepsTexts func(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) (bool, error)
	// Loops runs the loops of Run; nil: their failures are not reported.
	Loops *supervise.Supervisor
}

var _ measurements.Store = (*Store)(nil)

// New returns a store on db, which keeps all of it. Time is the database's clock.
func New(db *sqlx.DB, log *slog.Logger) *Store { return NewOn(db, tables{db}, log) }

// NewOn returns a store whose ledger and head are in db, and whose blocks are elsewhere.
func NewOn(db *sqlx.DB, kept blocks.Store, log *slog.Logger) *Store {
	return &Store{
		db: db, blocks: kept, log: log, kinds: codec.KindOf, noted: memory{series: make(map[int64]remembered)},
		wholeFrom: wholeFrom, wholeRows: wholeRows, inParts: inParts, retention: standard,
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
			return hours, errors.Join(err, s.beginHere(ctx))
		})
	})
	loop("make whole organizations", s.runWhole)
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
		case hasMoved(err):
			if s.told.CompareAndSwap(false, true) {
				s.log.ErrorContext(ctx, "samples are kept, and nothing is made of them until this process is restarted with another --measurements-url", "error", err)
			}
		case ctx.Err() == nil:
			s.log.WarnContext(ctx, failure, "error", err)
		}
	})
}

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
