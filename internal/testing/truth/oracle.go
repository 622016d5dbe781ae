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
	"muster/internal/intake/measure/oracle"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
)

// Oracle is a container database of version 19 with the pluggable databases app and crm,
// seen from the root. V$SQLSTATS_PLAN_HASH has a row for each statement and plan, V$SQLSTATS
// one for each statement with its latest plan, and V$SQL one for each cursor in the
// library cache; local times have no zone (Database Reference).
type Oracle struct {
	machine
	stats   map[oracleKey]*oracleRow // V$SQLSTATS_PLAN_HASH, and added up V$SQLSTATS
	latest  map[oracleKey]int        // the plan that a statement had last
	cursors map[oracleKey]*oracleCursor
	busy    map[string]float64 // DB time, in microseconds
	old     int                // cursors that nobody executes any more
	mounted bool               // a third pluggable database is
	within  string             // the pluggable database that we are in, open on the first of two instances; empty: the root
	watched bool               // Muster's own statement is listed
}

type oracleKey struct {
	database, query string
	plan            int
}

type oracleRow struct{ calls, elapsed, lastActive int64 }

// oracleCursor is a child in V$SQL.
type oracleCursor struct {
	oracleKey
	child                  int
	loads                  int64
	firstLoad, lastLoad    int64
	calls, elapsed, active int64
}

func newOracle(clock *clocktest.Clock) *Oracle {
	o := &Oracle{machine: newMachine(clock), busy: make(map[string]float64)}
	o.empty()
	return o
}

func (o *Oracle) empty() {
	o.stats, o.latest, o.cursors = make(map[oracleKey]*oracleRow), make(map[oracleKey]int), make(map[oracleKey]*oracleCursor)
}

var oracleIDs = map[string]string{"app": "3", "crm": "4"}

func (o *Oracle) engine() measure.Engine      { return oracle.Engine() }
func (o *Oracle) tellsMaximum(Execution) bool { return false }

func (o *Oracle) key(e Execution) string { return fmt.Sprintf("%d/%d", number(e.Query), 1000+e.Plan) }

func (o *Oracle) execute(e Execution) {
	k := oracleKey{e.Database, e.Query, e.Plan}
	us := int64(e.Ms * 1000)
	c := o.cursors[k]
	if c == nil {
		loaded := o.local() - us
		c = &oracleCursor{oracleKey: k, child: o.children(e.Query), loads: 1, firstLoad: loaded, lastLoad: loaded}
		o.cursors[k] = c
	}
	c.calls, c.elapsed, c.active = c.calls+1, c.elapsed+us, o.local()
	row := o.stats[k]
	if row == nil { // filled again from the cursor, which the reference does not rule out
		row = &oracleRow{calls: c.calls - 1, elapsed: c.elapsed - us}
		o.stats[k] = row
	}
	row.calls, row.elapsed, row.lastActive = row.calls+1, row.elapsed+us, o.local()
	o.latest[oracleKey{e.Database, e.Query, 0}] = e.Plan
	o.busy[e.Database] += float64(us)
}

// children is how many cursors a statement has: containers share the parent, and their
// children are numbered together.
func (o *Oracle) children(query string) (n int) {
	for k := range o.cursors {
		if k.query == query {
			n++
		}
	}
	return n
}

// evictStats takes the rows of a query from V$SQLSTATS; its cursors stay.
func (o *Oracle) evictStats(query string) {
	for k := range o.stats {
		if k.query == query {
			delete(o.stats, k)
		}
	}
}

// flushSharedPool is ALTER SYSTEM FLUSH SHARED_POOL: neither cursors nor their rows are left.
func (o *Oracle) flushSharedPool() { o.empty() }

// invalidate has the cursors of a query loaded again, which V$SQL counts from zero and
// V$SQLSTATS does not.
func (o *Oracle) invalidate(query string) {
	for _, c := range o.cursors {
		if c.query == query {
			c.loads, c.lastLoad, c.calls, c.elapsed = c.loads+1, o.local(), 0, 0
		}
	}
}

// failover is the standby in its place, which has been read from.
func (o *Oracle) failover() {
	o.started = o.started.Add(time.Hour)
	o.empty()
	for _, query := range []string{"search", "orders"} {
		k := oracleKey{database: "app", query: query}
		old := o.local() - (10 * 24 * time.Hour).Microseconds()
		o.cursors[k] = &oracleCursor{oracleKey: k, loads: 1, firstLoad: old, lastLoad: old, calls: 5000, elapsed: 40_000_000, active: o.local() - 9_000_000}
		o.stats[k] = &oracleRow{calls: 5000, elapsed: 40_000_000, lastActive: o.local() - 9_000_000}
	}
	o.busy = map[string]float64{"app": 80_000_000}
}

