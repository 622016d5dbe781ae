package monitor

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"muster/internal/intake/measure/measuretest"
)

func statementsAgree(t *testing.T, s *scene, w *measuretest.Watched, one *server) {
	w.Prepare(t)
	calls, totalMs := w.Executed(t, "app")
	s.round(one)
	w.Load(t)
	callsAfter, totalAfter := w.Executed(t, "app")
	r := s.round(one)
	gotCalls, gotMs, ok := r.statements("app")
	if !ok || gotCalls != callsAfter-calls || gotCalls < 200 || math.Abs(gotMs-(totalAfter-totalMs)) > 1e-6*totalAfter {
		t.Errorf("%v: counted %d calls in %g ms, executed %d in %g", r.err, gotCalls, gotMs, callsAfter-calls, totalAfter-totalMs)
	}
	var everywhere int64 // the tile is the whole organization's
	for _, database := range []string{"app", "postgres", "tools"} {
		calls, _, _ := r.statements(database)
		everywhere += calls
	}
	if tile := s.queryTile(); tile.Calls[0] != float64(everywhere) || !(tile.MaxMs[0] > 0) {
		t.Errorf("the tile shows %+v, counted were %d calls", tile, everywhere)
	}
	if calls, _, ok := r.statements("tools"); !ok || calls != 0 {
		t.Errorf("where nothing was executed: %d calls, looked at %t", calls, ok)
	}
	if again, _, _ := s.round(one).statements("app"); again != 0 {
		t.Errorf("%d calls counted again", again)
	}
}

func countersAreReset(t *testing.T, s *scene, w *measuretest.Watched, one *server) {
	w.Run(t, "app", 50, `SELECT 17`)
	s.round(one)
	w.Admin.MustExec(`SELECT pg_stat_statements_reset()`)
	w.Run(t, "app", 60, `SELECT 17`) // more than before: nothing fell
	got, _, ok := s.round(one).statements("app")
	if want := map[bool]int64{true: 60, false: 0}[w.Major >= 14]; !ok || got != want {
		t.Errorf("after a reset %d calls were counted (%t), want %d", got, ok, want)
	}
	w.Run(t, "app", 5, `SELECT 17`)
	if got, _, _ := s.round(one).statements("app"); got != 5 {
		t.Errorf("then %d calls were counted, want 5", got)
	}
}

func entriesAreEvicted(t *testing.T, s *scene, w *measuretest.Watched, one *server) {
	var columns, flood []string
	for i := range 20 {
		columns = append(columns, fmt.Sprintf("c%d int", i))
		for j := range 20 {
			flood = append(flood, fmt.Sprintf("SELECT c%d FROM wide WHERE c%d = 1", i, j))
		}
	}
	w.Run(t, "app", 1, `CREATE TABLE wide (`+strings.Join(columns, ", ")+`)`)
	w.Run(t, "app", 40, `SELECT 18`)
	s.round(one)
	for round := range 3 {
		w.Run(t, "app", 2, flood...) // twice: an entry of one call is the first to go
		w.Run(t, "app", 3, `SELECT 18`)
		r := s.round(one)
		calls, totalMs, ok := r.statements("app")
		if executed := int64(2*len(flood) + 3); !ok || calls > executed || totalMs < 0 {
			t.Errorf("round %d: counted %d calls (%t), executed %d", round, calls, ok, executed)
		}
		for _, sample := range r.batch.Statements {
			for _, statement := range sample.Statements {
				if statement.Calls > int64(2*len(flood)) || statement.Calls <= 0 || statement.TotalMs < 0 {
					t.Errorf("round %d: a spike: %+v", round, statement)
				}
			}
		}
	}
	if w.Major >= 14 {
		var evicted int
		if err := w.Admin.Get(&evicted, `SELECT dealloc FROM pg_stat_statements_info`); err != nil || evicted == 0 {
			t.Errorf("nothing was evicted: %v", err)
		}
	}
	w.Admin.MustExec(`SELECT pg_stat_statements_reset()`)
	s.round(one)
}

