package postgresql

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements/blocking"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

// crowd is a server on which sessions wait for each other, each known by its application.
type crowd struct {
	*pgtest.Server
	t     *testing.T
	admin *sqlx.DB
	line  *measure.Line
	read  *reader
	stop  []func()
}

func newCrowd(t *testing.T, major int) *crowd {
	settings := map[string]string{"deadlock_timeout": "10min", "max_prepared_transactions": "5", "autovacuum": "off"}
	if major >= 14 {
		settings["compute_query_id"] = "on"
	}
	c := &crowd{t: t, Server: pgtest.Cluster(t, pgtest.Options{Major: major, Settings: settings})}
	c.admin = pgtest.Connect(t, c.Superuser())
	c.stock()
	c.watch()
	return c
}

// stock makes the roles and the table of the scenes.
func (c *crowd) stock() {
	for _, statement := range []string{
		`CREATE ROLE watcher LOGIN`, `GRANT pg_monitor TO watcher`, `CREATE ROLE bill LOGIN SUPERUSER`,
		`CREATE TABLE orders (id int PRIMARY KEY, status text, note text)`, `INSERT INTO orders SELECT n, 'new' FROM generate_series(1, 9) n`,
	} {
		c.admin.MustExec(statement)
	}
}

// watch connects the reader.
func (c *crowd) watch() {
	t := c.t
	target := c.target()
	session, err := target.Open(t.Context(), "postgres", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close(context.Background()) })
	c.line, c.read = measure.NewLine(session, nil), &reader{now: time.Now}
}

func (c *crowd) target() servers.Target {
	target, err := new(servers.Reach).Target(fleet.PostgreSQL, c.TCPURL("watcher", "postgres"))
	if err != nil {
		c.t.Fatal(err)
	}
	return target
}

// does opens a session of an application that executes statements, and waits until it has come to
// the last one: that waits for a lock, or is done.
func (c *crowd) does(application string, waits bool, statements ...string) (stop func()) {
	c.t.Helper()
	stop = c.asks(application, statements...)
	state := `state LIKE 'idle%' AND query = '` + strings.ReplaceAll(statements[len(statements)-1], "'", "''") + `'`
	if waits {
		state = `wait_event_type = 'Lock'`
	}
	if strings.Contains(statements[len(statements)-1], "pg_sleep") {
		state = `wait_event = 'PgSleep'`
	}
	c.until(`SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = '` + application + `' AND ` + state)
	return stop
}

// asks opens a session of an application that executes statements.
func (c *crowd) asks(application string, statements ...string) (stop func()) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	conn, err := pgx.Connect(ctx, c.URL("bill", "postgres"))
	if err != nil {
		c.t.Fatal(err)
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		for _, statement := range append([]string{"SET application_name = '" + application + "'"}, statements...) {
			_, _ = conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol)
		}
		<-ctx.Done()
		_ = conn.Close(context.Background())
	})
	stop = sync.OnceFunc(func() { cancel(); ended.Wait() })
	c.stop = append(c.stop, stop)
	return stop
}

func (c *crowd) until(query string) {
	c.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		var is bool
		if err := c.admin.Get(&is, query); err != nil {
			c.t.Fatal(err)
		}
		if is {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatal("never: ", query)
		}
		c.admin.MustExec(`SELECT pg_sleep(0.01)`)
	}
}

// over ends all sessions, so that the next scene has the server for itself.
func (c *crowd) over() {
	for _, stop := range c.stop {
		stop()
	}
	c.stop = nil
	c.until(`SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = 'bill'`)
}

// look is what the reader makes of the server now.
func (c *crowd) look(texts bool) []blocking.Node {
	c.t.Helper()
	a, err := c.read.Activity(c.t.Context(), c.line)
	if err != nil {
		c.t.Fatal(err)
	}
	if !a.Locked {
		return nil
	}
	look, err := c.read.Blocking(c.t.Context(), c.line, time.Now(), texts)
	if err != nil {
		c.t.Fatal(err)
	}
	return look.Nodes
}

