package sqlserver

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/servers/tdstest"
	"muster/internal/testing/clocktest"
)

// row is one of an answer.
type row = []any

// fake is a SQL Server: the stub answers with its state, to the real driver. The queries are
// the ones in sql/, and the rows have their columns.
type fake struct {
	*tdstest.Server
	clock *clocktest.Clock // UTC there, and here

	edition, version int
	sees, seesHere   bool // the permissions of the server and of the database
	replicaGroups    bool
	offset           int           // minutes that local time is ahead
	skew             time.Duration // that its clock is
	started          int64
	databases        []row // id, name, state, accessible, store is on
	replicas         []row // database, primary
	replication      []row // replicas of availability groups
	backups          []row // databases and their backups
	jobs             []row // the history of the Agent's jobs that failed, the newest first
	volumes          []row // mount, a database on it, bytes in all and free, files
	sizes            []row // database, KB of data files and of the log that is used
	files            map[string][]row
	sequences        map[string][]row
	tables           map[string][]row
	looked           []string       // the databases whose files were read
	asked            []string       // how far back
	sessions         []row          // database, split, wait, sessions, and of whom (if they say so)
	lockWait         int            // ms
	transactions     []row          // session, database, ms open and idle, and whose it is
	temporary        int64          // bytes
	counted          []row          // name, value; since the server was started
	blocking         []row          // who waits for whom
	unread           int            // and how many more rows there are
	deadlocks        int            // since it was started
	reports          string         // its ring buffer
	freed            []row          // what became of a session that held others up
	stores           map[string]row // state and mode by database
	counters         map[string][]row
	plans            []row
	old              map[string]bool // entries of the plan cache that were not executed of late, by their ids
	recents          int             // how often only the others were read
	procedures       []row           // of the plan cache, while a database is away
	own              []row           // hashes of Muster's statements
	internal         string          // the hash of a query of the server's own
	storeReplicas    []row           // numbers of primaries in a query store
	groups           string          // those that were asked for
	named            int             // how many plans and queries were read
	texts            []row           // of the query store: hash, text
	cached           []row           // texts of the plan cache: database, hash, text
	mangles, anybody bool            // names of databases lose a bracket; any login is let in
	fails            map[string]any  // by the query's name, or name and database: an *Error or a Fault
}

