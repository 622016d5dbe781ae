package monitor

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/servers/tdstest"
	"muster/internal/servers/tnstest"
	"muster/internal/testing/pgtest"
)

// TestAMixedFleet: one process measures servers of three engines, and one of each that
// hangs delays none of the others. BenchmarkMixedFleet of package bench is the same with
// 300, and says how late rounds are.
func TestAMixedFleet(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.intake.kept = make(chan struct{}, 100)
	hanging := make(chan struct{}, 1)
	postgresql, sqlserver, oracle := pgtest.Shared(t).TCPURL(pgtest.Superuser, "postgres"), sqlServer(t), oracleDatabase(t)
	s.register("postgres://u@" + silent(t, hanging) + "/postgres?sslmode=disable")
	s.registerAs(fleet.SQLServer, tdstest.Start(t, tdstest.Options{Silent: true}).DSN("encrypt=disable"))
	s.registerAs(fleet.Oracle, tnstest.Start(t, tnstest.Options{Silent: true}).DSN(""))
	want := make(map[uuid.UUID]bool)
	for range 4 {
		want[s.register(postgresql)] = true
		want[s.registerAs(fleet.SQLServer, sqlserver)] = true
		want[s.registerAs(fleet.Oracle, oracle)] = true
	}
	var complaints lines
	m := s.process()
	m.Log = slog.New(slog.NewTextHandler(&complaints, nil))
	defer m.die()
	s.look(m)
	<-hanging
	for len(want) > 0 {
		select {
		case <-s.intake.kept:
		case <-time.After(time.Minute):
			t.Fatalf("%d have no samples while three hang", len(want))
		}
		s.intake.mu.Lock()
		for _, b := range s.intake.batches {
			for _, sample := range b.Sessions {
				delete(want, sample.Instance)
			}
		}
		s.intake.mu.Unlock()
	}
	if complaints.Load() > 0 {
		t.Error("those that hang were given up before the others had samples")
	}
}

// queryOf is a reader's query, and what is left of it without the comment it begins with.
func queryOf(t *testing.T, engine, file string) (whole, bare string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "measure", engine, "sql", file+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	whole, bare = string(text), string(text)
	for strings.HasPrefix(bare, "--") {
		_, bare, _ = strings.Cut(bare, "\n")
	}
	return whole, bare
}

// sqlServer is the DSN of a stub that answers a first look.
func sqlServer(t *testing.T) string {
	t.Helper()
	s := tdstest.Start(t, tdstest.Options{})
	for file, rows := range map[string][][]any{
		"server":    {{3, 15, 1, 1, "[watcher]", "[dbo]", 0}},
		"databases": {{1, "master", 0, 1, false}},
		"replicas":  nil, "plan_cache": nil, "own_statements": nil, "replication": nil, "backups": nil, "jobs": nil,
		"room_databases": nil, "room_files": nil, "room_sequences": nil, "room_tables": nil, "room_volumes": nil,
		"sessions":     {{1, "idle", "", 3, "shop", "checkout", "web-01", ""}},
		"lock_wait":    {{0, 1, 0}},
		"transactions": {{51, 1, 90_000, 60_000, "shop", "checkout", "web-01", nil, "idleInTransaction"}}, "temporary_space": {{0}}, "counters": {{"logins/sec", 7, 1}},
		"clocks":    {{1_000_000, 0, 1}},
		"deadlocks": {{0, 1_000_000}},
	} {
		whole, _ := queryOf(t, "sqlserver", file)
		s.Answer(whole, tdstest.Answer{Rows: rows})
	}
	s.Answer("SELECT 1", tdstest.Answer{Rows: [][]any{{1}}}) // asked every ten seconds, of which one may begin in the test
	return s.DSN("encrypt=disable")
}

// oracleDatabase is likewise.
func oracleDatabase(t *testing.T) string {
	t.Helper()
	l := tnstest.Start(t, tnstest.Options{})
	on := func(file string, columns int, numbers []int, rows ...[]string) {
		_, bare := queryOf(t, "oracle", file)
		l.Answer(bare, tnstest.Answer{Columns: columns, Numbers: numbers, Rows: rows})
	}
	on("self", 4, nil, []string{"3", "ERP", "ORCL", "MUSTER"})
	on("instance", 3, []int{0}, []string{"1", "2026-11-01 03:00:00", "NO"})
	on("containers", 3, []int{0}, []string{"3", "ERP", "READ WRITE"})
	on("sessions", 9, []int{0, 3}, []string{"3", "idle", "Idle", "3", "SQL*Net message from client", "SHOP", "checkout", "web-01", ""})
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
	for _, none := range []string{"databases", "disk_groups", "recovery", "sequences", "tables", "tablespaces"} {
		on("room_"+none, 1, nil)
	}
	on("db_time", 2, []int{0, 1}, []string{"3", "1000"})
	on("clock", 2, []int{0, 1}, []string{"1000000", "0"})
	on("statements", 7, []int{0, 1, 3, 4, 5, 6})
	return l.DSN("")
}
