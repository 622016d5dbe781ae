package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/internal/agent"
	"muster/internal/engine/live"
	"muster/internal/testing/pgtest"
)

// C1. What Muster sets for itself never reaches the application that shares a pooler's
// connections with it: not while a server is tried, measured, assessed and classified, and
// not after it.
func TestAnApplicationBehindAPoolerNoticesNothing(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{"shared_preload_libraries": "pg_stat_statements"}})
	admin := pgtest.Connect(t, server.Superuser())
	admin.MustExec(`CREATE ROLE app LOGIN IN ROLE pg_monitor`)
	admin.MustExec(`CREATE ROLE muster LOGIN IN ROLE pg_monitor`)
	admin.MustExec(`CREATE DATABASE shop OWNER app`)
	pgtest.Connect(t, server.URL("app", "shop")).MustExec(`CREATE TABLE t (n int)`)
	pgtest.Connect(t, server.URL(pgtest.Superuser, "shop")).MustExec(`CREATE EXTENSION pg_stat_statements`)
	all, err := live.Inspectors(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"session", "transaction", "statement"} {
		for _, who := range []struct{ name, forced, user string }{
			{"the application's user", "", "app"}, {"a forced user", "app", "muster"}, {"a user of its own", "", "muster"},
		} {
			t.Run(mode+" as "+who.name, func(t *testing.T) {
				t.Parallel()
				size := 1
				if mode == "session" {
					size = 20 // sessions keep theirs
				}
				address := server.Pooler(t, pgtest.Pool{Mode: mode, Database: "shop", Forced: who.forced, Users: []string{"app", "muster"}, Size: size})
				app := pgtest.StartApplication(t, pgtest.PooledURL(address, "app", "shop"), "t")
				dir := t.TempDir()
				path := filepath.Join(dir, "agent.yaml")
				text := "directory: " + dir + "\nservers:\n  - name: pooled\n    engine: postgresql\n    dsn: ${POOLED}\n    classify: values\n"
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				config, err := agent.ReadConfig(path, func(string) (string, bool) { return pgtest.PooledURL(address, who.user, "shop"), true })
				if err != nil {
					t.Fatal(err)
				}
				checked := 0
				agent.Check(t.Context(), agent.Options{Config: config, Engines: live.Measured, Inspectors: all}, func(c agent.Checked) {
					checked++
					judgeThroughPooler(t, mode, c)
				})
				if checked != 1 {
					t.Fatalf("%d servers were checked", checked)
				}
				app.End(t)
			})
		}
	}
}

func judgeThroughPooler(t *testing.T, mode string, c agent.Checked) {
	t.Helper()
	said := map[string]string{}
	failed := map[string]bool{}
	for _, p := range c.Parts {
		said[p.Name], failed[p.Name] = p.Detail, !p.OK
	}
	if mode == "statement" {
		if !failed["connect"] || !strings.Contains(said["connect"], "pooler in statement mode") || len(c.Parts) != 1 {
			t.Errorf("a pooler in statement mode is not refused with words: %v", c.Parts)
		}
		return
	}
	for _, part := range []string{"connect", "sessions", "locks", "statements", "checks", "classification"} {
		if _, told := said[part]; !told || failed[part] {
			t.Errorf("%s through a pooler in %s mode: %q", part, mode, said[part])
		}
	}
	if told := strings.Contains(said["connect"], "pooler in transaction mode"); told != (mode == "transaction") {
		t.Errorf("in %s mode the connection is described as %q", mode, said["connect"])
	}
}
