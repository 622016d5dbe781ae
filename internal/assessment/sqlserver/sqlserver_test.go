package sqlserver

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/changes"
	"muster/internal/assessment/inspection"
	"muster/internal/engine/sqlserver"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/servers/documented"
	"muster/internal/servers/serverstest"
)

func TestQueriesReadDocumentedColumns(t *testing.T) {
	t.Parallel()
	documented.Files(t, fleet.SQLServer, os.DirFS("sql"))
}

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// server is a SQL Server that is written down: a session for each of its databases, "" for
// where the connection string leads.
type server struct {
	t        *testing.T
	sessions map[string]*serverstest.Session
	refused  map[string]*servers.ConnectionError

	mu     sync.Mutex
	opened []*serverstest.Session
}

// newServer grants everything and has no findings, with these databases.
func newServer(t *testing.T, databases ...[]string) *server {
	t.Helper()
	srv := &server{t: t, sessions: map[string]*serverstest.Session{}, refused: map[string]*servers.ConnectionError{}}
	for _, name := range append([]string{""}, names(databases)...) {
		s := serverstest.New(name)
		srv.sessions[name] = s
		s.On(serverSQL, []string{"muster", "3", "16.0.4135.4", "Developer Edition (64-bit)", "RTM", "CU14", "0", "0"})
		s.On(databasesSQL, databases...)
		s.On(optionsSQL, []string{"xp_cmdshell", "0"}, []string{"max server memory (MB)", "4096"})
		s.On(startedSQL, []string{"1795435200000000"})
		s.On(sessionsSQL, []string{"12", "9"})
		s.On(encryptionSQL, []string{"shop", "3"}, []string{"tempdb", "3"})
		s.On(loginsSQL)
		s.On(membersSQL)
		s.On(permissionsSQL)
		s.On(seenSQL)
		srv.grant(s, func(string) bool { return true })
		srv.answerChecks(s)
	}
	return srv
}

func names(databases [][]string) (out []string) {
	for _, d := range databases {
		out = append(out, d[0])
	}
	return out
}

// grant has a session's login hold the rights that are picked.
func (srv *server) grant(s *serverstest.Session, held func(right string) bool) {
	var rows [][]string
	for right := range sqlserver.Statements {
		granted := "0"
		if held(right) {
			granted = "1"
		}
		rows = append(rows, []string{right, granted})
	}
	s.On(rightsSQL, rows...)
	s.On(rightsAzureSQL, rows...)
}

func (srv *server) answerChecks(s *serverstest.Session) {
	c, err := catalogue.Load()
	if err != nil {
		srv.t.Fatal(err)
	}
	for _, check := range c.Of(fleet.SQLServer) {
		for _, what := range []string{inspection.Violations, inspection.Inapplicable, inspection.Unreadable} {
			s.On(inspection.Query(check, what, ""))
		}
		s.On(inspection.Query(check, inspection.Population, ""), []string{"3"})
		s.On(inspection.Query(check, inspection.Measure, ""), []string{"all is well"})
	}
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
		s.Answers = srv.sessions[database].Answers
		srv.opened = append(srv.opened, s)
		return s, nil
	}
	return c
}

func (srv *server) assess() (snapshot.Assessment, changes.State) {
	return srv.inspector().Assess(srv.t.Context(), servers.Target{Engine: fleet.SQLServer})
}

func result(t *testing.T, a snapshot.Assessment, id, database string) snapshot.CheckResult {
	t.Helper()
	i := slices.IndexFunc(a.Results, func(r snapshot.CheckResult) bool { return r.CheckID == id && r.Database == database })
	if i < 0 {
		t.Fatalf("no result of %s in %q", id, database)
	}
	return a.Results[i]
}

// row is one of databasesSQL.
func row(name, state, access, encrypted, replicated string) []string {
	return []string{name, "sa", state, access, encrypted, "8192", replicated, map[bool]string{true: "1", false: "0"}[name == "master"]}
}

