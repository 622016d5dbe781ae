package truth

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/postgresql"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
)

// PostgreSQL is a server of version 17 with pg_stat_statements 1.11, or of 16 with 1.10, which
// does not say since when it has an entry: one for each database, role, query id and
// level, from its first execution until it is evicted or reset (F.32,
// "pg_stat_statements"). Every view shows the entries of all databases.
type PostgreSQL struct {
	machine
	major   int
	entries map[postgresKey]*postgresEntry
	reset   int64
	busy    map[string]float64 // pg_stat_database.active_time
	holder  string             // the database that the extension is created in
}

type postgresKey struct {
	database, query string
	table           int // the incarnation of its tables: dropped and made again, another query id
	nested          bool
}

type postgresEntry struct {
	calls int64
	ms    float64
	since int64
}

func newPostgreSQL(clock *clocktest.Clock, major int) *PostgreSQL {
	p := &PostgreSQL{machine: newMachine(clock), major: major, entries: make(map[postgresKey]*postgresEntry), busy: make(map[string]float64), holder: "app"}
	p.reset = p.started.UnixMicro()
	return p
}

var postgresOIDs = map[string]string{"app": "16384", "crm": "16385"}

func (p *PostgreSQL) engine() measure.Engine      { return postgresql.Engine(p.clock.Now) }
func (p *PostgreSQL) tellsMaximum(Execution) bool { return false }

func (p *PostgreSQL) execute(e Execution) {
	k := postgresKey{e.Database, e.Query, e.Plan, e.Nested}
	entry := p.entries[k]
	if entry == nil {
		entry = &postgresEntry{since: p.now()}
		p.entries[k] = entry
	}
	entry.calls++
	entry.ms += e.Ms
	if !e.Nested { // a session is busy once
		p.busy[e.Database] += e.Ms
	}
}

func (k postgresKey) id() uint64 { return number(k.query, strconv.Itoa(k.table)) }

func (p *PostgreSQL) key(e Execution) string {
	k := postgresKey{e.Database, e.Query, e.Plan, e.Nested}
	if e.Nested {
		return fmt.Sprintf("%d/10/nested", k.id())
	}
	return fmt.Sprintf("%d/10", k.id())
}

// resetStatements is pg_stat_statements_reset().
func (p *PostgreSQL) resetStatements() {
	clear(p.entries)
	p.reset = p.now()
}

// evict is what pg_stat_statements.max does to the least executed.
func (p *PostgreSQL) evict(query string) {
	for k := range p.entries {
		if k.query == query {
			delete(p.entries, k)
		}
	}
}

// failover promotes a standby. It counted what was read there, for ten days.
func (p *PostgreSQL) failover() {
	clear(p.entries)
	p.started = p.started.Add(time.Hour)
	p.reset = p.started.UnixMicro()
	for _, query := range []string{"search", "orders"} {
		p.entries[postgresKey{database: "app", query: query}] = &postgresEntry{calls: 5000, ms: 40_000, since: p.reset}
	}
	p.busy = map[string]float64{"app": 80_000}
}