// named are the applications of sessions, and the nodes by application. A prepared transaction has
// its own name.
func (c *crowd) named(found []blocking.Node) (names map[string]string, of map[string]blocking.Node) {
	names, of = map[string]string{}, map[string]blocking.Node{}
	for _, n := range found {
		names[n.Session] = n.Application
		if n.Application == "" {
			names[n.Session] = n.Session
		}
		of[names[n.Session]] = n
	}
	return names, of
}

// judge holds what was found against what the scene has, and against the sampler.
func (c *crowd) judge(scene string, found []blocking.Node, names map[string]string, sampled, wantRoots, wantEdges string, cycle int) {
	c.t.Helper()
	roots := blocking.Roots(found)
	var ids, called, edges []string
	inCircle := 0
	for _, r := range roots {
		ids, called, inCircle = append(ids, r.Node.Session), append(called, names[r.Node.Session]), inCircle+len(r.Cycle)
		if r.Node.Kind == blocking.Prepared {
			ids[len(ids)-1] = "prepared"
		}
	}
	slices.Sort(ids)
	slices.Sort(called)
	for _, n := range found {
		if n.Waits == nil {
			continue
		}
		var holders []string
		for _, id := range n.For {
			holders = append(holders, names[id])
		}
		slices.Sort(holders)
		edges = append(edges, names[n.Session]+"<-"+strings.Join(holders, ","))
	}
	slices.Sort(edges)
	if got := strings.Join(called, " "); got != wantRoots || inCircle != cycle {
		c.t.Errorf("%s: roots %q, %d in a circle, want %q and %d", scene, got, inCircle, wantRoots, cycle)
	}
	if got := strings.Join(edges, " "); got != wantEdges {
		c.t.Errorf("%s: edges %q, want %q", scene, got, wantEdges)
	}
	// In a circle nobody is a root to the sampler: it goes by who waits for nobody.
	if got := strings.Join(ids, " "); cycle == 0 && got != sampled || cycle > 0 && sampled != "" {
		c.t.Errorf("%s: roots %q, and the sampler says %q", scene, got, sampled)
	}
}

// sampler says every 100 ms who holds what others wait for, by the locks alone: on which object is
// a lock not granted, and who has one on it. It knows nothing of pg_blocking_pids.
type sampler struct {
	mu    sync.Mutex
	roots []string // of each sample, sorted and joined
	stop  func()
}

