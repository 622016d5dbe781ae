package oracle

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/changes"
	"muster/internal/assessment/inspection"
	"muster/internal/engine"
	"muster/internal/engine/oracle"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// server is an Oracle that is written down: answers for each of its containers, by what is
// opened: "HR" is the service of the connection string.
type server struct {
	t       *testing.T
	answers map[string]*serverstest.Session
	refused map[string]*servers.ConnectionError

	mu     sync.Mutex
	opened []*serverstest.Session
}

const service = "HR"

// newServer shows everything and has no findings: the root of these containers.
func newServer(t *testing.T, containers ...[]string) *server {
	t.Helper()
	srv := &server{t: t, answers: map[string]*serverstest.Session{}, refused: map[string]*servers.ConnectionError{}}
	names := []string{service}
	for _, c := range containers {
		names = append(names, c[1])
	}
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		s := serverstest.New(name)
		srv.answers[name] = s
		s.On(selfSQL, []string{"1", "CDB$ROOT", "C##MUSTER", "FALSE", "PRIMARY"})
		s.On(version18SQL, []string{"19.3.0.0.0", "Oracle Database 19c Enterprise Edition"})
		s.Fail(autonomousSQL, &servers.Refusal{Code: "ORA-02003", Reason: servers.Absent})
		s.On(startedSQL, []string{"3600", "EE"})
		s.On(containersSQL, containers...)
		s.On(tablespacesSQL, []string{"2", "2"})
		s.On(sessionsSQL, []string{"12", "9"})
		s.On(parametersSQL, []string{"os_roles", "FALSE"}, []string{"log_archive_dest_1", "SERVICE=x"})
		for _, q := range []string{usersSQL, rolesSQL, membersSQL, privilegesSQL, administratorsSQL, seenSQL, profilesSQL, policiesSQL, tablesSQL, columnsSQL} {
			s.On(q)
		}
		for _, check := range c.Of(fleet.Oracle) {
			for _, what := range []string{inspection.Violations, inspection.Inapplicable, inspection.Unreadable} {
				s.On(inspection.Query(check, what, ""))
			}
			s.On(inspection.Query(check, inspection.Population, ""), []string{"3"})
			s.On(inspection.Query(check, inspection.Measure, ""), []string{"all is well"})
		}
	}
	return srv
}

func (srv *server) inspector() *Inspector {
	c, err := New(func() time.Time { return noon })
	if err != nil {
		srv.t.Fatal(err)
	}
	c.open = func(_ context.Context, _ servers.Target, database string) (servers.Session, error) {
		if refused := srv.refused[database]; refused != nil {
			return nil, refused
		}
		srv.mu.Lock()
		defer srv.mu.Unlock()
		s := serverstest.New(database)
		s.Answers = srv.answers[database].Answers
		srv.opened = append(srv.opened, s)
		return s, nil
	}
	return c
}

var target = servers.Target{Engine: fleet.Oracle, Database: service}

func result(t *testing.T, a snapshot.Assessment, id, database string) snapshot.CheckResult {
	t.Helper()
	i := slices.IndexFunc(a.Results, func(r snapshot.CheckResult) bool { return r.CheckID == id && r.Database == database })
	if i < 0 {
		t.Fatalf("no result of %s in %q", id, database)
	}
	return a.Results[i]
}

func of(id string) string {
	return inspection.Query(catalogue.Check{Check: snapshot.Check{ID: id}}, inspection.Violations, "")
}

