package e2e

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/truth"
)

// actor is a scene on a server: its sessions are applications.
type actor struct {
	*sufferer
	t   *testing.T
	ctx context.Context //nolint:containedctx // of the test that all scenes are in: their sessions outlast the test of each
}

// does opens a session of an application that executes statements, the last one again and again if it ends.
func (a *actor) does(application string, statements ...string) {
	a.t.Helper()
	last := len(statements) - 1
	conn := a.idles(application, statements[:last]...)
	go func() {
		for a.ctx.Err() == nil && !conn.IsClosed() {
			_, _ = conn.Exec(a.ctx, statements[last], pgx.QueryExecModeSimpleProtocol)
		}
	}()
}

// idles opens a session of an application that does nothing any more behind its statements.
func (a *actor) idles(application string, statements ...string) *pgx.Conn {
	a.t.Helper()
	conn := a.connect(a.t)
	for _, statement := range append([]string{"SET application_name = '" + application + "'"}, statements...) {
		if _, err := conn.Exec(a.ctx, statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			a.t.Fatal(application, err)
		}
	}
	return conn
}

// change changes the server, or the one that it follows.
func (a *actor) change(statement string) {
	a.t.Helper()
	of := a.server
	if a.primary != nil {
		of = a.primary
	}
	conn, err := pgx.Connect(a.ctx, of.Superuser())
	if err == nil {
		_, err = conn.Exec(a.ctx, statement)
		_ = conn.Close(context.Background())
	}
	if err != nil {
		a.t.Fatal(statement, err)
	}
}

// until waits for something that the server says.
func (a *actor) until(query string) {
	a.t.Helper()
	conn := a.connect(a.t)
	if !within(time.Minute, func() bool {
		var is bool
		return conn.QueryRow(a.ctx, query).Scan(&is) == nil && is
	}) {
		a.t.Fatal("never: ", query)
	}
}

// scene is something that happens on a server.
type scene struct {
	name     string
	settings map[string]string
	plays    func(a *actor)
	root     string // the application that holds others up, or "prepared tx-7", "autovacuum"; empty: nobody does
	kind     string // of the root; empty: a client
	dead     bool   // deadlocks are to be counted
	standby  bool   // it happens to a standby
}

const change = `UPDATE orders SET note = 'x' WHERE id = %d`

func scenes() []scene {
	return []scene{
		{name: "a lock pile-up behind a session that is idle in its transaction", root: "billing", plays: func(a *actor) {
			a.idles("billing", `BEGIN`, fmt.Sprintf(change, 1))
			for range 5 {
				a.does("shop", fmt.Sprintf(change, 1))
			}
		}},
		{name: "a chain of five", root: "a1", plays: func(a *actor) {
			a.idles("a1", `BEGIN`, fmt.Sprintf(change, 1))
			for n := 2; n <= 5; n++ {
				a.does(fmt.Sprint("a", n), `BEGIN`, fmt.Sprintf(change, n), fmt.Sprintf(change, n-1))
				a.until(fmt.Sprintf(`SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'a%d' AND wait_event_type = 'Lock'`, n))
			}
		}},
		{name: "a change of a table behind a long query", root: "report", plays: func(a *actor) {
			a.does("report", `SELECT count(*), pg_sleep(3600) FROM orders`)
			a.until(`SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'`)
			a.does("migrate", `ALTER TABLE orders ADD COLUMN gift text`)
			a.until(`SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'migrate' AND wait_event_type = 'Lock'`)
			for range 3 {
				a.does("shop", `SELECT count(*) FROM orders`)
			}
		}},
		{name: "deadlocks", dead: true, plays: func(a *actor) {
			for n, application := range []string{"one", "two"} {
				a.does(application, fmt.Sprintf(`BEGIN; `+change+`; SELECT pg_sleep(0.5); `+change+`; COMMIT`, 1+n, 2-n))
			}
		}},
		{name: "an advisory lock", root: "leader", plays: func(a *actor) {
			a.idles("leader", `SELECT pg_advisory_lock(42)`)
			a.does("follower", `SELECT pg_advisory_lock(42)`)
		}},
		{name: "a prepared transaction", settings: map[string]string{"max_prepared_transactions": "5"}, root: "prepared tx-7", kind: "prepared", plays: func(a *actor) {
			a.idles("gone", `BEGIN`, fmt.Sprintf(change, 3), `PREPARE TRANSACTION 'tx-7'`)
			a.does("shop", fmt.Sprintf(change, 3))
		}},
		{name: "autovacuum", settings: map[string]string{"autovacuum_naptime": "1s", "deadlock_timeout": "10min"}, root: "autovacuum", kind: "autovacuum", plays: func(a *actor) {
			a.idles("loader", `CREATE TABLE wide AS SELECT n, repeat('x', 500) AS filling FROM generate_series(1, 100000) n`,
				`ALTER TABLE wide SET (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)`,
				`DELETE FROM wide WHERE n % 2 = 0`)
			a.until(`SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'autovacuum worker' AND query LIKE '%public.wide%'`)
			a.does("migrate", `ALTER TABLE wide ADD COLUMN gift text`)
		}},
		{name: "replay that a query on a standby holds up", standby: true, root: "report", kind: "replay",
			settings: map[string]string{"max_standby_streaming_delay": "-1", "hot_standby_feedback": "off", "deadlock_timeout": "10min"}, plays: func(a *actor) {
				a.does("report", `SELECT count(*), pg_sleep(3600) FROM orders`)
				a.until(`SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'`)
				a.change(`ALTER TABLE orders ADD COLUMN gift text`)
				a.until(`SELECT count(*) > 0 FROM pg_locks WHERE NOT granted`)
				a.does("shop", `SELECT count(*) FROM orders`)
			}},
		{name: "a storm of connections", settings: map[string]string{"max_connections": "100"}, plays: func(a *actor) {
			for range 10 {
				go func() {
					for a.ctx.Err() == nil {
						conn, err := pgx.Connect(a.ctx, a.server.Superuser()+"&application_name=storm")
						if err != nil {
							return
						}
						time.Sleep(50 * time.Millisecond)
						_ = conn.Close(context.Background())
					}
				}()
			}
		}},
		{name: "a burning processor", plays: func(a *actor) {
			for range 2 {
				a.does("burner", `SELECT sum(n) FROM generate_series(1, 3000000) n`)
			}
		}},
		{name: "temporary files", settings: map[string]string{"work_mem": "64kB"}, plays: func(a *actor) {
			a.does("sorter", `SELECT count(*) FROM (SELECT n FROM generate_series(1, 300000) n ORDER BY random()) sorted`)
		}},
	}
}

