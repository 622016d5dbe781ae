package monitor

import (
	"fmt"
	"strings"
	"testing"

	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements/waitclass"
	"muster/internal/testing/pgtest"
	"muster/internal/watch"
)

// TestServers measures a server of each version, through its bad days.
func TestServers(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			w := measuretest.NewWatched(t, major)
			s := newScene(t)
			instance := s.register(w.DSN)
			one := s.measure(instance)
			first := s.round(one)
			if first.err != nil || len(first.batch.Statements) > 0 {
				t.Fatalf("the first look is a basis: %v, %+v", first.err, first.batch.Statements)
			}
			for _, step := range []struct {
				name string
				test func(*testing.T, *scene, *measuretest.Watched, *server)
			}{
				{"databases come and go", databasesComeAndGo},
				{"sessions agree with pg_stat_activity", sessionsAgree},
				{"a lock storm", aLockStorm},
				{"statements agree with pg_stat_statements", statementsAgree},
				{"texts are told once", textsAreToldOnce},
				{"a server says how long it executes", activeTimeAgrees},
				{"counters are reset", countersAreReset},
				{"entries are evicted", entriesAreEvicted},
				{"privileges are taken away", privilegesAreTakenAway},
				{"our own database fails", ourOwnDatabaseFails},
				{"the server is restarted", theServerIsRestarted},
				{"the extension is elsewhere", theExtensionIsElsewhere},
			} {
				s.T = t
				if !t.Run(step.name, func(t *testing.T) { s.T = t; step.test(t, s, w, one) }) {
					break
				}
			}
		})
	}
}

