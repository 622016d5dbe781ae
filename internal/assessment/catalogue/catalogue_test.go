package catalogue

import (
	"strings"
	"testing"
	"testing/fstest"
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
	for _, check := range c.Definitions() {
		if check.Domain == "Security" {
			security++
		}
	}
	if security != 36 {
		t.Errorf("%d security checks, want 36", security)
	}
	if s05, ok := c.Check("PG-S05"); !ok || s05.Evaluate == "" {
		t.Errorf("PG-S05 is %+v, %t: the order of HBA lines cannot be judged by a query", s05, ok)
	}
}

const valid = `
- {id: PG-S01, domain: Security, severity: High, scope: instance, min_version: 90000, title: t, passed: u, rationale: r,
   pass: p, remediation: m, effort: S, references: [x], query: "select 'a', 'b'"}
`

func TestLoadNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ old, new, want string }{
		"valid":               {"", "", ""},
		"unknown member":      {"title: t", "titel: t", "titel"},
		"no passing title":    {"passed: u,", "", "PG-S01: a title for when it passes"},
		"the failing title":   {"passed: u", "passed: t", "PG-S01: a title for when it passes"},
		"unknown domain":      {"Security", "Safety", "PG-S01: unknown domain"},
		"unknown severity":    {"High", "Severe", "PG-S01: unknown severity"},
		"unknown scope":       {"instance", "table", "PG-S01: unknown scope"},
		"unknown effort":      {"effort: S", "effort: XL", "PG-S01: unknown effort"},
		"bad id":              {"PG-S01", "S01", "form PG-X00"},
		"version as major":    {"90000", "15", "server_version_num"},
		"no reference":        {"[x]", "[]", "no reference"},
		"two statements":      {"'b'", "'b'; drop table x", "one statement"},
		"query and evaluate":  {"query:", "evaluate: x, query:", "either query or evaluate"},
		"malformed read":      {"query:", "reads: [table x], query:", "is no read"},
		"column not dotted":   {"query:", "reads: [column x], query:", "table.column"},
		"dotted but relation": {"query:", "reads: [relation x.y], query:", "table.column"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(valid, test.old, test.new, 1)
			_, err := load(fstest.MapFS{"a.yaml": {Data: []byte(text)}})
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want an error that says %q", err, test.want)
			}
		})
	}
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		_, err := load(fstest.MapFS{"a.yaml": {Data: []byte(valid)}, "b.yaml": {Data: []byte(valid)}})
		if err == nil || !strings.Contains(err.Error(), "PG-S01: defined twice") {
			t.Fatal(err)
		}
	})
}