var began = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// newFake has two databases: app (5), whose query store is on, and crm (6), and master.
func newFake(t testing.TB) *fake {
	f := &fake{
		Server: tdstest.Start(t, tdstest.Options{}), clock: clocktest.At(began),
		edition: 3, version: 15, sees: true, seesHere: true, offset: 60, started: 1,
		databases: []row{{1, "master", 0, 1, false}, {5, "app", 0, 1, true}, {6, "crm", 0, 1, false}},
		stores:    map[string]row{"app": {2, 1}}, counters: map[string][]row{}, fails: map[string]any{},
	}
	bit := func(b bool) int { return map[bool]int{true: 1}[b] }
	rows := func(name string, of func(tdstest.Query) []row) {
		f.AnswerBy(query(name), func(q tdstest.Query) tdstest.Answer {
			a := tdstest.Answer{Rows: of(q)}
			keys := []string{name, name + " " + f.of(q)}
			if strings.Contains(q.Text, "(0 = 0 OR") {
				keys = append(keys, "all plans")
			}
			for _, key := range keys {
				switch fail := f.fails[key].(type) {
				case *tdstest.Error:
					a.Error = fail
				case func() *tdstest.Error:
					a.Error = fail()
				case tdstest.Fault:
					a.Then = fail
				}
			}
			return a
		})
	}
	rows("server", func(tdstest.Query) []row {
		return []row{{f.edition, f.version, bit(f.sees), bit(f.seesHere), "[watcher]", "[dbo]", bit(f.replicaGroups)}}
	})
	rows("databases", func(tdstest.Query) []row { return f.databases })
	rows("databases_azure", func(tdstest.Query) []row { return f.databases[1:2] })
	rows("replicas", func(tdstest.Query) []row { return f.replicas })
	rows("replication", func(tdstest.Query) []row { return f.replication })
	rows("backups", func(q tdstest.Query) []row {
		f.asked = append(f.asked, backupHours.FindString(q.Text))
		return f.backups
	})
	rows("jobs", func(q tdstest.Query) []row {
		since, _ := strconv.Atoi(jobsSince.FindStringSubmatch(q.Text)[1])
		return slices.DeleteFunc(slices.Clone(f.jobs), func(r row) bool { return r[0].(int) <= since })
	})
	rows("room_volumes", func(tdstest.Query) []row { return f.volumes })
	rows("room_databases", func(tdstest.Query) []row { return f.sizes })
	rows("room_files", func(q tdstest.Query) []row {
		f.looked = append(f.looked, f.of(q))
		return f.files[f.of(q)]
	})
	rows("room_sequences", func(q tdstest.Query) []row { return f.sequences[f.of(q)] })
	rows("room_tables", func(q tdstest.Query) []row { return f.tables[f.of(q)] })
	rows("sessions", func(tdstest.Query) []row { return ofNobody(f.sessions) })
	rows("lock_wait", func(tdstest.Query) []row { return []row{{0, 3, f.lockWait}} })
	rows("transactions", func(tdstest.Query) []row { return f.transactions })
	rows("temporary_space", func(tdstest.Query) []row { return []row{{f.temporary}} })
	rows("counters", func(tdstest.Query) (all []row) {
		for _, r := range f.counted {
			all = append(all, append(slices.Clip(r), f.started))
		}
		return all
	})
	rows("deadlocks", func(tdstest.Query) []row { return []row{{f.deadlocks, f.clock.Now().Add(f.skew).UnixMicro()}} })
	rows("deadlock_reports", func(tdstest.Query) []row { return []row{{f.reports}} })
	rows("freed", func(tdstest.Query) []row { return f.freed })
	rows("blocking", func(tdstest.Query) (all []row) {
		for _, r := range f.blocking {
			all = append(all, append(slices.Clip(r), len(f.blocking)+f.unread))
		}
		return all
	})
	now := func() int64 { return f.clock.Now().Add(f.skew).UnixMicro() }
	rows("clocks", func(tdstest.Query) []row { return []row{{now(), f.offset, f.started}} })
	rows("query_store_state", func(q tdstest.Query) []row {
		state := f.stores[f.of(q)]
		if state == nil {
			state = row{0, 1} // it is off
		}
		return f.intervals(state, f.counters[f.of(q)])
	})
	counters := func(q tdstest.Query) (all []row) {
		for _, r := range f.counters[f.of(q)] {
			all = append(all, row{r[0], r[1], r[3], r[4], r[5], r[7]})
		}
		return all
	}
	rows("query_store", counters)
	rows("query_store_2022", func(q tdstest.Query) []row {
		f.groups = primaries.FindString(q.Text)
		return counters(q)
	})
	rows("query_store_replicas", func(tdstest.Query) []row { return f.storeReplicas })
	after := func(q tdstest.Query) (last int) {
		_, text, _ := strings.Cut(q.Text, "_id > ")
		_, _ = fmt.Sscan(text, &last)
		return last
	}
	named := func(q tdstest.Query, of func(plan int, hash any) row) (all []row) {
		last := after(q)
		for _, r := range f.counters[f.of(q)] {
			if plan := r[0].(int); plan > last {
				all = append(all, of(plan, r[2]))
			}
		}
		f.named += len(all)
		return all
	}
	rows("query_store_plans", func(q tdstest.Query) []row {
		return named(q, func(plan int, _ any) row { return row{plan, plan} })
	})
	rows("query_store_queries", func(q tdstest.Query) []row {
		return named(q, func(plan int, hash any) row { return row{plan, hash, bit(hash == f.internal), plan} })
	})
	rows("own_statements", func(tdstest.Query) []row { return f.own })
	rows("query_store_texts", func(q tdstest.Query) (all []row) {
		for _, text := range f.texts {
			for _, r := range f.counters[f.of(q)] {
				if r[2] == text[0] || strings.Repeat("0", 16-len(r[2].(string)))+r[2].(string) == text[0] {
					all = append(all, row{r[0], text[1]})
				}
			}
		}
		return all
	})
	rows("plan_cache", func(q tdstest.Query) []row {
		if strings.Contains(q.Text, "WHERE 1 = 1") { // by the databases of texts
			return f.procedures
		}
		_, except, _ := strings.Cut(q.Text, "NOT IN (")
		except, _, _ = strings.Cut(except, ")")
		recent := strings.Contains(q.Text, "(1 = 0 OR")
		f.recents += bit(recent)
		return slices.DeleteFunc(slices.Clone(f.plans), func(r row) bool {
			return slices.Contains(strings.Split(except, ", "), fmt.Sprint(r[0])) || recent && f.old[r[1].(string)]
		})
	})
	rows("plan_cache_texts", func(tdstest.Query) []row { return f.cached })
	return f
}

// primaries are the numbers of replicas whose counters are read.
var primaries = regexp.MustCompile(`replica_group_id IN \([^)]*\)`)

// intervals are the state of a query store with the intervals that its counters have.
func (f *fake) intervals(state row, counters []row) (all []row) {
	seen := map[any]bool{}
	for _, r := range counters {
		if !seen[r[1]] {
			seen[r[1]] = true
			all = append(all, row{state[0], state[1], r[1], r[6]})
		}
	}
	if all == nil {
		all = append(all, row{state[0], state[1], nil, nil})
	}
	return all
}

// jobsSince is the row of the history after which the query of jobs looks.
var jobsSince = regexp.MustCompile(`instance_id > (\d+)`)

// backupHours is how far back the query of backups looks.
var backupHours = regexp.MustCompile(`hour, -\d+`)

// ofNobody are rows of sessions, those without people with nobody.
func ofNobody(rows []row) (all []row) {
	for _, r := range rows {
		if len(r) == 4 {
			r = append(slices.Clip(r), "", "", "", nil)
		}
		all = append(all, r)
	}
	return all
}

