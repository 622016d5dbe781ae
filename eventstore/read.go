package eventstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"muster/internal/postgres/statement"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// pageSize is how many events a read holds in memory. Pages of 1,000 read as
// fast as larger ones; each is a statement of its own, for events never change.
const pageSize = 1000

// Head returns the last position and hash of a log; position 0 and 32 zero bytes if it is
// empty. A nil q is the store's own database.
func (s *Store) Head(ctx context.Context, q sqlx.ExtContext, log Log) (Head, error) {
	if q == nil {
		q = s.db
	}
	return readHead(ctx, q, log)
}

func readHead(ctx context.Context, q sqlx.QueryerContext, log Log) (Head, error) {
	head := Head{Log: log}
	row := q.QueryRowxContext(ctx, `SELECT position, hash FROM log_head WHERE log = $1`, string(log))
	err := row.Scan(&head.Position, &head.Hash)
	if errors.Is(err, sql.ErrNoRows) {
		return Head{}, &UnknownLogError{Log: log}
	}
	if err != nil {
		return Head{}, fmt.Errorf("read the head of log %s: %w", log, err)
	}
	return head, nil
}

// UnknownLogError reports a log that does not exist, or whose head row is gone.
type UnknownLogError struct{ Log Log }

func (e *UnknownLogError) Error() string { return fmt.Sprintf("log %q has no head row", string(e.Log)) }

// Load reads the events of one stream in order of version. A stream of another
// organization reads as empty. A nil q is the store's own database; on a
// transaction the caller may run other statements between two events.
func (s *Store) Load(ctx context.Context, q sqlx.ExtContext, organization, stream uuid.UUID) iter.Seq2[Event, error] {
	if q == nil {
		q = s.db
	}
	where := conditions{}
	where.addCondition("stream_id = ?", stream)
	where.addCondition("organization_id = ?", organization)
	return s.pages(ctx, q, where, "version", 0, (*Event).versionOf)
}

// streamsAtOnce is how many streams LoadEach reads in one statement.
const streamsAtOnce = 500

// errEnough ends a read when the caller has read enough.
var errEnough = errors.New("enough was read")

// LoadEach reads the events of several streams, such as what became of servers or exceptions:
// those of each in order of version. It holds one event at a time, and a connection until the
// caller has seen the last. Streams of another organization read as empty.
func (s *Store) LoadEach(ctx context.Context, organization uuid.UUID, streams []uuid.UUID) iter.Seq2[Event, error] {
	query := Record(`SELECT e.log, e.digest, e.hash, record_send(e) AS record FROM events e
		WHERE e.stream_id = ANY ($1) AND e.organization_id = $2 ORDER BY e.stream_id, e.version`)
	return func(yield func(Event, error) bool) {
		for some := range slices.Chunk(streams, streamsAtOnce) {
			names := make(map[string]string)
			err := statement.Each(ctx, s.db, "read events", query, []any{statement.IDs(some), organization}, func(rows *sqlx.Rows) error {
				var row recorded
				if err := rows.StructScan(&row); err != nil {
					return err
				}
				e, err := row.event(names)
				if err == nil && !yield(e, nil) {
					err = errEnough
				}
				return err
			})
			if err != nil && !errors.Is(err, errEnough) {
				yield(Event{}, err)
			}
			if err != nil {
				return
			}
		}
	}
}

// LoadNewest reads the newest events of several streams in one statement, at most n of each:
// those of each in order of version. Streams of another organization read as empty.
func (s *Store) LoadNewest(ctx context.Context, organization uuid.UUID, streams []uuid.UUID, n int) ([]Event, error) {
	return s.page(ctx, s.db, Record(`SELECT e.log, e.digest, e.hash, record_send(e) AS record FROM unnest($1::uuid[]) s (id)
		CROSS JOIN LATERAL (SELECT * FROM events WHERE stream_id = s.id AND organization_id = $2 ORDER BY version DESC LIMIT $3) e
		ORDER BY e.stream_id, e.version`), []any{statement.IDs(streams), organization, n})
}

// Read iterates over a log in order of position, in pages. It ends where the log
// ended when its last page was read.
func (s *Store) Read(ctx context.Context, log Log, f Filter) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		where, err := s.where(ctx, log, &f)
		if err != nil {
			yield(Event{}, fmt.Errorf("read log %s: %w", log, err))
			return
		}
		var events iter.Seq2[Event, error]
		if f.Stream != uuid.Nil {
			// By the stream's own index: the planner would rather walk the log
			// for a stream that it takes to be common.
			where.addCondition("position > ?", f.After)
			events = s.pages(ctx, s.db, where, "version", 0, (*Event).versionOf)
		} else {
			events = s.pages(ctx, s.db, where, "position", f.After, (*Event).positionOf)
		}
		events(yield)
	}
}

