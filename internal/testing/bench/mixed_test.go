package bench_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/servers/tdstest"
	"muster/internal/servers/tnstest"
	"muster/internal/testing/pgtest"
)

// mixedStatements are on a server's list, mixedSessions on a server.
const mixedStatements, mixedSessions = 300, 40

// mixedEvery is how often sessions are sampled (readings, 17).
var mixedEvery = map[string]time.Duration{"postgresql": 10 * time.Second, "sqlserver": 30 * time.Second, "oracle": 10 * time.Second}

// BenchmarkMixedFleet has one serve measure 300 servers for as long as MUSTER_BENCH_MINUTES
// says (5): a real PostgreSQL under 100 DSNs, and 100 each of SQL Server and Oracle, which
// are stubs that speak the protocol, so that drivers and readers are the real ones. Ten of
// each hang: first in the middle of an answer, and whenever they are connected to after
// that. MUSTER_BENCH_MIXED is for fewer of each. Goal: the rounds of the others are not late, and 150 MiB more.
func BenchmarkMixedFleet(b *testing.B) {
	p := start(b)
	time.Sleep(idleFor)
	without := p.memory()
	f := &mixedFleet{p: p, each: setting(b, "MUSTER_BENCH_MIXED", 100), db: pgtest.Connect(b, p.url), engines: make(map[uuid.UUID]string), hanging: make(map[uuid.UUID]bool)}
	f.postgresql()
	f.sqlserver()
	f.oracle()
	f.until(3 * f.each)
	for _, d := range f.doors {
		d.shut.Store(true)
	}
	for b.Loop() {
		f.watch(time.Duration(setting(b, "MUSTER_BENCH_MINUTES", 5))*time.Minute, without)
	}
}

// setting is a number that the environment may set.
func setting(b *testing.B, name string, usual int) int {
	b.Helper()
	set := os.Getenv(name)
	if set == "" {
		return usual
	}
	n, err := strconv.Atoi(set)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// mixedFleet is what is measured.
type mixedFleet struct {
	p       *program
	each    int // servers of an engine
	db      *sqlx.DB
	engines map[uuid.UUID]string
	hanging map[uuid.UUID]bool
	doors   []*door
}

// register registers a server by its DSN, the first ones by a door to it.
func (f *mixedFleet) register(engine string, n int, dsn, address string) {
	f.p.b.Helper()
	hangs := n < f.each/10
	if hangs {
		d := newDoor(f.p.b, address)
		f.doors, dsn = append(f.doors, d), strings.Replace(dsn, address, d.Addr().String(), 1)
	}
	var answer struct{ ID uuid.UUID }
	f.p.call(http.MethodPost, "/instances", map[string]any{"name": fmt.Sprintf("%s-%03d", engine, n), "engine": engine, "dsn": dsn, "separate": true}, &answer, http.StatusCreated)
	f.engines[answer.ID], f.hanging[answer.ID] = engine, hangs
}

// postgresql is a server that a hundred roles measure.
func (f *mixedFleet) postgresql() {
	server := pgtest.Cluster(f.p.b, pgtest.Options{Settings: map[string]string{
		"shared_preload_libraries": "pg_stat_statements", "max_connections": "400", "autovacuum": "off",
	}})
	db := pgtest.Connect(f.p.b, server.Superuser())
	db.MustExec(`CREATE EXTENSION pg_stat_statements`)
	for n := range mixedStatements {
		db.MustExec(`SELECT 1` + strings.Repeat(", 1", n))
	}
	for n := range f.each {
		role := fmt.Sprintf("watcher_%03d", n)
		db.MustExec(`CREATE ROLE ` + role + ` LOGIN IN ROLE pg_monitor`)
		f.register("postgresql", n, server.TCPURL(role, "postgres"), server.Addr())
	}
}

// door is a way to a server that can be shut: then it takes connections, and what comes,
// and nothing comes out any more.
type door struct {
	net.Listener
	to   string
	shut atomic.Bool
}

func newDoor(b *testing.B, to string) *door {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	d := &door{Listener: l, to: to}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go d.pass(c)
		}
	}()
	return d
}

func (d *door) pass(c net.Conn) {
	defer func() { _ = c.Close() }()
	server, err := net.Dial("tcp", d.to)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go d.carry(c, server)
	d.carry(server, c)
}

