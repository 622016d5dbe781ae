package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/engines"
	"muster/internal/longtest"
	"muster/internal/pgtest"
)

// agentEvery makes an agent of the tests measure more often than the program does: its
// value is how often it reads sessions, and half as often statements.
const agentEvery = "MUSTER_TEST_AGENT_EVERY"

// hastenAgent does what agentEvery says.
func hastenAgent() {
	every, err := time.ParseDuration(os.Getenv(agentEvery))
	if err != nil {
		return
	}
	measuredEngines = func(now func() time.Time) map[fleet.Engine]measure.Engine {
		all := engines.All(now)
		for name, e := range all {
			e.SessionsEvery, e.StatementsEvery = every, 2*every
			all[name] = e
		}
		return all
	}
}

// load executes one statement again and again until it is stopped, and counts how often.
type load struct {
	calls atomic.Int64
	stop  func()
}

func (l *load) begin(t *testing.T, dsn string) {
	db := pgtest.Connect(t, dsn)
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
			}
			if _, err := db.Exec(`SELECT 42 AS the_load_of_a_test`); err != nil {
				t.Error(err)
				return
			}
			l.calls.Add(1)
		}
	})
	l.stop = sync.OnceFunc(func() { close(done); group.Wait() })
	t.Cleanup(l.stop)
}