func TestAServerIsAssessedWithItsDatabases(t *testing.T) {
	t.Parallel()
	srv := newServer(t, row("shop", online, "1", "1", "0"), row("away", "RESTORING", "0", "0", "0"), row("closed", online, "0", "0", "0"),
		row("second", online, "0", "0", "1"), row("[x] 🦄'", online, "1", "0", "0"), row("master", online, "1", "0", "0"))
	srv.refused["closed"] = &servers.ConnectionError{Class: servers.ClassDatabase, Sentence: "It does not let us in."}
	srv.refused["second"] = &servers.ConnectionError{Class: servers.ClassDatabase, Sentence: "It is a secondary that takes no connections."}
	violations := func(id string) string {
		return inspection.Query(catalogue.Check{Check: snapshot.Check{ID: id}}, inspection.Violations, "")
	}
	srv.sessions[""].On(violations("MS-66"), []string{"created 2020-01-01", "Northwind"})
	srv.sessions["[x] 🦄'"].On(violations("MS-60"), []string{"no index with is_primary_key 1", "dbo", "log"})
	a, state := srv.assess()

	if a.Outcome != snapshot.OutcomePartial || a.Role != "muster" || a.VersionText != "16.0.4135.4" || a.Edition != "Developer Edition (64-bit)" {
		t.Errorf("%s as %s, %s %s", a.Outcome, a.Role, a.VersionText, a.Edition)
	}
	if *a.ClientSessions != 12 || *a.TLSSessions != 9 || a.ServerStartedAt.Unix() != 1795435200 {
		t.Errorf("%d of %d sessions, since %v", *a.TLSSessions, *a.ClientSessions, a.ServerStartedAt)
	}
	perServer, perDatabase := len(srv.inspector().checks(catalogue.ScopeInstance)), len(srv.inspector().checks(catalogue.ScopeDatabase))
	if len(a.Results) != perServer+5*perDatabase || perDatabase == 0 {
		t.Errorf("%d results of %d and %d checks", len(a.Results), perServer, perDatabase)
	}
	for database, want := range map[string]string{
		"away": "Database away is RESTORING.", "closed": "It does not let us in.", "second": "It is a secondary that takes no connections.",
	} {
		got := result(t, a, "MS-60", database)
		if got.Status != snapshot.StatusNotAssessed || got.ReasonCode != snapshot.ReasonDatabaseUnreachable || got.Reason != want {
			t.Errorf("%s: %+v", database, got)
		}
	}
	if want := []snapshot.MissingGrant{{Object: "database closed", Statement: "GRANT CONNECT ANY DATABASE TO [muster];", Checks: []string{}}}; len(a.MissingGrants) != 1 ||
		a.MissingGrants[0].Statement != want[0].Statement || a.MissingGrants[0].Object != want[0].Object {
		t.Errorf("missing are %+v", a.MissingGrants)
	}
	if got := result(t, a, "MS-66", ""); got.Status != snapshot.StatusFail || got.Violations[0].Object != "Northwind" || got.Measured != "1 of 3" {
		t.Errorf("%+v", got)
	}
	if got := result(t, a, "MS-60", "[x] 🦄'"); got.Status != snapshot.StatusFail || got.Violations[0].Object != "dbo.log" {
		t.Errorf("%+v", got)
	}
	if got := result(t, a, "MS-36", ""); got.Status != snapshot.StatusNotApplicable {
		t.Errorf("an option that is not there: %+v", got)
	}
	if got := result(t, a, "MS-19", ""); got.Status != snapshot.StatusFail {
		t.Errorf("an old build: %+v", got)
	}
	if len(a.Databases) != 6 || slices.ContainsFunc(a.Results, func(r snapshot.CheckResult) bool { return r.Database == "master" }) {
		t.Errorf("%d databases, or master is checked as one of somebody's", len(a.Databases))
	}
	known := func(name string) *bool {
		i := slices.IndexFunc(a.Databases, func(d snapshot.DatabaseFact) bool { return d.Name == name })
		return a.Databases[i].EncryptedAtRest
	}
	if shop, away := known("shop"), known("away"); shop == nil || !*shop || away == nil || *away {
		t.Errorf("encrypted: %v, %v", shop, away)
	}
	for _, s := range srv.opened {
		if !s.Closed() {
			t.Errorf("the session on %q is left open", s.Name)
		}
	}
	if got := len(state.Seen); got != 4 || len(state.Blind) != 0 {
		t.Errorf("%v seen, blind %v", state.Seen, state.Blind)
	}
}

