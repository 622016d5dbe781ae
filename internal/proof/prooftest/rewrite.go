package prooftest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
)

// Rewrite does what whoever owns the database can: it changes what the events of a report
// say, and computes digests, the chain behind them and its head anew. `muster events
// verify` then finds nothing.
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
