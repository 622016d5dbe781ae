package catalogue

import (
	"slices"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
)

// TestEveryEngineHasItsChecks: an instance is assessed by the checks of its engine, and
// by no other's.
func TestEveryEngineHasItsChecks(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for engine, least := range map[fleet.Engine]int{fleet.PostgreSQL: 67, fleet.SQLServer: 67, fleet.Oracle: 58} {
		of := c.Of(engine)
		total += len(of)
		if len(of) < least {
			t.Errorf("%s has %d checks", engine, len(of))
		}
		for _, check := range of {
			if check.Query == "" && check.Evaluate == "" || check.Engine != string(engine) {
				t.Errorf("%s of %s: nothing runs it, or its engine is %s", check.ID, engine, check.Engine)
			}
		}
		if defined := c.Definitions(engine); len(defined) != len(of) || slices.ContainsFunc(defined, func(d snapshot.Check) bool { return d.Engine != string(engine) }) {
			t.Errorf("%s: %d definitions of %d checks", engine, len(defined), len(of))
		}
	}
	if all := c.Checks(); len(all) != total || len(c.Definitions()) != total || len(c.Of(fleet.MongoDB)) != 0 {
		t.Errorf("%d checks, %d of the engines", len(all), total)
	}
}

const fed = `
- {id: MS-01, domain: Security, severity: High, scope: instance, title: t, passed: u, rationale: r, pass: p, remediation: m,
   impact: i, effort: S, references: [pci 2.2.6], object: '{login}', reads: ['option xp_cmdshell'], rights: [x], query: "select 'a', 'b'", statements: ['ALTER LOGIN {login} DISABLE;']}
`

func TestLoadNamesEveryFaultOfAFedCheck(t *testing.T) {
	t.Parallel()
	loads(t, "sqlserver/checks/a.yaml", fed, map[string]change{
		"valid":                 {"", "", ""},
		"another engine's id":   {"MS-01", "PG-S01", "form MS-00"},
		"nothing runs it":       {"query: \"select 'a', 'b'\",", "", "either query or evaluate"},
		"two things run it":     {"effort: S", "effort: S, evaluate: x", "either query or evaluate"},
		"two statements":        {"'b'\"", "'b'; drop table x\"", "one statement"},
		"nothing measured":      {"'option xp_cmdshell'", "'view sys.logins(name)'", "nothing says what was measured"},
		"a rule's population":   {"query: \"select 'a', 'b'\"", "evaluate: build_behind, population: select 1", "belong to a query"},
		"an unknown rule":       {"query: \"select 'a', 'b'\"", "evaluate: x", "evaluate is build_behind"},
		"PostgreSQL's names":    {"effort: S", "effort: S, names: [a]", "names, run_in and grants are PostgreSQL's"},
		"no object":             {"object: '{login}',", "", "object says how what fails is named"},
		"an open brace":         {"'{login}', reads", "'{login', reads", "no form of an object"},
		"another's words":       {"'option xp_cmdshell'", "'setting ssl'", "which is PostgreSQL's"},
		"a view without column": {"'option xp_cmdshell'", "'view sys.databases'", "is no read"},
		"no reads":              {"reads: ['option xp_cmdshell'],", "", "nothing says what it reads"},
		"no rights":             {"rights: [x],", "", "which rights it needs"},
		"an unknown variable":   {"'ALTER LOGIN {login} DISABLE;'", "'ALTER LOGIN {name} DISABLE;'", "{name}, which the object does not name"},
		"a placeholder":         {"'ALTER LOGIN {login} DISABLE;'", "'ALTER LOGIN <login> DISABLE;'", "can be run as it stands"},
		"no impact":             {"impact: i,", "", "needs an impact"},
	})
}