// TestWithoutRightsNothingPasses that others could hide rows of, and each grant is named.
func TestWithoutRightsNothingPasses(t *testing.T) {
	t.Parallel()
	srv := newServer(t, row("shop", online, "1", "0", "0"))
	for _, s := range srv.sessions {
		srv.grant(s, func(right string) bool { return right == "membership in public" })
	}
	a, state := srv.assess()
	for _, r := range a.Results {
		check, _ := srv.inspector().catalogue.Check(r.CheckID)
		public := slices.Equal(check.LeastRights(), []string{"membership in public"})
		denied := r.Status == snapshot.StatusNotAssessed && r.ReasonCode == snapshot.ReasonPermissionDenied
		if denied == public {
			t.Errorf("%s: %s, %s", r.CheckID, r.Status, r.Reason)
		}
	}
	var granted []string
	for _, g := range a.MissingGrants {
		granted = append(granted, g.Statement)
	}
	for _, want := range []string{
		"GRANT VIEW ANY DEFINITION TO [muster];", "GRANT VIEW SERVER SECURITY STATE TO [muster];", "GRANT VIEW ANY DATABASE TO [muster];",
		"USE msdb; GRANT SELECT ON dbo.backupset TO [muster];", "GRANT VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION TO [muster];",
	} {
		if !slices.Contains(granted, want) {
			t.Errorf("%s is not among %q", want, granted)
		}
	}
	if len(a.Roles) != 0 || !strings.Contains(a.RolesNote, "VIEW ANY DEFINITION is not granted") {
		t.Errorf("%v, %s", a.Roles, a.RolesNote)
	}
	if !slices.Contains(state.Blind, changes.Scope{Kind: fleet.ChangedRole}) {
		t.Errorf("roles that may be hidden count as seen: %+v", state.Seen)
	}
	for _, s := range srv.opened {
		for _, asked := range s.Asked {
			if strings.Contains(asked, "MS-48 ") || asked == serverstest.FirstLine(loginsSQL) {
				t.Errorf("%s was asked all the same", asked)
			}
		}
	}
}

// TestRightsAreReadInEachDatabase anew: a database may deny what the server grants.
func TestRightsAreReadInEachDatabase(t *testing.T) {
	t.Parallel()
	srv := newServer(t, row("open", online, "1", "0", "0"), row("shut", online, "1", "0", "0"))
	srv.grant(srv.sessions["shut"], func(right string) bool { return right != "VIEW DEFINITION in the database" })
	a, _ := srv.assess()
	if got := result(t, a, "MS-60", "open"); got.Status != snapshot.StatusPass {
		t.Errorf("%+v", got)
	}
	if got := result(t, a, "MS-60", "shut"); got.Status != snapshot.StatusNotAssessed || got.ReasonCode != snapshot.ReasonPermissionDenied {
		t.Errorf("%+v", got)
	}
}

// TestEveryRightOfTheCatalogueIsRead: the catalog's rights are in rights.sql, and can be granted.
func TestEveryRightOfTheCatalogueIsRead(t *testing.T) {
	t.Parallel()
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range c.Of(fleet.SQLServer) {
		for _, right := range check.LeastRights() {
			if _, known := sqlserver.Statements[right]; !known || !strings.Contains(rightsSQL, "(N'"+right+"',") {
				t.Errorf("%s: nobody asks for %q", check.ID, right)
			}
			if check.Azure == "" && !strings.Contains(rightsAzureSQL, "(N'"+right+"',") {
				t.Errorf("%s: in Azure SQL Database nobody asks for %q", check.ID, right)
			}
		}
	}
	for right := range sqlserver.Statements {
		if right != sqlserver.ConnectAnyDatabase && !strings.Contains(rightsSQL, "(N'"+right+"',") {
			t.Errorf("%q is never asked", right)
		}
	}
	old := access{login: "m]x", release: 15}
	if got := old.statement("VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE"); got != "GRANT VIEW SERVER STATE TO [m]]x];" {
		t.Errorf("%q", got)
	}
	if got := old.statement(sqlserver.Cryptographic); got != "" {
		t.Errorf("before 2022 a monitor is to be granted %q", got)
	}
	if got := old.statement("VIEW ANY DEFINITION"); got != "GRANT VIEW ANY DEFINITION TO [m]]x];" {
		t.Errorf("%q", got)
	}
	denied := access{login: "m", release: 16}.Refused(catalogue.Check{Rights: []string{"membership in public", "VIEW ANY DEFINITION"}}, &servers.Refusal{Reason: servers.Denied})
	if len(denied) != 1 || denied[0].Object != "VIEW ANY DEFINITION" {
		t.Errorf("%+v", denied)
	}
}

