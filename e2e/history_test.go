package e2e

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// TestLongAChangedHistoryIsReportedWithinThreeMinutes: events are changed or deleted by a superuser of the
// database while it is served, in a log that does not grow. A refused checkpoint, a misfit and an error in the
// log report it, and the misfit goes when all is put right.
func TestLongAChangedHistoryIsReportedWithinThreeMinutes(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	h := newHouse(t)
	h.done(t, security(h.live))
	db := pgtest.Connect(t, h.url)
	conn, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	superuser := func(statement string) {
		t.Helper()
		for _, s := range []string{`SET session_replication_role = replica`, statement, `RESET session_replication_role`} {
			if _, err := conn.ExecContext(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	figure := func(name string) string {
		series := regexp.MustCompile(name + `\{log="reports"\} (\d+)`).FindStringSubmatch(string(h.ana.get(t, "/metrics", nil).body))
		if series == nil {
			t.Fatalf("no process shows %s", name)
		}
		return series[1]
	}
	superuser(`CREATE TABLE aside AS TABLE events`)
	for name, c := range map[string]struct{ change, back string }{
		"data":             {`UPDATE events SET data = data || '\x00' WHERE log = 'reports' AND position = 2`, `UPDATE events e SET data = a.data FROM aside a WHERE (e.log, e.position) = (a.log, a.position)`},
		"hash":             {`UPDATE events SET hash = sha256(hash) WHERE log = 'reports' AND position = 1`, `UPDATE events e SET hash = a.hash FROM aside a WHERE (e.log, e.position) = (a.log, a.position)`},
		"the last deleted": {`DELETE FROM events e USING log_head h WHERE e.log = 'reports' AND h.log = e.log AND e.position = h.position`, `INSERT INTO events SELECT a.* FROM aside a JOIN log_head h ON h.log = 'reports' AND (a.log, a.position) = (h.log, h.position)`},
	} {
		began := time.Now()
		refused := figure("muster_checkpoints_refused_total")
		superuser(c.change)
		if !within(3*time.Minute, func() bool {
			return figure("muster_events_misfits") != "0" && figure("muster_checkpoints_refused_total") != refused
		}) {
			t.Fatalf("%s: nothing is told within three minutes", name)
		}
		t.Logf("%s: told after %s", name, time.Since(began).Round(time.Second))
		if !strings.Contains(h.server.logged.String(), `level=ERROR msg="events were changed or deleted" log=reports`) {
			t.Errorf("%s: the log does not say so", name)
		}
		superuser(c.back)
		if !within(3*time.Minute, func() bool { return figure("muster_events_misfits") == "0" }) {
			t.Fatalf("%s: put right, and told all the same", name)
		}
	}
}
