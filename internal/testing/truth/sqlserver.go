package truth

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/sqlserver"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
)

// SQLServer is a server of version 2019. Its plan cache has an entry for each statement of
// a plan, from when it was compiled until it is evicted (sys.dm_exec_query_stats; times are
// local, last_execution_time is a start). Where query stores are on, they have a row for each plan and
// interval of five minutes, flushed and in memory (sys.query_store_runtime_stats; times
// are UTC).
type SQLServer struct {
	machine
	store       bool   // there are query stores
	storeOnlyIn string // one database; empty: both have one
	plans       map[cacheKey]*cachedPlan
	kept        []*storeSlice
	old         int  // plans that nobody executes any more
	restoring   bool // a third database is being restored
	watched     bool // Muster's own statement is in the plan cache
}

type cacheKey struct {
	database, query string
	plan            int
}

// cachedPlan is an entry of sys.dm_exec_query_stats.
type cachedPlan struct {
	cacheKey
	created     int64 // local
	lastStart   int64 // local
	lastElapsed int64 // microseconds, as all are
	calls       int64
	elapsed     int64
}

// storeSlice is a row of sys.query_store_runtime_stats.
type storeSlice struct {
	cacheKey
	interval, first int64
	memory          bool
	calls           int64
	elapsed         int64
	longest         int64
}

const storeInterval = int64(5 * time.Minute / time.Microsecond)

func newSQLServer(clock *clocktest.Clock, store bool) *SQLServer {
	return &SQLServer{machine: newMachine(clock), store: store, plans: make(map[cacheKey]*cachedPlan)}
}

var sqlServerIDs = map[string]string{"app": "5", "crm": "6"}

func (s *SQLServer) engine() measure.Engine { return sqlserver.Engine() }

// tellsMaximum of the statements in a query store.
func (s *SQLServer) tellsMaximum(e Execution) bool { return s.stores(e.Database) }

func (s *SQLServer) stores(database string) bool {
	return s.store && (s.storeOnlyIn == "" || s.storeOnlyIn == database)
}

func (s *SQLServer) key(e Execution) string { return fmt.Sprintf("%016x", number(e.Query)) }

func (s *SQLServer) execute(e Execution) {
	k := cacheKey{e.Database, e.Query, e.Plan}
	us := int64(e.Ms * 1000)
	p := s.plans[k]
	if p == nil {
		p = &cachedPlan{cacheKey: k, created: s.local() - us}
		s.plans[k] = p
	}
	p.calls, p.elapsed, p.lastStart, p.lastElapsed = p.calls+1, p.elapsed+us, s.local()-us, us
	if !s.stores(e.Database) {
		return
	}
	interval := s.now() / storeInterval
	i := slices.IndexFunc(s.kept, func(r *storeSlice) bool { return r.memory && r.cacheKey == k && r.interval == interval })
	if i < 0 {
		i, s.kept = len(s.kept), append(s.kept, &storeSlice{cacheKey: k, interval: interval, first: s.now(), memory: true})
	}
	r := s.kept[i]
	r.calls, r.elapsed, r.longest = r.calls+1, r.elapsed+us, max(r.longest, us)
}

// evict takes the plans of a query from the cache, or of all; the query store keeps them.
func (s *SQLServer) evict(query string) {
	for k := range s.plans {
		if query == "" || k.query == query {
			delete(s.plans, k)
		}
	}
}

// recompile is sp_recompile: the same statement of the same handle, compiled at another time.
func (s *SQLServer) recompile(query string) { s.evict(query) }

// flush writes what the query store has in memory to its tables. A row that is there
// already stays, and what comes after is another one, in memory.
func (s *SQLServer) flush() {
	for _, r := range s.kept {
		r.memory = false
	}
}

