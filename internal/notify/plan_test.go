package notify_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/internal/notify"
	"muster/internal/postgres/statement"
	"muster/internal/testing/pgtest"
)

// TestThePastIsReadStreamByStream however many streams a page is about: of 100,000 events, those of a thousand alerts
// are found by their index.
func TestThePastIsReadStreamByStream(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	us := uuid.New()
	db.MustExec(`INSERT INTO events (log, position, organization_id, stream_type, stream_id, version, type, schema_version, occurred_at, recorded_at, data, metadata, digest, hash)
		SELECT 'fleet', n, $1, 'alert', md5((n % 2000)::text)::uuid, n / 2000 + 1, CASE WHEN n < 2000 THEN 'alert.raised' ELSE 'alert.still_firing' END,
			1, now(), now(), repeat('x', 300)::bytea, '', '', ''
		FROM generate_series(1, 100000) n`, us)
	db.MustExec(`ANALYZE events`)
	var streams []uuid.UUID
	must(t, db.SelectContext(t.Context(), &streams, `SELECT md5(n::text)::uuid FROM generate_series(1, 1000) n`))
	ours := make([]uuid.UUID, len(streams))
	for i := range ours {
		ours[i] = us
	}
	var plan []string
	must(t, db.SelectContext(t.Context(), &plan, `EXPLAIN ANALYZE `+notify.StreamsQuery,
		statement.IDs(streams), statement.IDs(ours), []string{"alert.raised", "alert.changed"}))
	text := strings.Join(plan, "\n")
	if strings.Contains(text, "Seq Scan on events") || !strings.Contains(text, "events_stream_version") || !strings.Contains(text, "rows=1000") {
		t.Errorf("the plan is\n%s", text)
	}
}