func (c *crowd) sample() *sampler {
	ctx, cancel := context.WithCancel(c.t.Context())
	conn, err := pgx.Connect(ctx, c.Superuser())
	if err != nil {
		c.t.Fatal(err)
	}
	s := &sampler{}
	var ended sync.WaitGroup
	ended.Go(func() {
		defer func() { _ = conn.Close(context.Background()) }()
		for ctx.Err() == nil {
			rows, _ := conn.Query(ctx, `SELECT DISTINCT w.pid::text, coalesce(h.pid::text, 'prepared')
				FROM pg_locks w JOIN pg_locks h ON h.granted AND h.pid IS DISTINCT FROM w.pid AND h.locktype = w.locktype
				 AND (h.database, h.relation, h.page, h.tuple, h.virtualxid, h.transactionid, h.classid, h.objid, h.objsubid) IS NOT DISTINCT FROM
				     (w.database, w.relation, w.page, w.tuple, w.virtualxid, w.transactionid, w.classid, w.objid, w.objsubid)
				WHERE NOT w.granted`)
			type edge struct{ Waits, Holds string }
			edges, err := pgx.CollectRows(rows, pgx.RowToStructByPos[edge])
			if err == nil && len(edges) > 0 {
				waits, holds := map[string]bool{}, map[string]bool{}
				for _, e := range edges {
					waits[e.Waits], holds[e.Holds] = true, true
				}
				var roots []string
				for who := range holds {
					if !waits[who] {
						roots = append(roots, who)
					}
				}
				slices.Sort(roots)
				s.mu.Lock()
				s.roots = append(s.roots, strings.Join(roots, " "))
				s.mu.Unlock()
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	s.stop = func() { cancel(); ended.Wait() }
	return s
}

// last waits for two more samples, and returns the root of the second.
func (s *sampler) last(t *testing.T) string {
	t.Helper()
	count := func() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.roots) }
	for had, deadline := count(), time.Now().Add(time.Minute); count() < had+2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the sampler sees nobody wait")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.roots[len(s.roots)-1]
}

const (
	update  = `UPDATE orders SET status = 'secret' WHERE id = 1`
	forever = `SELECT count(*), pg_sleep(3600) FROM orders`
)

// TestBlockedSessionsAndTheirBlockers are compared with a sampler of its own on real servers: the reader's root
// is the session that holds the lock, and the edges, the states and the names agree, too.
func TestBlockedSessionsAndTheirBlockers(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t, major)
			t.Run("whose sessions they are", func(t *testing.T) { c.whoseSessionsTheyAre(t, major) })
			t.Run("deadlocks are counted", c.deadlocksAreCounted)
			if got := c.look(true); len(got) != 0 {
				t.Fatalf("nobody waits: %+v", got)
			}
			for _, scene := range []struct {
				name  string
				plays func()
				roots string // applications, the one that most wait behind first
				cycle int    // how many are in a circle
				edges string // who waits for whom, by application
				check func(of map[string]blocking.Node)
			}{
				{
					name: "a pile-up behind a session that is idle in its transaction",
					plays: func() {
						c.does("billing", false, `BEGIN`, update)
						for n := range 3 {
							c.does(fmt.Sprint("shop", n), true, update)
						}
					},
					roots: "billing", edges: "shop0<-billing shop1<-shop0 shop2<-shop0,shop1",
					check: func(of map[string]blocking.Node) {
						root, first, second := of["billing"], of["shop0"], of["shop1"]
						if !root.Idle || root.State != "idle in transaction" || root.Kind != blocking.Client || root.User != "bill" || root.Client != "local" || root.Database != "postgres" {
							t.Errorf("the root: %+v", root)
						}
						if root.Statement != "UPDATE orders SET status = ? WHERE id = ?" || (root.StatementID != "") != (major >= 14) {
							t.Errorf("the root's statement: %q, %q", root.Statement, root.StatementID)
						}
						if root.Began == nil || root.Transaction == nil || root.Changed == nil || root.Waits != nil || time.Since(*root.Began) > time.Minute ||
							time.Since(*root.Transaction) > time.Minute || root.Changed.Before(*root.Transaction) {
							t.Errorf("the root's times: %v %v %v", root.Began, root.Transaction, root.Changed)
						}
						if first.Lock != "transactionid" || first.Object != "table public.orders" || first.Mode != "ShareLock" || first.Waits == nil || time.Since(*first.Waits) > time.Minute {
							t.Errorf("the first that waits: %+v", first)
						}
						if second.Lock != "tuple" || second.Object != "table public.orders" || second.Advisory {
							t.Errorf("the second that waits: %+v", second)
						}
					},
				},
				{
					name: "a chain of five",
					plays: func() {
						c.does("a1", false, `BEGIN`, `UPDATE orders SET note = '' WHERE id = 1`)
						for n := 2; n <= 5; n++ {
							c.does(fmt.Sprint("a", n), true, `BEGIN`, fmt.Sprintf(`UPDATE orders SET note = '' WHERE id = %d`, n), fmt.Sprintf(`UPDATE orders SET note = '' WHERE id = %d`, n-1))
						}
					},
					roots: "a1", edges: "a2<-a1 a3<-a2 a4<-a3 a5<-a4",
				},
				{
					name: "a change of a table behind a long query",
					plays: func() {
						c.does("report", false, forever)
						c.does("migrate", true, `ALTER TABLE orders ADD COLUMN gift text`)
						c.does("shop", true, `SELECT 1 FROM orders`)
					},
					roots: "report", edges: "migrate<-report shop<-migrate",
					check: func(of map[string]blocking.Node) {
						if n := of["migrate"]; n.Mode != "AccessExclusiveLock" || n.Lock != "relation" || n.Object != "table public.orders" {
							t.Errorf("%+v", n)
						}
						if n := of["report"]; n.Idle || n.State != "active" {
							t.Errorf("%+v", n)
						}
					},
				},
				{
					name: "an advisory lock",
					plays: func() {
						c.does("leader", false, `SELECT pg_advisory_lock(42)`)
						c.does("follower", true, `SELECT pg_advisory_lock(42)`)
						c.does("pair", false, `SELECT pg_advisory_lock(4, 2)`)
						c.does("of two", true, `SELECT pg_advisory_lock(4, 2)`)
					},
					roots: "leader pair", edges: "follower<-leader of two<-pair",
					check: func(of map[string]blocking.Node) {
						if a, b := of["follower"], of["of two"]; !a.Advisory || a.Object != "42" || !b.Advisory || b.Object != "(4, 2)" {
							t.Errorf("%+v, %+v", a, b)
						}
					},
				},
				{
					name: "a prepared transaction",
					plays: func() {
						c.does("gone", false, `BEGIN`, `UPDATE orders SET note = '' WHERE id = 3`, `PREPARE TRANSACTION 'tx-7'`)
						c.does("shop", true, `UPDATE orders SET note = '' WHERE id = 3`)
					},
					roots: "prepared tx-7", edges: "shop<-prepared tx-7",
					check: func(of map[string]blocking.Node) {
						if n := of["prepared tx-7"]; n.Kind != blocking.Prepared || n.User != "bill" || n.Database != "postgres" || n.Transaction == nil || n.Began != nil {
							t.Errorf("%+v", n)
						}
						c.admin.MustExec(`ROLLBACK PREPARED 'tx-7'`)
					},
				},
				{
					name: "a circle, before it is detected",
					plays: func() {
						closed := c.does("gate", false, `SELECT pg_advisory_lock(99)`)
						c.does("one", true, `BEGIN`, `UPDATE orders SET note = '' WHERE id = 1`, `SELECT pg_advisory_xact_lock(99)`, `UPDATE orders SET note = '' WHERE id = 2`)
						c.does("two", true, `BEGIN`, `UPDATE orders SET note = '' WHERE id = 2`, `UPDATE orders SET note = '' WHERE id = 1`)
						closed()
						c.until(`SELECT count(*) = 2 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'`)
						c.does("three", true, `UPDATE orders SET note = '' WHERE id = 2`)
					},
					roots: "one", edges: "one<-two three<-one two<-one", cycle: 2,
				},
			} {
				scene.plays()
				own := c.sample()
				own.last(t)
				found := c.look(true)
				roots := own.last(t)
				names, of := c.named(found)
				c.judge(scene.name, found, names, roots, scene.roots, scene.edges, scene.cycle)
				if scene.check != nil {
					scene.check(of)
				}
				own.stop()
				c.over()
			}
		})
	}
}