// key is what sessions are counted by.
type key struct{ application, state string }

// onlooker looks at a server itself, every 100 ms.
type onlooker struct {
	stop func()

	mu    sync.Mutex
	looks []look
}

// look is one of them: the sessions of applications by what they do, and who holds most others up.
type look struct {
	at    time.Time
	count map[key]float64
	root  string // its id; empty: nobody waits
	waits int
}

func (a *actor) judges() *onlooker {
	ctx, cancel := context.WithCancel(a.ctx)
	j := &onlooker{}
	conn := a.connect(a.t)
	if _, err := conn.Exec(ctx, `SET application_name = 'judge'`); err != nil {
		a.t.Fatal(err)
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		for tick := time.NewTicker(100 * time.Millisecond); ctx.Err() == nil; <-tick.C {
			one, err := lookAt(ctx, conn)
			if err != nil {
				if ctx.Err() == nil {
					a.t.Error(err)
				}
				return
			}
			j.mu.Lock()
			j.looks = append(j.looks, one)
			j.mu.Unlock()
		}
	})
	j.stop = sync.OnceFunc(func() { cancel(); ended.Wait() })
	return j
}

func lookAt(ctx context.Context, conn *pgx.Conn) (look, error) {
	one := look{at: time.Now(), count: map[key]float64{}}
	rows, err := conn.Query(ctx, `SELECT pid, coalesce(application_name, ''), backend_type, coalesce(state, ''), wait_event_type IS NOT NULL,
			CASE WHEN wait_event_type = 'Lock' THEN pg_blocking_pids(pid) ELSE '{}' END
		FROM pg_stat_activity WHERE pid <> pg_backend_pid()`)
	if err != nil {
		return one, err
	}
	holds := map[int32][]int32{}
	waiting := map[int32]bool{}
	for rows.Next() {
		var pid int32
		var application, backend, state string
		var waits bool
		var blockers []int32
		if err := rows.Scan(&pid, &application, &backend, &state, &waits, &blockers); err != nil {
			return one, err
		}
		for _, b := range blockers {
			holds[b] = append(holds[b], pid)
			waiting[pid] = true
		}
		if backend != "client backend" {
			continue
		}
		switch {
		case state == "active" && !waits:
			one.count[key{application, "cpu"}]++
		case state == "active":
			one.count[key{application, "waiting"}]++
		case state == "idle" && waits:
			one.count[key{application, "idle"}]++
		case strings.HasPrefix(state, "idle in transaction") && waits:
			one.count[key{application, "idleInTransaction"}]++
		}
	}
	most := 0
	for _, holder := range slices.Sorted(maps.Keys(holds)) {
		if waiting[holder] {
			continue
		}
		behind := map[int32]bool{}
		for todo := []int32{holder}; len(todo) > 0; todo = todo[1:] {
			for _, w := range holds[todo[0]] {
				if !behind[w] {
					behind[w], todo = true, append(todo, w)
				}
			}
		}
		if len(behind) > most {
			most, one.root = len(behind), fmt.Sprint(holder)
		}
	}
	one.waits = len(waiting)
	return one, rows.Err()
}

