package oracle

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/measurements/waitclass"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
)

const null = serverstest.Null

// TestSessionsByContainer: the splits are disjoint, and idle sessions wait for their client
// in class Idle (readings 20 to 23).
func TestSessionsByContainer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.on(sessionsQuery,
		[]string{"3", "waiting", "User I/O", "3"}, []string{"3", "waiting", "Concurrency", "2"}, []string{"3", "waiting", "Idle", "1"},
		[]string{"3", "active", null, "4"}, []string{"3", "idle", "Idle", "20"}, []string{"3", "in transaction", "Idle", "5"}, []string{"3", "other", null, "1"},
		[]string{"1", "active", null, "1"}, []string{"99", "active", null, "7"})
	b := s.pass(0)
	erp := s.sampled(b, "ERP")
	if erp == nil || erp.Active != 4 || erp.Waiting != 6 || erp.Idle != 20 || erp.IdleInTransaction != 5 || erp.Other != 1 || erp.Engine != fleet.Oracle {
		t.Fatalf("sampled %+v", erp)
	}
	if want := map[string]int64{"User I/O": 3, "Concurrency": 2, "Idle": 26}; !maps.Equal(erp.Waits, want) {
		t.Errorf("waits %v, want %v", erp.Waits, want)
	}
	if a := s.sampled(b, "Łódź \"2\" 😀"); a == nil || a.Active+a.Waiting+a.Idle+a.Other > 0 || a.Waits != nil {
		t.Errorf("nobody is on it: %+v", a)
	}
	if a := s.sampled(b, "CDB$ROOT"); a == nil || a.Active != 1 {
		t.Errorf("the root: %+v", a)
	}
	if names := slices.Sorted(maps.Keys(s.home.Known)); !slices.Equal(names, []string{"CDB$ROOT", "ERP", "Łódź \"2\" 😀"}) {
		t.Errorf("databases %q", names)
	}
	for class, want := range map[string]int{
		"Concurrency": waitclass.Locks, "Application": waitclass.Locks, "Configuration": waitclass.LightweightLocks,
		"User I/O": waitclass.IO, "System I/O": waitclass.IO, "Network": waitclass.ClientNetwork, "Idle": waitclass.Other, "Commit": waitclass.Other,
	} {
		if got, _ := measurements.Classify(fleet.Oracle, class); got != want {
			t.Errorf("%s is of %v, want %v", class, got, want)
		}
	}
}

// TestOurSessionsAreKnownByProgramAndModule: the query leaves out those that our connections
// make, and no others of the account.
func TestOurSessionsAreKnownByProgramAndModule(t *testing.T) {
	t.Parallel()
	for _, query := range []string{sessionsQuery, clusterSessionsQuery} {
		for _, part := range []string{"NVL(program, '-') <> '@application@'", "NVL(module, '-') <> '@application@'", "SYS_CONTEXT('USERENV', 'SESSION_USER')", "type = 'USER'", "ownerid = 2147483644"} {
			if !strings.Contains(query, part) {
				t.Errorf("no %s in %s", part, query)
			}
		}
	}
}

// TestADatabaseWithoutContainers has its own name, and a pluggable database is all there is
// from within.
func TestADatabaseWithoutContainers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ container, multi string }{"none": {"0", ""}, "from within": {"3", "ORCL"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.self(test.container, "ERP", test.multi, "MUSTER")
			s.on(containersQuery, []string{test.container, "ERP", "READ WRITE"})
			s.on(sessionsQuery, []string{test.container, "active", null, "2"})
			if a := s.sampled(s.pass(0), "ERP"); a == nil || a.Active != 2 || len(s.home.Known) != 1 || s.lacking() != "" {
				t.Errorf("sampled %+v of %v, lacking %q", a, s.home.Known, s.lacking())
			}
			// Without the grant the name is known all the same.
			s.deny(containersQuery)
			if a := s.sampled(s.pass(20*time.Second), "ERP"); a == nil || len(s.home.Known) != 1 ||
				s.lacking() != `V$CONTAINERS: GRANT SELECT ON SYS.V_$CONTAINERS TO "MUSTER";` {
				t.Errorf("sampled %+v of %v, lacking %q", a, s.home.Known, s.lacking())
			}
		})
	}
}