// TestAWorkerOfAutovacuumIsNamed as the root that it is, with the table that it works on.
func TestAWorkerOfAutovacuumIsNamed(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t, major)
			for _, statement := range []string{
				`CREATE TABLE wide AS SELECT n, repeat('x', 500) AS filling FROM generate_series(1, 20000) n`,
				`ALTER TABLE wide SET (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)`,
				`DELETE FROM wide WHERE n % 2 = 0`, `ALTER SYSTEM SET autovacuum_naptime = '1s'`, `ALTER SYSTEM SET autovacuum = on`, `SELECT pg_reload_conf()`,
			} {
				c.admin.MustExec(statement)
			}
			c.until(`SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'autovacuum worker' AND query LIKE '%public.wide%'`)
			c.does("migrate", true, `ALTER TABLE wide ADD COLUMN gift text`)
			own := c.sample()
			sampled := own.last(t)
			found := c.look(true)
			roots := blocking.Roots(found)
			if len(roots) != 1 || roots[0].Node.Kind != blocking.Autovacuum || roots[0].Node.Session != sampled || !strings.Contains(roots[0].Node.Statement, "public.wide") {
				t.Errorf("roots %+v, and the sampler says %q", roots, sampled)
			}
			own.stop()
			c.over()
		})
	}
}