// free is an address where nothing listens: a server that is started again has to be where
// it was.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// TestAgentAndServerAreKilled kills the agent and the server in turn while a load goes on:
// what was counted in the end is what the load executed, not one more and not one less.
// MUSTER_TEST_LONG=1 makes it 200 kills.
func TestAgentAndServerAreKilled(t *testing.T) {
	t.Parallel()
	kills := 8
	if longtest.Asked() {
		kills = 200
	}
	watched := pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{"shared_preload_libraries": "pg_stat_statements"}})
	admin := pgtest.Connect(t, watched.Superuser())
	admin.MustExec(`CREATE EXTENSION pg_stat_statements`)

	i, listen := install(t), free(t)
	email := i.organization(t, "Acme")
	args := append(i.flags(), "--rate-limits=off", "--listen", listen)
	server := serving(t, nil, args...)
	ana := i.as(t, server, email)
	token := muster(t, append(i.flags(), "token", "create", "--kind", "ingest", "--email", email)...)
	if token.status != 0 {
		t.Fatal(token.errors)
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "agent.yaml")
	text := fmt.Sprintf("directory: %s\nhost: false\nservers:\n- {name: killed, engine: postgresql, dsn: \"%s\", assessEvery: never}\n",
		filepath.Join(dir, "buffer"), watched.TCPURL(pgtest.Superuser, "postgres"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	agent := func() *running {
		return launch(t, []string{agentEvery + "=100ms"}, "agent", "run", "--server", "http://"+listen, "--token-file", fileWith(t, "token", token.out), "--config", config)
	}
	a := agent()
	var found struct {
		Items []struct{ ID string }
	}
	eventually(t, "the agent announces its server", func() bool {
		ana.get(t, "/api/v1/instances?q=killed", &found)
		return len(found.Items) == 1
	})
	eventually(t, "statements have a basis", func() bool { return countedBy(t, ana, found.Items[0].ID, "") > 0 })
	var l load
	l.begin(t, watched.TCPURL(pgtest.Superuser, "postgres"))
	for n := range kills {
		if n%2 == 0 {
			a.atWork(600 * time.Millisecond)
			a.kill(t)
			a = agent()
		} else {
			time.Sleep(rand.N(600 * time.Millisecond)) // not a wait for anything: where it dies is up to chance
			server.kill(t)
			server = serving(t, nil, args...)
		}
	}
	l.stop()
	admin.MustExec(`SELECT 43 AS the_end_of_a_test, 44`) // names of columns tell no statements apart
	key := func(text string) (key string) {
		if err := admin.Get(&key, `SELECT queryid || '/' || userid FROM pg_stat_statements WHERE query LIKE $1`, "SELECT $1 AS "+text+"%"); err != nil {
			t.Fatal(err)
		}
		return key
	}
	// What is kept is sent in its order, so that the end is counted last.
	end := key("the_end_of_a_test")
	eventually(t, "the end is counted", func() bool { return countedBy(t, ana, found.Items[0].ID, end) > 0 })
	if got, want := countedBy(t, ana, found.Items[0].ID, key("the_load_of_a_test")), l.calls.Load(); got != want {
		t.Errorf("executed %d times, counted %d", want, got)
	} else {
		t.Logf("%d kills, %d calls", kills, got)
	}
}

// countedBy is how many calls of a statement were counted; of all, where key is empty.
func countedBy(t *testing.T, c client, instance, key string) (calls int64) {
	t.Helper()
	var page struct {
		Items []struct {
			Key   string
			Calls int64
		}
	}
	c.get(t, statementsPath(instance), &page)
	for _, one := range page.Items {
		if key == "" || one.Key == key {
			calls += one.Calls
		}
	}
	return calls
}

// statementsPath are the statements of an instance in the last two hours.
func statementsPath(instance string) string {
	now := time.Now().UTC()
	return "/api/v1/statements?pageSize=100&instanceId=" + instance + "&from=" + url.QueryEscape(now.Add(-2*time.Hour).Format(time.RFC3339)) +
		"&to=" + url.QueryEscape(now.Add(time.Minute).Format(time.RFC3339))
}

// TestAgentCheckTellsWhatWorks tries a server as who may read all, as who may not and where
// there is none. The report has no name in it.
func TestAgentCheckTellsWhatWorks(t *testing.T) {
	t.Parallel()
	watched := pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{"shared_preload_libraries": "pg_stat_statements"}})
	admin := pgtest.Connect(t, watched.Superuser())
	admin.MustExec(`CREATE EXTENSION pg_stat_statements; CREATE ROLE a_poor_role LOGIN`)
	admin.MustExec(`CREATE DATABASE a_secret_name`)
	script := muster(t, "agent", "grants", "--engine", "postgresql")
	if script.status != 0 {
		t.Fatal(script.errors)
	}
	admin.MustExec(script.out) // as it is printed
	dir := t.TempDir()
	check := func(user, dsn string) (outcome, string) {
		config := fileWith(t, "agent.yaml", fmt.Sprintf("directory: %s\nservers:\n- {name: a-secret-server, engine: postgresql, dsn: \"%s\"}\n", filepath.Join(dir, "unused"), dsn))
		report := filepath.Join(dir, user+".json")
		out := muster(t, "agent", "check", "--config", config, "--report", report)
		text, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err, out.errors)
		}
		return out, string(text)
	}
	for user, want := range map[string]struct {
		status int
		says   []string
	}{
		"muster":      {0, []string{"ok  statements", "PG-S11", "GRANT SELECT (rolname, rolpassword) ON pg_catalog.pg_authid TO muster;"}},
		"a_poor_role": {1, []string{"FAILS  statements", "GRANT pg_read_all_stats TO a_poor_role;"}},
	} {
		out, report := check(user, watched.TCPURL(user, "postgres"))
		if out.status != want.status {
			t.Errorf("%s: status %d, %s%s", user, out.status, out.out, out.errors)
		}
		said := strings.Join(strings.Fields(out.out), " ")
		for _, text := range want.says {
			if !strings.Contains(said, strings.Join(strings.Fields(text), " ")) {
				t.Errorf("%s: it does not say %q:\n%s", user, text, out.out)
			}
		}
		for _, secret := range []string{"secret", "poor", "127.0.0.1", "postgres://"} {
			if strings.Contains(report, secret) {
				t.Errorf("%s: the report names %q", user, secret)
			}
		}
		if !strings.Contains(report, `"engine": "postgresql"`) || !strings.Contains(report, "pg_stat_activity") && !strings.Contains(report, "client sessions of each database") {
			t.Errorf("%s: the report is %s", user, report)
		}
	}
	out, report := check("nobody", "postgres://u@"+free(t)+"/postgres?sslmode=disable")
	if out.status != 1 || !strings.Contains(out.out, "FAILS") || !strings.Contains(report, `"error": "refused"`) {
		t.Errorf("status %d: %s", out.status, out.out)
	}
	if _, err := os.Stat(filepath.Join(dir, "unused")); !os.IsNotExist(err) {
		t.Errorf("a check made the agent's directory: %v", err)
	}
}