// TestAFixIsAboutTheObject: an object that a feed names is written as the engine writes names,
// and an ambiguous or invisible name has no statement.
func TestAFixIsAboutTheObject(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ check, database, object, want string }{
		{"MS-02", "", "sa", "ALTER LOGIN [sa] DISABLE;"},
		{"MS-02", "", "x]; DROP LOGIN y; --", "ALTER LOGIN [x]]; DROP LOGIN y; --] DISABLE;"},
		{"MS-02", "", "a\u202eb", ""},
		{"MS-02", "", " sa", ""},
		{"MS-02", "", "", ""},
		{"MS-02", "", "a\nb", ""},
		{"MS-02", "", strings.Repeat("a", 129), ""},
		{"MS-02", "", "very_long… #0a1b2c3d", ""},
		{"MS-06", "", "O'Option", "EXEC sys.sp_configure N'show advanced options', 1;\nRECONFIGURE;\nEXEC sys.sp_configure N'O''Option', 0;\nRECONFIGURE;"},
		{"MS-03", "", "sa", ""},
		{"OR-01", "", "SCOTT", `ALTER USER "SCOTT" PASSWORD EXPIRE ACCOUNT LOCK;`},
		{"OR-01", "", `SC"OTT`, ""},
		{"OR-11", "", "something else", ""},
		{"PG-S17", "sales", "public", ""},
		{"PG-S14", "", "deploy", ""},
	} {
		check, ok := c.Check(test.check)
		if !ok {
			t.Fatalf("no %s", test.check)
		}
		got := ""
		if fix := check.Fix(test.database, test.object); fix != nil {
			got = fix.Statement
		}
		if got != test.want {
			t.Errorf("%s of %q: %q, want %q", test.check, test.object, got, test.want)
		}
	}
	sa, _ := c.Check("MS-02")
	if fix := sa.Fix("", "sa"); fix.Rollback != "ALTER LOGIN [sa] ENABLE;" || !strings.HasSuffix(sa.Impact, untried) {
		t.Errorf("%+v, impact %q", fix, sa.Impact)
	}
	for _, check := range c.Checks() {
		if check.Engine == string(fleet.PostgreSQL) && strings.Contains(check.Impact, untried) {
			t.Errorf("%s was tried", check.ID)
		}
	}
}

// TestFault45AFeedOfPostgreSQLHasStatements, which are proven, where they name no object: a setting is changed by the same
// statement on any server. Nobody knows what it was before.
func TestFault45AFeedOfPostgreSQLHasStatements(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, check := range c.Of(fleet.PostgreSQL) {
		fix := check.Fix("sales", check.Title)
		if fix == nil {
			continue
		}
		if n++; strings.Contains(fix.Statement, "{") || fix.Rollback != "" || fix.Database != "" {
			t.Errorf("%s: %+v", check.ID, fix)
		}
	}
	logging, _ := c.Check("PG-S25")
	if fix := logging.Fix("", "Connection logging is off"); n < 10 || fix == nil || !strings.HasPrefix(fix.Statement, "ALTER SYSTEM SET log_connections = on;") {
		t.Errorf("%d have a statement; of PG-S25 %+v", n, fix)
	}
}

// TestObjectNamesAreSplit only if there is exactly one way to.
func TestObjectNamesAreSplit(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	member, _ := c.Check("MS-11")
	for object, want := range map[string]string{
		`CORP\dba in sysadmin`: `CORP\dba|sysadmin`,
		"a in b in sysadmin":   "",
		"sysadmin":             "",
		" in ":                 "",
	} {
		values, ok := member.Object.read(object)
		if got := strings.Trim(values["login"]+"|"+values["role"], "|"); got != want || ok != (want != "") {
			t.Errorf("%q is %q, want %q", object, got, want)
		}
	}
}

// TestRightsMatchTheObjectsRead: for a fixed view of Oracle the grant is on the view
// behind its synonym, and no grant exceeds what is read.
func TestRightsMatchTheObjectsRead(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string][]string{
		"OR-06":  {"SELECT on SYS.DBA_ROLE_PRIVS", "SELECT on SYS.V_$PWFILE_USERS"},
		"OR-09":  {"SELECT on SYS.V_$PARAMETER"},
		"MS-01":  {"membership in public"},
		"PG-S01": {"EXECUTE on pg_catalog.pg_hba_file_rules()", "SELECT on pg_catalog.pg_hba_file_rules"},
	} {
		check, _ := c.Check(id)
		if got := check.LeastRights(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}
