package collect_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/testing/pgtest"
)

// lightly looks lightly at a server, and says whether that made it due.
func (s *scene) lightly(instance uuid.UUID) bool {
	s.Helper()
	s.db.MustExec(`UPDATE assessment_targets SET next_light_look_at = now(), next_assessment_at = now() + interval '6 hours' WHERE instance_id = $1`, instance)
	if ok, err := s.collector.LookLightly(s.Context()); err != nil || !ok {
		s.Fatalf("no light look: %t, %v", ok, err)
	}
	var due bool
	if err := s.db.Get(&due, `SELECT next_assessment_at <= now() FROM assessment_targets WHERE instance_id = $1`, instance); err != nil {
		s.Fatal(err)
	}
	return due
}

// TestALightLookFindsChanges: F8. Changes between two assessments are found by a light look, and its findings
// are new (F8, too).
func TestALightLookFindsChanges(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server := pgtest.Cluster(t, pgtest.Options{})
	admin := pgtest.Connect(t, server.Superuser())
	instance := s.register(server.TCPURL(pgtest.Superuser, "postgres"))
	if ok, err := s.collector.LookLightly(t.Context()); ok || err != nil {
		t.Fatalf("a server that was never assessed is looked at: %v", err)
	}
	s.assess(instance)
	for range 2 {
		if s.lightly(instance) {
			t.Fatal("an unchanged server is due")
		}
	}
	again := func() { // as if the last one had been long ago
		s.db.MustExec(`UPDATE assessment_targets SET light_look_told_at = light_look_told_at - interval '1 hour'`)
	}
	for _, change := range []string{
		`CREATE ROLE dana LOGIN`, `GRANT pg_monitor TO dana`, `REVOKE CONNECT ON DATABASE postgres FROM PUBLIC`, `CREATE DATABASE fresh`,
		`SELECT pg_create_physical_replication_slot('left', true)`,
	} {
		admin.MustExec(change)
		if !s.lightly(instance) {
			t.Errorf("not seen: %s", change)
		}
		again()
	}
	// A server that changes all the time is due once in a quarter of an hour, and then is.
	admin.MustExec(`CREATE ROLE one`)
	first := s.lightly(instance)
	admin.MustExec(`CREATE ROLE two`)
	second := s.lightly(instance)
	again()
	if third := s.lightly(instance); !first || second || !third {
		t.Errorf("due: %t, %t, %t", first, second, third)
	}
	again()
	admin.MustExec(`ALTER SYSTEM SET log_connections = 'on'`)
	admin.MustExec(`SELECT pg_reload_conf()`)
	seen := s.lightly(instance)
	for end := time.Now().Add(20 * time.Second); !seen && time.Now().Before(end); seen = s.lightly(instance) {
	}
	if !seen {
		t.Error("a setting that changed is not seen")
	}
	s.assess(instance)
	told := s.told(instance)
	var checks []string
	for _, n := range told[len(told)-1].New {
		checks = append(checks, n.CheckID)
	}
	if len(told[0].New) != 0 || len(checks) == 0 {
		t.Errorf("new at first: %v; then %v", told[0].New, checks)
	}
}

// TestALightLookFindsAFailover: a standby becomes a primary, and a server is started again. Each makes the
// server due, and the next assessment says what the server became.
func TestALightLookFindsAFailover(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	standby := pgtest.Standby(t, pgtest.Cluster(t, pgtest.Options{}), pgtest.Options{})
	instance := s.register(standby.TCPURL(pgtest.Superuser, "postgres"))
	s.assess(instance)
	for range 2 {
		if s.lightly(instance) {
			t.Fatal("an unchanged server is due")
		}
	}
	pgtest.Connect(t, standby.Superuser()).MustExec(`SELECT pg_promote()`)
	if !s.lightly(instance) {
		t.Error("the failover is not seen")
	}
	s.assess(instance)
	if got := s.changed(instance); !strings.Contains(got, "replication Role in replication: standby > primary") {
		t.Errorf("the assessment tells\n%s", got)
	}
	s.db.MustExec(`UPDATE assessment_targets SET light_look_told_at = light_look_told_at - interval '1 hour'`)
	standby.Restart(t)
	if !s.lightly(instance) {
		t.Error("the restart is not seen")
	}
}