// TestTheLoopReportsBlockedSessions, and once that none waits any more: a wait of two seconds is an episode.
// Muster's own sessions are in none, no unwanted text is read, and nothing is reported of sessions that the
// role may not see.
func TestTheLoopReportsBlockedSessions(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 0)
	home := &measuretest.Home{To: c.target()}
	var heard []string
	one := measure.New(measure.Config{
		Engine: Engine(time.Now), Instance: uuid.New(), Home: home, Gate: measure.NewGate(1), Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Open: func(ctx context.Context, to servers.Target, database string) (servers.Session, error) {
			s, err := to.Open(ctx, database, time.Minute)
			return &listening{s, &heard}, err
		},
	})
	defer one.Close(context.Background())
	round := func() (said []string) {
		t.Helper()
		heard = nil
		if err := one.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, b := range home.Batches[len(home.Batches)-1].Blocking {
			_, of := c.named(b.Nodes)
			var names []string
			for name, n := range of {
				names = append(names, name+":"+n.Statement)
			}
			slices.Sort(names)
			said = append(said, fmt.Sprintf("%t %s", b.Advisory, strings.Join(names, ", ")))
		}
		return said
	}
	asked := func() bool {
		return slices.ContainsFunc(heard, func(q string) bool { return strings.Contains(q, "pg_blocking_pids(o.session)") })
	}
	expect := func(what string, asks bool, want ...string) {
		t.Helper()
		if got := round(); !slices.Equal(got, want) || asked() != asks {
			t.Errorf("%s: %q, asked: %t, want %q", what, got, asked(), want)
		}
	}
	expect("it is not known what was before", false, "false ", "true ")
	expect("nobody waits", false)
	c.does("billing", false, `BEGIN`, update)
	c.does("shop", true, update)
	ours, err := pgx.Connect(t.Context(), c.URL("watcher", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ours.Close(context.Background()) }()
	if _, err := ours.Exec(t.Context(), `SET application_name = '`+servers.ApplicationName+`'`); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Exec(t.Context(), `SELECT pg_advisory_lock(7)`); err != nil {
		t.Fatal(err)
	}
	c.does("behind us", true, `SELECT pg_advisory_lock(7)`)
	expect("it waits, and not for long", true)
	c.until(`SELECT count(*) = 2 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query_start < clock_timestamp() - interval '2.1 s'`)
	expect("it waits", true, "false billing:, shop:")
	home.Texts = true
	expect("texts are wanted", true, "false billing:UPDATE orders SET status = ? WHERE id = ?, shop:UPDATE orders SET status = ? WHERE id = ?")
	c.admin.MustExec(`REVOKE pg_monitor FROM watcher`)
	expect("the role sees nothing", false)
	c.admin.MustExec(`GRANT pg_monitor TO watcher`)
	home.Fail = fmt.Errorf("our database is away")
	c.over()
	if err := one.Round(t.Context()); err == nil {
		t.Error("the failure is lost")
	}
	expect("nobody waits, and that was not kept", false, "false ")
	expect("nobody waits, and that is known", false)
}

// listening keeps the queries of a session.
type listening struct {
	servers.Session
	heard *[]string
}

func (l *listening) Each(ctx context.Context, query servers.Statement, do func([][]byte) error) error {
	*l.heard = append(*l.heard, query.Text)
	return l.Session.Each(ctx, query, do)
}

