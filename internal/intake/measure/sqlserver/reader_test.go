package sqlserver

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/servers/tdstest"
	"muster/internal/watch"
)

// TestSessionsOfEachDatabase are split without overlap; who waits is counted by what for.
func TestSessionsOfEachDatabase(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.databases = append(f.databases, row{7, "old", 6, 0, false}, row{8, "standby", 0, 0, true}, row{9, "reports", 0, 1, true}, row{10, "[odd]\"name' 😀", 0, 1, false}, row{11, "restoring", 1, 0, false})
	f.replicas = []row{{5, 1}, {8, 0}, {9, 0}}
	f.sessions = []row{
		{5, "active", "", 4}, {5, "idle", "", 20}, {5, "waiting", "LCK_M_X", 2}, {5, "waiting", "PAGEIOLATCH_SH", 1},
		{5, "in transaction", "", 1}, {5, "other", "", 3}, {9, "idle", "", 1}, {10, "waiting", "ASYNC_NETWORK_IO", 1}, {3, "idle", "", 9}, {99, "idle", "", 9},
	}
	f.lockWait = 150_000
	m := f.measure(t)
	b := m.well()
	app := m.sessionsOf(b, "app")
	if app == nil || app.Active != 4 || app.Idle != 20 || app.Waiting != 3 || app.IdleInTransaction != 1 || app.Other != 3 ||
		len(app.Waits) != 2 || app.Waits["LCK_M_X"] != 2 || app.Interval != 30*time.Second {
		t.Errorf("app: %+v", app)
	}
	if crm := m.sessionsOf(b, "crm"); crm == nil || crm.Active+crm.Idle+crm.Waiting+crm.Other > 0 {
		t.Errorf("where nobody is: %+v", crm)
	}
	if odd := m.sessionsOf(b, "[odd]\"name' 😀"); odd == nil || odd.Waits["ASYNC_NETWORK_IO"] != 1 {
		t.Errorf("an odd name: %+v", odd)
	}
	if m.sessionsOf(b, "reports") == nil {
		t.Error("a secondary that can be read has no sample")
	}
	for _, away := range []string{"old", "standby", "restoring"} {
		if _, listed := m.Known[away]; !listed || m.sessionsOf(b, away) != nil {
			t.Errorf("%s: listed %t, %+v", away, listed, m.sessionsOf(b, away))
		}
	}
	if got := m.lacks(); strings.Count(got, "\n") != 0 || !strings.HasPrefix(got, "the secondary replica of standby: --") {
		t.Errorf("it lacks %s", got)
	}
	if len(m.Signs) != 2 || m.Signs[0].Rule != watch.LockWait || m.Signs[0].Value != 2.5 || m.Signs[0].Details.Sessions != 3 || m.Signs[1].Value != 0 {
		t.Errorf("%+v", m.Signs)
	}
}

