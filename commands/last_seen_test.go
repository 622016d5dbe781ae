package commands_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestTheLastSeenTimeIsUpdatedInPlace: for an alert that still fires, the WAL gets one record of
// some ninety bytes: no lock and no index entry.
func TestTheLastSeenTimeIsUpdatedInPlace(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	write, err := os.ReadFile("alerting/sql/write_last_seen.sql")
	if err != nil {
		t.Fatal(err)
	}
	const alerts = 300
	ids, keys := make([]uuid.UUID, alerts), make([]string, alerts)
	for i := range ids {
		ids[i], keys[i] = uuid.Must(uuid.NewV7()), fmt.Sprintf("alertmanager/%016x", i)
	}
	// seen writes that all were seen at a time, and says what a statement wrote ahead.
	seen := func(at time.Time) (records, bytes float64) {
		last, ends, started := slices.Repeat([]time.Time{at}, alerts), slices.Repeat([]time.Time{at.Add(5 * time.Minute)}, alerts), slices.Repeat([]time.Time{start}, alerts)
		none, senders := make([]*string, alerts), slices.Repeat([]string{`[{"name": "0123456789abcdef", "from": "2026-11-20T12:00:00Z"}]`}, alerts)
		var explained []byte
		if err := h.db.Get(&explained, `EXPLAIN (ANALYZE, WAL, FORMAT JSON) `+string(write), h.org.ID, []uuid.UUID{}, ids, last, started, ends, keys, none, none, senders); err != nil {
			t.Fatal(err)
		}
		var plans []struct {
			Plan struct {
				Records float64 `json:"WAL Records"`
				Bytes   float64 `json:"WAL Bytes"`
			}
		}
		if err := json.Unmarshal(explained, &plans); err != nil {
			t.Fatal(err)
		}
		return plans[0].Plan.Records, plans[0].Plan.Bytes
	}
	seen(start)
	// Once: a page has room for one move of all its rows. From then on old versions have
	// to go first, which waits for the transactions of other tests in this cluster.
	records, bytes := seen(start.Add(time.Minute))
	if records > 1.1*alerts || bytes > 110*alerts {
		t.Errorf("a move takes %.2f records and %.0f bytes of WAL", records/alerts, bytes/alerts)
	}
	if n := h.count("alert_last_seen WHERE last_triggered_at = $1", start.Add(time.Minute)); n != alerts {
		t.Errorf("%d of %d are seen up to the end", n, alerts)
	}
}