// TestTheEndOfABlockingRoot is read when no session waits any more: it committed, its session ended, or the
// waiting sessions gave up. Another session with its id is not it.
func TestTheEndOfABlockingRoot(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t, major)
			root := func(statements ...string) blocking.Node {
				t.Helper()
				c.does("billing", false, statements...)
				c.does("shop", true, `UPDATE orders SET note = '' WHERE id = 1`)
				return blocking.Roots(c.look(false))[0].Node
			}
			freed := func(of blocking.Node) blocking.End {
				t.Helper()
				end, err := c.read.Freed(t.Context(), c.line, of, time.Now())
				if err != nil {
					t.Fatal(err)
				}
				return end
			}
			expect := func(what string, got, want blocking.End) {
				t.Helper()
				if got != want {
					t.Errorf("%s: %q, want %q", what, got, want)
				}
			}
			held := root(`BEGIN`, update)
			c.admin.MustExec(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'shop'`)
			c.until(`SELECT count(*) = 0 FROM pg_locks WHERE NOT granted`)
			expect("those who waited gave up", freed(held), blocking.WaitsEnded)
			other := held
			earlier := held.Began.Add(-time.Second)
			other.Began = &earlier
			expect("another session has its id", freed(other), blocking.SessionEnded)
			before := held
			ago := held.Transaction.Add(-5 * time.Second)
			before.Transaction = &ago
			expect("it has another transaction", freed(before), blocking.TransactionEnded)
			c.admin.MustExec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'billing'`)
			c.until(`SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'billing'`)
			expect("it was terminated", freed(held), blocking.SessionEnded)
			c.over()

			conn, err := pgx.Connect(t.Context(), c.URL("bill", "postgres"))
			if err != nil {
				t.Fatal(err)
			}
			execute := func(statement string) {
				t.Helper()
				if _, err := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
					t.Fatal(err)
				}
			}
			execute(`BEGIN; ` + update)
			c.does("shop", true, `UPDATE orders SET note = '' WHERE id = 1`)
			held = blocking.Roots(c.look(false))[0].Node
			execute(`COMMIT`)
			expect("it committed", freed(held), blocking.TransactionEnded)
			if err := conn.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.over()
			held = root(`BEGIN`, update, `PREPARE TRANSACTION 'it''s'`)
			expect("a prepared transaction is there", freed(held), blocking.WaitsEnded)
			c.admin.MustExec(`ROLLBACK PREPARED 'it''s'`)
			expect("a prepared transaction was rolled back", freed(held), blocking.TransactionEnded)
			expect("a process that has no number", freed(blocking.Node{Session: "prepared", Kind: blocking.Prepared}), "")
			c.over()
		})
	}
}

// TestAQueryThatBlocksReplayIsTheRoot: a query on the standby holds up the replay of a change, and that holds
// up later queries.
func TestAQueryThatBlocksReplayIsTheRoot(t *testing.T) {
	t.Parallel()
	first := newCrowd(t, 0)
	options := pgtest.Options{Settings: map[string]string{"max_standby_streaming_delay": "-1", "deadlock_timeout": "10min", "hot_standby_feedback": "off"}}
	c := &crowd{t: t, Server: pgtest.Standby(t, first.Server, options)}
	c.admin = pgtest.Connect(t, c.Superuser())
	c.until(`SELECT to_regclass('orders') IS NOT NULL`)
	c.watch()
	c.does("report", false, `BEGIN`, `SELECT count(*) FROM orders`)
	first.admin.MustExec(`ALTER TABLE orders ADD COLUMN gift text`)
	c.until(`SELECT count(*) > 0 FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.backend_type = 'startup'`)
	c.does("shop", true, `SELECT 1 FROM orders`)
	roots := blocking.Roots(c.look(false))
	if len(roots) != 1 || roots[0].Node.Application != "report" || !roots[0].Node.Idle || roots[0].Behind != 2 {
		t.Errorf("%+v", roots)
	}
	for _, n := range c.look(false) {
		if n.Application == "shop" && (len(n.For) != 1 || n.For[0] == roots[0].Node.Session) {
			t.Errorf("shop waits for %v, and not for the replay", n.For)
		}
	}
	c.over()
}