// failover is the other replica of an availability group: a plan cache of its own, and the
// query store as far as it had been flushed.
func (s *SQLServer) failover() {
	s.started = s.started.Add(time.Hour)
	clear(s.plans)
	for _, query := range []string{"search", "orders"} {
		k := cacheKey{database: "app", query: query}
		s.plans[k] = &cachedPlan{cacheKey: k, created: s.started.UnixMicro(), lastStart: s.local() - 9_000_000, lastElapsed: 8000, calls: 5000, elapsed: 40_000_000}
	}
	s.kept = slices.DeleteFunc(s.kept, func(r *storeSlice) bool { return r.memory })
}

func (s *SQLServer) rows(_, line, statement string) ([][]string, error) {
	bit := map[bool]string{true: "1", false: "0"}
	denied := func(rows func(string) ([][]string, error)) func(string) ([][]string, error) {
		if s.denied {
			return func(string) ([][]string, error) { return nil, refused(fleet.SQLServer, "300") }
		}
		return rows
	}
	all := answers{
		"-- SQL Server 2016+ and Azure SQL: what the server is, and what we may see of it.": always(
			[]string{"3", "15", bit[!s.denied], bit[!s.denied], "[watcher]", "[dbo]", "0"}),
		"-- SQL Server 2016+: the databases, their states, whether we may look into them, and their query stores.": always(
			[]string{"1", "master", "0", "1", "0"}, []string{"5", "app", "0", "1", bit[s.stores("app")]}, []string{"6", "crm", "0", "1", bit[s.stores("crm")]}, []string{"7", "archive", bit[s.restoring], bit[!s.restoring], "0"}),
		"-- SQL Server 2016+: the databases of availability groups here, and whether this is their primary replica.":                                                      always(),
		"-- SQL Server 2016+: the replicas of the availability groups here: how many databases of each are behind, and by how much.":                                      always(),
		"-- SQL Server 2016+ and Azure SQL: the sessions of clients by database, by what they do and by what they wait for.":                                              always([]string{"5", "waiting", "LCK_M_X", fmt.Sprint(s.waiting), "shop", "shop", "app01", serverstest.Null}),
		"-- SQL Server 2016+ and Azure SQL: who waits for locks, those of sp_getapplock apart: how many client sessions, and for how many milliseconds the longest does.": always(),
		"-- SQL Server 2016+ and Azure SQL: the client session with the oldest open transaction, and the one that has been idle for longest in one.":                      denied(always()),
		"-- SQL Server 2016+ and Azure SQL: how many bytes of tempdb are used, by objects of users, by sorts and hashes, and by versions of rows.":                        denied(always([]string{"0"})),
		"-- SQL Server 2016+ and Azure SQL: counters since the server was started, and when that was: sessions that were begun, and pages that checkpoints wrote.":        denied(always()),
		"-- SQL Server 2016+: how many deadlocks there were since the server was started, and what time it is in UTC.":                                                    denied(always([]string{"0", fmt.Sprint(s.now())})),
		"-- SQL Server 2016+: of each database of the users, for how long it has been there, and the newest backup of each type that":                                     always(),
		"-- SQL Server 2016+: the runs of jobs of the Agent that failed in the last 24 hours, and their steps that failed, by the":                                        always(),
		"-- SQL Server 2016+: the volumes that files of databases are on, of the first 1,000 files.":                                                                      denied(always()),
		"-- SQL Server 2016+: how large the data files of databases are, and how much of their logs is used, in KB, from counters":                                        denied(always()),
		"-- SQL Server 2016+ and Azure SQL: the filegroups of a database and its log (without a name): how much is allocated in their":                                    denied(always()),
		"-- SQL Server 2016+ and Azure SQL: identity columns and sequences of a database that are nearest to their end, of those that our login":                          denied(always()),
		"-- SQL Server 2016+ and Azure SQL: the greatest tables of a database that our login sees, with the age of their statistics in seconds:":                          denied(always()),
		"-- SQL Server 2016+ and Azure SQL: who waits for whom, asked only while a session waits for a lock.":                                                             always(),
		"-- SQL Server 2016+ and Azure SQL: what time it is in UTC, how many minutes local time is ahead, and when the server was started.": always(
			[]string{fmt.Sprint(s.now()), fmt.Sprint(int64(s.ahead / time.Minute)), fmt.Sprint(s.started.UnixMicro())}),
		"-- SQL Server 2016+ and Azure SQL: whether the query store of a database counts what is executed now, and its latest intervals.": denied(s.storeState),
		"-- SQL Server 2016+: the counters of the query store of a database.":                                                             denied(s.storeRows),
		"-- SQL Server 2016+ and Azure SQL: of which queries the plans in the query store of a database are.":                             denied(s.storePlans),
		"-- SQL Server 2016+ and Azure SQL: the hashes and the numbers of the texts of the queries in the query store of a database.":     denied(s.storeQueries),
		"-- SQL Server 2016+ and Azure SQL: the statements of Muster itself that are in the plan cache.":                                  denied(always(s.ownRows()...)),
		"-- SQL Server 2016+ and Azure SQL: the counters of the statements of all plans that are in the cache.":                           denied(s.cacheRows),
	}
	if s.stage != nil {
		maps.Copy(all, s.staged())
	}
	if s.old > 0 && strings.Count(statement, ".sys.query_store_") > 1 && !strings.Contains(statement, "query_store_runtime_stats_interval") {
		return nil, &servers.Refusal{Engine: fleet.SQLServer, Code: "error -2", Reason: servers.TimedOut} // a join
	}
	answer, ok := all[line]
	if !ok {
		return nil, fmt.Errorf("the simulated SQL Server does not know %q", line)
	}
	return answer(statement)
}

