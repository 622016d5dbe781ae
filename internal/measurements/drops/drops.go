package drops

import (
	"context"
	_ "embed" // the statement
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/concurrency/pause"
	"muster/internal/measurements"
	"muster/internal/postgres/statement"
)

//go:embed sql/record.sql
var recordQuery string

// pace is how often what was counted is written.
const pace = time.Second

// DropCount is how often one engine was missing in one tile of an organization.
type DropCount struct {
	Tile      string       `db:"tile"`
	Engine    fleet.Engine `db:"engine"`
	Drops     int64        `db:"drops"`
	LastAt    time.Time    `db:"last_at"`
	LastError string       `db:"last_error"` // a sentence without a full stop
}

// Book is where drops are counted.
type Book struct {
	db  *sqlx.DB
	log *slog.Logger
	now func() time.Time

	mu      sync.Mutex
	counted map[key]DropCount // since the last write
}

type key struct {
	organization uuid.UUID
	tile         string
	engine       fleet.Engine
}

// New returns a book on a database.
func New(db *sqlx.DB, log *slog.Logger, now func() time.Time) *Book {
	return &Book{db: db, log: log, now: now, counted: map[key]DropCount{}}
}

// Note counts a drop.
func (b *Book) Note(d measurements.Drop) {
	b.addDrop(key{d.Organization, d.Tile, d.Engine}, DropCount{Tile: d.Tile, Engine: d.Engine, Drops: 1, LastAt: b.now(), LastError: sentence(d.Err)})
}

func (b *Book) addDrop(k key, d DropCount) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, known := b.counted[k]
	if known && before.LastAt.After(d.LastAt) {
		d.LastAt, d.LastError = before.LastAt, before.LastError
	}
	d.Drops += before.Drops
	b.counted[k] = d
}

// Run writes what is counted until ctx ends, and then once more.
func (b *Book) Run(ctx context.Context) error {
	return pause.Flushing(ctx, pace, pace, b.Flush, func(err error) {
		b.log.WarnContext(ctx, "dropped engines are not written down", "error", err)
	})
}

// Flush writes what is counted. What could not be written stays counted.
func (b *Book) Flush(ctx context.Context) error {
	b.mu.Lock()
	counted := b.counted
	b.counted = map[key]DropCount{}
	b.mu.Unlock()
	if len(counted) == 0 {
		return nil
	}
	type row struct {
		Organization [16]byte
		Tile, Engine string
		Drops        int64
		LastAt       time.Time
		LastError    string
	}
	var rows []row
	for k, d := range counted {
		rows = append(rows, row{k.organization, k.tile, string(k.engine), d.Drops, d.LastAt, d.LastError})
	}
	err := statement.Exec(ctx, b.db, "count dropped engines", recordQuery, statement.Columns(rows)...)
	if err != nil {
		for k, d := range counted {
			b.addDrop(k, d)
		}
	}
	return err
}

// List returns an organization's, the latest first.
func (b *Book) List(ctx context.Context, organization uuid.UUID) ([]DropCount, error) {
	return statement.All[DropCount](ctx, b.db, "read dropped engines", `
		SELECT tile, engine, drops, last_at, last_error FROM engine_drops
		WHERE organization_id = $1 ORDER BY last_at DESC, tile, engine`, organization)
}

// sentence says why an engine could not be read, in words of ours.
func sentence(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "not read in its share of the time"
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return "the database refused the query (SQLSTATE " + refused.Code + ")"
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return "the database could not be reached"
	}
	return "could not be read; the log says why"
}
