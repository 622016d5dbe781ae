package senders

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/printable"
	"muster/internal/concurrency/pause"
	"muster/internal/intake"
	"muster/internal/postgres/statement"
)

const (
	pace       = 15 * time.Second // between two writes
	kept       = 24 * time.Hour
	maxSenders = 20  // of a token, an hour
	maxNames   = 200 // of a sender and a door, an hour
)

// Sender is who sends, by which door.
type Sender struct {
	Organization, Token uuid.UUID
	Name                string // X-Muster-Sender; empty: none was said
	Door                string // the route
}

// Count is what was sent under a name, and what became of it.
type Count struct {
	Token  uuid.UUID     `db:"token_id"`
	Called string        `db:"called"` // the token; empty: it is gone
	Sender string        `db:"sender"`
	Door   string        `db:"door"`
	Name   string        `db:"name"`   // empty: the rest
	Reason intake.Reason `db:"reason"` // empty: it was used
	N      int64         `db:"n"`
	LastAt time.Time     `db:"last_at"`
}

type key struct {
	Sender
	hour   time.Time
	name   string
	reason intake.Reason
}

type counted struct {
	n  int64
	at time.Time
}

// Book is where the counts are added.
type Book struct {
	db  *sqlx.DB
	log *slog.Logger
	now func() time.Time

	mu      sync.Mutex
	counts  map[key]counted // since the last write
	hour    time.Time       // of what is known
	senders map[uuid.UUID]map[string]bool
	names   map[Sender]map[string]bool
	purged  time.Time
	known   map[known]time.Time // the senders that Admit let in, and when it asked the database last
}

// New returns a book on a database.
func New(db *sqlx.DB, log *slog.Logger, now func() time.Time) *Book {
	return &Book{db: db, log: log, now: now, counts: map[key]counted{}, known: map[known]time.Time{}}
}

// Note counts a message: each calls its argument once for each name and reason.
func (b *Book) Note(from Sender, each func(count func(name string, reason intake.Reason, n int))) {
	at := b.now()
	hour := at.UTC().Truncate(time.Hour)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !hour.Equal(b.hour) {
		b.hour, b.senders, b.names = hour, map[uuid.UUID]map[string]bool{}, map[Sender]map[string]bool{}
		maps.DeleteFunc(b.known, func(_ known, heard time.Time) bool { return at.Sub(heard) >= rechecked })
	}
	from.Name = bounded(b.senders, from.Token, clean(from.Name), maxSenders)
	each(func(name string, reason intake.Reason, n int) {
		k := key{from, hour, bounded(b.names, from, clean(name), maxNames), reason}
		b.counts[k] = counted{b.counts[k].n + int64(n), at}
	})
}

// bounded is the text, or nothing where there were so many others.
func bounded[K comparable](known map[K]map[string]bool, of K, text string, most int) string {
	if text == "" || known[of][text] {
		return text
	}
	if known[of] == nil {
		known[of] = map[string]bool{}
	}
	if len(known[of]) == most {
		return ""
	}
	known[of][text] = true
	return text
}

// clean is a text as PostgreSQL can keep it and a page can show it.
func clean(text string) string {
	return printable.Clean(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", ""))
}

// Run writes what is counted until ctx ends, and then once more.
func (b *Book) Run(ctx context.Context) error {
	return pause.Flushing(ctx, pace, time.Second, b.Flush, func(err error) {
		b.log.WarnContext(ctx, "what senders sent is not written down", "error", err)
	})
}

// Flush writes what is counted, and deletes what is old. What could not be written stays
// counted.
func (b *Book) Flush(ctx context.Context) error {
	b.mu.Lock()
	counts := b.counts
	b.counts = map[key]counted{}
	purge := !b.purged.Equal(b.hour)
	b.purged = b.hour
	b.mu.Unlock()
	if len(counts) > 0 {
		if err := b.write(ctx, counts); err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			for k, c := range counts {
				b.counts[k] = counted{b.counts[k].n + c.n, c.at}
			}
			return err
		}
	}
	if !purge {
		return nil
	}
	return statement.Exec(ctx, b.db, "forget what senders sent", `DELETE FROM sender_counts WHERE hour < $1`, b.now().Add(-kept-time.Hour))
}

func (b *Book) write(ctx context.Context, counts map[key]counted) error {
	type row struct {
		Organization, Token        [16]byte
		Sender, Door, Name, Reason string
		Hour                       time.Time
		N                          int64
		At                         time.Time
	}
	rows := make([]row, 0, len(counts))
	for k := range maps.Keys(counts) {
		rows = append(rows, row{k.Organization, k.Token, k.Name, k.Door, k.name, string(k.reason), k.hour, counts[k].n, counts[k].at})
	}
	// In the order of the key: processes that write the same rows do so in one order.
	return statement.Exec(ctx, b.db, "count what senders sent", `
		INSERT INTO sender_counts AS kept (organization_id, token_id, sender, door, name, reason, hour, n, last_at)
		SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::bigint[], $9::timestamptz[])
		ORDER BY 1, 7, 2, 3, 4, 5, 6
		ON CONFLICT (organization_id, hour, token_id, sender, door, name, reason) DO UPDATE SET
		    n = kept.n + excluded.n, last_at = greatest(kept.last_at, excluded.last_at)`, statement.Columns(rows)...)
}

// List returns what an organization's senders sent in the last day, by token, sender and
// door, the most first; at most 5,000 names.
func (b *Book) List(ctx context.Context, organization uuid.UUID) ([]Count, error) {
	return statement.All[Count](ctx, b.db, "read what senders sent", `
		SELECT c.token_id, coalesce(t.name, '') AS called, c.sender, c.door, c.name, c.reason, sum(c.n)::bigint AS n, max(c.last_at) AS last_at
		FROM sender_counts c LEFT JOIN tokens t ON t.id = c.token_id AND t.organization_id = c.organization_id
		WHERE c.organization_id = $1 AND c.last_at >= $2
		GROUP BY c.token_id, t.name, c.sender, c.door, c.name, c.reason
		ORDER BY c.token_id, c.sender, c.door, n DESC, c.name, c.reason LIMIT 5000`, organization, b.now().Add(-kept))
}
