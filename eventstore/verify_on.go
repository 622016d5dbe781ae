package eventstore

import (
	"bytes"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

//go:embed sql/versions.sql
var selectVersions string

// Reached is how far a log was verified: a position, and the values with which the next event
// is compared. The zero value is the beginning of a log.
type Reached struct {
	Position   int64
	Hash       []byte    // of the event there; nil: it is missing, and the next one is held against nothing
	RecordedAt time.Time // of the last event that was there
}

// ReachedAt is where a verification goes on that takes the event at a position, and all
// before it, as they are.
func (s *Store) ReachedAt(ctx context.Context, log Log, position int64) (Reached, error) {
	r := Reached{Position: position}
	if position == 0 {
		return r, nil
	}
	err := s.db.QueryRowxContext(ctx, `SELECT hash, recorded_at FROM events WHERE log = $1 AND position = $2`, string(log), position).Scan(&r.Hash, &r.RecordedAt)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return r, fmt.Errorf("read event %d of log %s: %w", position, log, err)
	}
	return r, nil
}

// VerifyOn verifies a log from the position reached before up to another one: contents against
// digests, digests against the chain, positions and versions for gaps. Verifying a log in
// pieces finds what Verify finds, except the end (VerifyEnd), a witness, and the names of
// streams without events.
func (s *Store) VerifyOn(ctx context.Context, log Log, from Reached, upTo int64) (Reached, Verification, error) {
	c := newChain(log, nil)
	if from.Position > 0 {
		c.next, c.previous, c.joined, c.recorded = from.Position+1, bytes.Clone(from.Hash), from.Hash != nil, from.RecordedAt
	}
	err := s.seed(ctx, c, from.Position, upTo)
	if err == nil {
		err = s.scan(ctx, log, uuid.Nil, from.Position, upTo, func(l *link) error {
			c.addLink(l)
			return nil
		})
	}
	if err != nil {
		return from, Verification{}, fmt.Errorf("verify log %s behind position %d: %w", log, from.Position, err)
	}
	reached := Reached{Position: upTo, Hash: c.previous, RecordedAt: c.recorded}
	if end := c.next - 1; end < upTo {
		c.report.addFinding(Mismatch{Misfit: Deleted, Position: c.next, Until: upTo, Detail: fmt.Sprintf("%d missing up to %s:%d", upTo-end, log, upTo)})
		reached.Hash = nil
	}
	c.name()
	c.report.sort()
	return reached, *c.report, nil
}

// seed gives a chain that begins amid a log the versions that its streams have there.
func (s *Store) seed(ctx context.Context, c *chain, after, upTo int64) error {
	if after == 0 {
		return nil
	}
	rows, err := s.db.QueryContext(ctx, selectVersions, string(c.report.Log), after, upTo)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var stream uuid.UUID
		var version int64
		if err := rows.Scan(&stream, &version); err != nil {
			return err
		}
		c.versions[stream] = version
	}
	return rows.Err()
}

// VerifyEnd holds the head row of a log against its last event.
func (s *Store) VerifyEnd(ctx context.Context, log Log) (Verification, error) {
	c := newChain(log, nil)
	head, last, err := s.ends(ctx, log)
	if err != nil {
		return Verification{}, err
	}
	c.next, c.previous = last.Position+1, last.Hash
	c.end(head)
	c.report.Head = head
	return *c.report, nil
}

// ends are the head row and the last event of a log.
func (s *Store) ends(ctx context.Context, log Log) (head, last Head, err error) {
	head.Log, last.Log = log, log
	err = s.db.QueryRowxContext(ctx, selectEnds, string(log)).Scan(&head.Position, &head.Hash, &last.Position, &last.Hash)
	if err != nil {
		return head, last, fmt.Errorf("read both ends of log %s: %w", log, err)
	}
	return head, last, nil
}