// slices are those of the query store that a statement asks for.
func (s *SQLServer) slices(statement string) (all []*storeSlice) {
	for _, r := range s.kept {
		if strings.Contains(statement, "["+r.database+"].sys.") && (r.interval+1)*storeInterval > s.now()-3*storeInterval {
			all = append(all, r)
		}
	}
	return all
}

func (r *storeSlice) planID() uint64  { return number(r.query, fmt.Sprint(r.plan)) >> 16 }
func (r *storeSlice) queryID() uint64 { return number(r.query) >> 16 }

func (s *SQLServer) storeState(statement string) ([][]string, error) {
	for _, database := range []string{"app", "crm"} {
		if strings.Contains(statement, "["+database+"].sys.") && s.stores(database) {
			rows := [][]string{{"2", "1", serverstest.Null, serverstest.Null}}
			for _, r := range s.slices(statement) {
				rows = append(rows, []string{"2", "1", fmt.Sprint(r.interval), fmt.Sprint(r.interval * storeInterval)})
			}
			return rows, nil
		}
	}
	return [][]string{{"0", "1", serverstest.Null, serverstest.Null}}, nil
}

// storeRows hands out the rows of the view one by one: that our query adds those of one plan
// and interval on the server comes to the same, for whoever reads adds them too.
func (s *SQLServer) storeRows(statement string) (rows [][]string, err error) {
	for _, r := range s.slices(statement) {
		rows = append(rows, []string{
			fmt.Sprint(r.planID()), fmt.Sprint(r.interval), fmt.Sprint(r.calls), fmt.Sprint(r.elapsed), fmt.Sprint(r.longest), fmt.Sprint(r.first),
		})
	}
	return rows, nil
}

func (s *SQLServer) storePlans(statement string) ([][]string, error) {
	return s.numbered(statement, (*storeSlice).planID, func(r *storeSlice) []string { return []string{fmt.Sprint(r.queryID())} },
		func(n string) []string { return []string{n} })
}

func (s *SQLServer) storeQueries(statement string) ([][]string, error) {
	return s.numbered(statement, (*storeSlice).queryID, func(r *storeSlice) []string { return []string{fmt.Sprintf("%016x", number(r.query)), "0", "7"} },
		func(n string) []string { return []string{fmt.Sprintf("%016x", number("old", n)), "0", "7"} })
}