// TestARootThatSeesNoContainer says which statement opens its eyes, and lists no database:
// the others would be taken for gone.
func TestARootThatSeesNoContainer(t *testing.T) {
	t.Parallel()
	blind := []string{"1", "CDB$ROOT", "READ WRITE"}
	s := newScene(t)
	s.on(containersQuery, blind)
	err := s.server.Round(t.Context())
	if !errors.Is(err, errBlind) || s.home.Known != nil {
		t.Fatalf("databases %v, %v", s.home.Known, err)
	}
	if want := `the pluggable databases: ALTER USER "C##MUSTER" SET CONTAINER_DATA = ALL CONTAINER = CURRENT;`; s.lacking() != want {
		t.Errorf("lacking %q, want %q", s.lacking(), want)
	}
	s.deny(containersQuery)
	if err := s.server.Round(t.Context()); servers.ReasonOf(err) != servers.Denied || s.home.Known != nil || !strings.Contains(s.lacking(), "V_$CONTAINERS") {
		t.Fatalf("databases %v, lacking %q, %v", s.home.Known, s.lacking(), err)
	}
	// Granted, and taken away again: the databases stay.
	s.on(containersQuery, blind, []string{"2", "PDB$SEED", "READ ONLY"}, []string{"3", "ERP", "READ WRITE"})
	s.pass(20 * time.Second)
	for _, away := range []func(){func() { s.on(containersQuery, blind) }, func() { s.deny(containersQuery) }} {
		away()
		if b := s.pass(20 * time.Second); s.sampled(b, "ERP") == nil || len(s.home.Known) != 2 || s.lacking() == "" {
			t.Errorf("databases %v, lacking %q", s.home.Known, s.lacking())
		}
	}
}

// TestEachPartFailsAlone: a right that is revoked in between costs its part, and is named with
// the statement that grants it; a part that fails for another reason is missing, and an error.
func TestEachPartFailsAlone(t *testing.T) {
	t.Parallel()
	grant := func(view string) string {
		return view + `: GRANT SELECT ON SYS.` + strings.Replace(view, "V$", "V_$", 1) + ` TO "C##MUSTER";`
	}
	for name, test := range map[string]struct {
		query                        string
		lacking                      string
		sessions, statements, signed bool
		busy, counts                 bool
	}{
		"nothing":        {"", "", true, true, true, true, true},
		"sessions":       {sessionsQuery, grant("V$SESSION"), false, true, false, true, true},
		"statements":     {statementsQuery, grant("V$SQLSTATS_PLAN_HASH"), true, false, true, false, false},
		"new statements": {birthsQuery, grant("V$SQL"), true, true, true, true, false},
		"time":           {dbTimeQuery, grant("V$CON_SYS_TIME_MODEL"), true, true, true, false, true},
		"deadlocks":      {deadlocksQuery, grant("V$CON_SYSSTAT"), true, true, true, true, true},
		"containers":     {containersQuery, grant("V$CONTAINERS"), true, true, true, true, true},
		"instances":      {instanceQuery, grant("V$INSTANCE"), true, false, true, false, false},
	} {
		for kind, number := range map[string]int{"denied": 942, "failed": 1555, "timed out": 1013} {
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				s.on(dbTimeQuery, []string{"3", "1000"})
				s.statements(entry(3, queryB, 5, 1, 1, 1))
				s.pass(0)
				s.statements(entry(3, queryB, 5, 1, 1, 1), entry(3, queryA, 5, 1, 3, 6))
				s.births(born(3, queryA, 1, s.local(began.Add(10*time.Second))))
				if test.query != "" {
					query := strings.ReplaceAll(test.query, "@application@", servers.ApplicationName)
					s.session.Fail(query, &servers.Refusal{Engine: fleet.Oracle, Code: kind, Reason: map[int]servers.Reason{942: servers.Denied, 1555: servers.Failed, 1013: servers.TimedOut}[number]})
				}
				s.home.Batches, s.home.Signs = nil, nil
				s.clock.Advance(time.Minute)
				s.now()
				err := s.server.Round(t.Context())
				denied := kind == "denied" || test.query == ""
				if (err != nil) != !denied {
					t.Fatalf("got %v", err)
				}
				if name == "containers" && !denied {
					if told := s.home.Batches[0]; told.Len() > 0 || told.Reached[0].Up || len(s.home.Known) != 3 {
						t.Errorf("databases %v", s.home.Known)
					}
					return
				}
				if len(s.home.Batches) != 1 {
					t.Fatalf("%d batches", len(s.home.Batches))
				}
				b := s.home.Batches[0]
				got := s.counted(b, "ERP")
				alone := name == "instances" && denied // there may be others, whose sessions these are not
				if (s.sampled(b, "ERP") != nil) != (test.sessions && !alone) || (got != nil) != test.statements || (len(got) > 0) != test.counts ||
					denied && (len(s.home.Signs) > 0) != (test.signed && !alone) {
					t.Errorf("sessions %v, statements %v, signs %v", s.sampled(b, "ERP"), got, s.home.Signs)
				}
				for _, sample := range b.Statements {
					if sample.Database == s.home.Known["ERP"] && (sample.BusyMs != nil) != test.busy {
						t.Errorf("busy %v", sample.BusyMs)
					}
				}
				want := ""
				if denied {
					want = test.lacking
				}
				if s.lacking() != want {
					t.Errorf("lacking %q, want %q", s.lacking(), want)
				}
			})
		}
	}
}