func TestAServerIsAssessedWithItsContainers(t *testing.T) {
	t.Parallel()
	srv := newServer(t, []string{"1", "CDB$ROOT", "READ WRITE", "0"}, []string{"3", "HRPDB", "READ WRITE", "4096"}, []string{"4", "AWAY", "MOUNTED", "0"},
		[]string{"5", "CLOSED", "READ WRITE", "0"})
	srv.refused["CLOSED"] = &servers.ConnectionError{Class: servers.ClassDatabase, Sentence: "It does not let us in."}
	srv.refused["CDB$ROOT"] = &servers.ConnectionError{Class: servers.ClassDatabase, Sentence: "It was entered by its name."}
	srv.answers["HRPDB"].On(tablespacesSQL, []string{"2", "1"})
	srv.answers["HRPDB"].On(of("OR-16"), []string{"VIEW", "APP", "V"})
	a, state := srv.inspector().Assess(t.Context(), target)

	if a.Outcome != snapshot.OutcomePartial || a.Role != "C##MUSTER" || a.VersionText != "19.3.0.0.0" || a.Edition != "EE" || !a.ServerStartedAt.Equal(noon.Add(-time.Hour)) {
		t.Errorf("%s as %s, %s %s since %v", a.Outcome, a.Role, a.VersionText, a.Edition, a.ServerStartedAt)
	}
	perServer, perDatabase := len(srv.inspector().checks(catalogue.ScopeInstance)), len(srv.inspector().checks(catalogue.ScopeDatabase))
	if len(a.Results) != perServer+4*perDatabase || perDatabase == 0 {
		t.Errorf("%d results of %d and %d checks", len(a.Results), perServer, perDatabase)
	}
	for database, want := range map[string]string{"AWAY": "Container AWAY is MOUNTED.", "CLOSED": "It does not let us in."} {
		if got := result(t, a, "OR-16", database); got.Status != snapshot.StatusNotAssessed || got.ReasonCode != snapshot.ReasonDatabaseUnreachable || got.Reason != want {
			t.Errorf("%s: %+v", database, got)
		}
	}
	if len(a.MissingGrants) != 1 || a.MissingGrants[0].Statement != `GRANT SET CONTAINER TO "C##MUSTER";` {
		t.Errorf("%+v", a.MissingGrants)
	}
	if got := result(t, a, "OR-16", "HRPDB"); got.Status != snapshot.StatusFail || got.Violations[0].Object != "APP.V" {
		t.Errorf("%+v", got)
	}
	if got := result(t, a, "OR-16", "CDB$ROOT"); got.Status != snapshot.StatusPass {
		t.Errorf("%+v", got)
	}
	if got := result(t, a, "OR-11", ""); got.Status != snapshot.StatusNotApplicable {
		t.Errorf("a parameter that is gone: %+v", got)
	}
	if got := result(t, a, "OR-14", ""); got.Status != snapshot.StatusFail {
		t.Errorf("an old update: %+v", got)
	}
	for _, d := range a.Databases {
		want := map[string]string{"CDB$ROOT": "true", "HRPDB": "false"}[d.Name]
		got := ""
		if d.EncryptedAtRest != nil {
			got = map[bool]string{true: "true", false: "false"}[*d.EncryptedAtRest]
		}
		if got != want || (d.SizeBytes != nil) != (d.Name == "HRPDB") {
			t.Errorf("%+v is encrypted: %q", d, got)
		}
	}
	for _, s := range srv.opened {
		if !s.Closed() {
			t.Errorf("the session on %q is left open", s.Name)
		}
	}
	i := slices.IndexFunc(state.Items, func(i changes.Item) bool { return i.Name == "log_archive_dest_1" })
	if len(state.Seen) != 4 || i < 0 || !state.Items[i].Secret {
		t.Errorf("%+v", state)
	}
}