func databasesComeAndGo(t *testing.T, s *scene, w *measuretest.Watched, one *server) {
	known := func() string {
		ids, err := s.commands.DatabasesOf(t.Context(), s.organization, one.claim.Instance)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, name := range []string{"app", "late", "postgres", "template1", "tools"} {
			if _, ok := ids[name]; ok {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	if got := known(); got != "app postgres tools" {
		t.Error(got)
	}
	w.Admin.MustExec(`CREATE DATABASE late`)
	r := s.round(one)
	if sample := r.sessions("late"); known() != "app late postgres tools" || sample == nil || sample.Waits != nil {
		t.Errorf("%s, %+v, %v", known(), sample, r.err)
	}
	w.Admin.MustExec(`DROP DATABASE late`)
	if r := s.round(one); known() != "app postgres tools" || len(r.batch.Sessions) != 3 {
		t.Errorf("%s, %+v, %v", known(), r.batch.Sessions, r.err)
	}
}

func sessionsAgree(t *testing.T, s *scene, w *measuretest.Watched, one *server) {
	stops := []func(){
		w.Session(t, "app", `SELECT 1`), w.Session(t, "app", `SELECT 1`), w.Session(t, "app", `BEGIN`),
		w.Session(t, "app", `BEGIN`, `SELECT 1/0`), w.Session(t, "app", `SELECT pg_sleep(600)`),
		w.Session(t, "app", `DO $$ BEGIN LOOP END LOOP; END $$`),
		w.Session(t, "app", `SET track_activities = off`, `SELECT 1`),
	}
	defer func() {
		for _, stop := range stops {
			stop()
		}
	}()
	// Who is idle waits for its client, but a moment later. Before 14 who does not track
	// what it does does not track that either.
	clients := map[bool]int{true: 5, false: 4}[w.Major >= 14]
	w.Until(t, 1, fmt.Sprintf(`SELECT count(*) FROM (
		SELECT count(*) FILTER (WHERE state = 'idle') = 2 AND count(*) FILTER (WHERE state LIKE 'idle in%%') = 2 AND
		       count(*) FILTER (WHERE state = 'disabled') = 1 AND count(*) FILTER (WHERE wait_event = 'PgSleep') = 1 AND
		       count(*) FILTER (WHERE query LIKE 'DO %%') = 1 AND count(*) FILTER (WHERE wait_event = 'ClientRead') = %d AND bool_or(state LIKE '%%(aborted)') AS there
		FROM pg_stat_activity WHERE datname = 'app') s WHERE there`, clients))
	r := s.round(one)
	got := r.sessions("app")
	if got == nil {
		t.Fatal(r.err)
	}
	if got.Active != 1 || got.Idle != 2 || got.IdleInTransaction != 2 || got.Waiting != 1 || got.Other != 1 {
		t.Errorf("%+v", got)
	}
	rows := w.Admin.MustBegin()
	defer func() { _ = rows.Rollback() }()
	var waits []struct {
		Type  string `db:"wait_event_type"`
		Count int64  `db:"count"`
	}
	err := rows.Select(&waits, `SELECT wait_event_type, count(*) FROM pg_stat_activity
		WHERE datname = 'app' AND wait_event_type IS NOT NULL GROUP BY 1`)
	if err != nil || len(waits) == 0 || len(waits) != len(got.Waits) {
		t.Fatalf("%v, %+v, %+v", err, waits, got.Waits)
	}
	for _, wait := range waits {
		if got.Waits[wait.Type] != wait.Count {
			t.Errorf("%s: %d, want %d", wait.Type, got.Waits[wait.Type], wait.Count)
		}
	}
	if tools := r.sessions("tools"); tools == nil || len(tools.Waits) > 0 {
		t.Errorf("a database that nobody is on was sampled, and nobody waits: %+v", tools)
	}
	// Ours is not among them: the administrator's is the only one there.
	if home := r.sessions("postgres"); home == nil || home.Active+home.Idle+home.Waiting+home.IdleInTransaction+home.Other != 1 {
		t.Errorf("%+v", home)
	}
}

func aLockStorm(t *testing.T, s *scene, w *measuretest.Watched, one *server) {
	w.Run(t, "app", 1, `CREATE TABLE contended (n int)`)
	stops := []func(){w.Session(t, "app", `BEGIN`, `LOCK TABLE contended`)}
	w.Until(t, 1, `SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE mode = 'AccessExclusiveLock' AND granted AND datname = 'app'`)
	for range 12 {
		stops = append(stops, w.Session(t, "app", `SELECT * FROM contended`))
	}
	const waiting = `SELECT count(*) FROM pg_stat_activity WHERE datname = 'app' AND wait_event_type = 'Lock'`
	w.Until(t, 12, waiting)
	// From 14 on a lock says since when it is waited for, a moment after it is.
	if w.Major >= 14 {
		w.Until(t, 12, `SELECT count(waitstart) FROM pg_locks WHERE NOT granted`)
	}
	r := s.round(one)
	if got := r.sessions("app"); r.err != nil || got == nil || got.Waiting != 12 || got.Waits["Lock"] != 12 || got.IdleInTransaction != 1 {
		t.Errorf("%v, %+v", r.err, got)
	}
	if tile := s.waitTile(); tile.Waiting[waitclass.Locks][0] != 12 {
		t.Errorf("the tile shows %v", tile.Waiting)
	}
	// C20: how many wait, where, and for whom; advisory locks are listed separately. The
	// table's name is known in its own database only.
	for _, sign := range r.signs {
		is := sign.Details
		switch {
		case sign.Rule != watch.LockWait:
		case sign.Mount == watch.Advisory:
			if sign.Value != 0 || is.Sessions != 0 {
				t.Errorf("somebody waits for an advisory lock: %+v", sign)
			}
		case sign.Value <= 0, sign.Value > 5, is.Sessions != 12, is.Kind != "relation", is.Database != "app", is.Session == "", is.Holder == "", !is.Idle:
			t.Errorf("the sign of the storm is %+v", sign)
		}
	}
	for _, stop := range stops {
		stop()
	}
	w.Until(t, 0, `SELECT count(*) FROM pg_stat_activity WHERE datname = 'app'`)
	r = s.round(one)
	rules := make(map[watch.Rule]float64)
	for _, sign := range r.signs {
		rules[sign.Rule] = sign.Value
	}
	stops = []func(){w.Session(t, "app", `BEGIN`, `SELECT pg_advisory_lock(42)`)}
	w.Until(t, 1, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted`)
	stops = append(stops, w.Session(t, "app", `SELECT pg_advisory_lock(42)`))
	w.Until(t, 1, waiting)
	if w.Major >= 14 {
		w.Until(t, 1, `SELECT count(waitstart) FROM pg_locks WHERE NOT granted`)
	}
	for _, sign := range s.round(one).signs {
		if is := sign.Details; sign.Rule == watch.LockWait && (sign.Value > 0) != (sign.Mount == watch.Advisory) ||
			sign.Mount == watch.Advisory && (is.Object != "42" || is.Sessions != 1) {
			t.Errorf("an advisory lock: %+v", sign)
		}
	}
	for _, stop := range stops {
		stop()
	}
	if wraparound, ok := rules[watch.Wraparound]; len(rules) != 3 || rules[watch.LockWait] != 0 || !ok || wraparound > 1 || rules[watch.Connections] <= 0 || rules[watch.Connections] > 100 {
		t.Errorf("%v, when the storm is over", rules)
	}
	if got := r.sessions("app"); got == nil || len(got.Waits) > 0 {
		t.Errorf("nobody waits, which is no gap: %+v", got)
	}
}

func privilegesAreTakenAway(t *testing.T, s *scene, w *measuretest.Watched, one *server) {
	if missing := s.missing(one.claim.Instance); len(missing) > 0 {
		t.Errorf("nothing is missing yet: %+v", missing)
	}
	stop := w.Session(t, "app", `SELECT 1`)
	defer stop()
	// Idle is a session that has not executed anything yet, too.
	w.Until(t, 1, `SELECT count(*) FROM pg_stat_activity WHERE datname = 'app' AND query = 'SELECT 1' AND state = 'idle'`)
	w.Run(t, "app", 30, `SELECT 19`)
	s.round(one)
	calls, _ := w.Executed(t, "app")
	w.Admin.MustExec(`REVOKE pg_monitor FROM watcher`)
	w.Run(t, "app", 30, `SELECT 19`)
	r := s.round(one)
	if sample := r.sessions("app"); r.err != nil || sample != nil || len(r.batch.Statements) > 0 {
		t.Errorf("%v: what is hidden was taken for nothing: %+v, %+v", r.err, sample, r.batch.Statements)
	}
	if sample := r.sessions("tools"); sample == nil {
		t.Error("nobody is on tools, which can be seen")
	}
	for _, sign := range r.signs {
		if sign.Rule == watch.LockWait {
			t.Errorf("nobody is said to wait: %+v", sign)
		}
	}
	if missing := s.missing(one.claim.Instance); len(missing) != 1 || missing[0].Statement != "GRANT pg_read_all_stats TO watcher;" {
		t.Errorf("%+v", missing)
	}
	w.Admin.MustExec(`GRANT pg_monitor TO watcher`)
	after, _ := w.Executed(t, "app")
	w.Until(t, 1, `SELECT count(*) FROM pg_stat_activity WHERE datname = 'app'`) // others are still going
	r = s.round(one)
	if got, _, ok := r.statements("app"); !ok || got != after-calls || got < 30 {
		t.Errorf("%v: counted %d calls (%t), executed %d since the last list", r.err, got, ok, after-calls)
	}
	if sample := r.sessions("app"); sample == nil || sample.Idle != 1 {
		t.Errorf("%+v", sample)
	}
	if missing := s.missing(one.claim.Instance); len(missing) > 0 {
		t.Errorf("still %+v", missing)
	}
	w.Admin.MustExec(`REVOKE EXECUTE ON FUNCTION pg_stat_statements(boolean) FROM public`)
	s.round(one) // finds that it cannot be read
	r = s.round(one)
	if missing := s.missing(one.claim.Instance); len(missing) != 1 || len(r.batch.Statements) > 0 || len(r.batch.Sessions) == 0 ||
		missing[0].Statement != "GRANT EXECUTE ON FUNCTION "+map[bool]string{
			true: "public.pg_stat_statements(boolean), public.pg_stat_statements_info()", false: "public.pg_stat_statements(boolean)",
		}[w.Major >= 14]+" TO watcher;" {
		t.Errorf("%+v, %+v", missing, r)
	}
	w.Admin.MustExec(`GRANT EXECUTE ON FUNCTION pg_stat_statements(boolean) TO public`)
	if r = s.round(one); len(r.batch.Statements) == 0 {
		t.Errorf("granted again: %v, %+v", r.err, s.missing(one.claim.Instance))
	}
}