// TestPermissionsAreTaken in the middle: each costs its own part, and comes back with it.
func TestPermissionsAreTaken(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.counters["app"] = []row{inStore(1, 9, "a", 10, 100, 40, -1800, -1000)}
	f.plans = []row{f.inCache(6, "2", "c", 100, 1000, -600)}
	f.sessions = []row{{5, "active", "", 1}}
	m := f.measure(t)
	m.well()
	more := func(store, cache int) {
		f.counters["app"] = []row{inStore(1, 9, "a", store, float64(10*store), 40, -1800, -1000)}
		f.plans = []row{f.inCache(6, "2", "c", cache, float64(10*cache), -600)}
	}

	more(11, 101)
	f.sees = false // the sessions of others, and the plan cache
	b := m.well()
	if app, crm := m.did(b, "app"), m.did(b, "crm"); app != "a 1 10" || crm != "-" || len(b.Sessions) != 0 {
		t.Errorf("app %q, crm %q, %d samples of sessions", app, crm, len(b.Sessions))
	}
	if got := m.lacks(); got != "sessions, and statements in the plan cache: GRANT VIEW SERVER STATE TO [watcher];" {
		t.Errorf("it lacks %s", got)
	}
	more(13, 103)
	if got := m.did(m.well(), "app"); got != "a 2 20" {
		t.Errorf("the query store, without the server's permission: %s", got)
	}

	f.sees = true
	more(14, 104)
	if b := m.well(); m.did(b, "app") != "a 1 10" || m.did(b, "crm") != "-" {
		t.Errorf("app %q, crm %q", m.did(b, "app"), m.did(b, "crm"))
	}
	more(15, 105)
	b = m.well()
	if app, crm := m.did(b, "app"), m.did(b, "crm"); app != "a 1 10" || crm != "c 1 10" || len(b.Sessions) != 3 || m.lacks() != "" {
		t.Errorf("app %q, crm %q, %d samples of sessions, lacks %s", app, crm, len(b.Sessions), m.lacks())
	}

	// Between the look at the permissions and the reads.
	for _, query := range []string{"sessions", "plan_cache", "replicas", "lock_wait", "transactions", "temporary_space", "counters"} {
		f.fails = map[string]any{query: &tdstest.NoServerState}
		b, err := m.round()
		var refusal *servers.Refusal
		if app := m.did(b, "app"); app != "" || err != nil && !errors.As(err, &refusal) {
			t.Errorf("%s: app %q, %v", query, app, err)
		}
		if crm := m.did(b, "crm"); (crm == "-") != (query == "plan_cache") {
			t.Errorf("%s: crm %q", query, crm)
		}
		if (len(b.Sessions) == 0) != (query == "sessions") {
			t.Errorf("%s: %d samples of sessions", query, len(b.Sessions))
		}
		f.fails = map[string]any{}
		m.well()
		m.well()
	}
}

// TestF16AServerlessDatabaseIsNamed before it is measured, because it does not pause then. Others have nothing to say.
func TestF16AServerlessDatabaseIsNamed(t *testing.T) {
	t.Parallel()
	for objective, want := range map[string]int{"GP_S_Gen5_2": 1, "HS_S_Gen5_4": 1, "GP_Gen5_2": 0, "S0": 0, "ElasticPool": 0, "": 0} {
		f := newFake(t)
		f.Answer(query("objective"), tdstest.Answer{Rows: [][]any{{objective}}})
		f.Answer(query("password"), tdstest.Answer{Rows: [][]any{{nil}}})
		for edition, asked := range map[int]int{azureDatabase: want, 3: 0} {
			f.edition = edition
			r, line := newReader(time.Now), f.line(t)
			if _, err := r.Activity(t.Context(), line); err != nil {
				t.Fatal(err)
			}
			if notes, err := r.Notes(t.Context(), line); err != nil || len(notes) != asked {
				t.Errorf("%s of edition %d: %q, %v", objective, edition, notes, err)
			}
			if pauses, err := r.Pauses(t.Context(), line); err != nil || pauses != (asked > 0) {
				t.Errorf("%s of edition %d pauses: %t, %v", objective, edition, pauses, err)
			}
		}
	}
}

// TestAPasswordThatExpiresSoon is told before it keeps Muster out, and one that lives forever is not.
func TestAPasswordThatExpiresSoon(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for days, want := range map[any]string{
		int64(3): "The password of Muster's account expires in 3 days. Set another one on the server and in its connection string.",
		int64(1): "in 1 day.", int64(0): "expires today.", int64(14): "in 14 days.", int64(15): "", int64(-1): "", nil: "",
	} {
		f.Answer(query("password"), tdstest.Answer{Rows: [][]any{{days}}})
		r, line := newReader(time.Now), f.line(t)
		if _, err := r.Activity(t.Context(), line); err != nil {
			t.Fatal(err)
		}
		notes, err := r.Notes(t.Context(), line)
		if got := strings.Join(notes, ""); err != nil || !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%v days: %q, %v", days, got, err)
		}
	}
}