func (d *door) carry(to, from net.Conn) {
	buffer := make([]byte, 1<<12)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if d.shut.Load() {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// quiet lets a stub be asked what it does not know, which assessments do.
type quiet struct{ testing.TB }

func (quiet) Errorf(string, ...any) {}
func (quiet) Log(...any)            {}

// sqlserver is a stub that is a hundred servers.
func (f *mixedFleet) sqlserver() {
	began := time.Now()
	s := tdstest.Start(quiet{f.p.b}, tdstest.Options{})
	for file, rows := range map[string]func() [][]any{
		"server": func() [][]any { return [][]any{{3, 15, 1, 1, "[watcher]", "[dbo]", 0}} },
		"databases": func() [][]any {
			return [][]any{{1, "master", 0, 1, false}, {5, "app", 0, 1, false}, {6, "crm", 0, 1, false}}
		},
		"replicas":          func() [][]any { return nil },
		"query_store_state": func() [][]any { return [][]any{{0, 1, nil, nil}} },
		"own_statements":    func() [][]any { return nil },
		"lock_wait":         func() [][]any { return [][]any{{0, 1, 0}} },
		"transactions": func() [][]any {
			return [][]any{{51, 5, 90_000, 60_000, "shop", "checkout", "web-01", nil, "idleInTransaction"}}
		},
		"temporary_space": func() [][]any { return [][]any{{0}} },
		"counters": func() [][]any {
			return [][]any{{"logins/sec", int(time.Since(began).Seconds()), 1}}
		},
		"blocking":    func() [][]any { return nil },
		"freed":       func() [][]any { return nil },
		"clocks":      func() [][]any { return [][]any{{time.Now().UnixMicro(), 0, 1}} },
		"deadlocks":   func() [][]any { return [][]any{{0, time.Now().UnixMicro()}} },
		"replication": func() [][]any { return nil },
		"backups":     func() [][]any { return nil },
		"jobs":        func() [][]any { return nil },
		"sessions": func() [][]any {
			return [][]any{{5, "idle", "", mixedSessions, "shop", "checkout", "web-01", ""}, {6, "waiting", "LCK_M_X", 2, "shop", "checkout", "web-01", ""}}
		},
		"plan_cache": func() (all [][]any) {
			calls := 1 + int(time.Since(began).Seconds())
			for n := range mixedStatements {
				all = append(all, []any{5 + n%2, fmt.Sprintf("%032x", n), fmt.Sprintf("%016x", n), calls, 1000 * calls, began.UnixMicro(), nil})
			}
			return all
		},
	} {
		s.AnswerBy(queryOf(f.p.b, "sqlserver", file), func(tdstest.Query) tdstest.Answer { return tdstest.Answer{Rows: rows()} })
	}
	for n := range f.each {
		f.register("sqlserver", n, s.DSN("encrypt=disable"), s.Address())
	}
}

// oracle is likewise.
func (f *mixedFleet) oracle() {
	l := tnstest.Start(quiet{f.p.b}, tnstest.Options{})
	on := func(file string, columns int, numbers []int, rows ...[]string) {
		l.Answer(queryOf(f.p.b, "oracle", file), tnstest.Answer{Columns: columns, Numbers: numbers, Rows: rows})
	}
	on("self", 4, nil, []string{"3", "ERP", "ORCL", "MUSTER"})
	on("instance", 3, []int{0}, []string{"1", "2026-11-01 03:00:00", "NO"})
	on("containers", 3, []int{0}, []string{"3", "ERP", "READ WRITE"})
	on("sessions", 9, []int{0, 3}, []string{"3", "idle", "Idle", strconv.Itoa(mixedSessions), "", "SHOP", "checkout", "web-01", ""}, []string{"3", "waiting", "Application", "2", "", "SHOP", "checkout", "web-01", ""})
	on("lock_wait", 3, []int{0, 1, 2}, []string{"0", "1", "0"})
	on("transactions", 11, []int{0, 1, 2, 3, 4, 5}, []string{"7", "11", "1", "3", "90", "60", "SHOP", "checkout", "web-01", "", "idleInTransaction"})
	on("block_size", 1, nil, []string{"8192"})
	on("temporary_space", 1, []int{0}, []string{"0"})
	on("counters", 2, []int{1}, []string{"logons cumulative", "7"})
	on("deadlocks", 3, []int{0, 1, 2})
	on("replication", 6, []int{0}, []string{"1", "ORCL", "PRIMARY", "READ WRITE", "NOT ALLOWED", ""})
	on("destinations", 7, nil)
	on("backup_mode", 2, []int{1}, []string{"ARCHIVELOG", "8640000"})
	on("backup_jobs", 5, []int{1, 2, 3, 4})
	on("jobs", 4, []int{1, 2, 3})
	on("blocking", 21, nil)
	on("freed", 1, nil)
	on("births", 5, []int{0, 1, 3, 4})
	began := time.Now()
	changing := func() {
		calls := 1 + int(time.Since(began).Seconds())
		on("db_time", 2, []int{0, 1}, []string{"3", strconv.Itoa(1000 * calls)})
		on("clock", 2, []int{0, 1}, []string{strconv.FormatInt(time.Now().UnixMicro(), 10), "0"})
		var rows [][]string
		for n := range mixedStatements {
			rows = append(rows, []string{"0", "3", fmt.Sprintf("%013d", n), strconv.Itoa(n + 1), "7", strconv.Itoa(calls), strconv.Itoa(1000 * calls)})
		}
		on("statements", 7, []int{0, 1, 3, 4, 5, 6}, rows...)
	}
	changing()
	go func() {
		for tick := time.Tick(time.Second); ; changing() {
			select {
			case <-f.p.b.Context().Done():
				return
			case <-tick:
			}
		}
	}()
	for n := range f.each {
		f.register("oracle", n, l.DSN(""), "127.0.0.1:"+strconv.Itoa(l.Port()))
	}
}

// queryOf is a collector's query, as it reaches a server: Oracle's driver is sent it
// without its comment.
func queryOf(b *testing.B, engine, file string) string {
	b.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "intake", "measure", engine, "sql", file+".sql"))
	if err != nil {
		b.Fatal(err)
	}
	query := string(text)
	for engine == "oracle" && strings.HasPrefix(query, "--") {
		_, query, _ = strings.Cut(query, "\n")
	}
	return query
}

