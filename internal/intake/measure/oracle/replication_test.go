package oracle

import (
	"slices"
	"testing"

	"muster/internal/measurements/replication"
)

// alone is a database outside of Data Guard.
var alone = []string{"1521", "ORCL", "PRIMARY", "READ WRITE", "NOT ALLOWED", ""}

// follower is a physical standby of ORCL.
var follower = []string{"1521", "ORCL_B", "PHYSICAL STANDBY", "READ ONLY WITH APPLY", "NOT ALLOWED", "ORCL"}

// TestReplicationOfDataGuard holds the reader to what rows of each state say.
func TestReplicationOfDataGuard(t *testing.T) {
	t.Parallel()
	look := func(s *scene) replication.State {
		s.t.Helper()
		b := s.pass(0)
		if len(b.Replication) != 1 {
			s.t.Fatalf("%d states", len(b.Replication))
		}
		return b.Replication[0]
	}
	lag := func(transport, apply, datum string) [][]string {
		const computed = "11/29/2026 10:00:30"
		return [][]string{{"transport lag", transport, computed, datum}, {"apply lag", apply, computed, datum}}
	}
	standby := func(t *testing.T, rows [][]string) replication.State {
		t.Helper()
		s := newScene(t)
		s.on(replicationQuery, follower)
		s.on(dataguardStatsQuery, rows...)
		return look(s)
	}
	t.Run("outside of Data Guard", func(t *testing.T) {
		t.Parallel()
		if s := look(newScene(t)); s.Role != replication.Primary || s.Replicates() || s.Denied != "" || !slices.Equal(s.Systems, []string{"1521"}) {
			t.Errorf("%+v", s)
		}
	})
	t.Run("a standby tells its apply lag", func(t *testing.T) {
		t.Parallel()
		s := standby(t, lag("+00 00:00:02", "+01 02:03:04", "11/29/2026 10:00:29"))
		if s.Role != replication.Standby || s.LagSeconds == nil || *s.LagSeconds != 93784 || s.LagBytes != nil || s.Upstream.Name != "ORCL" || s.Condition != replication.Works {
			t.Errorf("%+v", s)
		}
	})
	t.Run("only the transport lag is known, and not what was applied", func(t *testing.T) {
		t.Parallel()
		if s := standby(t, lag("+00 00:00:02.5", null, "11/29/2026 10:00:29")); s.LagSeconds != nil {
			t.Errorf("it is %g", *s.LagSeconds)
		}
	})
	t.Run("the lag is not known", func(t *testing.T) {
		t.Parallel()
		if s := standby(t, lag(null, null, null)); s.LagSeconds != nil {
			t.Errorf("it is %g", *s.LagSeconds)
		}
	})
	t.Run("no word from the primary", func(t *testing.T) {
		t.Parallel()
		s := standby(t, lag("+00 00:00:00", "+00 00:00:00", "11/29/2026 09:50:00"))
		if s.LagSeconds != nil || s.Condition != replication.Broken || s.Why != "no word from its primary for 630 s" {
			t.Errorf("%+v", s)
		}
	})
	t.Run("a snapshot standby", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		row := slices.Clone(follower)
		row[2] = "SNAPSHOT STANDBY"
		s.on(replicationQuery, row)
		s.on(dataguardStatsQuery)
		if s := look(s); s.Role != replication.Standby || s.Condition != replication.Paused || s.Words != "SNAPSHOT STANDBY" {
			t.Errorf("%+v", s)
		}
	})
	for name, c := range map[string]struct {
		row  []string
		want replication.Condition
		why  string
	}{
		"it applies":         {[]string{"ORCL_B", "PHYSICAL", "VALID", "MANAGED REAL TIME APPLY", "NO GAP", "OK", null}, replication.Works, ""},
		"nothing is applied": {[]string{"ORCL_B", "PHYSICAL", "VALID", "IDLE", "NO GAP", "OK", null}, replication.Paused, "nothing is applied"},
		"an error":           {[]string{"ORCL_B", "PHYSICAL", "ERROR", "IDLE", null, null, "ORA-12541: TNS:no listener"}, replication.Broken, "error ORA-12541: TNS:no listener"},
		"deferred":           {[]string{"ORCL_B", "PHYSICAL", "DEFERRED", "IDLE", null, null, null}, replication.Paused, "the destination is deferred"},
		"a gap":              {[]string{"ORCL_B", "PHYSICAL", "VALID", "MANAGED", "RESOLVABLE GAP", "OK", null}, replication.CatchUp, "resolvable gap"},
		"a gap for good":     {[]string{"ORCL_B", "PHYSICAL", "VALID", "MANAGED", "UNRESOLVABLE GAP", "OK", null}, replication.Broken, "a gap in the redo cannot be resolved"},
		"far sync":           {[]string{"ORCL_F", "FAR SYNC", "VALID", "IDLE", "NO GAP", "OK", null}, replication.Works, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.on(destinationsQuery, c.row)
			state := look(s)
			if len(state.Peers) != 1 || state.Peers[0].Condition != c.want || state.Peers[0].Why != c.why || state.Peers[0].Member != c.row[0] {
				t.Errorf("%+v", state.Peers)
			}
		})
	}
	for name, c := range map[string]struct{ query, view string }{
		"the role is not granted":          {replicationQuery, "DATABASE"},
		"the lag is not granted":           {dataguardStatsQuery, "DATAGUARD_STATS"},
		"the destinations are not granted": {destinationsQuery, "ARCHIVE_DEST_STATUS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.on(replicationQuery, follower)
			s.on(dataguardStatsQuery)
			s.deny(c.query)
			b := s.pass(0)
			grant := `GRANT SELECT ON SYS.V_$` + c.view + ` TO "C##MUSTER";`
			if s.lacking() != "V$"+c.view+": "+grant {
				t.Errorf("lacks %q", s.lacking())
			}
			if c.query == replicationQuery {
				if len(b.Replication) != 0 {
					t.Errorf("%+v", b.Replication)
				}
			} else if len(b.Replication) != 1 || b.Replication[0].Denied != grant {
				t.Errorf("%+v", b.Replication)
			}
		})
	}
}
