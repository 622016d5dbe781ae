package monitor

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"muster/domain/fleet"
	"muster/internal/pgtest"
	"muster/internal/servers"
)

// BenchmarkRound takes what measuring costs a server that knows 5,000 statements and
// has 200 sessions: a minute's six looks at the sessions and one at everything else.
// With texts, a statement is new in each of them, so that texts are read every minute.
// server-ms is the CPU time of our backend there, as its kernel counts it; of a
// minute of one core it is what "% of a core" says (goal: 1). muster-ms is what
// reading and comparing costs us, with waiting for the answers.
func BenchmarkRound(b *testing.B) {
	b.Run("counters", func(b *testing.B) { benchmarkRound(b, false) })
	b.Run("texts", func(b *testing.B) { benchmarkRound(b, true) })
}

func benchmarkRound(b *testing.B, texts bool) {
	server := pgtest.Cluster(b, pgtest.Options{Settings: map[string]string{
		"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.max": "5000", "max_connections": "400", "autovacuum": "off",
	}})
	admin := pgtest.Connect(b, server.Superuser())
	admin.MustExec(`CREATE EXTENSION pg_stat_statements`)
	fillStatements(b, func(statement string) { admin.MustExec(statement) })
	for range 200 {
		conn, err := pgx.Connect(b.Context(), server.Superuser())
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = conn.Close(b.Context()) }()
	}
	target, err := new(servers.Reach).Target(fleet.PostgreSQL, server.TCPURL(pgtest.Superuser, "postgres"))
	if err != nil {
		b.Fatal(err)
	}
	s, err := target.Open(b.Context(), target.Database, servers.StatementTimeout)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close(b.Context())
	pid, err := servers.Row(b.Context(), s, 1, `SELECT pg_backend_pid()`)
	if err != nil {
		b.Fatal(err)
	}

	var last *statementList
	minute := func() {
		at := time.Now()
		var a *activity
		for range statementsEvery / sessionsEvery {
			if a, err = readActivity(b.Context(), s, at); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := readSigns(b.Context(), s, a, uuid.Nil, uuid.Nil); err != nil {
			b.Fatal(err)
		}
		x, err := findExtension(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		now, err := x.readStatements(b.Context(), s, at)
		if err != nil {
			b.Fatal(err)
		}
		if now.active, err = x.readActiveTime(b.Context(), s); err != nil {
			b.Fatal(err)
		}
		deltasBetween(last, now)
		if texts {
			told, err := x.readTexts(b.Context(), s, []*counters{&now.entries[len(now.entries)/2]})
			if err != nil || len(told) != 1 {
				b.Fatal(told, err)
			}
		}
		last = now
	}
	minute() // a connection's first catalog reads fill its caches
	before, rounds := cpuTime(b, pid[0]), 0
	for b.Loop() {
		minute()
		rounds++
	}
	cost := (cpuTime(b, pid[0]) - before) / time.Duration(rounds)
	b.ReportMetric(float64(cost.Microseconds())/1000, "server-ms")
	b.ReportMetric(100*float64(cost)/float64(time.Minute), "%-of-a-core")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(rounds), "muster-ms")
	b.ReportMetric(float64(len(last.entries)), "statements")
}

// fillStatements executes 4,900 different ones.
func fillStatements(b *testing.B, execute func(string)) {
	b.Helper()
	const columns = 70
	var names []string
	for i := range columns {
		names = append(names, fmt.Sprintf("c%d int", i))
	}
	execute(`CREATE TABLE wide (` + strings.Join(names, ", ") + `)`)
	for i := range columns {
		var batch []string // in one message: it is about their number
		for j := range columns {
			batch = append(batch, fmt.Sprintf("SELECT c%d FROM wide WHERE c%d = 1", i, j))
		}
		execute(strings.Join(batch, "; "))
	}
}

// cpuTime is what a process has used, from /proc; the benchmark is skipped elsewhere.
func cpuTime(b *testing.B, pid string) time.Duration {
	b.Helper()
	stat, err := os.ReadFile("/proc/" + pid + "/schedstat") // nanoseconds on a CPU first
	if err == nil {
		if on, err := strconv.ParseInt(strings.Fields(string(stat))[0], 10, 64); err == nil && on > 0 {
			return time.Duration(on)
		}
	}
	if stat, err = os.ReadFile("/proc/" + pid + "/stat"); err != nil {
		b.Skip("needs /proc: ", err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])) // from the third on
	const user, system = 14 - 3, 15 - 3
	var ticks int64
	for _, field := range []int{user, system} {
		n, err := strconv.ParseInt(fields[field], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}
