package eventstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/instant"
	"muster/internal/postgres/statement"
)

const (
	appendOne  = `SELECT append_event($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
	appendMany = `SELECT append_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`
)

// Append writes all batches in one transaction and returns the position of the last
// event. It is one statement, hence one round trip. On a version that does not fit it
// returns a *ConflictError and writes nothing. Without any event it writes nothing and
// returns the log's head position.
func (s *Store) Append(ctx context.Context, log Log, batches ...Append) (int64, error) {
	w, err := s.prepare(log, batches)
	if err != nil {
		return 0, err
	}
	return w.append(ctx, s.db)
}

// AppendTx is Append inside the caller's transaction, which must do it last: from here to the
// commit the log's head row is locked and no other transaction appends to that log. After an
// error the transaction must be rolled back. A transaction that appends to several logs does so
// in the order of Logs.
func (s *Store) AppendTx(ctx context.Context, tx *sqlx.Tx, log Log, batches ...Append) (int64, error) {
	w, err := s.prepare(log, batches)
	if err != nil {
		return 0, err
	}
	return w.append(ctx, tx)
}

// write is what one call of an append function gets.
type write struct {
	log     Log
	streams []streamWrite
	events  []Event
	stream  []int32 // for each event its stream, from 1
	keyed   bool
}

// streamWrite is what all batches for one stream together ask of it.
type streamWrite struct {
	organization uuid.UUID
	streamType   string
	id           uuid.UUID
	expected     int64
	events       int64
	key          *KeyState
}

// append writes it by a statement of its own.
func (w *write) append(ctx context.Context, q sqlx.QueryerContext) (int64, error) {
	if len(w.events) == 0 {
		head, err := readHead(ctx, q, w.log)
		return head.Position, err
	}
	query, arguments := w.statement()
	var position int64
	if err := q.QueryRowxContext(ctx, query, arguments...).Scan(&position); err != nil {
		return 0, &statement.Error{What: fmt.Sprintf("append to log %s", w.log), Err: refusal(err)}
	}
	return position, nil
}

// prepare computes everything that can be computed before the head is locked.
func (s *Store) prepare(log Log, batches []Append) (*write, error) {
	w := &write{log: log}
	known := make(map[uuid.UUID]int32, len(batches))
	d, now := newDigester(), sync.OnceValue(s.now)
	for i := range batches {
		if len(batches[i].Events) == 0 {
			continue
		}
		if err := w.add(&batches[i], known, d, now); err != nil {
			return nil, fmt.Errorf("prepare events for log %s: %w", log, err)
		}
	}
	return w, nil
}

// add adds the events of a batch.
func (w *write) add(b *Append, known map[uuid.UUID]int32, d *digester, now func() time.Time) error {
	metadata, err := json.Marshal(b.Metadata)
	if err != nil {
		return fmt.Errorf("encode metadata: %w", err)
	}
	n, err := w.join(known, b)
	if err != nil {
		return err
	}
	for _, e := range b.Events {
		if e.OccurredAt.IsZero() {
			e.OccurredAt = now()
		}
		if err := check(b, &e); err != nil {
			return err
		}
		recorded := Event{
			Log: w.log, OrganizationID: b.Organization, StreamType: b.StreamType, Stream: b.Stream,
			Type: e.Type, SchemaVersion: max(e.SchemaVersion, 1), OccurredAt: instant.Cut(e.OccurredAt),
			Data: orEmpty(e.Data), Metadata: metadata,
		}
		recorded.Digest = d.sum(&recorded, nil)
		w.events = append(w.events, recorded)
		w.stream = append(w.stream, n)
	}
	return nil
}

func check(b *Append, e *NewEvent) error {
	switch year := e.OccurredAt.UTC().Year(); {
	case b.Organization == uuid.Nil || b.Stream == uuid.Nil:
		return &InvalidEventError{Type: e.Type, Reason: "needs an organization and a stream"}
	case e.Type == "" || b.StreamType == "":
		return &InvalidEventError{Type: e.Type, Reason: "needs a type and a stream type"}
	case year < 1 || year > 9999:
		return &InvalidEventError{Type: e.Type, Reason: fmt.Sprintf("occurred in the year %d", year)}
	}
	return nil
}

// join adds a batch to its stream's other batches of this call and returns the stream's number.
// The database gets one expectation for each stream.
func (w *write) join(known map[uuid.UUID]int32, b *Append) (int32, error) {
	n, seen := known[b.Stream]
	if !seen {
		w.streams = append(w.streams, streamWrite{
			organization: b.Organization, streamType: b.StreamType, id: b.Stream, expected: max(b.Expected, AnyVersion),
		})
		n = int32(len(w.streams))
		known[b.Stream] = n
	}
	t := &w.streams[n-1]
	if t.organization != b.Organization || t.streamType != b.StreamType {
		return 0, &ForeignStreamError{Stream: b.Stream}
	}
	if seen && b.Expected >= 0 {
		before := b.Expected - t.events
		if t.expected >= 0 && before != t.expected {
			return 0, &ConflictError{Stream: b.Stream, Expected: b.Expected, Actual: t.expected + t.events}
		}
		t.expected = before
	}
	t.events += int64(len(b.Events))
	if b.Key != nil {
		t.key = b.Key
		w.keyed = true
	}
	return n, nil
}

func (w *write) statement() (string, []any) {
	if len(w.events) == 1 && !w.keyed {
		t, e := &w.streams[0], &w.events[0]
		return appendOne, []any{
			string(w.log), t.organization, t.streamType, t.id, t.expected,
			e.Type, e.SchemaVersion, e.OccurredAt, e.Data, e.Metadata, e.Digest,
		}
	}
	return appendMany, w.arrays()
}

// streamRow and eventRow are what append_events takes of each stream and each event.
type (
	streamRow struct {
		Organization [16]byte
		Type         string
		ID           [16]byte
		Expected     int64
		Key          *string
		StateDigest  []byte
	}
	eventRow struct {
		Stream                 int32
		Type                   string
		SchemaVersion          int32
		OccurredAt             time.Time
		Data, Metadata, Digest []byte
	}
)

func (w *write) arrays() []any {
	streams, events := make([]streamRow, len(w.streams)), make([]eventRow, len(w.events))
	for i := range w.streams {
		t := &w.streams[i]
		streams[i] = streamRow{Organization: t.organization, Type: t.streamType, ID: t.id, Expected: t.expected}
		if t.key != nil {
			streams[i].Key, streams[i].StateDigest = &t.key.Key, t.key.StateDigest
		}
	}
	for i := range w.events {
		e := &w.events[i]
		events[i] = eventRow{w.stream[i], e.Type, int32(e.SchemaVersion), e.OccurredAt, e.Data, e.Metadata, e.Digest}
	}
	of := statement.Columns(streams)
	if !w.keyed {
		of[4], of[5] = nil, nil // no keys to lock, and none to write
	}
	return slices.Concat([]any{string(w.log)}, of, statement.Columns(events))
}

// orEmpty keeps nil, which the database would take for NULL, out of an array.
func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
