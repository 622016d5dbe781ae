package findings

import (
	"fmt"
	"strings"
	"testing"

	"muster/internal/report/snapshot"
)

// TestNewFindings: F8. Each case is two assessments, one after the other.
func TestNewFindings(t *testing.T) {
	t.Parallel()
	worse := fails("PG-S17", "", "public")
	worse.Violations[0].Severity = "Critical"
	many := fails("PG-C04", "app", "a", "b")
	many.Total = 3
	hidden := looked(fails("PG-C04", "app", "b"))
	hidden.MissingGrants = []snapshot.MissingGrant{{Object: "a in database app", Checks: []string{"PG-C04"}}}
	for name, c := range map[string]struct {
		before, now snapshot.Assessment
		accepted    []snapshot.Exception
		want        string
	}{
		"the same":                  {looked(fails("PG-S17", "", "public")), looked(fails("PG-S17", "", "public")), nil, ""},
		"passed before":             {looked(passes("PG-S17", "")), looked(fails("PG-S17", "", "public", "x")), nil, "2 High PG-S17"},
		"one more":                  {looked(fails("PG-S17", "", "public")), looked(fails("PG-S17", "", "public", "x")), nil, "1 High PG-S17"},
		"several checks":            {looked(passes("PG-S17", ""), passes("PG-C04", "app")), looked(fails("PG-C04", "app", "i"), fails("PG-S17", "", "x")), nil, "1 High PG-S17, 1 Low PG-C04"},
		"more severe":               {looked(fails("PG-S17", "", "public")), looked(worse), nil, "1 Critical PG-S17"},
		"less severe":               {looked(worse), looked(fails("PG-S17", "", "public")), nil, ""},
		"could not look before":     {looked(blind("PG-S17", "", "no grant")), looked(fails("PG-S17", "", "public")), nil, ""},
		"could not look now":        {looked(passes("PG-S17", "")), looked(blind("PG-S17", "", "no grant")), nil, ""},
		"a check that is new":       {looked(passes("PG-S30", "")), looked(fails("PG-S17", "", "public")), nil, ""},
		"a database that is new":    {looked(passes("PG-C04", "app")), looked(passes("PG-C04", "app"), fails("PG-C04", "b", "i")), nil, "1 Low PG-C04"},
		"a database that was shut":  {looked(passes("PG-C04", "app"), blind("PG-C04", "b", "shut")), looked(fails("PG-C04", "b", "i")), nil, ""},
		"a feed did not tell":       {looked(blind("PG-C04", "", "not told")), looked(fails("PG-C04", "b", "i")), nil, ""},
		"behind the listed":         {looked(many), looked(fails("PG-C04", "app", "a", "c")), nil, ""},
		"an object that was hidden": {hidden, looked(fails("PG-C04", "app", "a", "b")), nil, ""},
		"did not apply":             {looked(snapshot.CheckResult{CheckID: "PG-S17", Status: snapshot.StatusNotApplicable}), looked(fails("PG-S17", "", "x")), nil, "1 High PG-S17"},
		"accepted":                  {looked(passes("PG-S17", "")), looked(fails("PG-S17", "", "x")), []snapshot.Exception{{CheckID: "PG-S17", Until: noon.AddDate(1, 0, 0)}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var words []string
			for _, n := range since(acme, orders, c.before, c.now, checks, c.accepted, noon) {
				words = append(words, fmt.Sprint(n.Findings, " ", n.Severity, " ", n.CheckID))
			}
			if got := strings.Join(words, ", "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
