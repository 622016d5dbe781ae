package httpapi

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements/backups"
	"muster/internal/measurements/replication"
	sizes "muster/internal/measurements/room"
)

// TestARemovedServerHasNoCurrentState: what was last seen of its replication, backups and room goes with its
// connection. The days of backups stay for as long as other measurements do, and another server keeps
// everything.
func TestARemovedServerHasNoCurrentState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	removed, stays := w.instance(w.ours, "removed"), w.instance(w.ours, "stays")
	now, org := w.clock.Now(), w.ours.organization.ID
	for _, id := range []uuid.UUID{removed, stays} {
		_, err := replication.Record(t.Context(), w.deps.DB, org, now, []replication.State{{Instance: id, At: now, Role: replication.Primary, Trouble: replication.Trouble{Condition: replication.Works}}})
		must(t, err)
		must(t, backups.Record(t.Context(), w.deps.DB, org, now, []backups.Look{{
			Instance: id, At: now, Source: backups.Feed, Condition: backups.Works, Backups: []backups.Backup{{Kind: backups.Full, FinishedAt: now.Add(-time.Hour)}},
		}}))
		must(t, sizes.Record(t.Context(), w.deps.DB, org, now, []sizes.State{{Instance: id, At: now}}))
	}
	count := func(table string, of uuid.UUID) (n int) {
		t.Helper()
		must(t, w.deps.DB.GetContext(t.Context(), &n, `SELECT count(*) FROM `+table+` WHERE organization_id = $1 AND instance_id = $2`, org, of))
		return n
	}
	w.do(request{method: "DELETE", path: "/api/v1/instances/" + removed.String(), as: w.ours.admin}).is(204)
	for table, kept := range map[string]int{"replication_states": 0, "backup_looks": 0, "backup_newest": 0, "room_states": 0, "backup_days": 1} {
		if gone, other := count(table, removed), count(table, stays); gone != kept || other != 1 {
			t.Errorf("%s has %d rows of the removed server, want %d, and %d of the other one", table, gone, kept, other)
		}
	}
	// A look that was under way when the server was removed is found by whoever cleans up after feeds.
	must(t, backups.Record(t.Context(), w.deps.DB, org, now, []backups.Look{{Instance: removed, At: now.Add(time.Second), Source: backups.Feed, Condition: backups.Works}}))
	fed, err := w.deps.Servers.Fed(t.Context())
	must(t, err)
	found := false
	for _, one := range fed {
		found = found || one.Instance == removed && one.Organization == org
	}
	if !found {
		t.Errorf("%v does not have the late look", fed)
	}
}
