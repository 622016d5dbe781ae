package sqlserver

import (
	"slices"
	"testing"
	"time"

	"muster/internal/measurements/replication"
	"muster/internal/servers/tdstest"
)

// replicaRow is a replica of group "sales": local or not, by its number, with 3 databases that are synchronized.
func (r replicaCells) with(column int, value any) row {
	next := slices.Clone(row(r))
	next[column] = value
	return next
}

type replicaCells row

func replicaRow(role string, number int) replicaCells {
	local := 0
	if number == 1 {
		local = 1
	}
	server := map[int]string{1: "SQL-A", 2: "SQL-B", 3: "SQL-C"}[number]
	id := map[int]string{1: "aaaaaaaa-0000-0000-0000-000000000001", 2: "aaaaaaaa-0000-0000-0000-000000000002", 3: "aaaaaaaa-0000-0000-0000-000000000003"}[number]
	return replicaCells{
		"11111111-2222-3333-4444-555555555555", "sales", id, server, local, role, "CONNECTED", "HEALTHY", "SYNCHRONOUS_COMMIT",
		3, 0, nil, "4 SYNCHRONIZED", 0, 0, 0, nil, "SQL-A",
	}
}

// TestReplicationOfAvailabilityGroups holds the reader to what rows of each state say.
func TestReplicationOfAvailabilityGroups(t *testing.T) {
	t.Parallel()
	kib := func(n int64) *int64 { n <<= 10; return &n }
	look := func(t *testing.T, rows ...row) replication.State {
		t.Helper()
		f := newFake(t)
		f.replication = rows
		b := f.measure(t).well()
		if len(b.Replication) != 1 {
			t.Fatalf("%d states", len(b.Replication))
		}
		return b.Replication[0]
	}
	t.Run("no group", func(t *testing.T) {
		t.Parallel()
		if s := look(t); s.Role != replication.Alone || s.Replicates() {
			t.Errorf("%+v", s)
		}
	})
	t.Run("a primary replica names all others", func(t *testing.T) {
		t.Parallel()
		behind := replicaRow("SECONDARY", 3).with(13, 2048)
		behind[8], behind[12], behind[14], behind[15] = "ASYNCHRONOUS_COMMIT", "3 SYNCHRONIZING", 1024, 74
		s := look(t, row(replicaRow("PRIMARY", 1)), row(replicaRow("SECONDARY", 2)), behind)
		if s.Role != replication.Primary || len(s.Peers) != 2 || s.Condition != replication.Works || s.LagSeconds != nil {
			t.Fatalf("%+v", s)
		}
		b, c := s.Peers[0], s.Peers[1]
		if b.Name != "SQL-B" || b.State != "SYNCHRONIZED" || *b.LagBytes != 0 || b.Databases != 3 || b.Group != "sales" {
			t.Errorf("%+v", b)
		}
		if *c.SendQueue != *kib(2048) || *c.RedoQueue != *kib(1024) || *c.LagBytes != *kib(3072) || *c.LagSeconds != 74 || c.Condition != replication.Works {
			t.Errorf("%+v", c)
		}
		if f := s.Figures(); *f.LagSeconds != 74 || *f.LagBytes != *kib(3072) {
			t.Errorf("the figures are those of the replica that is furthest behind, not %v and %v", *f.LagSeconds, *f.LagBytes)
		}
	})
	t.Run("a secondary replica tells its own lag and names its primary", func(t *testing.T) {
		t.Parallel()
		s := look(t, replicaRow("SECONDARY", 1).with(15, 9))
		if s.Role != replication.Standby || *s.LagSeconds != 9 || s.Upstream == nil || s.Upstream.Name != "SQL-A" || len(s.Peers) != 0 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("primary of one group and secondary of another", func(t *testing.T) {
		t.Parallel()
		other := replicaRow("SECONDARY", 1).with(0, "99999999-2222-3333-4444-555555555555")
		if s := look(t, row(replicaRow("PRIMARY", 1)), other); s.Role != replication.Mixed || len(s.Systems) != 2 {
			t.Errorf("%+v", s)
		}
	})
	for name, c := range map[string]struct {
		change func(row)
		want   replication.Condition
	}{
		"disconnected": {func(r row) {
			r[6], r[7], r[12], r[16] = "DISCONNECTED", "NOT_HEALTHY", "0 NOT SYNCHRONIZING", "timed out"
		}, replication.Broken},
		"suspended by somebody":   {func(r row) { r[7], r[10], r[11] = "NOT_HEALTHY", 1, "SUSPEND_FROM_USER" }, replication.Paused},
		"suspended by an error":   {func(r row) { r[7], r[10], r[11] = "NOT_HEALTHY", 1, "SUSPEND_FROM_REDO" }, replication.Broken},
		"it catches up":           {func(r row) { r[7], r[12] = "PARTIALLY_HEALTHY", "3 SYNCHRONIZING" }, replication.CatchUp},
		"it does not synchronize": {func(r row) { r[7], r[12] = "NOT_HEALTHY", "0 NOT SYNCHRONIZING" }, replication.Broken},
		"it has no databases":     {func(r row) { r[7], r[9], r[12], r[13], r[14], r[15] = "NOT_HEALTHY", nil, nil, nil, nil, nil }, replication.Works},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			second := row(replicaRow("SECONDARY", 2))
			c.change(second)
			s := look(t, row(replicaRow("PRIMARY", 1)), second)
			if p := s.Peers[0]; p.Condition != c.want || (p.Why == "") != (c.want == replication.Works) {
				t.Errorf("%+v", p)
			}
		})
	}
	t.Run("not granted", func(t *testing.T) {
		t.Parallel()
		f := newFake(t)
		f.sees = false
		b, err := f.measure(t).round()
		if err != nil || len(b.Replication) != 1 || b.Replication[0].Denied != "GRANT VIEW SERVER STATE TO [watcher];" || b.Replication[0].Role != "" {
			t.Errorf("%v, %+v", err, b.Replication)
		}
	})
	t.Run("granted in part", func(t *testing.T) {
		t.Parallel()
		f := newFake(t)
		f.fails["replication"] = &tdstest.NoServerState
		b, err := f.measure(t).round()
		if err != nil || len(b.Replication) != 1 || b.Replication[0].Denied == "" || b.Replication[0].Role != "" {
			t.Errorf("%v, %+v", err, b.Replication)
		}
	})
	t.Run("once a minute", func(t *testing.T) {
		t.Parallel()
		f := newFake(t)
		m := f.measure(t)
		m.well()
		m.clock.Advance(-50 * time.Second)
		if b := m.well(); len(b.Replication) > 1 {
			t.Errorf("%d", len(b.Replication))
		}
	})
}
