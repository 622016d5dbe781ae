package truth

import (
	"context"
	"fmt"
	"time"

	"muster/domain/fleet"
	"muster/internal/testing/clocktest"
)

// usual is what runs every ten seconds: the milliseconds it takes, and up to 1.5 more.
var usual = []struct {
	database, query string
	ms              float64
}{
	{"app", "orders", 12}, {"app", "cart", 4.5}, {"app", "search", 30}, {"app", "stock", 7}, {"app", "login", 2},
	{"crm", "contacts", 9}, {"crm", "mail", 22}, {"crm", "calls", 3.5}, {"crm", "health", 0.125},
}

// workload is a quarter of an hour on a small server: nine statements every ten seconds, a
// report every five minutes, and two that were executed once, as most of what a list has.
func workload(w *world) (events []event) {
	if w.quiet {
		return quiet(w)
	}
	events = append(events, event{time.Second - warmUp, func() {
		w.execute("app", "create index", 0.05)
		w.execute("crm", "create role", 0.05)
	}})
	turn := 0
	for at := -warmUp + 3*time.Second; at < window; at += step {
		ms := 0.5 * float64(turn%4)
		turn++
		events = append(events, event{at, func() {
			for _, u := range usual {
				w.execute(u.database, u.query, u.ms+ms)
			}
		}})
	}
	for at := 133*time.Second - warmUp; at < window; at += 5 * time.Minute {
		events = append(events, event{at, func() { w.execute("app", "report", 800) }})
	}
	return events
}

// quiet is a server on which hardly anything runs.
func quiet(w *world) (events []event) {
	for at := -warmUp + 3*time.Second; at < window; at += step {
		events = append(events, event{at, func() { w.execute("crm", "health", 0.125) }})
	}
	for at := -warmUp + 7*time.Second; at < window; at += time.Minute {
		events = append(events, event{at, func() { w.execute("app", "login", 2) }})
	}
	return events
}

// variant is an engine as it is watched.
type variant struct {
	name   string
	engine fleet.Engine
	server func(*clocktest.Clock) server
	peers  func(*world) []*peer
}

var variants = []variant{
	{"PostgreSQL 17", fleet.PostgreSQL, func(c *clocktest.Clock) server { return newPostgreSQL(c, 17) }, postgresqlPeers},
	{"PostgreSQL 16", fleet.PostgreSQL, func(c *clocktest.Clock) server { return newPostgreSQL(c, 16) }, postgresqlPeers},
	{"SQL Server, query store", fleet.SQLServer, func(c *clocktest.Clock) server { return newSQLServer(c, true) }, sqlServerPeers},
	{"SQL Server, plan cache", fleet.SQLServer, func(c *clocktest.Clock) server { return newSQLServer(c, false) }, sqlServerPeers},
	{"Oracle", fleet.Oracle, func(c *clocktest.Clock) server { return newOracle(c) }, oraclePeers},
}

// scene is a hostile one. What it comes to on an engine that has no such thing is the
// nearest that it has, and says so.
type scene struct {
	name, story string
	happens     func(w *world)
}

// middle is a moment between two looks, and between two turns of the workload.
const middle = 4*time.Minute + 15*time.Second

// burst is a statement that runs a lot within ten seconds.
func (w *world) burst(at time.Duration, query string, times int, ms float64) {
	for i := range times {
		w.at(at+time.Duration(i)*50*time.Millisecond, func() { w.execute("app", query, ms) })
	}
}

