package oracle

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/servers"
	"muster/internal/watch"
)

const (
	queryA = "7h35uxf5uhmm1"
	queryB = "0w2qpuc6u2zsp"
	queryC = "h000000000000" // no number of 64 bits has a greater first digit than g
	block  = "gzzzzzzzzzzzz"
)

func entry(container int, id string, signature, plan any, calls, ms int) []string {
	return []string{"0", fmt.Sprint(container), id, fmt.Sprint(signature), fmt.Sprint(plan), fmt.Sprint(calls), fmt.Sprint(ms * 1000)}
}

func born(container int, id string, plan any, at string) []string {
	return []string{"0", fmt.Sprint(container), id, fmt.Sprint(plan), at}
}

func same(t *testing.T, got map[string]string, want ...string) {
	t.Helper()
	expected := make(map[string]string)
	for i := 0; i < len(want); i += 2 {
		expected[want[i]] = want[i+1]
	}
	if got == nil || !maps.Equal(got, expected) {
		t.Errorf("counted %v, want %v", got, expected)
	}
}

// TestDeltasByPlan: the executions of a plan count for that plan, and statements that differ in
// a literal are one.
func TestDeltasByPlan(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.statements(entry(3, queryA, "18446744073709551615", 11, 100, 1000), entry(3, queryB, "18446744073709551615", 11, 7, 70),
		entry(3, block, 0, 0, 1, 5), entry(4, queryA, "18446744073709551615", 11, 50, 50))
	s.pass(0) // a basis
	s.statements(entry(3, queryA, "18446744073709551615", 11, 104, 1020), entry(3, queryA, "18446744073709551615", 22, 3, 9),
		entry(3, queryB, "18446744073709551615", 11, 9, 80), entry(3, block, 0, 0, 2, 11), entry(4, queryA, "18446744073709551615", 11, 50, 50))
	s.births(born(3, queryA, 22, s.local(s.clock.Now().Add(15*time.Second))))
	b := s.pass(20 * time.Second)
	same(t, s.counted(b, "ERP"), "18446744073709551615/11", "6×30", "18446744073709551615/22", "3×9", block+"/0", "1×6")
	same(t, s.counted(b, "Łódź \"2\" 😀"))
	same(t, s.counted(b, "CDB$ROOT"))
	if b.Statements[0].Interval != 20*time.Second {
		t.Errorf("an interval of %s", b.Statements[0].Interval)
	}
	if got := s.counted(s.pass(20*time.Second), "ERP"); len(got) > 0 {
		t.Errorf("counted again: %v", got)
	}
	looks := 0
	for range 12 { // every ten seconds at the sessions, every other one at the statements
		if b := s.pass(10 * time.Second); b.Statements != nil {
			looks++
		}
	}
	if looks != 6 {
		t.Errorf("%d looks at the statements in two minutes", looks)
	}
}