// TestARefusedViewOfSessionsIsReadAgain: the server refuses the view because another session reads it, which is
// a fault of its. The rows of the first answer are not counted.
func TestARefusedViewOfSessionsIsReadAgain(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.sessions = []row{{5, "active", "", 4}}
	asked, refusals := 0, 1
	f.fails["sessions"] = func() *tdstest.Error {
		if asked++; asked > refusals {
			return nil
		}
		return &tdstest.Error{Number: 976, State: 1, Class: 14, Text: "The target database is participating in an availability group and is currently not accessible for queries."}
	}
	m := f.measure(t)
	if app := m.sessionsOf(m.well(), "app"); app == nil || app.Active != 4 || asked != 2 {
		t.Errorf("asked %d times: %+v", asked, app)
	}
	asked, refusals = 0, 9
	b, err := m.round()
	var refusal *servers.Refusal
	if !errors.As(err, &refusal) || refusal.Code != "error 976" || asked != 2 || m.sessionsOf(b, "app") != nil {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

// TestADatabaseDisappearsDuringARound: the others do not notice.
func TestADatabaseDisappearsDuringARound(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.databases = append(f.databases, row{7, "erp", 0, 1, true})
	f.stores["erp"] = row{2, 1}
	m := f.measure(t)
	m.well()
	f.fails["query_store_state app"] = &tdstest.Offline // since the list was read
	f.counters["erp"] = []row{inStore(1, 9, "a", 1, 10, 10, -1800, 10)}
	b, err := m.round()
	var refusal *servers.Refusal
	if !errors.As(err, &refusal) || refusal.Code != "error 942" {
		t.Errorf("it says %v", err)
	}
	if erp, app := m.did(b, "erp"), m.did(b, "app"); erp != "a 1 10 max 10" || app != "-" {
		t.Errorf("erp %q, app %q", erp, app)
	}
	f.databases[1] = row{5, "app", 6, 0, true}
	f.fails = map[string]any{}
	if b := m.well(); m.sessionsOf(b, "app") != nil || m.did(b, "app") != "-" || m.did(b, "erp") != "" {
		t.Errorf("offline: %+v", b)
	}
}

func TestALockedListOfDatabasesKeepsTheEarlierOne(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.fails["databases"] = &tdstest.LockTimeout
	m := f.measure(t)
	if _, err := m.round(); err == nil {
		t.Error("there is no list yet, and nobody says so")
	}
	f.fails = map[string]any{}
	m.well()
	f.fails["databases"] = &tdstest.LockTimeout
	if b := m.well(); len(b.Sessions) != 3 {
		t.Errorf("%d samples", len(b.Sessions))
	}
}

// TestAServerThatFailsInTheMiddle of any answer: what was read before is stored, and what is read over the other
// connection. The next look succeeds.
func TestAServerThatFailsInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"server", "databases", "replicas", "sessions", "lock_wait", "transactions", "temporary_space", "counters", "replication", "backups", "clocks", "query_store_state", "query_store", "plan_cache"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.sessions = []row{{5, "idle", "", 1}}
			f.replicas = []row{{5, 1}}
			f.counters["app"] = []row{inStore(1, 9, "a", 1, 10, 10, -1800, -10)}
			f.plans = []row{f.inCache(6, "2", "c", 1, 10, -600)}
			m := f.measure(t)
			m.well()
			f.fails[name] = tdstest.Cut
			b, err := m.round()
			if goesOn := slices.Contains([]string{"lock_wait", "transactions", "temporary_space", "counters", "replication", "backups"}, name); err == nil || goesOn != (len(b.Statements) > 0) {
				t.Errorf("it says %v, %+v", err, b.Statements)
			}
			f.fails = map[string]any{}
			f.counters["app"] = []row{inStore(1, 9, "a", 2, 20, 10, -1800, -10)}
			b = m.well()
			if got := m.did(b, "app"); got != "a 1 10" || m.sessionsOf(b, "app").Idle != 1 {
				t.Errorf("then %s", got)
			}
		})
	}
}

