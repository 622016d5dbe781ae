package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
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