func TestAzureHasNoServer(t *testing.T) {
	t.Parallel()
	srv := newServer(t, row("shop", online, "1", "0", "0"))
	for _, s := range srv.sessions {
		s.On(serverSQL, []string{"muster", "5", "12.0.2000.8", "SQL Azure", "RTM", serverstest.Null, serverstest.Null, "1"})
		s.On(databasesAzureSQL, row("shop", online, "1", "1", "0"))
		s.Fail(optionsSQL, &servers.Refusal{Reason: servers.Absent})
		s.Fail(loginsSQL, errors.New("asked"))
	}
	a, state := srv.assess()
	for _, r := range a.Results {
		check, _ := srv.inspector().catalogue.Check(r.CheckID)
		if (check.Azure != "") != (r.Status == snapshot.StatusNotApplicable) || check.Azure != "" && r.Reason != check.Azure {
			t.Errorf("%s: %s, %s", r.CheckID, r.Status, r.Reason)
		}
	}
	if !a.RoleIsSuperuser || !strings.Contains(a.RolesNote, "logical server") || len(state.Seen) != 1 {
		t.Errorf("%t, %s, %v", a.RoleIsSuperuser, a.RolesNote, state.Seen)
	}
	applies := 0
	for _, check := range srv.inspector().catalogue.Of(fleet.SQLServer) {
		if check.Azure == "" {
			applies++
		}
	}
	t.Logf("%d checks apply to Azure SQL Database", applies)
}

// TestF12QueryStoreOfAzure: is_query_store_on says 0 in Azure SQL Database although the store is on, and nobody can
// switch it off there. That is no finding.
func TestF12QueryStoreOfAzure(t *testing.T) {
	t.Parallel()
	check, known := newServer(t).inspector().catalogue.Check("MS-57")
	if azure := (access{azure: true}).Excludes(check); !known || azure == "" {
		t.Error("MS-57 is assessed in Azure SQL Database")
	}
	if own := (access{}).Excludes(check) + (access{managed: true}).Excludes(check); own != "" {
		t.Errorf("elsewhere MS-57 does not apply: %s", own)
	}
}

// TestAManagedInstanceIsOperatedByMicrosoft: what Microsoft does there is no finding, whatever its tables say,
// and the rest is assessed.
func TestAManagedInstanceIsOperatedByMicrosoft(t *testing.T) {
	t.Parallel()
	srv := newServer(t, row("shop", online, "1", "0", "0"))
	for _, s := range srv.sessions {
		s.On(serverSQL, []string{"muster", "8", "12.0.2000.8", "SQL Azure", "RTM", serverstest.Null, serverstest.Null, "1"})
	}
	a, _ := srv.assess()
	provided := map[string]bool{}
	for _, r := range a.Results {
		check, _ := srv.inspector().catalogue.Check(r.CheckID)
		if (check.Managed != "") != (r.Status == snapshot.StatusNotApplicable && r.Reason == check.Managed) {
			t.Errorf("%s: %s, %s", r.CheckID, r.Status, r.Reason)
		}
		provided[r.CheckID] = check.Managed != ""
	}
	for _, id := range []string{"MS-16", "MS-19", "MS-50", "MS-53", "MS-62"} {
		if !provided[id] {
			t.Errorf("%s is the customer's", id)
		}
	}
	if provided["MS-08"] {
		t.Error("MS-08 is Microsoft's")
	}
}