// TestANewEntryCountsOnlyIfItsLoadTimeIsCertain: of entries that the last list did not have, only those count
// that the server shows to be loaded since. The rest is a basis.
func TestANewEntryCountsOnlyIfItsLoadTimeIsCertain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		born   func(s *scene) []string
		counts bool
	}{
		"loaded since":                      {func(s *scene) []string { return born(3, queryA, 1, s.local(began.Add(10*time.Second))) }, true},
		"in the second of the last look":    {func(s *scene) []string { return born(3, queryA, 1, s.local(began)) }, true},
		"a second before":                   {func(s *scene) []string { return born(3, queryA, 1, s.local(began.Add(-time.Second))) }, false},
		"long before, evicted and back":     {func(s *scene) []string { return born(3, queryA, 1, s.local(began.Add(-time.Hour))) }, false},
		"aged out of the cursors":           {func(*scene) []string { return nil }, false},
		"another plan's cursor":             {func(s *scene) []string { return born(3, queryA, 2, s.local(began.Add(10*time.Second))) }, false},
		"the other database's cursor":       {func(s *scene) []string { return born(4, queryA, 1, s.local(began.Add(10*time.Second))) }, false},
		"without a time":                    {func(*scene) []string { return born(3, queryA, 1, "\x00NULL") }, false},
		"of tomorrow":                       {func(s *scene) []string { return born(3, queryA, 1, s.local(began.Add(24*time.Hour))) }, false},
		"the zone of a database of its own": {func(s *scene) []string { return born(3, queryA, 1, s.local(began.Add(10*time.Second-time.Hour))) }, false},
		"likewise, to the east":             {func(s *scene) []string { return born(3, queryA, 1, s.local(began.Add(10*time.Second+time.Hour))) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.ahead, s.skew = 330, -10*time.Minute
			s.statements(entry(3, queryB, 5, 1, 10, 10))
			s.pass(0)
			s.statements(entry(3, queryB, 5, 1, 10, 10), entry(3, queryA, 5, 1, 1000, 2000))
			if row := test.born(s); row != nil {
				s.births(row)
			}
			b := s.pass(20 * time.Second)
			if test.counts {
				same(t, s.counted(b, "ERP"), "5/1", "1000×2000")
			} else {
				same(t, s.counted(b, "ERP"))
			}
			s.births() // they are not asked for again
			s.statements(entry(3, queryB, 5, 1, 11, 12), entry(3, queryA, 5, 1, 1001, 2003))
			same(t, s.counted(s.pass(20*time.Second), "ERP"), "5/1", "2×5")
		})
	}
}

// TestAnotherProcessContinuesFromTheStoredList: the same rule applies to new entries on its first list, and
// marked entries stay marked.
func TestAnotherProcessContinuesFromTheStoredList(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.statements(entry(3, queryB, 5, 1, 10, 10))
	s.pass(0)
	s.statements(entry(3, queryB, 5, 1, 10, 10), entry(3, queryA, 6, 1, 1000, 1000))
	same(t, s.counted(s.pass(20*time.Second), "ERP"))
	s.restart()
	s.statements(entry(3, queryB, 5, 1, 11, 12), entry(3, queryA, 6, 1, 1002, 1003), entry(3, block, 0, 1, 500, 500), entry(3, block, 0, 2, 7, 9))
	s.births(born(3, block, 2, s.local(s.clock.Now().Add(time.Second))))
	same(t, s.counted(s.pass(20*time.Second), "ERP"), "5/1", "1×2", "6/1", "2×3", block+"/2", "7×9")
}

// TestCountersThatFall are dropped, and an entry that is evicted and comes back larger is a
// basis.
func TestCountersThatFall(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.statements(entry(3, queryA, 5, 1, 100, 100), entry(3, queryB, 6, 1, 100, 100))
	s.pass(0)
	s.statements(entry(3, queryA, 5, 1, 40, 40))
	same(t, s.counted(s.pass(20*time.Second), "ERP"))
	s.statements(entry(3, queryA, 5, 1, 42, 45), entry(3, queryB, 6, 1, 150, 150))
	same(t, s.counted(s.pass(20*time.Second), "ERP"), "5/1", "2×5")
	s.statements(entry(3, queryA, 5, 1, 42, 45), entry(3, queryB, 6, 1, 151, 153))
	same(t, s.counted(s.pass(20*time.Second), "ERP"), "6/1", "1×3")
}

// TestARestart: the counters begin anew, larger perhaps than they were, and what was loaded
// since counts whole.
func TestARestart(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.statements(entry(3, queryA, 5, 1, 100, 100))
	s.on(dbTimeQuery, []string{"3", "5000000"})
	s.pass(0)
	s.session.Close(t.Context())
	s.started = "2026-11-23 10:00:05"
	s.instance("NO")
	s.statements(entry(3, queryA, 5, 1, 130, 260))
	s.births(born(3, queryA, 1, s.local(began.Add(7*time.Second))))
	s.on(dbTimeQuery, []string{"3", "6000000"})
	b := s.pass(20 * time.Second)
	same(t, s.counted(b, "ERP"), "5/1", "130×260")
	for _, sample := range b.Statements {
		if sample.BusyMs != nil {
			t.Errorf("busy for %g ms over a restart", *sample.BusyMs)
		}
	}
	s.on(dbTimeQuery, []string{"3", "6250000"})
	b = s.pass(20 * time.Second)
	for _, sample := range b.Statements {
		if erp := sample.Database == s.home.Known["ERP"]; erp && (sample.BusyMs == nil || *sample.BusyMs != 250) {
			t.Errorf("busy for %v, want 250 ms", sample.BusyMs)
		}
	}
}

