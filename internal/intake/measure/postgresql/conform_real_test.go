package postgresql

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/servers"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/pgtest"
)

// TestConformServers holds the reader to what is promised of all, on a server of each
// version. It has the same one for all scenes.
func TestConformServers(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			w := measuretest.NewWatched(t, major)
			measuretest.Conform(t, func(t *testing.T) measuretest.Server { return newReal(t, w) })
		})
	}
}

// real is a server that runs.
type real struct {
	*measuretest.Watched
	t     *testing.T
	clock *clocktest.Clock
	stop  map[string][]func() // sessions, by database
	// shapes are numbers of columns, by statement: that of its name alone is no other one.
	shapes map[string]int
}

func newReal(t *testing.T, w *measuretest.Watched) *real {
	r := &real{Watched: w, t: t, clock: clocktest.At(time.Now().Truncate(time.Second)), stop: make(map[string][]func()), shapes: make(map[string]int)}
	for _, name := range []string{"app", "crm"} { // to make one costs the server more than most scenes
		var there bool
		if err := w.Admin.Get(&there, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name); err != nil {
			t.Fatal(err)
		}
		if there {
			r.Put(name, measuretest.Open)
		} else {
			r.Create(name)
		}
	}
	w.Admin.MustExec(`DROP DATABASE IF EXISTS tools`) // without sessions
	r.Reset()
	return r
}

func (r *real) Engine() measure.Engine { return Engine(r.clock.Now) }

func (r *real) Target() servers.Target {
	target, err := new(servers.Reach).Target(fleet.PostgreSQL, r.DSN)
	if err != nil {
		r.t.Fatal(err)
	}
	return target
}

func (r *real) Open(ctx context.Context, to servers.Target, database string) (servers.Session, error) {
	return to.Open(ctx, database, time.Minute)
}

func (r *real) Has() measuretest.Features {
	return measuretest.Features{
		Busy: r.Major >= 14, Born: r.Major >= 17, Cleared: r.Major >= 14, Lock: "Lock",
		States: []measuretest.State{measuretest.ReadOnly, measuretest.Offline}, Parts: []measuretest.Part{statistics, functions},
	}
}

func (r *real) Clock() *clocktest.Clock { return r.clock }
func (r *real) Skew(time.Duration)      {}

// Ready waits until the sessions are gone that executed.
func (r *real) Ready() {
	r.t.Helper()
	r.Until(r.t, 0, `SELECT count(*) FROM pg_stat_activity WHERE usename = 'postgres' AND datname <> 'postgres' AND backend_type = 'client backend'`)
}

func (r *real) Create(name string) {
	r.Admin.MustExec(`CREATE DATABASE ` + pgx.Identifier{name}.Sanitize() + ` TEMPLATE template0`)
}

func (r *real) Drop(name string) {
	r.Admin.MustExec(`DROP DATABASE IF EXISTS ` + pgx.Identifier{name}.Sanitize() + ` WITH (FORCE)`)
}

func (r *real) Put(database string, s measuretest.State) {
	name := pgx.Identifier{database}.Sanitize()
	r.Admin.MustExec(fmt.Sprintf(`ALTER DATABASE %s WITH ALLOW_CONNECTIONS %t`, name, s != measuretest.Offline))
	r.Admin.MustExec(fmt.Sprintf(`ALTER DATABASE %s SET default_transaction_read_only = %t`, name, s == measuretest.ReadOnly))
}

// Execute takes as long as it takes.
func (r *real) Execute(database, statement string, calls int, _ float64) float64 {
	r.t.Helper()
	before, beforeMs := r.Executed(r.t, database)
	shape, known := r.shapes[statement]
	if !known {
		shape = len(r.shapes)
		r.shapes[statement] = shape
	}
	r.Run(r.t, database, calls, measuretest.Text(statement)+strings.Repeat(", 1", shape))
	after, afterMs := r.Executed(r.t, database)
	if after-before != int64(calls) {
		r.t.Fatalf("the server counted %d calls of %d", after-before, calls)
	}
	return afterMs - beforeMs
}

func (r *real) Connect(database string, on measuretest.Sessions) {
	for _, stop := range r.stop[database] {
		stop()
	}
	r.stop[database] = nil
	there := `SELECT count(*) FROM pg_stat_activity WHERE datname = '` + database + `'`
	r.Until(r.t, 0, there)
	if on == (measuretest.Sessions{}) {
		return
	}
	add := func(n int64, statements ...string) {
		for range n {
			r.stop[database] = append(r.stop[database], r.Guest(r.t, database, statements...))
		}
	}
	add(on.Active, `DO $$ BEGIN LOOP END LOOP; END $$`)
	add(on.Idle, `SELECT 1`)
	if on.Waiting > 0 {
		on.InTransaction--
		add(1, `BEGIN`, `SELECT pg_advisory_xact_lock(1)`)
		r.Until(r.t, 1, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted`)
	}
	add(on.InTransaction, `BEGIN`)
	add(on.Waiting, `SELECT pg_advisory_xact_lock(1)`)
	add(on.Other, `SET track_activities = off`, `SELECT 1`)
	for state, n := range map[string]int64{
		`state = 'active' AND wait_event IS NULL`: on.Active, `state = 'idle'`: on.Idle, `wait_event_type = 'Lock'`: on.Waiting, `state = 'disabled'`: on.Other,
		`state = 'idle in transaction'`: map[bool]int64{true: on.InTransaction + 1, false: on.InTransaction}[on.Waiting > 0],
	} {
		r.Until(r.t, int(n), there+` AND `+state)
	}
}

func (r *real) Evict(database, statement string) {
	r.Admin.MustExec(`SELECT pg_stat_statements_reset(0, s.dbid, s.queryid) FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
		WHERE d.datname = $1 AND s.query LIKE '%AS ' || $2 || '%'`, database, statement)
}

func (r *real) Reset() { r.Admin.MustExec(`SELECT pg_stat_statements_reset()`) }

// Restart shuts it down, so that the counters are kept.
func (r *real) Restart() {
	r.Watched.Restart(r.t)
	_ = r.Admin.PingContext(r.t.Context()) // on the connection that is gone
}

func (r *real) Take(p measuretest.Part) {
	if p == statistics {
		r.Admin.MustExec(`REVOKE pg_monitor FROM watcher`)
		return
	}
	r.Admin.MustExec(`REVOKE EXECUTE ON FUNCTION pg_stat_statements(boolean) FROM public`)
}

func (r *real) Give(p measuretest.Part) {
	if p == statistics {
		r.Admin.MustExec(`GRANT pg_monitor TO watcher`)
		return
	}
	r.Admin.MustExec(`GRANT EXECUTE ON FUNCTION pg_stat_statements(boolean) TO public`)
}
