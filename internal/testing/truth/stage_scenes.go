package truth

import (
	"math/rand/v2"
	"time"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/blocking"
)

// staging is a scene on a stage: what happens, by the moments of the window.
type staging struct {
	*stage
	random     *rand.Rand
	begin, end time.Duration
	events     []event
}

// at has something happen.
func (p *staging) at(at time.Duration, do func()) { p.events = append(p.events, event{at, do}) }

// does has a session do one thing while the scene lasts.
func (p *staging) does(id int, application string, does measurements.State) {
	p.at(p.begin, func() { p.set(p.actor(id, application), does, wait{}, 0) })
	p.rests(id)
}

// waits has a session wait for another one while the scene lasts.
func (p *staging) waits(id int, application string, behind int, what wait) {
	p.at(p.begin, func() { p.set(p.actor(id, application), measurements.Waits, what, behind) })
	p.rests(id)
}

// rests has a session idle from the end of the scene on.
func (p *staging) rests(id int) {
	p.at(p.end, func() { p.set(p.find(id), measurements.Idle, wait{}, 0) })
}

// works has a session work and rest by turns, each for as long as chance has it.
func (p *staging) works(id int, application string, working, resting time.Duration) {
	turn := func(mean time.Duration) time.Duration { return time.Duration(p.random.ExpFloat64() * float64(mean)) }
	p.at(0, func() { p.actor(id, application) })
	for at := turn(resting); at < watched; at += turn(resting) {
		p.at(at, func() { p.set(p.find(id), measurements.OnCPU, wait{}, 0) })
		at += turn(working)
		p.at(at, func() { p.set(p.find(id), measurements.Idle, wait{}, 0) })
	}
}

// sessionScene is something that the sessions of a server do.
type sessionScene struct {
	name, story string
	root        int // who holds others up; 0: nobody
	kind        blocking.Kind
	unnamed     fleet.Engine // the engine on which the server does not tell of the root
	dead        bool         // sessions wait for each other until the server ends one
	plays       func(p *staging)
}

// sessionScenes are the ones that e2e plays on PostgreSQL itself (TestLongReportedScenesMatchTheServer).
var sessionScenes = []sessionScene{
	{name: "a lock pile-up behind a session that is idle in its transaction", root: 51, kind: blocking.Client,
		story: "Five sessions wait for a row that an application changed and did not commit.", plays: func(p *staging) {
			p.does(51, "billing", measurements.IdleInTransaction)
			for id := 52; id <= 56; id++ {
				p.waits(id, "shop", 51, rowLock)
			}
		}},
	{name: "a chain of five", root: 51, kind: blocking.Client, story: "Each session has a row that the next one waits for.", plays: func(p *staging) {
		p.does(51, "a1", measurements.IdleInTransaction)
		for id := 52; id <= 55; id++ {
			p.waits(id, "shop", id-1, rowLock)
		}
	}},
	{name: "a change of a table behind a long statement", root: 51, kind: blocking.Client,
		story: "On SQL Server the change waits for a query (`LCK_M_SCH_M`). On Oracle queries hold nobody up: it waits for a long update.", plays: func(p *staging) {
			p.does(51, "report", measurements.OnCPU)
			p.waits(52, "migrate", 51, tableLock)
			for id := 53; id <= 55; id++ {
				p.waits(id, "shop", 52, tableLock)
			}
		}},
	{name: "deadlocks", dead: true, story: "Two sessions change two rows in two orders, again and again; the server ends one of them after at most five seconds.", plays: func(p *staging) {
		p.at(0, func() { p.actor(51, "one"); p.actor(52, "two") })
		for at := p.begin; at < p.end; at += 47 * time.Second {
			p.deadlock(at, time.Duration(p.random.Int64N(int64(5*time.Second))))
		}
	}},
	{name: "an advisory lock", root: 51, kind: blocking.Client, story: "`sp_getapplock` and `DBMS_LOCK`.", plays: func(p *staging) {
		p.does(51, "leader", measurements.Idle)
		p.waits(52, "follower", 51, namedLock)
	}},
	{name: "a transaction without a session", root: orphan, kind: blocking.Distributed, unnamed: fleet.Oracle,
		story: "A distributed transaction whose coordinator is gone, the closest case to a prepared transaction. SQL Server gives it the id -2. Oracle names no session (`BLOCKING_SESSION_STATUS` is `UNKNOWN`), so Muster names nobody, and shows the sessions that wait.", plays: func(p *staging) {
			for id := 52; id <= 54; id++ {
				p.waits(id, "shop", orphan, rowLock)
			}
		}},
	{name: "a process of the server", root: 20, kind: blocking.System, story: "A change of a table waits for an update of statistics or for a background process, the closest cases to autovacuum.", plays: func(p *staging) {
		p.does(20, "", measurements.OnCPU)
		p.waits(52, "migrate", 20, tableLock)
		p.waits(53, "shop", 52, tableLock)
	}},
	{name: "replay that a query on a standby holds up", root: 51, kind: blocking.Client, story: "The process that applies the log waits for a query, and others wait for that process.", plays: func(p *staging) {
		p.does(51, "report", measurements.OnCPU)
		p.waits(21, "", 51, tableLock)
		p.waits(53, "shop", 21, tableLock)
	}},
	{name: "a storm of connections", story: "Ten sign-ins a second.", plays: func(p *staging) {
		for at := p.begin; at < p.end; at += 100 * time.Millisecond {
			p.at(at, func() { p.logins++ })
		}
	}},
	{name: "a burning processor", story: "Two sessions compute without a pause.", plays: func(p *staging) {
		p.does(51, "burner", measurements.OnCPU)
		p.does(52, "burner", measurements.OnCPU)
	}},
	{name: "temporary files", story: "A sort that does not fit into memory: one session writes all the time, two compute by turns.", plays: func(p *staging) {
		p.waits(51, "sorter", 0, temporaryIO)
		p.works(52, "sorter", 2*time.Second, 2*time.Second)
		p.works(53, "sorter", 2*time.Second, 2*time.Second)
		for at := p.begin; at < p.end; at += time.Second {
			p.at(at, func() { p.written, p.used = p.written+64*block, 4096*block })
		}
		p.at(p.end, func() { p.used = 0 })
	}},
}

// block is how many bytes one has.
const block = 8192

// deadlock has two sessions wait for each other, until the server ends the first one.
func (p *staging) deadlock(at, detected time.Duration) {
	p.at(at, func() { p.set(p.find(51), measurements.Waits, rowLock, 52) })
	p.at(at, func() { p.set(p.find(52), measurements.Waits, rowLock, 51) })
	p.at(at+detected, func() {
		p.deadlocks++
		p.reports = append(p.reports, p.clock.Now())
		p.set(p.find(51), measurements.Idle, wait{}, 0)
		p.set(p.find(52), measurements.OnCPU, wait{}, 0)
	})
	p.at(at+detected+3*time.Second, func() { p.set(p.find(52), measurements.Idle, wait{}, 0) })
}