// TestAPasswordThatExpiresSoon is told before it keeps Muster out.
func TestAPasswordThatExpiresSoon(t *testing.T) {
	t.Parallel()
	for days, want := range map[string]int{"3": 1, "0": 1, "90": 0, "": 0} {
		session := serverstest.New("orders")
		session.On(passwordQuery, []string{days})
		notes, err := (&reader{}).Notes(t.Context(), measure.NewLine(session, nil))
		if err != nil || len(notes) != want || want == 1 && !strings.Contains(notes[0], "expires") {
			t.Errorf("%q days: %q, %v", days, notes, err)
		}
	}
}

// TestF28ExistingGrantsAreNotRequestedAgain: if a view is granted and does not exist for us, the driver and the
// server do not understand each other, and that is reported. A grant that was revoked since is requested.
func TestF28ExistingGrantsAreNotRequestedAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.pass(0)
	for _, query := range []string{sessionsQuery, statementsQuery, instanceQuery, containersQuery} {
		s.deny(strings.ReplaceAll(query, "@application@", servers.ApplicationName))
	}
	s.on(grantedQuery, []string{"V_$SESSION"}, []string{"V_$SQLSTATS_PLAN_HASH"}, []string{"V_$INSTANCE"}, []string{"V_$CONTAINERS"})
	look := func() error {
		s.clock.Advance(20 * time.Second)
		s.now()
		return s.server.Round(t.Context())
	}
	_ = look() // and learns what is granted before the next
	for range 2 {
		err := look()
		refusal, ok := errors.AsType[*servers.Refusal](err)
		if !ok || refusal.Code != "ORA-00942" || refusal.Reason != servers.Failed || s.lacking() != "" {
			t.Fatalf("%v, lacking %q", err, s.lacking())
		}
	}
	last := s.home.Batches[len(s.home.Batches)-1].Reached
	if i := slices.IndexFunc(last, func(r measurements.Reached) bool {
		return strings.Contains(r.Sentence, "Bad TTC Packet") && r.Code == "ORA-00942"
	}); i < 0 {
		t.Errorf("%+v", last)
	}
	s.on(grantedQuery, []string{"V_$INSTANCE"})
	s.instance("NO")
	for range 3 {
		_ = look()
	}
	if got := s.lacking(); !strings.Contains(got, "V_$CONTAINERS") || strings.Contains(got, "V_$INSTANCE") {
		t.Errorf("after they were taken from us: %q", got)
	}
}

