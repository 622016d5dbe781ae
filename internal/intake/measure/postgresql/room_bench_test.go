package postgresql_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/postgresql"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

// BenchmarkHealth takes what looks at the room of a server with 20 databases of 100 tables each cost it on each major version,
// with the connections to them, and what looks at its backups cost. There is one of the former an hour, and one of the latter
// every ten minutes. server-ms is the CPU time of all processes of the server that serve them (goal: together with
// BenchmarkReplication, 0.03 % of a core).
func BenchmarkHealth(b *testing.B) {
	for _, major := range pgtest.Majors(b) {
		server := pgtest.Cluster(b, pgtest.Options{Major: major, Settings: map[string]string{"autovacuum": "off", "archive_mode": "on", "archive_command": "true"}})
		admin := pgtest.Connect(b, server.Superuser())
		for n := range 19 {
			admin.MustExec(fmt.Sprintf("CREATE DATABASE d%d", n))
		}
		for n := -1; n < 19; n++ {
			name := "postgres"
			if n >= 0 {
				name = fmt.Sprintf("d%d", n)
			}
			pgtest.Connect(b, server.TCPURL(pgtest.Superuser, name)).MustExec(`DO $$ BEGIN FOR i IN 1..100 LOOP
				EXECUTE format('CREATE TABLE t%s (id serial PRIMARY KEY, note text)', i); END LOOP; END $$`)
		}
		var directory string
		if err := admin.Get(&directory, `SHOW data_directory`); err != nil {
			b.Fatal(err)
		}
		target, err := new(servers.Reach).Target(fleet.PostgreSQL, server.TCPURL(pgtest.Superuser, "postgres"))
		if err != nil {
			b.Fatal(err)
		}
		open := func(ctx context.Context, database string) (servers.Session, error) {
			return target.Open(ctx, database, time.Minute)
		}
		for name, every := range map[string]time.Duration{"room": time.Hour, "backups": 10 * time.Minute} {
			b.Run(fmt.Sprintf("%d/%s", major, name), func(b *testing.B) {
				before, looks := ended(b, directory), 0
				for b.Loop() {
					session, err := open(b.Context(), "postgres")
					if err != nil {
						b.Fatal(err)
					}
					reader, line := postgresql.Engine(time.Now).NewReader(), measure.NewLine(session, open)
					if name == "room" {
						state, err := reader.(measure.RoomReader).Room(b.Context(), line, time.Now())
						if err != nil || state.Looked != 20 {
							b.Fatal(state, err)
						}
					} else if _, err := reader.(measure.BackupReader).Backups(b.Context(), line, time.Now()); err != nil {
						b.Fatal(err)
					}
					session.Close(context.Background())
					looks++
				}
				time.Sleep(200 * time.Millisecond) // the last one ends
				cost := (ended(b, directory) - before) / time.Duration(looks)
				b.ReportMetric(float64(cost.Microseconds())/1000, "server-ms")
				b.ReportMetric(100*float64(cost)/float64(every), "%-of-a-core")
			})
		}
	}
}

// ended is the CPU time of all processes of a server that have ended.
func ended(b *testing.B, directory string) time.Duration {
	b.Helper()
	pid, err := os.ReadFile(directory + "/postmaster.pid")
	if err != nil {
		b.Fatal(err)
	}
	stat, err := os.ReadFile("/proc/" + strings.Fields(string(pid))[0] + "/stat")
	if err != nil {
		b.Skip("needs /proc: ", err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])) // from the third on
	var ticks int64
	for _, field := range []int{16 - 3, 17 - 3} {
		n, err := strconv.ParseInt(fields[field], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}