var scenes = []scene{
	{"nothing happens", "A quiet quarter of an hour, to show each product's best result.", func(*world) {}},
	{"counter reset",
		"In the middle of an interval somebody runs pg_stat_statements_reset(), DBCC FREEPROCCACHE, or ALTER SYSTEM " +
			"FLUSH SHARED_POOL. Right after it one statement runs 60 times, more often than its counter showed before.", counterReset},
	{"eviction",
		"Between two readings one statement loses its entry, and continues to run. On Oracle its cursor stays and " +
			"refills its entry in V$SQLSTATS, which no document rules out.", eviction},
	{"plan churn",
		"One statement alternates between two plans, 40 seconds each: two entries of the plan cache, two child " +
			"cursors. PostgreSQL does not count plans. Its closest case is a table that is dropped and created again, " +
			"which gives the same text another query id.", planChurn},
	{"two slices of a query store",
		"The query store is flushed in the middle of an interval: the executions before and after are separate rows, " +
			"which have to be added. The closest case on PostgreSQL is a statement listed twice, called by clients and by " +
			"a function. On Oracle it is the row of a statement and the rows of its plans; the statement's row names the " +
			"latest plan.", twoSlices},
	{"extension in several databases",
		"The same text runs in both databases. On PostgreSQL pg_stat_statements is created in both, and each shows " +
			"the entries of all databases; then it is dropped in the database from which Muster reads it. The closest " +
			"case on SQL Server is one plan cache for all databases, one of which also has a query store. On Oracle it is " +
			"one library cache, in which containers share the parent cursor of a text.", severalDatabases},
	{"recompile",
		"One statement is recompiled between two readings (sp_recompile; on Oracle its cursor is invalidated). " +
			"PostgreSQL has no equivalent: its counters do not change.", recompile},
	{"failover", "A standby takes over under the same name. It has its own counters, from ten days of read queries.", failover},
	{"lost grant", "For two minutes the account may not read the views.", lostGrant},
	{"change of summer time", "The server's local time goes back by an hour; then a new statement runs. PostgreSQL's times have zones.", summerTime},
	{"71 h late",
		"From the middle on no data reaches Muster or the other products. The buffered data is delivered 71 hours " +
			"later.", func(w *world) { w.cut = 5*time.Minute + time.Second }},
	{"double delivery", "The data of two of the ten minutes is delivered twice, as after a lost acknowledgment.", func(w *world) {
		w.at(2*time.Minute+time.Second, func() { w.twice = true })
		w.at(4*time.Minute+time.Second, func() { w.twice = false })
	}},
	{"80,000 plans",
		"The server has many plans that nobody executes any more: 80,000 in the query store, and as many in the plan cache. " +
			"The query store answers no query that joins its views, which takes minutes on such a store. Oracle has 5,000 old " +
			"cursors, and PostgreSQL 4,000 old statements.", manyPlans},
	{"restoring database",
		"For four minutes a third database is being restored. SQL Server then refuses the databases of all plans in its " +
			"cache (error 927), which is simulated for Muster alone; those of procedures are known by their texts. On Oracle it is a pluggable database that is " +
			"mounted. PostgreSQL has no such state.", restoringDatabase},
	{"pluggable database on one node",
		"A cluster (RAC) of two instances, on one of which the pluggable database that Muster is connected to is open. On the " +
			"other engines, too, only one of the two databases is in use.", singleton},
	{"parallel statement",
		"A statement that four processes execute for 200 ms at once. Oracle counts the time of all of them, and no view that " +
			"needs no license has the time that its user waited: there, the actual time is that of the processes, and an average " +
			"is four times as long as a user waits. The other engines count what the user waits.", parallelStatement},
	{"quiet server",
		"Hardly anything runs, and the slowest statement of the server is one of Muster's own (4 s). It is shown to Muster " +
			"alone: the other products' own statements are not simulated. PostgreSQL marks Muster's statements by their role.", quietServer},
	{"clock skew", "The server's clock is ten minutes behind all other clocks, and a new statement runs.", clockSkew},
}

func counterReset(w *world) {
	w.at(middle, func() {
		switch s := w.server.(type) {
		case *PostgreSQL:
			s.resetStatements()
		case *SQLServer:
			s.evict("")
		case *Oracle:
			s.flushSharedPool()
		}
	})
	w.burst(middle+time.Millisecond, "login", 60, 9)
	w.burst(middle+80*time.Second+time.Millisecond, "login", 20, 9)
}

func eviction(w *world) {
	w.at(middle, func() {
		switch s := w.server.(type) {
		case *PostgreSQL:
			s.evict("search")
		case *SQLServer:
			s.evict("search")
		case *Oracle:
			s.evictStats("search")
		}
	})
}