// TestAClusterWithoutItsGrants is not sampled: one instance is not all.
func TestAClusterWithoutItsGrants(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.instance("YES")
	s.deny(instancesQuery)
	if b := s.pass(0); s.sampled(b, "ERP") != nil || b.Statements != nil || len(s.home.Signs) > 0 {
		t.Errorf("sampled %v", b)
	}
	if want := `GV$INSTANCE: GRANT SELECT ON SYS.GV_$INSTANCE TO "C##MUSTER";`; s.lacking() != want {
		t.Errorf("lacking %q, want %q", s.lacking(), want)
	}
}

// TestTexts are normalized, asked for by the statements' ids, and one for all that differ in
// a literal.
func TestTexts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.home.Texts = true
	s.statements(entry(3, queryA, 5, 1, 1, 1), entry(3, queryB, 5, 1, 1, 1), entry(4, block, 0, 0, 1, 1))
	s.pass(0)
	s.statements(entry(3, queryA, 5, 1, 2, 2), entry(3, queryB, 5, 1, 2, 2), entry(4, block, 0, 0, 2, 2))
	s.on(textsQuery, []string{queryA, "select * from cards where n = '4111 1111'"}, []string{queryB, "select * from cards where n = '4111 1112'"},
		[]string{block, "begin pay(q'[4111]', 12); end;"})
	texts := make(map[string]string)
	for _, sample := range s.pass(20 * time.Second).Statements {
		for _, one := range sample.Statements {
			texts[one.Key] = one.Text
		}
	}
	if len(texts) != 2 || texts["5/1"] == "" || !strings.Contains(texts["5/1"], "cards") {
		t.Errorf("texts %q", texts)
	}
	for _, text := range texts {
		if strings.Contains(text, "4111") || strings.Contains(text, "12") {
			t.Errorf("a text with its literals: %s", text)
		}
	}
}

// TestALongListOfTexts is asked for in parts, for a list in a query has its limits.
func TestALongListOfTexts(t *testing.T) {
	t.Parallel()
	var ids []string
	for n := range 1201 {
		ids = append(ids, sqlID(uint64(n)), sqlID(uint64(n)))
	}
	parts := naming(2, textsQuery, ids)
	if len(parts) != 3 {
		t.Fatalf("%d queries", len(parts))
	}
	for i, want := range []int{500, 500, 201} {
		if got := len(parts[i].List); got != want {
			t.Errorf("query %d names %d", i, got)
		}
	}
}

// TestOriginsOfSessions: sessions keep their user, program and machine, and the statement that the list names
// by their SQL_ID, unless it has several plans.
func TestOriginsOfSessions(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.statements(entry(3, queryA, 5, 1, 10, 10), entry(3, queryB, 5, 1, 10, 10), entry(3, queryB, 5, 2, 10, 10))
	s.on(sessionsQuery,
		[]string{"3", "active", null, "1", null, "ERP", "erp.exe", "app01", queryA}, []string{"3", "waiting", "User I/O", "2", "db file sequential read", "ERP", "erp.exe", "app01", queryB},
		[]string{"3", "idle", "Idle", "5", "SQL*Net message from client", "HR", "hr.exe", "app02", null})
	s.pass(0)
	erp := s.sampled(s.pass(20*time.Second), "ERP")
	want := []measurements.Doing{
		{State: measurements.OnCPU, Statement: "5/1", User: "ERP", Application: "erp.exe", Client: "app01", Sessions: 1},
		{State: measurements.Waits, Wait: "User I/O", Event: "db file sequential read", User: "ERP", Application: "erp.exe", Client: "app01", Sessions: 2},
		{State: measurements.Idle, Wait: "Idle", Event: "SQL*Net message from client", User: "HR", Application: "hr.exe", Client: "app02", Sessions: 5},
	}
	if erp == nil || !slices.Equal(erp.Doing, want) {
		t.Errorf("ERP: %+v, want %+v", erp, want)
	}
}
