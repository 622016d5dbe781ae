package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// apart is an installation of two processes: a1 has the API, w1 all else.
type apart struct {
	*ward
	rest  *running // w1
	door  client   // its
	paper uuid.UUID
	free  func() // makes room again
}

// TestAlertsOfAMissingProcess fire while other processes run.
func TestAlertsOfAMissingProcess(t *testing.T) {
	t.Parallel()
	needsPromtool(t)
	a := &apart{ward: newWard(t, install(t))}
	small := a.smallStore(t)
	email := a.organization(t, "Acme")
	a.server = servingHere(t, append(a.flags(), "--roles=api", "--rate-limits=off", "--collect-own-host=off")...)
	a.begin(t)
	a.ana = a.as(t, a.server, email)
	a.reader["PROCESS"], a.reader["TOKEN"] = a.server.base, a.ana.token
	a.watched["a1"] = func() (client, bool) { return a.ana, true }
	a.watched["w1"] = func() (client, bool) { return a.door, !a.rest.over() }
	a.logs = func() string { return a.server.logged.String() + a.rest.logged.String() }
	a.systemctl = func(t *testing.T, _ string) { a.begin(t) }
	a.paper = a.ana.paper(t, "pg-paper")
	a.awaits(t, "a1", "muster_watch_judged_seconds", 0)
	for _, c := range a.troubles() {
		if !small && c.alerts[0] == "MusterDiskFills" {
			t.Log("no small file system can be mounted here, which takes root: MusterDiskFills is not tried")
			continue
		}
		a.strikes(t, c)
	}
	a.judge(t)
}

// smallStore has the files on a file system of their own, which a test can fill, and all
// else on another: that of the machine may be nearly full.
func (a *apart) smallStore(t *testing.T) bool {
	t.Helper()
	a.reader["DATA"] = filepath.Join(a.dir, "blobs")
	for _, dir := range []string{a.dir, a.reader["DATA"]} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if syscall.Mount("muster-test", dir, "tmpfs", 0, "size=2m,mode=0700") != nil {
			return false
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	}
	return true
}

func (a *apart) begin(t *testing.T) {
	t.Helper()
	if a.rest == nil || a.rest.over() {
		a.rest = launchHere(t, append(a.flags(), "serve", "--roles=projections,workers,collectors", "--collect-own-host=off", "--ops-listen=127.0.0.1:0")...)
		a.door = a.rest.door(t)
	}
}

func (a *apart) troubles() []trouble {
	return []trouble{{
		alerts: []string{"MusterProcessAway", "MusterReadsOldThings", "MusterQueueStands", "MusterMeasurementsBehind", "MusterWatchStands"},
		comes:  a.workerGoes,
		says:   []string{"stopping: no new work is taken", "report_history", "this process fills the projections", `"queued"`},
		over: func(t *testing.T) bool {
			m := a.figures(t, "a1")
			for series, value := range m {
				if strings.HasPrefix(series, "muster_projection_lag_seconds") && value > 1 {
					return false
				}
			}
			return m[standing] < 60 &&
				m["muster_watch_judged_seconds"] < 60 && m["muster_measurements_behind_seconds"] < 15
		},
	}, {
		alerts: []string{"MusterBudgetNearlyExhausted"}, says: []string{`"used":850000`, `"limit":1000000`},
		comes: func(t *testing.T) {
			a.ana.call(t, http.StatusAccepted, http.MethodPost, "/ingest/v1/samples", hostAt(time.Now().UTC()), nil)
			db := pgtest.Connect(t, a.url)
			eventually(t, "most of the budget is used", func() bool {
				_, err := db.Exec(`UPDATE budget_use SET events = 850000`)
				return err == nil && a.eventsUsed(t) == 850000
			})
		},
		goes: func(t *testing.T) { // midnight comes
			if _, err := pgtest.Connect(t, a.url).Exec(`UPDATE budget_use SET day = day - 1`); err != nil {
				t.Fatal(err)
			}
		},
		over: func(t *testing.T) bool { return a.eventsUsed(t) == 0 },
	}, {
		alerts: []string{"MusterDiskFills"}, says: []string{"muster-test", "/blobs"},
		comes: func(t *testing.T) {
			a.free = fill(t, a.reader["DATA"])
			eventually(t, "nothing is free", func() bool { return a.figure(t, "a1", storeFree) < 0.1 })
		},
		goes: func(*testing.T) { a.free() },
		over: func(t *testing.T) bool { return a.figure(t, "a1", storeFree) > 0.5 },
	}}
}