func (e *Event) versionOf() int64  { return e.Version }
func (e *Event) positionOf() int64 { return e.Position }

// conditions are joined with AND; ? stands for the next argument.
type conditions struct {
	clauses   []string
	arguments []any
}

func (c *conditions) addCondition(clause string, argument any) {
	c.arguments = append(c.arguments, argument)
	c.clauses = append(c.clauses, strings.Replace(clause, "?", fmt.Sprintf("$%d", len(c.arguments)), 1))
}

func (s *Store) where(ctx context.Context, log Log, f *Filter) (conditions, error) {
	where := conditions{}
	where.addCondition("log = ?", string(log))
	if f.Organization != uuid.Nil {
		where.addCondition("organization_id = ?", f.Organization)
	}
	if f.Stream != uuid.Nil {
		where.addCondition("stream_id = ?", f.Stream)
	}
	if f.StreamType != "" {
		where.addCondition("stream_type = ?", f.StreamType)
	}
	if len(f.Types) > 0 {
		where.addCondition("type = ANY(?)", f.Types)
	}
	if f.UpTo > 0 {
		where.addCondition("position <= ?", f.UpTo)
	}
	if !f.RecordedFrom.IsZero() {
		before, err := s.positionBefore(ctx, log, f.RecordedFrom)
		if err != nil {
			return where, err
		}
		f.After = max(f.After, before)
	}
	if !f.RecordedTo.IsZero() {
		before, err := s.positionBefore(ctx, log, f.RecordedTo)
		if err != nil {
			return where, err
		}
		where.addCondition("position <= ?", before)
	}
	return where, nil
}

// positionBefore is the last position recorded before t. Recorded times never
// fall as positions rise, so it searches by halves instead of by an index.
func (s *Store) positionBefore(ctx context.Context, log Log, t time.Time) (int64, error) {
	head, err := readHead(ctx, s.db, log)
	if err != nil {
		return 0, err
	}
	low, high := int64(0), head.Position // the answer is in [low, high]
	for low < high {
		middle := low + (high-low+1)/2
		var position int64
		var recordedAt time.Time
		err := s.db.QueryRowxContext(ctx, `SELECT position, recorded_at FROM events
			WHERE log = $1 AND position <= $2 AND position > $3 ORDER BY position DESC LIMIT 1`,
			string(log), middle, low).Scan(&position, &recordedAt)
		switch {
		case errors.Is(err, sql.ErrNoRows): // deleted, as Verify will say
			low = middle
		case err != nil:
			return 0, fmt.Errorf("search for %s: %w", t.Format(time.RFC3339Nano), err)
		case recordedAt.Before(t):
			low = middle
		default:
			high = position - 1
		}
	}
	return low, nil
}

// pages reads page after page behind the cursor column's last value.
func (s *Store) pages(ctx context.Context, q sqlx.QueryerContext, where conditions, cursor string, after int64, at func(*Event) int64) iter.Seq2[Event, error] {
	where.addCondition(cursor+" > ?", after)
	query := Record(fmt.Sprintf("SELECT e.log, e.digest, e.hash, record_send(e) AS record FROM events e WHERE %s ORDER BY %s LIMIT %d",
		strings.Join(where.clauses, " AND "), cursor, pageSize))
	return func(yield func(Event, error) bool) {
		arguments := append([]any(nil), where.arguments...)
		for {
			page, err := s.page(ctx, q, query, arguments)
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
			if len(page) < pageSize {
				return
			}
			arguments[len(arguments)-1] = at(&page[len(page)-1])
		}
	}
}

// page reads all rows before it returns, so that the connection is free while
// the caller looks at them.
func (s *Store) page(ctx context.Context, q sqlx.QueryerContext, query string, arguments []any) ([]Event, error) {
	rows, err := statement.All[recorded](ctx, q, "read events", query, arguments...)
	if err != nil {
		return nil, err
	}
	page := make([]Event, len(rows))
	names := make(map[string]string)
	for i, row := range rows {
		if page[i], err = row.event(names); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// recorded is a row of a query with Record.
type recorded struct {
	Log    Log    `db:"log"`
	Digest []byte `db:"digest"`
	Hash   []byte `db:"hash"`
	Record []byte `db:"record"`
}

// event decodes it. names are kept from row to row.
func (r recorded) event(names map[string]string) (Event, error) {
	e := Event{Log: r.Log, Digest: r.Digest, Hash: r.Hash}
	if _, err := e.decode(r.Record, names); err != nil {
		return Event{}, fmt.Errorf("read an event: %w", err)
	}
	return e, nil
}