// of is the database that a query names.
func (f *fake) of(q tdstest.Query) string {
	for _, d := range f.databases {
		if name := d[1].(string); strings.Contains(q.Text, "["+strings.ReplaceAll(name, "]", "]]")+"].sys.") {
			return name
		}
	}
	return ""
}

// seconds is a time by the server's clock in UTC, so many after it began.
func seconds(n float64) int64 { return began.UnixMicro() + int64(n*1e6) }

// inStore is what a plan did in an interval: the interval's beginning and the end of its
// first execution are seconds after the scene's.
func inStore(plan, interval int, hash string, calls int, ms, longest, begun, first float64) row {
	return row{plan, interval, hash, calls, int(ms * 1000), int(longest * 1000), seconds(begun), seconds(first)}
}

// inCache is an entry of the plan cache; created, and the end of an execution that was the
// only one, are seconds after the scene's in UTC, which the server writes in its local time.
func (f *fake) inCache(database int, id, hash string, calls int, ms, created float64, once ...float64) row {
	local := func(s float64) int64 { return seconds(s) + int64(f.offset)*microsecondsPerMinute }
	var end any
	if len(once) > 0 {
		end = local(once[0])
	}
	return row{database, strings.Repeat("0", 32-len(id)) + id, strings.Repeat("0", 16-len(hash)) + hash, calls, int(ms * 1000), local(created), end}
}

// line is a connection to it.
func (f *fake) line(t testing.TB) *measure.Line {
	t.Helper()
	target, err := new(servers.Reach).Target(fleet.SQLServer, f.DSN("encrypt=disable"))
	if err != nil {
		t.Fatal(err)
	}
	session, err := target.Open(t.Context(), "master", measure.StatementTimeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close(context.Background()) })
	return measure.NewLine(session, nil)
}

// measured is a server that is measured, by the loop that serve and the agent have.
type measured struct {
	testing.TB
	*fake
	*measuretest.Home // that keeps the last list, as an agent's does
	one               *measure.Server
}

func (f *fake) measure(t testing.TB) *measured {
	t.Helper()
	target, err := new(servers.Reach).Target(fleet.SQLServer, f.DSN("encrypt=disable"))
	if err != nil {
		t.Fatal(err)
	}
	m := &measured{TB: t, fake: f, Home: &measuretest.Home{To: target, Keeps: true}}
	m.start()
	return m
}

// start measures in a process of its own, which knows what the home kept.
func (m *measured) start() {
	engine := Engine()
	engine.NewReader = func() measure.Reader { // its budgets go by the scene's clock, so that no machine is too slow for them
		r := newReader(m.clock.Now)
		r.budget = 2 * measure.StatementTimeout // query stores have a half
		return r
	}
	m.one = measure.New(measure.Config{
		Engine: engine, Instance: uuid.New(), Home: m.Home, Gate: measure.NewGate(1), Log: slog.New(slog.DiscardHandler), Now: m.clock.Now,
	})
	m.Cleanup(func() { m.one.Close(context.Background()) })
}

// round is a look, a minute after the last one.
func (m *measured) round() (measurements.Batch, error) {
	m.Helper()
	kept := len(m.Batches)
	err := m.one.Round(m.Context())
	m.clock.Advance(time.Minute)
	if len(m.Batches) == kept {
		return measurements.Batch{}, err
	}
	return m.Batches[kept], err
}

// well is round where nothing may fail.
func (m *measured) well() measurements.Batch {
	m.Helper()
	b, err := m.round()
	if err != nil {
		m.Fatal(err)
	}
	return b
}

// did lists the activity of statements in a database: "hash calls ms max", "-" without a
// sample.
func (m *measured) did(b measurements.Batch, database string) string {
	for _, s := range b.Statements {
		if s.Database != m.Known[database] {
			continue
		}
		var out []string
		for _, st := range s.Statements {
			longest := ""
			if st.MaxMs != nil {
				longest = fmt.Sprintf(" max %g", *st.MaxMs)
			}
			out = append(out, fmt.Sprintf("%s %d %g%s", strings.TrimLeft(st.Key, "0"), st.Calls, st.TotalMs, longest))
		}
		slices.Sort(out)
		return strings.Join(out, ", ")
	}
	return "-"
}

// sessionsOf is the sample of a database; nil: it has none.
func (m *measured) sessionsOf(b measurements.Batch, database string) *measurements.SessionSample {
	for i := range b.Sessions {
		if b.Sessions[i].Database == m.Known[database] {
			return &b.Sessions[i]
		}
	}
	return nil
}

// lacks are the statements that would give what is missing.
func (m *measured) lacks() string {
	var out []string
	for _, g := range m.Lacking {
		out = append(out, g.Object+": "+g.Statement)
	}
	return strings.Join(out, "\n")
}

// identityQuery is what a connection is asked at first where somebody wants to know who answers.
func identityQuery(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../../../servers/sql/sqlserver/identity.sql")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