// eventsUsed is how much of the budget of events is used, as the figures have it.
func (a *apart) eventsUsed(t testing.TB) (most float64) {
	for series, value := range a.figures(t, "a1") {
		if strings.HasPrefix(series, "muster_budget_used") && strings.Contains(series, `budget="events"`) && strings.Contains(series, `of="organization"`) {
			most = max(most, value)
		}
	}
	return most
}

const (
	storeFree = `muster_disk_free_ratio{disk="files"}`
	standing  = `muster_jobs_due_seconds{kind="build"}`
)

// workerGoes leaves a report, a sample and a watch to nobody. That this was minutes ago is
// said to the database: nobody waits for it.
func (a *apart) workerGoes(t *testing.T) {
	a.rest.stop(t)
	a.ana.call(t, http.StatusAccepted, http.MethodPost, "/api/v1/reports", security(a.paper), nil)
	a.ana.call(t, http.StatusAccepted, http.MethodPost, "/ingest/v1/samples", hostAt(time.Now().UTC()), nil)
	db := pgtest.Connect(t, a.url)
	pgtest.Unguard(t, db)
	db.MustExec(`UPDATE events SET recorded_at = recorded_at - interval '2 minutes' WHERE log = 'reports'`)
	db.MustExec(`UPDATE jobs SET due_at = due_at - interval '16 minutes' WHERE kind = 'build'`)
	db.MustExec(`UPDATE dirty_hours SET since = since - interval '2 minutes'`)
	db.MustExec(`UPDATE watch_state SET judged_at = judged_at - interval '2 minutes'`)
	a.awaits(t, "a1", "muster_watch_judged_seconds", 100)
	a.awaits(t, "a1", "muster_measurements_behind_seconds", 100)
	a.awaits(t, "a1", `muster_projection_lag_seconds{projection="report_history"}`, 100)
	a.awaits(t, "a1", standing, 900)
}

// limitedTo are the files that a process of the long test may open: it has some forty
// itself, and the test the rest.
const limitedTo = 256

// several are two processes of their own: w1 of one version, w2 of another.
type several struct {
	*ward
	processes map[string]*running
	versions  map[string]string
	held      []net.Conn
	past      string // what processes have logged that ended
}

// TestLongTroublesOfProcesses are those that take processes which are killed, limited, or
// of another version.
func TestLongTroublesOfProcesses(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	needsPromtool(t)
	s := &several{ward: newWard(t, install(t)), processes: map[string]*running{}, versions: map[string]string{"w1": "1.0.0", "w2": "1.0.0"}}
	email := s.organization(t, "Acme")
	for _, name := range []string{"w1", "w2"} {
		s.begin(t, name)
		s.watched[name] = func() (client, bool) {
			r := s.processes[name]
			return client{base: r.base, token: s.reader["TOKEN"]}, !r.over()
		}
	}
	s.reader["TOKEN"] = strings.TrimSpace(s.must(t, "token", "create", "--email", email))
	s.logs = func() string { return s.past + s.processes["w1"].logged.String() + s.processes["w2"].logged.String() }
	s.systemctl = func(t *testing.T, _ string) {
		s.processes["w1"].stop(t)
		s.begin(t, "w1")
	}
	for _, c := range s.troubles() {
		s.strikes(t, c)
	}
	s.judge(t)
}

