package catalogue

import (
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
)

func TestTheEmbeddedCatalogueIsValid(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Load()
	if err != nil || again.Identity() != c.Identity() {
		t.Fatalf("the identity changes from load to load: %v, %v, %v", c.Identity(), again.Identity(), err)
	}
	security := 0
	for _, check := range c.Definitions(fleet.PostgreSQL) {
		if check.Domain == "Security" {
			security++
		}
	}
	if security != 53 {
		t.Errorf("%d security checks, want 53", security)
	}
	if s05, ok := c.Check("PG-S05"); !ok || s05.Evaluate == "" {
		t.Errorf("PG-S05 is %+v, %t: the order of HBA lines cannot be judged by a query", s05, ok)
	}
}

// change is made once in a valid file, which is then refused with words; none: it loads.
type change struct{ old, new, want string }

// loads tries changes of a file of checks.
func loads(t *testing.T, path, valid string, changes map[string]change) {
	t.Helper()
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(fstest.MapFS{path: {Data: []byte(strings.Replace(valid, c.old, c.new, 1))}})
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want an error that says %q", err, c.want)
			}
		})
	}
}

const valid = `
- {id: PG-S01, domain: Security, severity: High, scope: instance, min_version: 90000, title: t, passed: u, rationale: r,
   pass: p, remediation: m, effort: S, references: [pci 2.2.6], query: "select 'a', 'b'", measure: "select 'c'"}
`

func TestLoadNamesEveryFault(t *testing.T) {
	t.Parallel()
	loads(t, "postgresql/checks/a.yaml", valid, map[string]change{
		"valid":               {"", "", ""},
		"unknown member":      {"title: t", "titel: t", "titel"},
		"no passing title":    {"passed: u,", "", "PG-S01: a title for when it passes"},
		"the failing title":   {"passed: u", "passed: t", "PG-S01: a title for when it passes"},
		"a placeholder":       {"query:", "impact: i, names: [a], statements: ['ALTER TABLE {object} X;'], query:", "{object}, which no query names"},
		"an ellipsis":         {"query:", "impact: i, statements: ['ALTER TABLE … X;'], query:", "can be run as it stands"},
		"an ellipsis of dots": {"query:", "impact: i, statements: ['ALTER TABLE ... X;'], query:", "can be run as it stands"},
		"a name in brackets":  {"query:", "impact: i, statements: ['ALTER TABLE <name> X;'], query:", "can be run as it stands"},
		"a comment":           {"query:", "impact: i, statements: ['# do it;'], query:", "can be run as it stands"},
		"no end":              {"query:", "impact: i, statements: ['VACUUM'], query:", "can be run as it stands"},
		"an unused name":      {"query:", "impact: i, names: [a], statements: ['VACUUM;'], query:", "no statement uses the name a"},
		"a statement alone":   {"query:", "statements: ['VACUUM;'], query:", "needs an impact"},
		"a setting not read":  {"query:", "impact: i, statements: ['ALTER SYSTEM SET ssl = on;'], query:", "sets ssl, which the check does not read"},
		"a grant of nothing":  {"query:", "grants: ['GRANT x TO {role};'], query:", "grants and unreadable belong together"},
		"a grant to whom":     {"query:", "unreadable: 'select 1', grants: ['GRANT x TO {whom};'], query:", "a grant uses {whom}"},
		"unknown domain":      {"Security", "Safety", "PG-S01: unknown domain"},
		"unknown severity":    {"High", "Severe", "PG-S01: unknown severity"},
		"unknown scope":       {"instance", "table", "PG-S01: unknown scope"},
		"unknown effort":      {"effort: S", "effort: XL", "PG-S01: unknown effort"},
		"bad id":              {"PG-S01", "S01", "form PG-X00"},
		"version as major":    {"90000", "15", "server_version_num"},
		"no reference":        {"[pci 2.2.6]", "[]", "no reference"},
		"no version":          {"pci 2.2.6", "CIS 5.3", "is to no edition"},
		"said twice":          {"pci 2.2.6", "pci 2.2.6, pci 2.2.6", "is there twice"},
		"two statements":      {"'b'", "'b'; drop table x", "one statement"},
		"nothing measured":    {`, measure: "select 'c'"`, "", "nothing says what was measured"},
		"query and evaluate":  {"query:", "evaluate: x, query:", "either query or evaluate"},
		"malformed read":      {"query:", "reads: [table x], query:", "is no read"},
		"column not dotted":   {"query:", "reads: [column x], query:", "table.column"},
		"dotted but relation": {"query:", "reads: [relation x.y], query:", "table.column"},
	})
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		_, err := load(fstest.MapFS{"postgresql/checks/a.yaml": {Data: []byte(valid)}, "postgresql/checks/b.yaml": {Data: []byte(valid)}})
		if err == nil || !strings.Contains(err.Error(), "PG-S01: defined twice") {
			t.Fatal(err)
		}
	})
}

func TestStatementsAreQuotedAndComplete(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		template string
		values   map[string]string
		want     string
	}{
		"identifier":         {"DROP X {a};", map[string]string{"a": `O"x; DROP`}, `DROP X "O""x; DROP";`},
		"keyword":            {"DROP X {a};", map[string]string{"a": "user"}, `DROP X "user";`},
		"looks like one":     {"DROP X {a};", map[string]string{"a": "{b}"}, `DROP X "{b}";`},
		"hidden letters":     {"DROP X {a};", map[string]string{"a": "a\u202eb\\"}, `DROP X U&"a\202Eb\\";`},
		"spaces to lose":     {"DROP X {a};", map[string]string{"a": " a  b "}, `DROP X U&"\0020a \0020b\0020";`},
		"literal":            {"X {'a'};", map[string]string{"a": "it's"}, `X 'it''s';`},
		"literals":           {"X {'a',};", map[string]string{"a": `["a","$libdir/b"]`}, `X 'a', '$libdir/b';`},
		"identifiers":        {"X ({a,});", map[string]string{"a": `["a","B"]`}, `X (a, "B");`},
		"words":              {"X {A};", map[string]string{"a": "NOCREATEDB"}, `X NOCREATEDB;`},
		"words that are not": {"X {A};", map[string]string{"a": "NOCREATEDB; DROP"}, ""},
		"no list":            {"X {a,};", map[string]string{"a": "a"}, ""},
		"an empty list":      {"X {a,};", map[string]string{"a": "[]"}, ""},
		"not known":          {"X {a};", nil, ""},
		"not readable":       {"X {a};", map[string]string{"a": "a\ufffd"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s []Template
			if err := yaml.Unmarshal([]byte("- "+strconv.Quote(test.template)), &s); err != nil {
				t.Fatal(err)
			}
			s[0].dialect = engineOf(Check{Check: snapshot.Check{Engine: string(fleet.PostgreSQL)}}).Quote
			if got := First(s, test.values); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
