package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	agentcli "muster/internal/cli/agent"
	"muster/internal/engine/live"
	"muster/internal/intake/measure"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/porttest"
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
	agentcli.MeasuredEngines = func(now func() time.Time) map[fleet.Engine]measure.Engine {
		all := live.Measured(now)
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
	pause := 10 * time.Millisecond
	if longtest.Asked() {
		pause = 2 * time.Millisecond
	}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(pause):
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

// TestLongAgentAndServerAreKilled kills the agent and the server in turn, a hundred times each, while a load goes
// on: what was counted in the end is what the load executed, not one more and not one less.
func TestLongAgentAndServerAreKilled(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	const kills = 200
	f := newField(t)
	server, a := f.serve(t), f.agent(t, "only")
	f.begin(t)
	var l load
	l.begin(t, f.watched.TCPURL(pgtest.Superuser, "postgres"))
	for n := range kills {
		if n%2 == 0 {
			a.atWork(600 * time.Millisecond)
			a.kill(t)
			a = f.agent(t, "only")
		} else {
			time.Sleep(rand.N(600 * time.Millisecond)) // not a wait for anything: where it dies is up to chance
			server.kill(t)
			server = f.serve(t)
		}
	}
	l.stop()
	if got, want := f.end(t), l.calls.Load(); got != want {
		t.Errorf("executed %d times, counted %d", want, got)
	} else {
		t.Logf("%d kills, %d calls", kills, got)
	}
}

// TestLongTwoAgentsCountOnce has two agents measure one server, and then one, that which was
// held off until then: nothing is counted twice, and what lies between the two is little.
func TestLongTwoAgentsCountOnce(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newField(t)
	f.serve(t)
	first := f.agent(t, "first")
	f.begin(t)
	f.agent(t, "second")
	var l load
	l.begin(t, f.watched.TCPURL(pgtest.Superuser, "postgres"))
	reports := func() (names map[string]bool) {
		names = map[string]bool{}
		var senders []string
		if err := f.db.Select(&senders, `SELECT name FROM agents`); err != nil {
			t.Fatal(err)
		}
		for _, name := range senders {
			names[name] = true
		}
		return names
	}
	eventually(t, "both are there", func() bool { return len(reports()) == 2 })
	key := f.key(t, "the_load_of_a_test")
	eventually(t, "the load is counted", func() bool { return countedBy(t, f.ana, f.instance, key) > 50 })
	before := countedBy(t, f.ana, f.instance, key)
	first.kill(t)
	gone := l.calls.Load()
	f.db.MustExec(`UPDATE statement_turns SET held_until = now()`) // five minutes later
	eventually(t, "the second takes over", func() bool { return countedBy(t, f.ana, f.instance, key) > gone })
	after := l.calls.Load() + 1 // and the one that is being executed
	l.stop()
	var shown struct {
		Agent struct {
			Takeover struct {
				By       string
				From, To time.Time
			}
		}
	}
	f.ana.get(t, "/api/v1/instances/"+f.instance, &shown)
	if is := shown.Agent.Takeover; is.By != "second" || is.From.IsZero() || is.To.Before(is.From) {
		t.Errorf("the page shows the takeover %+v", is)
	}
	got, want := f.end(t), l.calls.Load()
	if got > want || want-got > after-before {
		t.Errorf("executed %d times, of which %d between the turns, counted %d", want, after-before, got)
	}
	t.Logf("executed %d times, of which %d between the turns, counted %d", want, after-before, got)
}

// field is a server that is measured by agents, and a Muster far from it.
type field struct {
	installed
	watched  *pgtest.Server
	admin    *sqlx.DB // of it
	db       *sqlx.DB // of the installation
	listen   string
	token    string
	dir      string
	email    string
	ana      client
	instance string
}

func newField(t *testing.T) *field {
	t.Helper()
	watched := pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{"shared_preload_libraries": "pg_stat_statements"}})
	f := &field{installed: install(t), watched: watched, admin: pgtest.Connect(t, watched.Superuser()), listen: porttest.Address(t), dir: t.TempDir()}
	f.admin.MustExec(`CREATE EXTENSION pg_stat_statements`)
	f.db = pgtest.Connect(t, f.url)
	f.email = f.organization(t, "Acme")
	token := muster(t, append(f.flags(), "token", "create", "--kind", "ingest", "--email", f.email)...)
	if token.status != 0 {
		t.Fatal(token.errors)
	}
	f.token = fileWith(t, "token", token.out)
	return f
}

// serve starts the server, where it always is.
func (f *field) serve(t *testing.T) *running {
	t.Helper()
	server := serving(t, nil, append(f.flags(), "--rate-limits=off", "--listen", f.listen)...)
	if f.ana == (client{}) {
		f.ana = f.as(t, server, f.email)
	}
	return server
}

// agent starts an agent with a directory of its own.
func (f *field) agent(t *testing.T, name string) *running {
	t.Helper()
	config := fileWith(t, "agent.yaml", fmt.Sprintf("name: %s\ndirectory: %s\nhost: false\nservers:\n- {name: killed, engine: postgresql, dsn: \"%s\", assessEvery: never}\n",
		name, filepath.Join(f.dir, name), f.watched.TCPURL(pgtest.Superuser, "postgres")))
	return launch(t, []string{agentEvery + "=100ms"}, "agent", "run", "--server", "http://"+f.listen, "--token-file", f.token, "--config", config)
}

// begin waits until there is a basis, so that what is executed from now on is counted.
func (f *field) begin(t *testing.T) {
	t.Helper()
	eventually(t, "the agent announces its server", func() bool {
		var found struct{ Items []struct{ ID string } }
		f.ana.get(t, "/api/v1/instances?q=killed", &found)
		if len(found.Items) == 1 {
			f.instance = found.Items[0].ID
		}
		return f.instance != ""
	})
	eventually(t, "statements have a basis", func() bool { return countedBy(t, f.ana, f.instance, "") > 0 })
}

// key is what a statement is counted by.
func (f *field) key(t *testing.T, text string) (key string) {
	t.Helper()
	if err := f.admin.Get(&key, `SELECT queryid || '/' || userid FROM pg_stat_statements WHERE query LIKE $1`, "SELECT $1 AS "+text+"%"); err != nil {
		t.Fatal(err)
	}
	return key
}

// end waits until everything is counted, and returns how much of the load was. What is kept
// is sent in its order, so that what is executed last is counted last.
func (f *field) end(t *testing.T) int64 {
	t.Helper()
	f.admin.MustExec(`SELECT 43 AS the_end_of_a_test, 44`) // names of columns tell no statements apart
	end := f.key(t, "the_end_of_a_test")
	eventually(t, "the end is counted", func() bool { return countedBy(t, f.ana, f.instance, end) > 0 })
	return countedBy(t, f.ana, f.instance, f.key(t, "the_load_of_a_test"))
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

// TestAgentCheckReportsEachPart: it tries a server with an account that may read all, with one that may not,
// and where no server is. The report has no name in it.
func TestAgentCheckReportsEachPart(t *testing.T) {
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
	out, report := check("nobody", "postgres://u@"+porttest.Address(t)+"/postgres?sslmode=disable")
	if out.status != 1 || !strings.Contains(out.out, "FAILS") || !strings.Contains(report, `"error": "refused"`) {
		t.Errorf("status %d: %s", out.status, out.out)
	}
	if _, err := os.Stat(filepath.Join(dir, "unused")); !os.IsNotExist(err) {
		t.Errorf("a check made the agent's directory: %v", err)
	}
}
