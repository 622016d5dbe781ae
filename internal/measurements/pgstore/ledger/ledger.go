package ledger

import (
	"context"
	_ "embed" // the statement
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/placement"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
)

//go:embed sql/hold_one.sql
var holdOne string

// Ledger is a store of measurements: where its parts are, and how long they are kept.
type Ledger struct {
	DB        *sqlx.DB
	Raw       *tables.RawSamples
	Blocks    blocks.Store
	Placement *placement.Placement // of Blocks
	Kinds     func(name string) codec.Kind
	Retention Retention
	Log       *slog.Logger
}

// New returns the ledger in a database, whose blocks are in kept.
func New(db *sqlx.DB, kept blocks.Store, log *slog.Logger) *Ledger {
	return &Ledger{
		DB: db, Raw: tables.RawSamplesIn(db), Blocks: kept, Placement: placement.In(db),
		Kinds: codec.KindOf, Retention: Standard, Log: log,
	}
}

// Group is what one transaction works on: the series that it has locked.
type Group struct {
	Tx     *sqlx.Tx
	Ledger *Ledger
	Series map[int64]tables.Series
}

// Claim locks the series of buckets that a statement finds, while blocks are where this process
// has them. The error is a *placement.MovedError if they are elsewhere.
func (l *Ledger) Claim(ctx context.Context, tx *sqlx.Tx, query string, args ...any) (*Group, []tables.Bucket, error) {
	if err := l.Placement.AtHome(ctx, tx); err != nil {
		return nil, nil, err
	}
	type claimed struct {
		tables.Series
		Start time.Time
	}
	rows, err := statement.All[claimed](ctx, tx, "claim", query, args...)
	g := &Group{Tx: tx, Ledger: l, Series: make(map[int64]tables.Series)}
	buckets := make([]tables.Bucket, len(rows))
	for i, row := range rows {
		g.Series[row.ID] = row.Series
		buckets[i] = tables.At(row.ID, row.Start)
	}
	return g, buckets, err
}

// Hold locks one series as Claim does; free is false if somebody else holds it.
func (l *Ledger) Hold(ctx context.Context, tx *sqlx.Tx, id int64) (g *Group, free bool, err error) {
	if err := l.Placement.AtHome(ctx, tx); err != nil {
		return nil, false, err
	}
	series, free, err := statement.Find[tables.Series](ctx, tx, "hold a series", holdOne, id)
	return &Group{Tx: tx, Ledger: l, Series: map[int64]tables.Series{id: series}}, free, err
}

// Kind is what is known of the kind of a locked series.
func (g *Group) Kind(series int64) codec.Kind { return g.Ledger.Kinds(g.Series[series].Kind) }

// Block is a locked series as its blocks are known by.
func (g *Group) Block(series int64) blocks.Series { return g.Series[series].Block() }