// figures are the mean and the variance of a number of sessions in a time.
func (j *onlooker) figures(of key, from, to time.Time) (mean, variance float64, looks int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var sum, squares float64
	for _, l := range j.looks {
		if !l.at.Before(from) && l.at.Before(to) {
			sum, squares, looks = sum+l.count[of], squares+l.count[of]*l.count[of], looks+1
		}
	}
	mean = sum / float64(looks)
	return mean, max(squares/float64(looks)-mean*mean, 0), looks
}

// since is when somebody first waited, and the newest root.
func (j *onlooker) since() (first time.Time, root string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, l := range j.looks {
		if l.waits > 0 && first.IsZero() {
			first = l.at
		}
		if l.root != "" {
			root = l.root
		}
	}
	return first, root
}

// averages are the average sessions of applications by state, as the API has them.
func (a *actor) averages(from, to time.Time, limit int) map[key]float64 {
	a.t.Helper()
	out := map[key]float64{}
	for _, state := range []string{"cpu", "waiting", "idle", "idleInTransaction"} {
		var activity struct {
			Items []struct {
				Name    *string
				Average float64
			}
		}
		q := url.Values{"by": {"application"}, "state": {state}, "instanceId": {a.id.String()}, "from": {from.UTC().Format(time.RFC3339)}, "to": {to.UTC().Format(time.RFC3339)},
			"bucketSize": {"1m"}, "limit": {fmt.Sprint(limit)}}
		a.house.ana.get(a.t, "/api/v1/activity?"+q.Encode(), &activity)
		for _, item := range activity.Items {
			if item.Name != nil {
				out[key{*item.Name, state}] = item.Average
			}
		}
	}
	return out
}

// episode is an episode of blocking, as the API has it.
type episode struct {
	Root struct {
		Session, Kind string
		Application   *string
	}
}

// episodes are those of the server.
func (a *actor) episodes() []episode {
	var page struct{ Items []episode }
	a.house.ana.get(a.t, "/api/v1/blocking?instanceId="+a.id.String()+"&from="+time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)+"&to="+time.Now().Add(time.Minute).UTC().Format(time.RFC3339), &page)
	return page.Items
}

// shown is how long a figure may take from the server to the API: a look every ten seconds, and its way.
const shown = 15 * time.Second

// begins plays a scene, and waits until it is shown. What it returns judges a whole minute in which it goes on.
func (s scene) begins(t *testing.T, h *incidentHouse, major, n int) (ends func(t *testing.T, from, to time.Time)) {
	a := &actor{h.suffers(t, incident{letter: fmt.Sprint(major, "-", n), major: major, settings: s.settings, standby: s.standby}), t, t.Context()}
	a.change(`CREATE TABLE orders (id int PRIMARY KEY, note text); INSERT INTO orders SELECT n, '' FROM generate_series(1, 9) n`)
	a.until(`SELECT to_regclass('orders') IS NOT NULL`)
	j := a.judges()
	t.Cleanup(j.stop)
	began := time.Now()
	s.plays(a)
	if s.root != "" {
		within(time.Minute, func() bool { first, _ := j.since(); return !first.IsZero() })
		first, _ := j.since()
		within(time.Minute, func() bool { return len(a.episodes()) > 0 })
		took := time.Since(first)
		t.Logf("PostgreSQL %d, %s: shown %s after the judge saw it", major, s.name, took.Round(100*time.Millisecond))
		if took > shown {
			t.Errorf("%s: shown %s after the judge saw it", s.name, took)
		}
	}
	return func(t *testing.T, from, to time.Time) {
		a.t = t
		if a.agrees(j, from, to) == 0 {
			t.Error("the judge saw no session of the scene")
		}
		if s.root != "" {
			s.names(a, j)
		} else if found := a.episodes(); !s.dead && len(found) > 0 {
			t.Errorf("nobody holds anybody up: %+v", found)
		}
		if s.dead {
			a.deadlocksAgree(began)
		}
	}
}