// TestTheLoginIsRefused since the last look: the class says why, and measuring continues where
// it was.
func TestTheLoginIsRefused(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.plans = []row{f.inCache(6, "2", "c", 1, 10, -600)}
	m := f.measure(t)
	m.well()
	for _, refused := range []*tdstest.Error{&tdstest.LoginFailed, &tdstest.PasswordExpired, &tdstest.LoginLocked} {
		f.Refuse = refused
		f.CutAll()
		_, err := m.round() // on the connection that is gone
		if err == nil {
			t.Error("nobody says that the connection is gone")
		}
		var failed *servers.ConnectionError
		if _, err := m.round(); !errors.As(err, &failed) || failed.Class != servers.ClassAuthentication {
			t.Errorf("%d: %v", refused.Number, err)
		}
	}
	f.Refuse = nil
	f.plans = []row{f.inCache(6, "2", "c", 4, 40, -600)}
	if got := m.did(m.well(), "crm"); got != "c 3 30" {
		t.Errorf("then %s", got)
	}
}

// TestInvalidAnswersAreErrors, to each query, and no samples.
func TestInvalidAnswersAreErrors(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fake){
		"server":      func(f *fake) { f.Answer(query("server"), tdstest.Answer{Rows: []row{{"x", 15, 1, 1, "a", "b", 0}}}) },
		"no server":   func(f *fake) { f.Answer(query("server"), tdstest.Answer{}) },
		"databases":   func(f *fake) { f.databases[0] = row{-1, "master", 0, 1, false} },
		"sessions":    func(f *fake) { f.sessions = []row{{5, "idle", "", "many"}} },
		"lock wait":   func(f *fake) { f.Answer(query("lock_wait"), tdstest.Answer{Rows: []row{{0, 1, "long"}}}) },
		"transaction": func(f *fake) { f.transactions = []row{{51, 5, "long", nil, "a", "b", "c", nil, "cpu"}} },
		"tempdb":      func(f *fake) { f.Answer(query("temporary_space"), tdstest.Answer{Rows: []row{{"much"}}}) },
		"counter":     func(f *fake) { f.counted = []row{{"logins/sec", "many"}} },
		"replication": func(f *fake) { f.replication = []row{replicaRow("PRIMARY", 1).with(9, "many")} },
		"clocks":      func(f *fake) { f.Answer(query("clocks"), tdstest.Answer{Rows: []row{{"noon", 0, 0}}}) },
		"query store": func(f *fake) { f.counters["app"] = []row{{1, 9, "hash", 1, 1, 1, 1, 1}} },
		"plan cache":  func(f *fake) { f.plans = []row{{6, "12", "a", 1, 1, 1, nil}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			change(f)
			m := f.measure(t)
			if _, err := m.round(); name != "no server" && !errors.Is(err, measure.ErrNonsense) || err == nil {
				t.Errorf("got %v", err)
			}
		})
	}
	f := newFake(t)
	f.edition = azureSynapse
	if _, err := f.measure(t).round(); !errors.Is(err, ErrAnotherEngine) {
		t.Errorf("Synapse: %v", err)
	}
}

// TestMissingRightsOfALogin are named with the grant that gives them, on each kind of server.
func TestMissingRightsOfALogin(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*fake)
		want   []string
	}{
		"nothing": {func(*fake) {}, nil},
		"2019":    {func(f *fake) { f.sees = false }, []string{"GRANT VIEW SERVER STATE TO [watcher];"}},
		"2022":    {func(f *fake) { f.sees, f.version = false, 16 }, []string{"GRANT VIEW SERVER PERFORMANCE STATE TO [watcher];"}},
		"managed": {func(f *fake) { f.sees, f.version, f.edition = false, 12, azureManaged }, []string{"GRANT VIEW SERVER PERFORMANCE STATE TO [watcher];"}},
		"Azure":   {func(f *fake) { f.sees, f.seesHere, f.version, f.edition = false, false, 12, azureDatabase }, []string{"GRANT VIEW DATABASE STATE TO [dbo];"}},
		"shut out": {
			func(f *fake) { f.databases[1], f.databases[2] = row{5, "app", 0, 0, true}, row{6, "crm", 0, 0, true} },
			[]string{"the query store of app, crm: GRANT CONNECT ANY DATABASE TO [watcher];"},
		},
		"denied there": {func(f *fake) { f.fails["query_store_state app"] = &tdstest.NoDatabaseState }, []string{"the query store of app: -- VIEW DATABASE STATE is denied"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			test.change(f)
			m := f.measure(t)
			m.well()
			got := m.lacks()
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("it lacks %s, want %s", got, want)
				}
			}
			if len(m.Lacking) != len(test.want) {
				t.Errorf("it lacks %s", got)
			}
		})
	}
	if got := some("the query store of", []string{"a", "b", "c", "d", "e"}); got != "the query store of a, b, c and 2 more databases" {
		t.Error(got)
	}
}