// TestF43AnAccountCheckOfTheRootAloneDoesNotPass: from the root, a check of accounts that finds nothing does
// not pass, because the pluggable databases have accounts of their own. One that finds something fails, and
// says so, too. In a pluggable database, and where there are no containers, it passes.
func TestF43AnAccountCheckOfTheRootAloneDoesNotPass(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		self   []string
		status string
		hidden string
	}{
		"the root":      {[]string{"1", "CDB$ROOT", "C##MUSTER", "FALSE", "PRIMARY"}, snapshot.StatusNotAssessed, "Not known: the same of ERP, HRPDB, which"},
		"a pluggable":   {[]string{"3", "HRPDB", "MUSTER", "FALSE", "PRIMARY"}, snapshot.StatusPass, ""},
		"no containers": {[]string{"0", "HR", "MUSTER", "FALSE", "PRIMARY"}, snapshot.StatusPass, ""},
	} {
		srv := newServer(t, []string{"1", "CDB$ROOT", "READ WRITE", "0"}, []string{"3", "HRPDB", "READ WRITE", "4096"}, []string{"4", "ERP", "MOUNTED", "0"})
		srv.answers[service].On(selfSQL, test.self)
		srv.answers[service].On(of("OR-07"), []string{"ADMIN_OPTION NO", "SELECT ANY TABLE", "APP"})
		a, _ := srv.inspector().Assess(t.Context(), target)
		if got := result(t, a, "OR-37", ""); got.Status != test.status || !strings.HasPrefix(got.Reason, test.hidden) || test.hidden == "" && got.Reason != "" {
			t.Errorf("%s: %+v", name, got)
		}
		if got := result(t, a, "OR-07", ""); got.Status != snapshot.StatusFail || !strings.HasPrefix(got.Reason, test.hidden) {
			t.Errorf("%s: %+v", name, got)
		}
		if got := result(t, a, "OR-54", ""); got.Status != snapshot.StatusPass {
			t.Errorf("%s, of the instance as a whole: %+v", name, got)
		}
	}
}

// TestBefore18ThereIsNoFullVersion, and an account without rights gets the grants that it
// needs.
func TestBefore18ThereIsNoFullVersion(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	s := srv.answers[service]
	s.On(selfSQL, []string{"0", "ORCL", "MUSTER", "FALSE", "PHYSICAL STANDBY"})
	s.Fail(version18SQL, &servers.Refusal{Code: "ORA-00904", Reason: servers.Absent})
	s.On(versionSQL, []string{"12.2.0.1.0", "Oracle Database 12c"})
	denied := &servers.Refusal{Code: "ORA-00942", Reason: servers.Denied}
	for line := range s.Answers {
		if line != serverstest.FirstLine(selfSQL) && line != serverstest.FirstLine(versionSQL) && line != serverstest.FirstLine(version18SQL) {
			s.Answers[line] = serverstest.Answer{Err: denied}
		}
	}
	a, state := srv.inspector().Assess(t.Context(), target)
	if a.VersionText != "12.2.0.1.0" || !a.InRecovery || len(a.Databases) != 1 || a.Databases[0].Name != "ORCL" {
		t.Errorf("%s, %+v", a.VersionText, a.Databases)
	}
	for _, r := range a.Results {
		if r.CheckID != "OR-14" && (r.Status != snapshot.StatusNotAssessed || r.ReasonCode != snapshot.ReasonPermissionDenied) {
			t.Errorf("%s: %+v", r.CheckID, r)
		}
	}
	var granted []string
	for _, g := range a.MissingGrants {
		granted = append(granted, g.Statement)
	}
	for _, want := range []string{`GRANT SELECT ON SYS.V_$CONTAINERS TO "MUSTER";`, `GRANT SELECT ON SYS.V_$PARAMETER TO "MUSTER";`, `GRANT SELECT ON SYS.DBA_USERS TO "MUSTER";`} {
		if !slices.Contains(granted, want) {
			t.Errorf("%s is not among %q", want, granted)
		}
	}
	if !strings.Contains(a.RolesNote, "denied permission") || len(state.Seen) != 1 || len(state.Blind) != 3 {
		t.Errorf("%s, %+v", a.RolesNote, state)
	}
}