// TestAServerThatCannotBeReadIsAnOutcome.
func TestAServerThatCannotBeReadIsAnOutcome(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(srv *server)
		class  string
	}{
		"login refused": {func(srv *server) {
			srv.refused[""] = &servers.ConnectionError{Class: servers.ClassAuthentication, Sentence: "No."}
		}, servers.ClassAuthentication},
		"too slow": {func(srv *server) {
			srv.sessions[""].Fail(databasesSQL, &servers.Refusal{Reason: servers.TimedOut})
		}, servers.ClassTimeout},
		"Synapse": {func(srv *server) {
			srv.sessions[""].On(serverSQL, []string{"x", "11", "12.0.2000.8", "SQL Azure", "", "", "", ""})
		}, servers.ClassDatabase},
		"another protocol": {func(srv *server) {
			srv.sessions[""].On(serverSQL, []string{"x", "3", "hello", "", "", "", "", ""})
		}, servers.ClassDatabase},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t)
			test.change(srv)
			if a, _ := srv.assess(); a.Outcome != snapshot.OutcomeUnreachable || a.ErrorClass != test.class || len(a.Results) != 0 {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestLoginsArePrivilegedByTheirPaths(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	s := srv.sessions[""]
	s.On(loginsSQL, []string{"1", "sa", "S", "1", "1"}, []string{"3", "sysadmin", "R", "0", "0"}, []string{"10", "ops", "R", "0", "0"},
		[]string{"11", `CORP\dba`, "U", "0", "0"}, []string{"12", "app", "S", "0", "0"}, []string{"13", "bulk", "S", "0", "0"}, []string{"14", "bulkadmin", "R", "0", "0"},
		[]string{"15", "signed", "C", "0", "0"}, []string{"16", "plain", "S", "0", "0"})
	s.On(membersSQL, []string{"1", "3"}, []string{"10", "3"}, []string{"11", "10"}, []string{"13", "14"}, []string{"15", "3"})
	s.On(permissionsSQL, []string{"12", "CONTROL SERVER", "GRANT"}, []string{"13", "CONNECT SQL", "DENY"}, []string{"16", "CONNECT SQL", "GRANT"},
		[]string{"12", "ALTER ANY LOGIN", "GRANT_WITH_GRANT_OPTION"})
	s.On(seenSQL, []string{"app"})
	a, state := srv.assess()
	var got []string
	for _, r := range a.Roles {
		got = append(got, strings.Join([]string{r.Name, strings.Join(r.MemberOf, "; "), strings.Join(r.Attributes, ","), r.RemoteLogin, r.PasswordKind}, " | "))
	}
	want := []string{
		"app |  | ALTER ANY LOGIN,CONTROL SERVER | yes | unknown", `CORP\dba | CORP\dba → ops → sysadmin |  | yes | none`,
		"ops | ops → sysadmin |  | no | none", "sa | sa → sysadmin |  | no | unknown", "bulk | bulk → bulkadmin |  | no | unknown",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !a.Roles[0].Superuser || !a.Roles[1].Superuser || a.Roles[4].Superuser || a.Roles[0].LastSeen == nil || a.Roles[1].LastSeen != nil {
		t.Errorf("%+v", a.Roles)
	}
	item := func(kind fleet.ChangeKind, name string) string {
		i := slices.IndexFunc(state.Items, func(i changes.Item) bool { return i.Kind == kind && i.Name == name })
		if i < 0 {
			return ""
		}
		return state.Items[i].Value
	}
	for name, want := range map[string]string{
		item(fleet.ChangedRole, "sa"): "SQL login, disabled", item(fleet.ChangedGrant, `CORP\dba in ops`): "member",
		item(fleet.ChangedGrant, "app on the server"):          "ALTER ANY LOGIN WITH GRANT OPTION, CONTROL SERVER GRANT",
		item(fleet.ChangedGrant, "bulk on the server, denied"): "CONNECT SQL", item(fleet.ChangedSetting, "xp_cmdshell"): "0",
		item(fleet.ChangedVersion, "SQL Server"): "16.0.4135.4",
	} {
		if name != want {
			t.Errorf("%q, want %q", name, want)
		}
	}
}