func (o *Oracle) rows(_, line, statement string) ([][]string, error) {
	denied := func(rows ...[]string) func(string) ([][]string, error) {
		if o.denied {
			return func(string) ([][]string, error) { return nil, refused(fleet.Oracle, "ORA-00942") }
		}
		return always(rows...)
	}
	all := answers{
		"-- Oracle 12.2+: where we are and as whom, which nobody needs a grant for. In a container": always([]string{"1", "CDB$ROOT", "ORCL", "C##WATCHER"}),
		"-- Oracle 12.2+: the instance that we are on, since when it runs, by its local time, and":  always([]string{"1", o.started.Format(time.DateTime), "NO"}),
		"-- Oracle 12.2+: the databases, which are the containers that our account sees: from the": always(
			[]string{"1", "CDB$ROOT", "READ WRITE"}, []string{"3", "app", "READ WRITE"}, []string{"4", "crm", "READ WRITE"}),
		"-- Oracle 12.2+: the client sessions of each container by what they do and wait for. A":                                        denied([]string{"3", "waiting", "Application", fmt.Sprint(o.waiting), "enq: TX - row lock contention", "SHOP", "shop", "app01", serverstest.Null}),
		"-- Oracle 12.2+: who waits for what another session holds, locks of DBMS_LOCK apart: how many":                                 denied(),
		"-- Oracle 12.2+: the client session with the oldest open transaction, and the one":                                             denied(),
		"-- Oracle 12.2+: how many bytes a block has, of temporary tablespaces too.":                                                    denied([]string{"8192"}),
		"-- Oracle 12.2+: how many blocks of temporary tablespaces are used, by sorts, hashes and":                                      denied([]string{"0"}),
		"-- Oracle 12.2+: counters since the instance was started: sessions that were begun, blocks":                                    denied(),
		"-- Oracle 12.2+: the runs of the scheduler's jobs that failed in the last 24 hours, the newest first, and how many there":      denied(),
		"-- Oracle 12.2+: how large the data files of each container are, by the control file.":                                         denied(),
		"-- Oracle 12.2+: the disk groups of ASM that the database uses, in MB, with their redundancy. This view looks for no new":      denied(),
		"-- Oracle 12.2+: how full the fast recovery area is, in bytes: what can be reclaimed counts as free. There is no row, or":      denied(),
		"-- Oracle 12.2+: the sequences that are nearest to their end, with the identity columns that take their values. They end":      denied(),
		"-- Oracle 12.2+: the greatest tables, but for those in SYSTEM and SYSAUX: their rows and blocks as of when they were analyzed": denied(),
		"-- Oracle 12.2+: how full the tablespaces for data are, in bytes, by container. Of one whose files extend themselves, the":     denied(),
		"-- Oracle 12.2+: how many deadlocks between sessions each container had since its instance was started.":                       denied(),
		"-- Oracle 12.2+: what the database is in a Data Guard configuration. The DBID is the same in all of its databases.":            always([]string{"1521", "ORCL", "PRIMARY", "READ WRITE", "NOT ALLOWED", ""}),
		"-- Oracle 12.2+: whether redo logs are archived, and for how many seconds the database has been there.":                        always([]string{"ARCHIVELOG", "8640000"}),
		"-- Oracle 12.2+: the newest RMAN job of each kind in the last 35 days that ended well, and the newest that did not.":           always(),
		"-- Oracle 12.2+: where backups may be that no job of RMAN for the whole database tells of: on another database of a":           always(),
		"-- Oracle 12.2+: the standby databases to which the database sends its redo.":                                                  always(),
		"-- Oracle 12.2+: who waits for whom, asked only while a session waits for what":                                                always(),
		"-- Oracle 12.2+: the server's clock, in microseconds since 1970, and by how many minutes its":                                  always([]string{fmt.Sprint(o.now()), fmt.Sprint(int64(o.ahead / time.Minute))}),
		"-- Oracle 12.2+: the counters of every plan of every statement, in microseconds, whole:":                                       denied(o.planRows(statement)...),
		"-- Oracle 12.2+: since when the cursors are there that have a plan now, in seconds since":                                      denied(o.births()...),
		"-- Oracle 12.2+: how long the sessions of each container have worked or waited for": denied(
			[]string{"3", fmt.Sprint(int64(o.busy["app"]))}, []string{"4", fmt.Sprint(int64(o.busy["crm"]))}),
	}
	if o.mounted {
		all["-- Oracle 12.2+: the databases, which are the containers that our account sees: from the"] = always(
			[]string{"1", "CDB$ROOT", "READ WRITE"}, []string{"3", "app", "READ WRITE"}, []string{"4", "crm", "READ WRITE"}, []string{"5", "archive", "MOUNTED"})
	}
	if o.within != "" {
		maps.Copy(all, o.inCluster())
	}
	if o.stage != nil {
		maps.Copy(all, o.staged())
	}
	answer, ok := all[line]
	if !ok {
		return nil, fmt.Errorf("the simulated Oracle does not know %q", line)
	}
	return answer(statement)
}