// ourOwnDatabaseFails: an interval that was not stored is counted with the next one, and a
// stored one is not counted again, whatever answer we got.
func ourOwnDatabaseFails(t *testing.T, s *scene, w *measuretest.Watched, one *server) {
	s.round(one)
	lost := fmt.Errorf("lost connection")
	counted := func() (n int64) {
		for _, b := range s.intake.batches {
			calls, _, _ := round{batch: b, ids: s.ids(one)}.statements("app")
			n += calls
		}
		return n
	}
	before := counted()
	for i, told := range []*error{&s.intake.fail, &s.intake.failed} {
		*told = lost
		w.Run(t, "app", 7, `SELECT 20`)
		if r := s.round(one); r.err == nil {
			t.Error("nobody was told")
		}
		w.Run(t, "app", 4, `SELECT 20`)
		if r := s.round(one); r.err != nil {
			t.Error(r.err)
		}
		if got := counted() - before; got != int64(11*(i+1)) {
			t.Errorf("%d calls were counted, want %d", got, 11*(i+1))
		}
	}
}

func theServerIsRestarted(t *testing.T, s *scene, w *measuretest.Watched, one *server) {
	// What Muster reads in each database once an hour is read now, and not between the restart and the next look.
	s.clock.Advance(time.Hour)
	s.round(one)
	w.Run(t, "app", 100, `SELECT 21`)
	s.round(one)
	w.Restart(t)
	w.Run(t, "app", 9, `SELECT 21`)
	if r := s.round(one); r.err == nil || r.batch.Len() > 0 {
		t.Errorf("%v, %+v", r.err, r.batch)
	}
	// The counters were saved, so none of them is new: they are a basis.
	r := s.round(one)
	if got, _, ok := r.statements("app"); !ok || got > 9 {
		t.Errorf("%d calls counted (%t), 9 executed", got, ok)
	}
	if busy := r.busy("app"); busy != nil {
		t.Errorf("over a restart, which may be a crash, it was busy for %g ms", *busy)
	}
	w.Run(t, "app", 3, `SELECT 21`)
	if got, _, _ := s.round(one).statements("app"); got != 3 {
		t.Errorf("%d calls counted, 3 executed", got)
	}
	w.Crash(t)
	if r := s.round(one); r.err == nil || r.batch.Len() > 0 {
		t.Errorf("%v, %+v", r.err, r.batch)
	}
	w.Restart(t)
	w.Run(t, "app", 2, `SELECT 21`)
	if got, _, ok := s.round(one).statements("app"); !ok || got > 2 {
		t.Errorf("after a crash %d calls counted (%t), 2 executed", got, ok)
	}
}

func theExtensionIsElsewhere(t *testing.T, s *scene, w *measuretest.Watched, one *server) {
	w.Admin.MustExec(`DROP EXTENSION pg_stat_statements`)
	if r := s.round(one); len(r.batch.Statements) > 0 || len(r.batch.Sessions) != 3 {
		t.Errorf("%+v", r)
	}
	s.clock.Advance(10 * time.Minute) // it searches so often
	s.round(one)                      // finds it in tools, in a schema of its own
	if missing := s.missing(one.claim.Instance); len(missing) != 1 || missing[0].Statement != `GRANT USAGE ON SCHEMA "Statistics" TO watcher;` {
		t.Errorf("%+v", missing)
	}
	w.Run(t, "tools", 1, `GRANT USAGE ON SCHEMA "Statistics" TO watcher`)
	w.Run(t, "app", 1, `SELECT 22`)
	s.round(one)
	w.Run(t, "app", 6, `SELECT 22`)
	if got, _, ok := s.round(one).statements("app"); !ok || got != 6 || w.MeasuredIn(t) != "tools" {
		t.Errorf("%d calls counted (%t) from %s", got, ok, w.MeasuredIn(t))
	}
	// After a while out of reach, measuring continues where it was.
	w.Stop(t)
	for range 2 {
		if r := s.round(one); r.err == nil {
			t.Error("measured a server that does not run")
		}
	}
	w.Restart(t)
	if r := s.round(one); r.err != nil || len(r.batch.Statements) == 0 || w.MeasuredIn(t) != "tools" {
		t.Errorf("%v: %d samples of statements from %s", r.err, len(r.batch.Statements), w.MeasuredIn(t))
	}
	if home := s.round(one).sessions("tools"); home == nil || home.Idle+home.Active+home.Waiting > 0 {
		t.Errorf("our own session counts: %+v", home)
	}
}