// numbered are rows of a catalogue whose numbers come after the one that a statement has. The first ones are of old plans.
func (s *SQLServer) numbered(statement string, id func(*storeSlice) uint64, of func(*storeSlice) []string, was func(n string) []string) (rows [][]string, err error) {
	var after uint64
	_, text, _ := strings.Cut(statement, "_id > ")
	if _, err := fmt.Sscan(text, &after); err != nil {
		return nil, err
	}
	for n := after + 1; n <= uint64(s.old); n++ { //nolint:gosec // G115: it is not negative
		rows = append(rows, append([]string{fmt.Sprint(n)}, was(fmt.Sprint(n))...))
	}
	for _, r := range s.slices(statement) {
		if n := id(r); n > after {
			rows = append(rows, append([]string{fmt.Sprint(n)}, of(r)...))
		}
	}
	return rows, nil
}

// ownRows are the hashes of Muster's statements in the plan cache.
func (s *SQLServer) ownRows() [][]string {
	if !s.watched {
		return nil
	}
	return [][]string{{fmt.Sprintf("%016x", number("muster"))}}
}

// besideRows are entries of the plan cache that no peer is shown: old plans, and Muster's own statement, which it executes
// in master once a minute.
func (s *SQLServer) besideRows(recent bool) (rows [][]string) {
	if s.watched {
		calls := s.clock.Now().Sub(began)/time.Minute + 10
		rows = append(rows, []string{
			"1", fmt.Sprintf("%032x", number("muster")), fmt.Sprintf("%016x", number("muster")), fmt.Sprint(int64(calls)),
			fmt.Sprint(int64(calls) * 4_000_000), fmt.Sprint(s.started.UnixMicro()), serverstest.Null,
		})
	}
	for n := range s.old {
		if recent {
			break
		}
		rows = append(rows, []string{"6", fmt.Sprintf("%032x", n), fmt.Sprintf("%016x", n), "7", "7000", fmt.Sprint(s.started.UnixMicro()), serverstest.Null})
	}
	return rows
}

// adHoc says that a statement is in no procedure, so its text has no database.
func adHoc(query string) bool { return query == "search" }

// cacheRows are all plans, or those whose last execution ended in the last three minutes.
func (s *SQLServer) cacheRows(statement string) ([][]string, error) {
	since, recent := s.local()-int64(3*time.Minute/time.Microsecond), strings.Contains(statement, "(1 = 0 OR")
	_, except, _ := strings.Cut(statement, "NOT IN (")
	except, _, _ = strings.Cut(except, ")")
	byText := strings.Contains(statement, "WHERE 1 = 1")
	if s.restoring && !byText {
		return nil, &servers.Refusal{Engine: fleet.SQLServer, Code: "error 927", Reason: servers.Failed}
	}
	rows := s.besideRows(recent)
	for _, p := range s.cached() {
		if byText && adHoc(p.query) || recent && p.lastStart+p.lastElapsed < since || slices.Contains(strings.Split(except, ", "), sqlServerIDs[p.database]) {
			continue
		}
		id := fmt.Sprintf("%016x%016x", number(p.database, p.query, fmt.Sprint(p.plan)), number(fmt.Sprint(p.created)))
		once := serverstest.Null
		if p.calls == 1 {
			once = fmt.Sprint(p.lastStart + p.lastElapsed)
		}
		rows = append(rows, []string{
			sqlServerIDs[p.database], id, fmt.Sprintf("%016x", number(p.query)), fmt.Sprint(p.calls), fmt.Sprint(p.elapsed), fmt.Sprint(p.created), once,
		})
	}
	return rows, nil
}

// cached is the plan cache, in one order.
func (s *SQLServer) cached() []*cachedPlan {
	var all []*cachedPlan
	for _, p := range s.plans {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *cachedPlan) int {
		return cmp.Or(cmp.Compare(a.database, b.database), cmp.Compare(a.query, b.query), cmp.Compare(a.plan, b.plan))
	})
	return all
}

var _ server = (*SQLServer)(nil)