// sqlID is a statement's, 13 digits of 32.
func sqlID(query string) string {
	const digits = "0123456789abcdfghjkmnpqrstuvwxyz"
	n, id := number("sql_id", query), make([]byte, 13)
	for i := range id {
		id[len(id)-1-i] = digits[n&31]
		n >>= 5
	}
	return string(id)
}

// inCluster is what a cluster of two instances answers in a pluggable database that is open on the first one: its views of
// all instances have rows of that one alone, but for those of the instances themselves.
func (o *Oracle) inCluster() answers {
	started := o.started.Format(time.DateTime)
	return answers{
		"-- Oracle 12.2+: where we are and as whom, which nobody needs a grant for. In a container":    always([]string{oracleIDs[o.within], o.within, "ORCL", "WATCHER"}),
		"-- Oracle 12.2+: the instance that we are on, since when it runs, by its local time, and":     always([]string{"1", started, "YES"}),
		"-- Oracle 12.2+: the databases, which are the containers that our account sees: from the":     always([]string{oracleIDs[o.within], o.within, "READ WRITE"}),
		"-- Oracle 12.2+, in a cluster: all instances that run, and since when.":                       always([]string{"1", started, "YES"}, []string{"2", started, "YES"}),
		"-- Oracle 12.2+, in a cluster: how many instances run. GV$ views leave out the one that does": always([]string{"2"}),
		"-- Oracle 12.2+, in a cluster: the instances on which the container that we are in is open.":  always([]string{"1"}),
	}
}

// planRows are those of all plans. Muster's own statement is left out where the query says so: it is executed in each list.
func (o *Oracle) planRows(statement string) (rows [][]string) {
	if o.watched && !strings.Contains(statement, "NOT LIKE '/* muster */%'") {
		calls := int64(o.clock.Now().Sub(began)/(20*time.Second)) + 100
		rows = append(rows, []string{"0", "3", sqlID("muster"), fmt.Sprint(number("muster")), "1000", fmt.Sprint(calls), fmt.Sprint(calls * 4_000_000)})
	}
	for n := range o.old {
		query := fmt.Sprint("old ", n)
		rows = append(rows, []string{"0", "4", sqlID(query), fmt.Sprint(number(query)), "1000", "7", "7000"})
	}
	for k, r := range o.stats {
		rows = append(rows, []string{
			"0", oracleIDs[k.database], sqlID(k.query), fmt.Sprint(number(k.query)), fmt.Sprint(1000 + k.plan), fmt.Sprint(r.calls), fmt.Sprint(r.elapsed),
		})
	}
	return rows
}

func (o *Oracle) births() (rows [][]string) {
	for k, c := range o.cursors {
		loaded := c.firstLoad
		if c.loads == 1 {
			loaded = c.lastLoad
		}
		rows = append(rows, []string{"0", oracleIDs[k.database], sqlID(k.query), fmt.Sprint(1000 + k.plan), fmt.Sprint(loaded / 1_000_000)})
	}
	return rows
}

// loaded is V$SQL, in one order.
func (o *Oracle) loaded() []*oracleCursor {
	var all []*oracleCursor
	for _, c := range o.cursors {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *oracleCursor) int {
		return cmp.Or(cmp.Compare(a.database, b.database), cmp.Compare(a.query, b.query), cmp.Compare(a.child, b.child))
	})
	return all
}

var _ server = (*Oracle)(nil)