// TestASwitchover: the address leads to the standby, which has counters of its own.
func TestASwitchover(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.statements(entry(3, queryA, 5, 1, 100, 100))
	s.pass(0)
	s.session.Close(t.Context())
	s.started = "2026-10-01 00:00:00"
	s.instance("NO")
	s.statements(entry(3, queryA, 5, 1, 9000, 9000))
	s.births(born(3, queryA, 1, s.local(began.Add(-24*time.Hour))))
	same(t, s.counted(s.pass(20*time.Second), "ERP"))
	s.statements(entry(3, queryA, 5, 1, 9001, 9009))
	same(t, s.counted(s.pass(20*time.Second), "ERP"), "5/1", "1×9")
}

// TestTheRepeatedHourOfAClockChange: when the server's local time falls back, a cursor from an hour
// ago looks as if it were loaded now. For two hours such times prove nothing.
func TestTheRepeatedHourOfAClockChange(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.ahead = 120
	s.statements(entry(3, queryB, 5, 1, 10, 10))
	s.pass(0)
	s.ahead = 60
	fresh := func(n int) {
		s.statements(entry(3, queryB, 5, 1, 10, 10), entry(3, queryA, 7, n, 1000, 1000))
		s.births(born(3, queryA, n, s.local(s.clock.Now().Add(10*time.Second))))
	}
	for n := range 3 {
		fresh(n)
		same(t, s.counted(s.pass(20*time.Second), "ERP"))
	}
	for s.clock.Now().Before(began.Add(2*time.Hour + time.Minute)) {
		s.statements(entry(3, queryB, 5, 1, 10, 10))
		s.pass(5 * time.Minute)
	}
	fresh(9)
	same(t, s.counted(s.pass(20*time.Second), "ERP"), "7/9", "1000×1000")
}

// TestAPluggableDatabaseOfOneNode: it is open on one instance of a cluster of two, which is all that counts it.
// It is measured also where views of the cluster have rows of that one alone.
func TestAPluggableDatabaseOfOneNode(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.self("3", "ERP", "ORCL", "MUSTER")
	s.instance("YES")
	s.on(instancesQuery, []string{"1", s.started, "YES"}, []string{"2", s.started, "YES"})
	s.on(activeInstancesQuery, []string{"2"})
	s.on(openInstancesQuery, []string{"2"})
	s.on(containersQuery, []string{"3", "ERP", "READ WRITE"})
	s.on(sessionsQuery, []string{"3", "active", "\x00NULL", "2"})
	s.statements(entry(3, queryA, 5, 1, 100, 100))
	s.pass(20 * time.Second)
	s.statements(entry(3, queryA, 5, 1, 104, 111))
	b := s.pass(20 * time.Second)
	same(t, s.counted(b, "ERP"), "5/1", "4×11")
	if is := s.sampled(b, "ERP"); is == nil || is.Active != 2 {
		t.Errorf("its sessions: %+v", is)
	}
	s.on(openInstancesQuery)
	s.breaks(errPart)
}

// TestAListThatIsSlowIsLeftAlone: interrupted twice, it is not asked for in ten minutes, in which its reason stays.
func TestAListThatIsSlowIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.pass(20 * time.Second)
	late := &servers.Refusal{Engine: fleet.Oracle, Code: "ORA-01013", Reason: servers.TimedOut}
	s.session.Fail(statementsQuery, late)
	s.breaks(late)
	s.breaks(late)
	s.statements(entry(3, queryA, 5, 1, 1, 1))
	s.breaks(late)
	s.clock.Advance(11 * time.Minute)
	s.now()
	s.pass(20 * time.Second)
}

