package prooftest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
)

// Rewrite does what an owner of the database can: it changes the events of a report, and
// computes digests, the chain after them and its head anew. `muster events verify` then finds
// nothing.
func Rewrite(t testing.TB, db *sqlx.DB, report uuid.UUID, from, to string) {
	t.Helper()
	ctx := context.Background()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(ctx, query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`ALTER TABLE events DISABLE TRIGGER USER`)
	hash := make([]byte, sha256.Size)
	var last int64
	for e, err := range eventstore.New(db).Read(ctx, eventstore.Reports, eventstore.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Stream == report {
			e.Data = bytes.ReplaceAll(e.Data, []byte(from), []byte(to))
		}
		digest := eventstore.Digest(e)
		link := eventstore.Link(hash, digest[:], e.RecordedAt)
		hash, last = link[:], e.Position
		exec(`UPDATE events SET data = $2, digest = $3, hash = $4 WHERE log = 'reports' AND position = $1`, e.Position, e.Data, digest[:], hash)
	}
	exec(`UPDATE log_head SET position = $1, hash = $2 WHERE log = 'reports'`, last, hash)
}

// Remove takes the last event of a type out of a report, as if it had never been, and computes
// positions, the chain behind it and its head anew. `muster events verify` then finds nothing
// in the events.
func Remove(t testing.TB, db *sqlx.DB, report uuid.UUID, eventType string) {
	t.Helper()
	ctx := context.Background()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(ctx, query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`ALTER TABLE events DISABLE TRIGGER USER`)
	var all []eventstore.Event
	removed := -1
	for e, err := range eventstore.New(db).Read(ctx, eventstore.Reports, eventstore.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Stream == report && e.Type == eventType {
			removed = len(all)
		}
		all = append(all, e)
	}
	if removed < 0 {
		t.Fatalf("report %s has no event %s", report, eventType)
	}
	hash, version := make([]byte, sha256.Size), all[removed].Version
	if removed > 0 {
		hash = all[removed-1].Hash
	}
	exec(`DELETE FROM events WHERE log = 'reports' AND position = $1`, all[removed].Position)
	for _, e := range all[removed+1:] {
		link := eventstore.Link(hash, e.Digest, e.RecordedAt)
		hash = link[:]
		if e.Stream == report && e.Version > version {
			e.Version--
		}
		exec(`UPDATE events SET position = $2, version = $3, hash = $4 WHERE log = 'reports' AND position = $1`, e.Position, e.Position-1, e.Version, hash)
	}
	exec(`UPDATE log_head SET position = $1, hash = $2 WHERE log = 'reports'`, len(all)-1, hash)
}

// Backdate appends the events of a report once more, as those of another report with
// another PDF, all of it so much earlier, and lists that report. It returns its id.
func Backdate(t testing.TB, db *sqlx.DB, report uuid.UUID, from, to string, earlier time.Duration) uuid.UUID {
	t.Helper()
	ctx, forged := context.Background(), uuid.New()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(ctx, query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`ALTER TABLE events DISABLE TRIGGER USER`)
	store := eventstore.New(db)
	head, err := store.Head(ctx, db, eventstore.Reports)
	if err != nil {
		t.Fatal(err)
	}
	var events []eventstore.Event
	for e, err := range store.Read(ctx, eventstore.Reports, eventstore.Filter{Stream: report}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type != "report.signed" {
			events = append(events, e)
		}
	}
	hash := head.Hash
	for i, e := range events {
		e.Stream, e.Position, e.Version = forged, head.Position+int64(i)+1, int64(i)+1
		e.Data = bytes.ReplaceAll(e.Data, []byte(from), []byte(to))
		e.OccurredAt, e.RecordedAt = e.OccurredAt.Add(-earlier), e.RecordedAt.Add(-earlier)
		digest := eventstore.Digest(e)
		link := eventstore.Link(hash, digest[:], e.RecordedAt)
		hash = link[:]
		exec(`INSERT INTO events (log, position, organization_id, stream_type, stream_id, version, type, schema_version, occurred_at, recorded_at, data, metadata, digest, hash)
			VALUES ('reports', $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
			e.Position, e.OrganizationID, e.StreamType, e.Stream, e.Version, e.Type, e.SchemaVersion, e.OccurredAt, e.RecordedAt, e.Data, e.Metadata, digest[:], hash)
	}
	exec(`UPDATE log_head SET position = $1, hash = $2 WHERE log = 'reports'`, head.Position+int64(len(events)), hash)
	exec(`INSERT INTO report_history_v2.reports SELECT (jsonb_populate_record(r, jsonb_build_object('id', $2::uuid, 'pdf_sha256', $3::text,
		'file', jsonb_set(r.file, '{sha256}', to_jsonb($3::text)) - 'signed'))).* FROM report_history_v2.reports r WHERE r.id = $1`, report, forged, to)
	return forged
}