// agrees compares the average sessions of each application and state with those of the judge, and says of how many.
func (a *actor) agrees(j *onlooker, from, to time.Time) (compared int) {
	a.t.Helper()
	got := a.averages(from, to, 50)
	keys := map[key]bool{}
	j.mu.Lock()
	for _, l := range j.looks {
		for k := range l.count {
			keys[k] = k.application != "" && k.application != "judge" && !strings.HasPrefix(k.application, "muster")
		}
	}
	j.mu.Unlock()
	for k, is := range keys {
		if mean, variance, looks := j.figures(k, from, to); is {
			compared++
			if off := math.Abs(got[k] - mean); off > truth.SamplingError(variance, 1, 6) || looks < 100 {
				a.t.Errorf("%s %s: %.3f, and the judge saw %.3f (variance %.3f, %d looks)", k.application, k.state, got[k], mean, variance, looks)
			}
		}
	}
	return compared
}

// names compares the root of the newest episode with that of the judge.
func (s scene) names(a *actor, j *onlooker) {
	a.t.Helper()
	found := a.episodes()
	if len(found) == 0 {
		a.t.Fatal("no episode")
	}
	root := found[0].Root
	_, want := j.since()
	application := ""
	if root.Application != nil {
		application = *root.Application
	}
	switch s.kind {
	case "prepared": // which has no process
		want, application = s.root, root.Session
	case "autovacuum":
		application = root.Kind
	case "replay": // for which pg_blocking_pids does not say who holds it up
		if err := a.connect(a.t).QueryRow(a.t.Context(), `SELECT pid::text FROM pg_locks WHERE relation = 'orders'::regclass AND granted`).Scan(&want); err != nil {
			a.t.Fatal(err)
		}
	}
	if root.Session != want || application != s.root {
		a.t.Errorf("the root is %+v (%s), and the judge says %s, %s", root, application, want, s.root)
	}
}

// deadlocksAgree stops the sessions of a scene, and compares the number of deadlocks with the server's.
func (a *actor) deadlocksAgree(began time.Time) {
	a.t.Helper()
	a.sql(a.t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name IN ('one', 'two')`)
	time.Sleep(2 * shown)
	var counted float64
	if err := a.connect(a.t).QueryRow(a.t.Context(), `SELECT sum(deadlocks) FROM pg_stat_database`).Scan(&counted); err != nil {
		a.t.Fatal(err)
	}
	var told struct {
		Items []struct {
			Count    float64
			Source   *string
			Sessions []struct{ Application *string }
		}
	}
	q := url.Values{"instanceId": {a.id.String()}, "from": {began.Add(-time.Minute).UTC().Format(time.RFC3339)}, "to": {time.Now().Add(time.Minute).UTC().Format(time.RFC3339)}, "bucketSize": {"1m"}}
	a.house.ana.get(a.t, "/api/v1/activity/deadlocks?"+q.Encode(), &told)
	if counted == 0 || len(told.Items) != 1 || told.Items[0].Count != counted {
		a.t.Fatalf("told %+v, and the server counted %g", told, counted)
	}
	for _, one := range told.Items[0].Sessions { // where a look saw them
		if one.Application == nil || *one.Application != "one" && *one.Application != "two" {
			a.t.Errorf("a side: %+v", one)
		}
	}
}

// TestLongReportedScenesMatchTheServer plays scenes on a real PostgreSQL server that a running Muster measures,
// while a judge looks at the server itself every 100 ms. Muster names the same root within 15 s, and its
// average sessions, by application and by activity, differ by no more than so few samples may. All scenes are
// played on each major version that is there.
//
// make test plays them on simulated servers (internal/testing/truth), and pile-ups on a real one
// (internal/watch).
func TestLongReportedScenesMatchTheServer(t *testing.T) {
	longtest.Only(t)
	h := &incidentHouse{house: newHouseApart(t)}
	ends := map[string]func(*testing.T, time.Time, time.Time){}
	for _, major := range pgtest.Majors(t) {
		for n, s := range scenes() {
			ends[fmt.Sprint(s.name, " ", major)] = s.begins(t, h, major, n)
		}
	}
	from := time.Now().Truncate(time.Minute).Add(time.Minute) // a whole minute
	to := from.Add(time.Minute)
	time.Sleep(time.Until(to.Add(shown)))
	for name, judge := range ends {
		t.Run(name, func(t *testing.T) { judge(t, from, to) })
	}
}
