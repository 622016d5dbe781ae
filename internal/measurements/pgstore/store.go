package pgstore

import (
	"log/slog"
	"sync/atomic"

	"github.com/jmoiron/sqlx"

	"muster/internal/measurements"
)

// Store is measurements.Store on PostgreSQL.
type Store struct {
	db       *sqlx.DB
	log      *slog.Logger
	kinds    func(name string) kind
	rolledTo atomic.Int64 // the series behind which Roll goes on with its rounds
}

var _ measurements.Store = (*Store)(nil)

// New returns a store on db. Time is the database's clock.
func New(db *sqlx.DB, log *slog.Logger) *Store { return &Store{db: db, log: log, kinds: kindOf} }