// TestAzure: a connection is to one database, and the permissions are that database's.
func TestAzure(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.edition, f.version, f.sees, f.offset, f.replicaGroups = azureDatabase, 12, false, 0, true
	f.sessions = []row{{5, "idle", "", 2}, {6, "idle", "", 9}}
	m := f.measure(t)
	b := m.well()
	if len(m.Known) != 1 || len(b.Sessions) != 1 || b.Sessions[0].Idle != 2 {
		t.Errorf("%v, %+v", m.Known, b.Sessions)
	}
	f.counters["app"] = []row{inStore(1, 9, "a", 1, 10, 10, -1800, 10)}
	if got := m.did(m.well(), "app"); got != "a 1 10 max 10" || m.lacks() != "" {
		t.Errorf("%s, lacks %s", got, m.lacks())
	}
	var replicas bool
	for _, q := range f.Queries() {
		replicas = replicas || strings.Contains(q.Text, "replica_group_id IN (1)")
		if strings.Contains(q.Text, "dm_hadr") {
			t.Errorf("asked %s", tdstest.FirstLine(q.Text))
		}
	}
	if !replicas {
		t.Error("what secondary replicas did is counted, too")
	}
}

// TestGrants: the script of a version grants what that version knows, and nothing beside.
func TestGrants(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ version, has, lacks string }{
		{"2016", "VIEW SERVER STATE", "PERFORMANCE"}, {"15.0.4405.4", "VIEW SERVER STATE", "PERFORMANCE"},
		{"2022", "VIEW SERVER PERFORMANCE STATE", "VIEW SERVER STATE"}, {"17", "VIEW SERVER PERFORMANCE STATE", "VIEW SERVER STATE"},
		{"azure", "VIEW DATABASE STATE", "CREATE LOGIN"}, {"rds", "CREATE USER [muster] FOR LOGIN [muster]", "CONNECT ANY"}, {"", "##MS_ServerStateReader##", "CONTROL"},
	} {
		script, ok := Grants(test.version)
		if !ok || !strings.Contains(script, test.has) || strings.Contains(script, test.lacks) || strings.Contains(script, "sysadmin ADD") {
			t.Errorf("%q: %t, %s", test.version, ok, script)
		}
	}
	for _, version := range []string{"2014", "12", "newest", "2016; DROP"} {
		if _, ok := Grants(version); ok {
			t.Errorf("there are grants for %q", version)
		}
	}
}

// TestOriginsOfSessions: sessions keep their login, program, host and statement, and their counts agree with
// these.
func TestOriginsOfSessions(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.sessions = []row{
		{5, "active", "", 2, "shop", "checkout", "web-01", "0A1B2C3D4E5F6071"}, {5, "waiting", "LCK_M_X", 3, "bill", "billing", "web-02", "0000000000000000"},
		{5, "idle", "", 9, "shop", "checkout", "web-01", nil}, {5, "in transaction", "", 1, "bill", "billing", "web-02", nil},
	}
	m := f.measure(t)
	app := m.sessionsOf(m.well(), "app")
	want := []measurements.Doing{
		{State: measurements.OnCPU, Statement: "0a1b2c3d4e5f6071", User: "shop", Application: "checkout", Client: "web-01", Sessions: 2},
		{State: measurements.Waits, Wait: "LCK_M_X", Event: "LCK_M_X", User: "bill", Application: "billing", Client: "web-02", Sessions: 3},
	}
	if app == nil || !slices.Equal(app.Doing, want) || app.Active != 2 || app.Waiting != 3 || app.Idle != 9 || app.IdleInTransaction != 1 {
		t.Errorf("app: %+v", app)
	}
}