// TestACluster has every instance, and a look without one of them does not count.
func TestACluster(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.cluster = true
	s.instance("YES")
	s.on(instancesQuery, []string{"1", s.started, "YES"}, []string{"2", s.started, "YES"})
	s.on(activeInstancesQuery, []string{"2"})
	s.on(clusterContainersQuery, []string{"1", "CDB$ROOT", "READ WRITE"}, []string{"2", "PDB$SEED", "READ ONLY"}, []string{"3", "ERP", "MOUNTED"},
		[]string{"1", "CDB$ROOT", "READ WRITE"}, []string{"3", "ERP", "READ WRITE"}, []string{"4", "Closed", "MOUNTED"},
		[]string{"5", "Half", "READ ONLY"}, []string{"5", "Half", "MOUNTED"})
	s.on(clusterSessionsQuery, []string{"3", "active", "\x00NULL", "2"})
	s.on(clusterLockWaitQuery, []string{"1", "2", "90.5"})
	s.on(clusterDBTimeQuery)
	s.figures()
	s.on(clusterTransactionsQuery, []string{"7", "11", "2", "3", "90", "60", "ERP", "erp.exe", "app01", queryA, "idleInTransaction"})
	s.on(clusterCountersQuery, []string{"logons cumulative", "70"})
	s.on(clusterDeadlocksQuery)
	row := func(instance string, calls, ms int) []string {
		e := entry(3, queryA, 5, 1, calls, ms)
		e[0] = instance
		return e
	}
	s.births()
	s.statements(row("1", 100, 100), row("2", 500, 500))
	b := s.pass(0)
	if a := s.sampled(b, "ERP"); a == nil || a.Active != 2 || s.sampled(b, "Closed") != nil || s.sampled(b, "Half") == nil {
		t.Errorf("sampled %v", b.Sessions)
	}
	if len(s.home.Signs) != 2 || s.home.Signs[0].Value != 0 || s.home.Signs[1].Value != 90.5/60 || s.home.Signs[1].Mount != watch.Advisory {
		t.Errorf("signs %v", s.home.Signs)
	}
	if f := b.Servers[0].Figures; f[len(f)-3].Holder.Session != "7,11,2" || f[len(f)-3].Value != 90_000 {
		t.Errorf("figures %+v", f)
	}
	s.statements(row("1", 101, 102), row("2", 503, 509))
	same(t, s.counted(s.pass(20*time.Second), "ERP"), "5/1", "4×11")
	s.statements(row("1", 102, 103)) // the other one did not answer
	s.breaks(errPart)
	s.statements(row("1", 103, 104), row("2", 510, 520))
	b = s.pass(20 * time.Second)
	same(t, s.counted(b, "ERP"), "5/1", "9×13")
	if b.Statements[0].Interval != 40*time.Second {
		t.Errorf("an interval of %s", b.Statements[0].Interval)
	}
	// It comes to the list of instances before it answers, or it is not asked at all.
	s.on(activeInstancesQuery, []string{"3"})
	for range 2 {
		s.breaks(errPart)
		if b := s.home.Batches[0]; s.sampled(b, "ERP") != nil {
			t.Error("the sessions of two instances are told as those of three")
		}
	}
	s.on(activeInstancesQuery, []string{"2"})
	s.statements(row("1", 103, 104), row("2", 511, 522))
	same(t, s.counted(s.pass(20*time.Second), "ERP"), "5/1", "1×2")
	// The second instance ends permanently: the rest is no cluster.
	s.cluster = false
	s.on(activeInstancesQuery, []string{"1"})
	s.on(instancesQuery, []string{"1", s.started, "YES"})
	s.statements(entry(3, queryA, 5, 1, 105, 110))
	same(t, s.counted(s.pass(20*time.Second), "ERP"), "5/1", "2×6")
}

