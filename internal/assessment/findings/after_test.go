package findings

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/report/snapshot"
)

var (
	acme   = uuid.MustParse("0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01")
	orders = uuid.MustParse("0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a02")
	noon   = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

// checks are a catalogue of three.
var checks = []snapshot.Check{
	{ID: "PG-S17", Severity: "High", Domain: "Security"}, {ID: "PG-S30", Severity: "Medium", Domain: "Security"},
	{ID: "PG-C04", Severity: "Low", Domain: "Schema"},
}

func fails(check, database string, objects ...string) snapshot.CheckResult {
	r := snapshot.CheckResult{CheckID: check, Database: database, Status: snapshot.StatusFail, Total: len(objects), Threshold: "none"}
	for _, o := range objects {
		r.Violations = append(r.Violations, snapshot.Violation{Object: o, Evidence: "seen"})
	}
	return r
}

func passes(check, database string) snapshot.CheckResult {
	return snapshot.CheckResult{CheckID: check, Database: database, Status: snapshot.StatusPass}
}

func blind(check, database, reason string) snapshot.CheckResult {
	return snapshot.CheckResult{CheckID: check, Database: database, Status: snapshot.StatusNotAssessed, Reason: reason}
}

func looked(results ...snapshot.CheckResult) snapshot.Assessment {
	return snapshot.Assessment{Outcome: snapshot.OutcomeComplete, Results: results}
}

// told lists each finding with its subject and its first time, in hours after noon.
func told(rows []Finding) string {
	hour := func(t time.Time) string { return fmt.Sprint(int(t.Sub(noon).Hours())) }
	var words []string
	for _, f := range rows {
		what := strings.Join(strings.Fields(f.CheckID+" "+f.Database+" "+f.Object), " ")
		if !f.Assessed {
			what = "?" + what
		}
		what += " " + hour(f.FirstSeen) + "-" + hour(f.LastSeen)
		if f.Gone != nil {
			what += " gone " + hour(*f.Gone)
		}
		if f.Reason != "" {
			what += " (" + f.Reason + ")"
		}
		words = append(words, what)
	}
	slices.Sort(words)
	return strings.Join(words, "; ")
}

// TestTheFirstSightOfAFinding: each case is assessments an hour apart, and the state after the last.
func TestTheFirstSightOfAFinding(t *testing.T) {
	t.Parallel()
	many := fails("PG-C04", "app", "a", "b")
	many.Total = 3
	half := looked(fails("PG-C04", "app", "b"))
	half.MissingGrants = []snapshot.MissingGrant{{Object: "a in database app", Checks: []string{"PG-C04"}}, {Object: "a in database other", Checks: []string{"PG-C04"}}}
	schema := looked(fails("PG-C06", "app", "other.c"))
	schema.MissingGrants = []snapshot.MissingGrant{{Object: "4 sequences of schema shop in database app", Checks: []string{"PG-C06"}}}
	for name, c := range map[string]struct {
		assessments []snapshot.Assessment
		want        string
	}{
		"found":               {[]snapshot.Assessment{looked(fails("PG-S17", "", "public"))}, "PG-S17 public 0-0"},
		"found again":         {[]snapshot.Assessment{looked(fails("PG-S17", "", "public")), looked(fails("PG-S17", "", "public", "x"))}, "PG-S17 public 0-1; PG-S17 x 1-1"},
		"gone":                {[]snapshot.Assessment{looked(fails("PG-S17", "", "public")), looked(passes("PG-S17", ""))}, "PG-S17 public 0-0 gone 1"},
		"gone for longer":     {[]snapshot.Assessment{looked(fails("PG-S17", "", "public")), looked(passes("PG-S17", "")), looked(passes("PG-S17", ""))}, ""},
		"came back":           {[]snapshot.Assessment{looked(fails("PG-S17", "", "public")), looked(passes("PG-S17", "")), looked(fails("PG-S17", "", "public"))}, "PG-S17 public 2-2"},
		"out of reach":        {[]snapshot.Assessment{looked(fails("PG-S17", "", "public")), {Outcome: snapshot.OutcomeUnreachable}}, "PG-S17 public 0-0"},
		"could not look":      {[]snapshot.Assessment{looked(fails("PG-S17", "", "public")), looked(blind("PG-S17", "", "no grant"))}, "?PG-S17 1-1 (no grant); PG-S17 public 0-0 (no grant)"},
		"looked again":        {[]snapshot.Assessment{looked(fails("PG-S17", "", "public")), looked(blind("PG-S17", "", "no grant")), looked(fails("PG-S17", "", "public"))}, "?PG-S17 1-1 gone 2 (no grant); PG-S17 public 0-2"},
		"another database":    {[]snapshot.Assessment{looked(fails("PG-C04", "app", "a"), fails("PG-C04", "b", "a")), looked(passes("PG-C04", "app"), blind("PG-C04", "b", "closed"))}, "?PG-C04 b 1-1 (closed); PG-C04 app a 0-0 gone 1; PG-C04 b a 0-0 (closed)"},
		"told of no database": {[]snapshot.Assessment{looked(fails("PG-C04", "app", "a")), looked(blind("PG-C04", "", "not told"))}, "?PG-C04 1-1 (not told); PG-C04 app a 0-0 (not told)"},
		"a dropped database":  {[]snapshot.Assessment{looked(fails("PG-C04", "app", "a")), looked(passes("PG-S17", ""))}, "PG-C04 app a 0-0 gone 1"},
		"behind the listed":   {[]snapshot.Assessment{looked(fails("PG-C04", "app", "aa", "c")), looked(many)}, "PG-C04 app a 1-1; PG-C04 app aa 0-0 gone 1; PG-C04 app b 1-1; PG-C04 app c 0-0 (The last assessment lists the first 2 objects of this check, and this one would come after them.)"},
		"a hidden object":     {[]snapshot.Assessment{looked(fails("PG-C04", "app", "a", "c")), half}, "PG-C04 app a 0-0 (The monitoring role may not read it.); PG-C04 app b 1-1; PG-C04 app c 0-0 gone 1"},
		"a hidden schema":     {[]snapshot.Assessment{looked(fails("PG-C06", "app", "other.d", "shop.a", "shopping.b")), schema}, "PG-C06 app other.c 1-1; PG-C06 app other.d 0-0 gone 1; PG-C06 app shop.a 0-0 (The monitoring role may not read it.); PG-C06 app shopping.b 0-0 gone 1"},
		"no object":           {[]snapshot.Assessment{looked(snapshot.CheckResult{CheckID: "PG-S30", Status: snapshot.StatusFail, Measured: "14"})}, "PG-S30 0-0"},
		"two that are alike":  {[]snapshot.Assessment{looked(fails("PG-S17", "", "x", "x")), looked(fails("PG-S17", "", "x"))}, "PG-S17 x 0-0 gone 1; PG-S17 x 0-1"},
		"not applicable":      {[]snapshot.Assessment{looked(fails("PG-S17", "", "x")), looked(snapshot.CheckResult{CheckID: "PG-S17", Status: snapshot.StatusNotApplicable})}, "PG-S17 x 0-0 gone 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rows []Finding
			for i, a := range c.assessments {
				rows = after(rows, acme, orders, a, checks, noon.Add(time.Duration(i)*time.Hour))
			}
			if got := told(rows); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestAnIDFollowsTheObjectOfAFinding, and nothing else: it survives everything but another object, and those of
// a check lie together.
func TestAnIDFollowsTheObjectOfAFinding(t *testing.T) {
	t.Parallel()
	of := func(organization, instance uuid.UUID, r snapshot.CheckResult) uuid.UUID {
		rows := after(nil, organization, instance, looked(r), checks, noon)
		if len(rows) != 1 {
			t.Fatalf("%d findings", len(rows))
		}
		return rows[0].ID
	}
	one := of(acme, orders, fails("PG-S17", "app", "x"))
	worse := fails("PG-S17", "app", "x")
	worse.Violations[0].Severity, worse.Violations[0].Evidence = "Critical", "changed"
	if of(acme, orders, worse) != one {
		t.Error("it depends on what was found")
	}
	others := []uuid.UUID{
		of(uuid.New(), orders, fails("PG-S17", "app", "x")), of(acme, uuid.New(), fails("PG-S17", "app", "x")),
		of(acme, orders, fails("PG-S17", "", "x")), of(acme, orders, fails("PG-S17", "app", "y")), of(acme, orders, blind("PG-S17", "app", "")),
		of(acme, orders, fails("PG-S17", "appx", "")), of(acme, orders, fails("PG-S17", `app" "x`, "")),
	}
	for i, id := range others {
		if id == one || slices.Contains(others[i+1:], id) {
			t.Errorf("%d has the id of another", i)
		}
		if !slices.Equal(id[:8], one[:8]) {
			t.Errorf("%d does not lie beside the others of its check", i)
		}
	}
	if other := of(acme, orders, fails("PG-S30", "app", "x")); slices.Equal(other[:8], one[:8]) {
		t.Error("another check has the same half")
	}
}

// TestTextThatPostgreSQLCannotStore is shown, and no statement is given for it.
func TestTextThatPostgreSQLCannotStore(t *testing.T) {
	t.Parallel()
	r := fails("PG-S17", "app", "a\x00b\xff")
	r.Violations[0].Fix = &snapshot.Fix{Statement: "DROP INDEX \"a\x00b\";", Rollback: "x"}
	rows := after(nil, acme, orders, looked(r), checks, noon)
	if f := rows[0]; f.Object != "a\uFFFDb\uFFFD" || f.Statement != "" || f.Rollback != "" {
		t.Errorf("%+v", f)
	}
}