func (p *PostgreSQL) rows(database, line, statement string) ([][]string, error) {
	sees := map[bool]string{true: "t", false: "f"}
	split := func() []string {
		if p.denied {
			return []string{"hidden", "", strconv.Itoa(p.waiting), "", "", "", "", "", "0"}
		}
		return []string{"waiting", "Lock", strconv.Itoa(p.waiting), "transactionid", "", "shop", "shop", "10.4.1.11", "0"}
	}
	all := answers{
		"-- PostgreSQL 13 and newer. The client sessions of each database by what they do and": always(
			append([]string{postgresOIDs["app"], "app", "t", sees[!p.denied], "watcher"}, split()...),
			[]string{postgresOIDs["crm"], "crm", "t", sees[!p.denied], "watcher", "", "", "0", "", "", "", "", "", "0"}),
		"-- PostgreSQL 13 and newer. Does a lock say since when it is waited for (14)?":                                   always([]string{"t"}),
		"-- PostgreSQL 13 and newer: who waits for locks, advisory ones apart: how many client":                           always(),
		"-- PostgreSQL 13 and newer: who waits for whom. Asked only while a client session waits for a":                   always(),
		"-- PostgreSQL 13 and newer. How much of the distance to wraparound the oldest database":                          always([]string{"1", "app", "f"}),
		"-- PostgreSQL 13 and newer. How many connections clients have, ours too, and how many they may have that are no": always([]string{"12", "97"}),
		"-- PostgreSQL 13 and newer. Where pg_stat_statements is in this database, what its view":                         always(p.extension(database)...),
		"-- PostgreSQL 13 and newer. Where else the extension may be, and whether we are let in.":                         always([]string{"app", "t"}, []string{"crm", "t"}),
		"-- PostgreSQL 13 and newer. What the server tells: does a session say the id of its statement (14), does":        always([]string{"t", "t", "t"}),
		"-- PostgreSQL 13 and newer: what the server tells about its transactions, temporary files, checkpoints":          always(),
		"-- PostgreSQL 13 and newer: who follows whom, as one document. Functions that only a primary or only a standby answers": always(
			[]string{`{"standby": false, "system": "7301", "now": 1, "lsn": 100, "port": 5432, "timeline": 1}`}),
		"-- PostgreSQL 13 and newer: what the archiver does, as one document. Of archive_command nothing leaves the server but whether it": always([]string{`{"standby": false, "now": 1, "mode": "off"}`}),
		"-- PostgreSQL 13 and newer: the sizes of databases and the ages of their ids, once an hour, as one document.":                     always([]string{`{"databases": 0, "all": []}`}),
		"-- PostgreSQL 14 and newer, pg_stat_statements 1.9 and newer. Times are microseconds": always(
			[]string{fmt.Sprint(p.now()), fmt.Sprint(p.started.UnixMicro()), fmt.Sprint(p.reset)}),
		"-- PostgreSQL 14 and newer. How long the sessions of each database have executed, in": always(
			[]string{postgresOIDs["app"], fmt.Sprint(p.busy["app"]), "0"}, []string{postgresOIDs["crm"], fmt.Sprint(p.busy["crm"]), "0"}),
		"-- pg_stat_statements 1.11 and newer (PostgreSQL 17), which says since when it has an": always(p.statements()...),
		"-- pg_stat_statements 1.9 and 1.10 (PostgreSQL 14 to 16).":                             always(p.statements()...),
	}
	if strings.Contains(statement, "public.pg_stat_statements") && database != p.holder {
		return nil, &servers.Refusal{Engine: fleet.PostgreSQL, Code: "42883", Reason: servers.Absent}
	}
	answer, ok := all[line]
	if !ok {
		return nil, fmt.Errorf("the simulated PostgreSQL does not know %q", line)
	}
	return answer(statement)
}

// extension answers where pg_stat_statements is, in the database of a session.
func (p *PostgreSQL) extension(database string) [][]string {
	if database != p.holder {
		return nil
	}
	columns := "dbid,userid,toplevel,queryid,calls,total_exec_time"
	if p.major >= 17 {
		columns += ",stats_since"
	}
	return [][]string{{"public", columns, "t", "t", "t", "watcher", "t"}}
}

// statements is the view, where a role without pg_read_all_stats sees others' entries
// without their query id.
func (p *PostgreSQL) statements() [][]string {
	var rows [][]string
	for k, e := range p.entries {
		id, level, since := strconv.FormatUint(k.id(), 10), "t", e.since
		if p.major < 17 {
			since = 0
		}
		if p.denied {
			id = serverstest.Null
		}
		if k.nested {
			level = "f"
		}
		rows = append(rows, []string{
			postgresOIDs[k.database], "10", level, id, fmt.Sprint(e.calls), strconv.FormatFloat(e.ms, 'f', -1, 64), fmt.Sprint(since),
		})
	}
	return rows
}

var _ server = (*PostgreSQL)(nil)
