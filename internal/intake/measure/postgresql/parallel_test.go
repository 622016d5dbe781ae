package postgresql

import (
	"fmt"
	"testing"
	"time"

	"muster/internal/measurements"
	"muster/internal/testing/pgtest"
)

// TestAWaitingWorkerIsShownAsItsLeader: a parallel query whose workers alone wait for a lock is asked for its
// blockers, and is one session that waits once, for who holds the lock. The other way round, it is one session
// that holds others up, and neither waits for itself.
func TestAWaitingWorkerIsShownAsItsLeader(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t, major)
			force := "debug_parallel_query"
			if major < 16 {
				force = "force_parallel_mode"
			}
			for _, statement := range []string{
				`CREATE TABLE wide AS SELECT n FROM generate_series(1, 100000) n`, `ANALYZE wide`,
				`CREATE FUNCTION takes(k int) RETURNS int LANGUAGE plpgsql PARALLEL SAFE AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN k; END $$`,
			} {
				c.admin.MustExec(statement)
			}
			parallel := []string{
				`SET max_parallel_workers_per_gather = 2`, `SET parallel_setup_cost = 0`, `SET parallel_tuple_cost = 0`, `SET min_parallel_table_scan_size = 0`,
				`SET parallel_leader_participation = off`, `SET ` + force + ` = on`,
			}
			c.does("keeper", false, `SELECT pg_advisory_lock(7)`)
			c.asks("report", append(parallel, `SELECT count(takes(n)) FROM wide WHERE n < 50`)...)
			c.until(`SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND wait_event_type = 'Lock'`)
			c.until(`SELECT bool_and(coalesce(wait_event_type, '') <> 'Lock') FROM pg_stat_activity WHERE backend_type = 'client backend'`)
			a, err := c.read.Activity(t.Context(), c.line)
			if err != nil || !a.Locked {
				t.Fatalf("a worker waits for a lock, and that is not seen: %+v, %v", a, err)
			}
			var counted int64
			for _, d := range a.Databases {
				counted += d.Sample.Waits["Lock"]
				for _, one := range d.Sample.Doing {
					if one.Application == "report" && (one.State != measurements.Waits || one.Wait != "IPC" || one.Sessions != 1) {
						t.Errorf("the leader: %+v", one)
					}
				}
			}
			if counted != 0 {
				t.Errorf("%d sessions wait for a lock: the worker is none", counted)
			}
			found := c.look(true)
			names, of := c.named(found)
			var leader string
			if err := c.admin.Get(&leader, `SELECT pid::text FROM pg_stat_activity WHERE application_name = 'report' AND backend_type = 'client backend'`); err != nil {
				t.Fatal(err)
			}
			if n := of["report"]; len(found) != 2 || n.Session != leader || n.Waits == nil || len(n.For) != 1 || names[n.For[0]] != "keeper" || !n.Advisory || n.Object != "7" {
				t.Errorf("%+v", found)
			}
			c.over()
			// The leader of workers holds up others.
			c.does("report", false, append(parallel, `SELECT count(*), pg_sleep(3600) FROM wide`)...)
			c.does("migrate", true, `ALTER TABLE wide ADD COLUMN gift text`)
			found = c.look(true)
			names, of = c.named(found)
			if n := of["migrate"]; len(found) != 2 || len(n.For) != 1 || names[n.For[0]] != "report" || of["report"].Waits != nil {
				t.Errorf("%+v", found)
			}
			c.over()
		})
	}
}

// TestReadingASnapshotIsNoWait: a session that reads rows that another session is changing does not wait.
func TestReadingASnapshotIsNoWait(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 0)
	c.does("billing", false, `BEGIN`, `UPDATE orders SET note = 'x'`)
	c.does("report", false, `BEGIN ISOLATION LEVEL REPEATABLE READ`, `SELECT count(*) FROM orders`)
	if a, err := c.read.Activity(t.Context(), c.line); err != nil || a.Locked {
		t.Errorf("%t, %v", a.Locked, err)
	}
	look, err := c.read.Blocking(t.Context(), c.line, time.Now(), true)
	if err != nil || len(look.Nodes) > 0 {
		t.Errorf("%+v, %v", look, err)
	}
	c.over()
}
