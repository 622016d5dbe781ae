package demo

import (
	"maps"
	"slices"
	"time"

	"muster/domain/fleet"
	"muster/internal/measurements"
)

// caller is an application that uses databases, and how much of what goes on is its.
type caller struct {
	application, user string
	clients           []string
	share             float64
}

// callers are those of every database.
var callers = []caller{
	{"checkout", "shop", []string{"10.4.1.1", "10.4.1.2", "10.4.1.3"}, 0.46},
	{"shop-api", "shop", []string{"10.4.1.4", "10.4.1.5"}, 0.28},
	{"billing", "bill", []string{"10.4.2.17"}, 0.12},
	{"metabase", "report", []string{"10.4.7.20"}, 0.09},
	{"nightly-export", "report", []string{"10.4.7.21"}, 0.05},
}

// events are what sessions wait for, by the engine's class of it; SQL Server has no classes.
var events = map[fleet.Engine]map[string][]string{
	fleet.PostgreSQL: {
		"IO": {"DataFileRead", "DataFileRead", "DataFileRead", "WALSync"}, "LWLock": {"WALInsert", "BufferMapping"}, "Lock": {"transactionid"},
		"IPC": {"ParallelFinish"}, "Timeout": {"SpinDelay"}, "Client": {"ClientRead"},
	},
	fleet.Oracle: {
		"User I/O": {"db file sequential read", "db file sequential read", "db file scattered read"}, "System I/O": {"log file parallel write"}, "Commit": {"log file sync"},
		"Concurrency": {"buffer busy waits"}, "Network": {"SQL*Net more data to client"}, "Configuration": {"log buffer space"},
		"Application": {"enq: TX - row lock contention"}, "Idle": {"SQL*Net message from client"},
	},
}

// stormEvents are what sessions wait for in a lock storm.
var stormEvents = map[fleet.Engine]string{fleet.PostgreSQL: "relation", fleet.Oracle: "enq: TM - contention"}

// doings adds up what sessions of a database do.
type doings struct {
	a      *agent
	d      *database
	minute int64
	sums   map[measurements.Doing]int64
}

func (a *agent) doings(d *database, at time.Time) *doings {
	return &doings{a: a, d: d, minute: minuteOf(at), sums: map[measurements.Doing]int64{}}
}

// session is one more of them, drawn by its number.
func (w *doings) session(state measurements.State, wait, event string, n int64) {
	draw := func(what string) float64 { return newChance(w.a.Name, w.d.name, what).draw(w.minute*1000 + n) }
	who := callers[len(callers)-1]
	for rest, i := draw("caller"), 0; i < len(callers); i++ {
		if rest -= callers[i].share; rest < 0 {
			who = callers[i]
			break
		}
	}
	if kinds := events[w.a.Engine][wait]; event == "" && len(kinds) > 0 {
		event = kinds[int(draw("event")*float64(len(kinds)))]
	}
	if w.a.Engine == fleet.SQLServer {
		event = wait
	}
	// Statements that take long are seen more often. The released one may not be there yet.
	queries := w.d.queries[:len(queries)]
	query := queries[len(queries)-1-int(draw("query")*draw("query again")*float64(len(queries)))]
	w.sums[measurements.Doing{
		State: state, Wait: wait, Event: event, Statement: query.key,
		User: who.user, Application: who.application, Client: who.clients[int(draw("client")*float64(len(who.clients)))],
	}]++
}

// idle are sessions that nobody uses: each application keeps its share of the pool.
func (w *doings) idle(wait string, sessions int64) {
	event := ""
	if kinds := events[w.a.Engine][wait]; len(kinds) > 0 {
		event = kinds[0]
	}
	for i, who := range callers {
		n := int64(who.share * float64(sessions))
		if i == 0 { // what is left over by rounding
			n = sessions
			for _, other := range callers[1:] {
				n -= int64(other.share * float64(sessions))
			}
		}
		for j, client := range who.clients {
			part := n / int64(len(who.clients))
			if j == 0 {
				part += n % int64(len(who.clients))
			}
			if part > 0 {
				w.sums[measurements.Doing{State: measurements.Idle, Wait: wait, Event: event, User: who.user, Application: who.application, Client: client}] += part
			}
		}
	}
}

// all are in one order, so that a sample is the same each time.
func (w *doings) all() []measurements.Doing {
	out := make([]measurements.Doing, 0, len(w.sums))
	for doing := range maps.Keys(w.sums) {
		doing.Sessions = w.sums[doing]
		out = append(out, doing)
	}
	slices.SortFunc(out, measurements.Doing.Compare)
	return out
}