// begin starts a process, in place of one that has ended, under a limit of files.
func (s *several) begin(t *testing.T, name string) {
	t.Helper()
	words := append([]string{os.Args[0]}, serveArgs(append(s.flags(), "--roles=api", "--rate-limits=off"))...)
	for n, word := range words {
		words[n] = "'" + word + "'"
	}
	if before := s.processes[name]; before != nil {
		s.past += before.logged.String()
	}
	script := fmt.Sprintf("ulimit -n %d; exec %s", limitedTo, strings.Join(words, " "))
	s.processes[name] = start(t, exec.Command("sh", "-euc", script), []string{asVersion + "=" + s.versions[name]}).ready(t)
	s.reader["PROCESS"], s.reader["PID"] = s.processes["w1"].base, strconv.Itoa(s.processes["w1"].pid)
}

func (s *several) troubles() []trouble {
	return []trouble{
		{
			alerts: []string{"MusterFilesRunOut"}, comes: s.connectionsStay, says: []string{"Max open files"},
			goes: func(*testing.T) {
				for _, c := range s.held {
					_ = c.Close()
				}
			},
		},
		{
			alerts: []string{"MusterVersionsDiffer"},
			comes: func(t *testing.T) {
				s.versions["w2"] = "1.1.0"
				s.processes["w2"].stop(t)
				s.begin(t, "w2")
			},
			goes: func(*testing.T) { s.versions["w1"] = "1.1.0" },
		},
		{alerts: []string{"MusterRestarts"}, comes: s.processDies},
	}
}

// connectionsStay opens connections that ask for nothing, at once: the process closes one
// that has asked for nothing for a while.
func (s *several) connectionsStay(t *testing.T) {
	at := strings.TrimPrefix(s.processes["w1"].base, "http://")
	for range int(0.9*limitedTo - s.figure(t, "w1", "process_open_fds")) {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		s.held = append(s.held, c)
		t.Cleanup(func() { _ = c.Close() })
	}
	s.awaits(t, "w1", "process_open_fds", 0.85*limitedTo)
}

// processDies five times, and is started anew each time, a scrape after each start.
func (s *several) processDies(t *testing.T) {
	for range 5 {
		s.processes["w1"].kill(t)
		s.begin(t, "w1")
		s.ill = append(s.ill, s.scrape(t))
	}
}

// stalling is a house on a PostgreSQL of its own, whose commits can be stopped.
type stalling struct {
	*ward
	server *pgtest.Server
}

// TestLongTroubleOfCommits is that of a synchronous standby that is away.
func TestLongTroubleOfCommits(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	needsPromtool(t)
	server, url := pgtest.Stalling(t)
	s := &stalling{ward: newWard(t, installed{url: url, dir: t.TempDir()}), server: server}
	s.house = s.open(t, servingHere, "--collect-own-host=off")
	s.reader["PROCESS"], s.reader["TOKEN"] = s.house.server.base, s.ana.token
	s.watched["a1"] = func() (client, bool) { return s.ana, true }
	s.logs = s.house.server.logged.String
	for _, c := range s.troubles() {
		s.strikes(t, c)
	}
	s.judge(t)
}

func (s *stalling) troubles() []trouble {
	const committed = `muster_check_ok{check="writes"}`
	return []trouble{{
		alerts: []string{"MusterWritesDoNotCommit"}, says: []string{"commits do not return", "SyncRep", "nobody"},
		comes: func(t *testing.T) {
			s.server.Stall(t)
			eventually(t, "the check of writes fails", func() bool { return s.figure(t, "a1", committed) == 0 })
		},
		over: func(t *testing.T) bool { return s.figure(t, "a1", committed) == 1 },
	}}
}

// TestEveryAlertHasItsTrouble: a rule without one was never seen to fire on figures that a
// program shows.
func TestEveryAlertHasItsTrouble(t *testing.T) {
	t.Parallel()
	var troubled []string
	for _, c := range slices.Concat((&fullHouse{}).troubles(), (&apart{}).troubles(), (&several{}).troubles(), (&stalling{}).troubles()) {
		troubled = append(troubled, c.alerts...)
	}
	rules := alertRules(t)
	for name := range rules {
		if !slices.Contains(troubled, name) {
			t.Errorf("nothing brings %s about", name)
		}
	}
	if len(troubled) != len(rules) {
		t.Errorf("%d rules are troubled by %v", len(rules), troubled)
	}
}