// TestAContainerThatWasNotSeenBefore is a basis, with all it ever did.
func TestAContainerThatWasNotSeenBefore(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.on(containersQuery, []string{"1", "CDB$ROOT", "READ WRITE"}, []string{"2", "PDB$SEED", "READ ONLY"}, []string{"3", "ERP", "READ WRITE"})
	s.statements(entry(3, queryA, 5, 1, 1, 1))
	s.pass(0)
	s.on(containersQuery, []string{"1", "CDB$ROOT", "READ WRITE"}, []string{"2", "PDB$SEED", "READ ONLY"}, []string{"3", "ERP", "READ WRITE"}, []string{"4", "New", "READ WRITE"})
	s.statements(entry(3, queryA, 5, 1, 1, 1), entry(4, queryA, 5, 1, 5000, 5000))
	s.births(born(4, queryA, 1, s.local(began.Add(10*time.Second))))
	b := s.pass(20 * time.Second)
	if got := s.counted(b, "New"); got != nil {
		t.Errorf("counted %v", got)
	}
	s.statements(entry(3, queryA, 5, 1, 1, 1), entry(4, queryA, 5, 1, 5002, 5004))
	same(t, s.counted(s.pass(20*time.Second), "New"), "5/1", "2×4")
}

// TestNamesOfStatements: a SQL_ID is a number of 64 bits, and comes out as it went in.
func TestNamesOfStatements(t *testing.T) {
	t.Parallel()
	r := Engine().NewReader()
	for _, id := range []string{queryA, queryB, block, "0000000000000", "0000000000001"} {
		n, err := sqlNumber(id)
		if err != nil || sqlID(n) != id {
			t.Errorf("%s: %d, %v, %s", id, n, err, sqlID(n))
		}
		if name := r.Name(statement(0, n, 4294967295)); name != id+"/4294967295" {
			t.Errorf("%s is called %s", id, name)
		}
	}
	if name := r.Name(statement(1<<63, 5, 0)); name != "9223372036854775808/0" {
		t.Errorf("a signature is called %s", name)
	}
	if statement(5, 9, 1) == statement(0, 5, 1) {
		t.Error("a signature is taken for a SQL_ID")
	}
	for _, id := range []string{queryC, "", "7h35uxf5uhmm", "7h35uxf5uhmm11", "7H35UXF5UHMM1", "7h35uxf5uhmme", "'); DROP --x", "äöüäöü0"} {
		if n, err := sqlNumber(id); err == nil {
			t.Errorf("%q is taken for %d", id, n)
		}
	}
}

func TestInvalidRowsMakeNoFigures(t *testing.T) {
	t.Parallel()
	for name, query := range map[string]string{
		"self": selfQuery, "instance": instanceQuery, "containers": containersQuery, "sessions": sessionsQuery,
		"clock": clockQuery, "statements": statementsQuery, "births": birthsQuery, "time": dbTimeQuery, "locks": lockWaitQuery, "deadlocks": deadlocksQuery,
		"transactions": transactionsQuery, "block size": blockSizeQuery, "temporary space": temporarySpaceQuery, "counters": countersQuery, "replication": replicationQuery,
		"backup mode": backupModeQuery, "backup jobs": backupJobsQuery,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.statements(entry(3, queryB, 5, 1, 10, 10))
			s.pass(0)
			s.session.Close(t.Context())
			s.statements(entry(3, queryA, 5, 1, 10, 10))
			width := map[string]int{"self": 4, "instance": 3, "containers": 3, "sessions": 9, "clock": 2, "statements": 7, "births": 5, "time": 2, "locks": 1, "deadlocks": 3, "transactions": 11, "block size": 1, "temporary space": 1, "counters": 2, "replication": 6, "backup mode": 2, "backup jobs": 5}[name]
			row := make([]string, width)
			for i := range row {
				row[i] = "x"
			}
			s.on(query, row)
			if name == "containers" { // one alone is a root that sees no other
				s.on(query, row, row)
			}
			if name == "self" {
				s.on(query, []string{"x", "ERP", "", "ME"})
			}
			s.clock.Advance(time.Minute)
			if name != "clock" {
				s.now()
			}
			if err := s.server.Round(t.Context()); err == nil {
				t.Error("it was taken")
			}
		})
	}
}

var _ measure.Reader = (*reader)(nil)