func TestAccountsArePrivilegedByTheirPaths(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	s := srv.answers[service]
	user := func(name, status, maintained string) []string {
		return []string{name, status, "PASSWORD", "11G 12C ", "DEFAULT", maintained, "1795435200000000"}
	}
	s.On(usersSQL, user("SYS", "OPEN", "Y"), user("XDB", "LOCKED", "Y"), user("APP", "OPEN", "N"), user("OLD", "LOCKED", "N"), user("PLAIN", "OPEN", "N"), user("OPS", "OPEN", "N"))
	s.On(rolesSQL, []string{"DBA", "NONE", "Y"}, []string{"TEAM", "NONE", "N"})
	s.On(membersSQL, []string{"SYS", "DBA", "YES"}, []string{"TEAM", "DBA", "NO"}, []string{"OLD", "TEAM", "NO"}, []string{"PLAIN", "CONNECT", "NO"})
	s.On(privilegesSQL, []string{"DBA", "SELECT ANY TABLE", "YES"}, []string{"APP", "SELECT ANY TABLE", "NO"}, []string{"APP", "CREATE SESSION", "NO"}, []string{"PUBLIC", "ALTER SYSTEM", "NO"})
	s.On(administratorsSQL, []string{"SYS"}, []string{"OPS"})
	s.On(seenSQL, []string{"APP"})
	a, state := srv.inspector().Assess(t.Context(), target)
	var got []string
	for _, r := range a.Roles {
		got = append(got, strings.Join([]string{r.Name, strings.Join(r.MemberOf, "; "), strings.Join(r.Attributes, ","), r.RemoteLogin, r.PasswordKind}, " | "))
	}
	want := []string{
		"SYS | SYS → DBA | SYSDBA | yes | 11G 12C", "OLD | OLD → TEAM → DBA |  | no | 11G 12C", "OPS |  | SYSDBA | yes | 11G 12C",
		"TEAM | TEAM → DBA |  | no | none", "PUBLIC |  | ALTER SYSTEM | no | none", "APP |  | SELECT ANY TABLE | yes | 11G 12C",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, r := range a.Roles {
		if r.Superuser != slices.Contains([]string{"SYS", "OLD", "OPS", "TEAM"}, r.Name) || (r.LastSeen != nil) != (r.Name == "APP") {
			t.Errorf("%+v", r)
		}
	}
	items := map[string]string{}
	for _, i := range state.Items {
		items[i.Name] = i.Value
	}
	for name, want := range map[string]string{
		"SYS in DBA": "granted WITH ADMIN OPTION", "APP on the database": "CREATE SESSION, SELECT ANY TABLE", "APP": "OPEN, profile DEFAULT, PASSWORD",
		"DBA on the database": "", "Oracle": "19.3.0.0.0",
	} {
		if items[name] != want {
			t.Errorf("%s is %q, want %q", name, items[name], want)
		}
	}
}

func TestColumnsAreClassifiedByNameAndValue(t *testing.T) {
	t.Parallel()
	srv := newServer(t, []string{"3", "HRPDB", "READ WRITE", "0"})
	s := srv.answers["HRPDB"]
	s.On(tablesSQL, []string{"APP", "PEOPLE", "50000", "8192", "NO", "0", "2", "1"}, []string{"APP", "HIDDEN", "10", "8192", "NO", "1", "0", "0"},
		[]string{"App", "Löhne 🦄", serverstest.Null, serverstest.Null, "NO", "0", "0", "0"}, []string{"APP", "SECRET", "1", "1", "NO", "0", "0", "0"})
	s.On(columnsSQL, []string{"APP", "PEOPLE", "EMAIL", "VARCHAR2", "100", "", ""}, []string{"APP", "PEOPLE", "NOTE", "NVARCHAR2", "50", "", ""},
		[]string{"APP", "PEOPLE", "SALARY", "NUMBER", "0", "10", "2"}, []string{"APP", "PEOPLE", "BIRTH_DATE", "DATE", "0", "", ""}, []string{"APP", "PEOPLE", "CV", "CLOB", "0", "", ""},
		[]string{"APP", "HIDDEN", "PHONE", "VARCHAR2", "20", "", ""}, []string{"App", "Löhne 🦄", "EMail", "VARCHAR2", "20", "", ""},
		[]string{"APP", "SECRET", "PASSWORD", "VARCHAR2", "20", "", ""}, []string{"APP", "GONE", "X", "DATE", "0", "", ""})
	s.On(`select substr(to_char("EMAIL"), 1, 256), substr(to_char("NOTE"), 1, 256), substr(to_char("SALARY"), 1, 256), to_char("BIRTH_DATE", 'YYYY-MM-DD HH24:MI:SS') from "APP"."PEOPLE" sample block (8.000000) where rownum <= 200`,
		[]string{"ada@example.com", "DE89370400440532013000", "1000", "1980-01-02 00:00:00"}, []string{"bob@example.org", "GB82WEST12345698765432", "2000", "1990-03-04 00:00:00"})
	s.On(`select substr(to_char("EMail"), 1, 256) from "App"."Löhne 🦄" where rownum <= 200`, []string{"x"})
	s.Fail(`select substr(to_char("PASSWORD"), 1, 256) from "APP"."SECRET" where rownum <= 200`, &servers.Refusal{Code: "ORA-01031", Reason: servers.Denied})
	run := srv.inspector().Classify(t.Context(), target, "HRPDB", "values")
	if run.Status != snapshot.ClassificationPartial || run.TablesSeen != 4 || run.TablesSampled != 2 || run.ColumnsSeen != 8 {
		t.Errorf("%+v", run)
	}
	if len(run.FailedTables) != 2 || run.FailedTables[0].Reason != "A policy hides rows of it, and does not say so." || run.FailedTables[1].Reason != "The account may not SELECT from it." {
		t.Errorf("%+v", run.FailedTables)
	}
	var samples, ofTables []string
	for _, opened := range srv.opened {
		samples, ofTables = append(samples, opened.Asked...), append(ofTables, opened.Tables...)
	}
	samples = slices.DeleteFunc(samples, func(line string) bool { return strings.HasPrefix(line, "--") })
	if len(samples) != 3 || !slices.Equal(samples, ofTables) {
		t.Errorf("samples are %q, and those of tables %q", samples, ofTables)
	}
	var got []string
	for _, table := range run.Tables {
		for _, c := range table.Columns {
			got = append(got, table.Name+"."+c.Name+" "+c.DataType+" "+c.InfoType+" "+c.Confidence)
		}
	}
	for _, want := range []string{"PEOPLE.EMAIL VARCHAR2(100) E-mail Certain", "PEOPLE.NOTE NVARCHAR2(50) IBAN Certain", "SECRET.PASSWORD VARCHAR2(20) Password / secret High"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	if run := srv.inspector().Classify(t.Context(), target, "CDB$ROOT", "names"); run.Status != snapshot.ClassificationCompleted || run.TablesSeen != 0 {
		t.Errorf("where the connection leads: %+v", run)
	}
	s.Fail(tablesSQL, &servers.Refusal{Reason: servers.Denied})
	if run := srv.inspector().Classify(t.Context(), target, "HRPDB", "names"); run.Status != snapshot.ClassificationFailed {
		t.Errorf("%+v", run)
	}
}

// TestAnAutonomousDatabaseIsOperatedByOracle: what Oracle does there is no finding, whatever its views say, and
// the rest is assessed.
func TestAnAutonomousDatabaseIsOperatedByOracle(t *testing.T) {
	t.Parallel()
	for cloud, provided := range map[string]bool{"OLTP": true, serverstest.Null: false} {
		srv := newServer(t)
		srv.answers[service].On(autonomousSQL, []string{cloud})
		a, _ := srv.inspector().Assess(t.Context(), target)
		if got := a.Edition == oracle.Autonomous; got != provided || (engine.KeptBy(string(fleet.Oracle), a.Edition) == "Oracle") != provided {
			t.Errorf("%q is %s", cloud, a.Edition)
		}
		managed := map[string]bool{}
		for _, r := range a.Results {
			check, _ := srv.inspector().catalogue.Check(r.CheckID)
			if (check.Managed != "" && provided) != (r.Status == snapshot.StatusNotApplicable && r.Reason == check.Managed && r.Reason != "") {
				t.Errorf("%q: %s: %s, %s", cloud, r.CheckID, r.Status, r.Reason)
			}
			managed[r.CheckID] = check.Managed != ""
		}
		for _, id := range []string{"OR-14", "OR-15", "OR-53", "OR-57"} {
			if !managed[id] {
				t.Errorf("%s is the customer's", id)
			}
		}
		if managed["OR-06"] {
			t.Error("OR-06 is Oracle's")
		}
	}
}
