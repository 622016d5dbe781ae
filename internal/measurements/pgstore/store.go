package pgstore

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/pause"
)

// Store is measurements.Store on PostgreSQL.
type Store struct {
	db       *sqlx.DB
	log      *slog.Logger
	kinds    func(name string) codec.Kind
	rolledTo atomic.Int64 // the series behind which Roll goes on with its rounds
	forgot   atomic.Pointer[time.Time]

	// KeepsTexts says whether an organization keeps the texts of statements, and sees to
	// it that this stays until tx ends; nil: none does.
	KeepsTexts func(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) (bool, error)
}

var _ measurements.Store = (*Store)(nil)

// New returns a store on db. Time is the database's clock.
func New(db *sqlx.DB, log *slog.Logger) *Store { return &Store{db: db, log: log, kinds: codec.KindOf} }

const (
	// rollInterval is how often somebody looks for what is dirty: with the time that
	// rolling up takes it has to stay well below the 15 s in which a series shows a
	// sample.
	rollInterval = 2 * time.Second
	// sealInterval is how often hours are sealed and old rows forgotten.
	sealInterval = 5 * time.Minute
)

// Run rolls up, seals and forgets until ctx ends; it returns ctx's error. A failure is
// logged, and tried again at the next turn. Any number of processes may do it.
func (s *Store) Run(ctx context.Context) error {
	var both errgroup.Group
	both.Go(func() error {
		return s.each(ctx, rollInterval, "samples could not be rolled up, trying again", s.Roll)
	})
	both.Go(func() error {
		return s.each(ctx, sealInterval, "old samples could not be sealed, trying again", s.Seal)
	})
	return both.Wait()
}

func (s *Store) each(ctx context.Context, interval time.Duration, failure string, do func(context.Context) (int, error)) error {
	return pause.Every(ctx, interval, func() {
		if _, err := do(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, failure, "error", err)
		}
	})
}

// Behind is how long ago the oldest sample arrived that is not rolled up yet; 0: none
// is.
func (s *Store) Behind(ctx context.Context) (time.Duration, error) {
	var seconds float64
	err := s.db.GetContext(ctx, &seconds,
		`SELECT coalesce(extract(epoch FROM greatest(clock_timestamp() - min(since), interval '0')), 0)::double precision FROM dirty_hours`)
	if err != nil {
		return 0, fmt.Errorf("read what is not rolled up yet: %w", err)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