// watch lets serve measure for so long, from when all that answer were, and reports how late
// rounds began, what serve took, and how many are missing.
func (f *mixedFleet) watch(duration time.Duration, without float64) {
	b := f.p.b
	b.Helper()
	var resident []float64
	begun, before := time.Now(), f.p.spent().serve.cpu
	for time.Since(begun) < duration {
		resident = append(resident, f.p.memory())
		time.Sleep(time.Second)
	}
	slices.Sort(resident)
	b.ReportMetric(100*(f.p.spent().serve.cpu-before).Seconds()/time.Since(begun).Seconds(), "%-of-a-core")
	b.ReportMetric(resident[len(resident)-1]-without, "more-MiB")
	b.ReportMetric(resident[len(resident)/2]-without, "more-p50-MiB")
	b.ReportMetric(without, "without-MiB")
	f.report(begun, time.Now())
}

// until waits until so many were measured.
func (f *mixedFleet) until(servers int) {
	f.p.b.Helper()
	f.p.until("all were measured", time.Second, 2*time.Minute, func() bool { return len(f.rounds(time.Time{})) == servers })
}

// rounds are when the sessions of each server were looked at since a time, but for the
// last seconds, of which not all is kept yet.
func (f *mixedFleet) rounds(since time.Time) map[uuid.UUID][]time.Time {
	b := f.p.b
	b.Helper()
	var rows []struct {
		Subject uuid.UUID
		At      time.Time
	}
	err := f.db.SelectContext(b.Context(), &rows, `SELECT s.subject, r.at FROM raw_samples r JOIN measured_series s ON s.id = r.series_id
		WHERE s.kind = 'sessions' AND r.at > $1 ORDER BY r.at`, since)
	if err != nil {
		b.Fatal(err)
	}
	rounds := make(map[uuid.UUID][]time.Time)
	for _, row := range rows {
		rounds[row.Subject] = append(rounds[row.Subject], row.At)
	}
	return rounds
}

// report compares the rounds with the turns that a server's id says. A look is a basis of
// none, so the first, which does not wait for its turn, is before begun.
func (f *mixedFleet) report(begun, end time.Time) {
	b := f.p.b
	b.Helper()
	rounds, late, missing := f.rounds(begun), make(map[string][]time.Duration), 0
	for id, engine := range f.engines {
		if f.hanging[id] {
			if len(rounds[id]) > 1 { // one was perhaps on its way
				b.Errorf("%s, which hangs, has %d samples", id, len(rounds[id]))
			}
			continue
		}
		h := fnv.New64a()
		_, _ = h.Write(id[:]) // never fails
		every := mixedEvery[engine]
		phase := time.Duration(h.Sum64()%uint64(time.Minute)) % every
		for _, at := range rounds[id] {
			at = at.Add(-phase)
			late[engine] = append(late[engine], at.Sub(at.Truncate(every)))
		}
		missing += max(0, int(end.Sub(begun)/every)-1-len(rounds[id]))
	}
	for _, engine := range slices.Sorted(maps.Keys(late)) {
		for name, q := range map[string]float64{"p50": 0.5, "p95": 0.95, "most": 1} {
			b.ReportMetric(quantile(late[engine], q), engine+"-"+name+"-ms")
		}
		b.ReportMetric(float64(len(late[engine])), engine+"-rounds")
	}
	b.ReportMetric(float64(missing), "missing")
}
