package postgresql_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/intake/measure/postgresql"
	"muster/internal/servers"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/pgtest"
)

// BenchmarkRound takes what measuring costs a server that knows 5,000 statements and
// has 200 sessions: a minute's six looks at the sessions and one at everything else.
// With texts, a statement is new in each of them, so that texts are read every minute.
// server-ms is the CPU time of our backend there, as its kernel counts it; of a
// minute of one core it is what "% of a core" says (goal: 1). muster-ms is what
// reading and comparing costs us, with waiting for the answers. With 12, or with all other, sessions
// that wait for one, who waits for whom is read in each of the six looks.
func BenchmarkRound(b *testing.B) {
	b.Run("counters", func(b *testing.B) { benchmarkRound(b, false, 0) })
	b.Run("texts", func(b *testing.B) { benchmarkRound(b, true, 0) })
	b.Run("waiting=12", func(b *testing.B) { benchmarkRound(b, false, 12) })
	b.Run("waiting=199", func(b *testing.B) { benchmarkRound(b, false, 199) })
}

func benchmarkRound(b *testing.B, texts bool, waiting int) {
	server := pgtest.Cluster(b, pgtest.Options{Settings: map[string]string{
		"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.max": "5000", "max_connections": "400", "autovacuum": "off",
	}})
	admin := pgtest.Connect(b, server.Superuser())
	admin.MustExec(`CREATE EXTENSION pg_stat_statements`)
	fillStatements(b, func(statement string) { admin.MustExec(statement) })
	admin.MustExec(`CREATE TABLE held (id int PRIMARY KEY)`)
	admin.MustExec(`INSERT INTO held VALUES (1)`)
	waits, over := context.WithCancel(b.Context())
	var ended sync.WaitGroup
	defer ended.Wait()
	defer over()
	for n := range 200 {
		conn, err := pgx.Connect(b.Context(), server.Superuser())
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		switch {
		case waiting > 0 && n == 0:
			if _, err := conn.Exec(b.Context(), `BEGIN; UPDATE held SET id = id`, pgx.QueryExecModeSimpleProtocol); err != nil {
				b.Fatal(err)
			}
		case n <= waiting:
			ended.Go(func() { _, _ = conn.Exec(waits, `UPDATE held SET id = id`) })
		}
	}
	for seen := -1; seen != waiting; {
		if err := admin.Get(&seen, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`); err != nil {
			b.Fatal(err)
		}
	}
	target, err := new(servers.Reach).Target(fleet.PostgreSQL, server.TCPURL(pgtest.Superuser, "postgres"))
	if err != nil {
		b.Fatal(err)
	}
	clock := clocktest.At(time.Now())
	home := &measuretest.Home{To: target, Texts: texts}
	engine := postgresql.Engine(clock.Now)
	one := measure.New(measure.Config{
		Engine: engine, Home: home, Gate: measure.NewGate(1), Log: slog.New(slog.DiscardHandler), Now: clock.Now,
	})
	defer one.Close(context.Background())
	minute := func() {
		home.Batches = home.Batches[:0]
		for range engine.StatementsEvery / engine.SessionsEvery {
			if err := one.Round(b.Context()); err != nil {
				b.Fatal(err)
			}
			clock.Advance(engine.SessionsEvery)
		}
		if texts {
			admin.MustExec(fmt.Sprintf("SELECT %d AS new_%[1]d", clock.Now().Unix()))
		}
	}
	minute() // a connection's first catalog reads fill its caches
	var pid string
	if err := admin.Get(&pid, `SELECT pid::text FROM pg_stat_activity WHERE application_name = $1`, servers.ApplicationName); err != nil {
		b.Fatal(err)
	}
	before, rounds := cpuTime(b, pid), 0
	for b.Loop() {
		minute()
		rounds++
	}
	cost := (cpuTime(b, pid) - before) / time.Duration(rounds)
	b.ReportMetric(float64(cost.Microseconds())/1000, "server-ms")
	b.ReportMetric(100*float64(cost)/float64(time.Minute), "%-of-a-core")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(rounds), "muster-ms")
	var statements int
	if err := admin.Get(&statements, `SELECT count(*) FROM pg_stat_statements`); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(statements), "statements")
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

// BenchmarkReplication takes what one look at the replication costs a primary with a standby and 20 slots, and its standby;
// there is one a minute. server-ms is the CPU time of our backend there (goal: 0.02 % of a core).
func BenchmarkReplication(b *testing.B) {
	primary := pgtest.Cluster(b, pgtest.Options{Settings: map[string]string{"max_replication_slots": "40"}})
	admin := pgtest.Connect(b, primary.Superuser())
	admin.MustExec(`SELECT pg_create_physical_replication_slot('slot_' || n, true) FROM generate_series(1, 20) AS n`)
	for name, server := range map[string]*pgtest.Server{"primary": primary, "standby": pgtest.Standby(b, primary, pgtest.Options{})} {
		b.Run(name, func(b *testing.B) {
			target, err := new(servers.Reach).Target(fleet.PostgreSQL, server.TCPURL(pgtest.Superuser, "postgres"))
			if err != nil {
				b.Fatal(err)
			}
			session, err := target.Open(b.Context(), "postgres", time.Minute)
			if err != nil {
				b.Fatal(err)
			}
			defer session.Close(context.Background())
			pid, err := servers.Row(b.Context(), session, 1, `SELECT pg_backend_pid()::text`)
			if err != nil {
				b.Fatal(err)
			}
			line, reader := measure.NewLine(session, nil), postgresql.Engine(time.Now).NewReader()
			look := func() {
				if _, err := reader.Replication(b.Context(), line, time.Now()); err != nil {
					b.Fatal(err)
				}
			}
			look() // a connection's first catalog reads fill its caches
			before, looks := cpuTime(b, pid[0]), 0
			for b.Loop() {
				look()
				looks++
			}
			cost := (cpuTime(b, pid[0]) - before) / time.Duration(looks)
			b.ReportMetric(float64(cost.Microseconds())/1000, "server-ms")
			b.ReportMetric(100*float64(cost)/float64(time.Minute), "%-of-a-core")
		})
	}
}