func planChurn(w *world) {
	for i := range 14 {
		w.at(time.Second+time.Duration(i)*40*time.Second, func() {
			w.plans["search"] = (i + 1) % 2
			if _, ok := w.server.(*PostgreSQL); ok {
				w.plans["search"] = i / 4
			}
		})
	}
}

func twoSlices(w *world) {
	switch s := w.server.(type) {
	case *SQLServer:
		w.at(middle, s.flush)
		w.at(middle+3*time.Minute, s.flush)
	case *PostgreSQL:
		for i := range 40 {
			w.at(time.Duration(i)*15*time.Second+time.Second, func() {
				e := Execution{At: w.clock.Now(), Database: "app", Query: "stock", Nested: true, Ms: 5}
				w.log = append(w.log, e)
				s.execute(e)
			})
		}
	case *Oracle:
		w.at(middle, func() { w.plans["search"] = 1 })
	}
}

func severalDatabases(w *world) {
	for i := range 90 {
		w.at(-warmUp+time.Duration(i)*step+4*time.Second, func() { w.execute("crm", "search", 11) })
	}
	switch s := w.server.(type) {
	case *PostgreSQL:
		w.at(middle, func() { s.holder = "crm" })
	case *SQLServer:
		s.storeOnlyIn = "app"
	}
}

func recompile(w *world) {
	w.at(middle, func() {
		switch s := w.server.(type) {
		case *SQLServer:
			s.recompile("search")
		case *Oracle:
			s.invalidate("search")
		}
	})
}

func failover(w *world) {
	w.at(middle, func() {
		w.server.failover()
		w.drop()
	})
}

// drop closes our connection.
func (w *world) drop() {
	if w.session != nil {
		w.session.Close(context.Background())
	}
}

func lostGrant(w *world) {
	w.at(middle, func() { w.server.deny(true) })
	w.at(middle+2*time.Minute, func() { w.server.deny(false) })
}

func summerTime(w *world) {
	w.at(middle, func() {
		switch s := w.server.(type) {
		case *SQLServer:
			s.ahead -= time.Hour
		case *Oracle:
			s.ahead -= time.Hour
		case *PostgreSQL:
			s.ahead -= time.Hour
		}
	})
	w.novelty()
}

// novelty is a statement that nobody has executed before.
func (w *world) novelty() {
	for i := range 10 {
		w.at(middle+91*time.Second+time.Duration(i)*15*time.Second, func() { w.execute("app", "refund", 40) })
	}
}

func clockSkew(w *world) {
	const skew = -10 * time.Minute
	switch s := w.server.(type) {
	case *SQLServer:
		s.skew = skew
	case *Oracle:
		s.skew = skew
	case *PostgreSQL:
		s.skew = skew
	}
	w.novelty()
}

// old is how many plans nobody executes any more.
const old = 80_000

func manyPlans(w *world) {
	switch s := w.server.(type) {
	case *SQLServer:
		s.old = old
	case *Oracle:
		s.old = 5000
	case *PostgreSQL:
		for i := range 4000 {
			s.execute(Execution{Database: "crm", Query: fmt.Sprint("old ", i), Ms: 0.05})
		}
	}
}

func restoringDatabase(w *world) {
	restoring := func(is bool) func() {
		return func() {
			switch s := w.server.(type) {
			case *SQLServer:
				s.restoring = is
			case *Oracle:
				s.mounted = is
			}
		}
	}
	w.at(middle, restoring(true))
	w.at(middle+4*time.Minute, restoring(false))
}

func singleton(w *world) {
	w.only = "app"
	if o, ok := w.server.(*Oracle); ok {
		o.within = "app"
	}
}

func quietServer(w *world) {
	w.quiet = true
	switch s := w.server.(type) {
	case *SQLServer:
		s.watched = true
	case *Oracle:
		s.watched = true
	}
}

func parallelStatement(w *world) {
	const processes, ms = 4, 200
	took := float64(ms)
	if _, ok := w.server.(*Oracle); ok {
		took *= processes
	}
	for at := -warmUp + 5*time.Second; at < window; at += 30 * time.Second {
		w.at(at, func() { w.execute("app", "revenue", took) })
	}
}
