package analysis_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/snapshottest"
)

// except is an exception to a check on an instance (nil: all), a database and an
// object.
func except(check string, instance *uuid.UUID, database, object string) snapshot.Exception {
	x := snapshot.Exception{ID: uuid.New(), CheckID: check, InstanceID: instance, Object: object, Reason: check + "/" + database + "/" + object}
	if database != "" {
		x.Database = &snapshot.DatabaseRef{Name: database}
	}
	return x
}

// places lists findings as instance/database/object, and what is not listed.
func places(groups []analysis.CheckFindings) string {
	var out []string
	for _, g := range groups {
		for _, f := range g.Findings {
			out = append(out, g.Check.ID+":"+f.InstanceName+"/"+f.Database+"/"+f.Object)
		}
		if g.Unlisted > 0 {
			out = append(out, fmt.Sprintf("%s+%d", g.Check.ID, g.Unlisted))
		}
	}
	return strings.Join(out, " ")
}

func TestExceptionsCover(t *testing.T) {
	t.Parallel()
	beyond := on("d2", fail("M1", "t"))
	beyond.Total = 10
	results := []snapshot.CheckResult{fail("C1", "x", "y"), fail("H1"), on("d1", fail("M1", "t", "u")), beyond, status("L1", "pass")}
	for _, c := range []struct {
		name           string
		exceptions     []snapshot.Exception
		open, accepted string
	}{
		{"none", nil, "C1:a//x C1:a//y C1:b//x C1:b//y H1:a// H1:b// M1:a/d1/t M1:a/d1/u M1:a/d2/t M1:b/d1/t M1:b/d1/u M1:b/d2/t M1+18", ""},
		{"a check everywhere", []snapshot.Exception{except("M1", nil, "", "")},
			"C1:a//x C1:a//y C1:b//x C1:b//y H1:a// H1:b//", "M1:a/d1/t M1:a/d1/u M1:a/d2/t M1:b/d1/t M1:b/d1/u M1:b/d2/t M1+18"},
		{"a check on an instance", []snapshot.Exception{except("M1", &one, "", ""), except("H1", &two, "", "")},
			"C1:a//x C1:a//y C1:b//x C1:b//y H1:a// M1:b/d1/t M1:b/d1/u M1:b/d2/t M1+9", "H1:b// M1:a/d1/t M1:a/d1/u M1:a/d2/t M1+9"},
		{"a database", []snapshot.Exception{except("M1", &one, "d2", "")},
			"C1:a//x C1:a//y C1:b//x C1:b//y H1:a// H1:b// M1:a/d1/t M1:a/d1/u M1:b/d1/t M1:b/d1/u M1:b/d2/t M1+9", "M1:a/d2/t M1+9"},
		{"an object everywhere", []snapshot.Exception{except("C1", nil, "", "y"), except("M1", nil, "", "t")},
			// Where only what is not listed is left, the check itself stands for one of it.
			"C1:a//x C1:b//x H1:a// H1:b// M1:a/d1/u M1:a/d2/ M1:b/d1/u M1:b/d2/ M1+16",
			"C1:a//y C1:b//y M1:a/d1/t M1:a/d2/t M1:b/d1/t M1:b/d2/t"},
		{"an object of a database", []snapshot.Exception{except("M1", &one, "d1", "u"), except("C1", &one, "", "x")},
			"C1:a//y C1:b//x C1:b//y H1:a// H1:b// M1:a/d1/t M1:a/d2/t M1:b/d1/t M1:b/d1/u M1:b/d2/t M1+18", "C1:a//x M1:a/d1/u"},
		{"what is not there", []snapshot.Exception{except("C1", nil, "", "z"), except("H1", nil, "", "x"), except("H1", &one, "d1", ""), except("M1", nil, "d1", ""), except("L1", nil, "", ""), except("Z", nil, "", "")},
			"C1:a//x C1:a//y C1:b//x C1:b//y H1:a// H1:b// M1:a/d1/t M1:a/d1/u M1:a/d2/t M1:b/d1/t M1:b/d1/u M1:b/d2/t M1+18", ""},
	} {
		doc := document(instance(one, "a", results...), instance(two, "b", results...))
		doc.Exceptions = c.exceptions
		if got := places(analysis.Findings(doc)); got != c.open {
			t.Errorf("%s: open\n%s, want\n%s", c.name, got, c.open)
		}
		if got := places(analysis.Accepted(doc)); got != c.accepted {
			t.Errorf("%s: accepted\n%s, want\n%s", c.name, got, c.accepted)
		}
		for _, g := range analysis.Findings(doc) {
			for _, f := range g.Findings {
				if f.Exception != nil {
					t.Errorf("%s: open, with an exception: %+v", c.name, f)
				}
			}
		}
	}
}

func TestTheNarrowestExceptionIsNamed(t *testing.T) {
	t.Parallel()
	everywhere, here, database := except("M1", nil, "", ""), except("M1", &one, "", ""), except("M1", &one, "d", "")
	object, objectHere, objectThere := except("M1", nil, "", "t"), except("M1", &one, "", "t"), except("M1", &one, "d", "t")
	doc := document(instance(one, "a", on("d", fail("M1", "t"))))
	for _, want := range []snapshot.Exception{objectThere, objectHere, object, database, here, everywhere} {
		// Whatever is wider is there as well, in the way.
		doc.Exceptions = append([]snapshot.Exception{want}, doc.Exceptions...)
	}
	for len(doc.Exceptions) > 0 {
		want := []snapshot.Exception{objectThere, objectHere, object, database, here, everywhere}[6-len(doc.Exceptions)]
		if got := analysis.Accepted(doc)[0].Findings[0].Exception; got.ID != want.ID {
			t.Errorf("of %d it is %s, want %s", len(doc.Exceptions), got.Reason, want.Reason)
		}
		doc.Exceptions = doc.Exceptions[:len(doc.Exceptions)-1]
	}
	longer := everywhere
	longer.ID, longer.Until = uuid.New(), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	doc.Exceptions = []snapshot.Exception{everywhere, longer}
	if got := analysis.Accepted(doc)[0].Findings[0].Exception; got.ID != longer.ID {
		t.Error("of two that are alike it is not the one that holds longer")
	}
}

// What is accepted leaves numerator and denominator of the share that fails.
func TestPartlyAcceptedCountsForTheRest(t *testing.T) {
	t.Parallel()
	r := on("d", fail("M1", "t", "u", "v"))
	r.FailFraction = 0.3 // 3 of 10
	doc := document(instance(one, "a", r))
	doc.Exceptions = []snapshot.Exception{except("M1", nil, "", "t"), except("M1", nil, "", "u")}
	got := analysis.Results(doc, &doc.Instances[0])[0]
	if got.Status != snapshot.StatusFail || got.Total != 1 || math.Abs(got.FailFraction-1.0/8) > 1e-12 {
		t.Errorf("%s, %d left, %f fail, want 1 of 8", got.Status, got.Total, got.FailFraction)
	}
	if n := analysis.AcceptedCounts(doc, &doc.Instances[0]); !slices.Equal(n, []int{2}) {
		t.Errorf("%d accepted", n)
	}
	doc.Exceptions = append(doc.Exceptions, except("M1", nil, "", "v"))
	if s := analysis.HealthScore(doc, &doc.Instances[0]); s.Known || s.Accepted != 1 {
		t.Errorf("nothing is left, and it scores %+v", s)
	}
	if plan := analysis.Plan(doc); len(plan) != 0 {
		t.Errorf("a plan for what is accepted: %+v", plan)
	}
}

// An accepted version check leaves the CVEs of the version open, and in the plan.
func TestExceptionsDoNotCoverCVEs(t *testing.T) {
	t.Parallel()
	in := instance(one, "a", fail("PG-S31", "15.3"))
	in.Release, in.CVEs = &snapshot.Release{Major: "15", Target: "15.9"}, []snapshot.InstanceCVE{{ID: "CVE-1", Applies: "open"}}
	doc := document(in)
	doc.Vulnerabilities = []snapshot.Vulnerability{{ID: "CVE-1", CVSS: 7.5}}
	doc.Exceptions = []snapshot.Exception{except("PG-S31", nil, "", ""), except("CVE-1", nil, "", "")}
	plan := analysis.Plan(doc)
	if len(analysis.Findings(doc)) != 0 || len(plan) != 1 || !slices.Equal(plan[0].Checks, []string{analysis.OpenCVEs}) {
		t.Errorf("plan %+v", plan)
	}
}

func TestChangeSinceSeparatesAcceptedFindings(t *testing.T) {
	t.Parallel()
	key := func(object string) snapshot.FindingKey {
		return snapshot.FindingKey{InstanceID: one, CheckID: "C1", Object: object}
	}
	doc := document(instance(one, "a", fail("C1", "kept", "accepted now", "open again", "new", "accepted still")))
	doc.Exceptions = []snapshot.Exception{except("C1", nil, "", "accepted now"), except("C1", nil, "", "accepted still")}
	doc.Previous = &snapshot.Previous{
		Findings: []snapshot.FindingKey{key("kept"), key("accepted now"), key("gone")},
		Accepted: []snapshot.FindingKey{key("open again"), key("accepted still"), key("gone while accepted"), key("kept")},
	}
	want := analysis.Change{New: 1, Closed: 1, Unchanged: 1, Accepted: 1, Reopened: 1, NewBy: analysis.SeverityCounts{2}, ClosedBy: analysis.SeverityCounts{1}}
	if got, ok := analysis.ChangeSince(doc); !ok || got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestAcceptances(t *testing.T) {
	t.Parallel()
	severe := fail("L1", "x")
	severe.Severity = "Critical"
	beyond := on("d", fail("M1", "t"))
	beyond.Total = 10
	doc := document(instance(one, "a", fail("H1", "x", "y"), fail("L1", "x"), beyond), instance(two, "b", severe, fail("H1", "y")))
	doc.Exceptions = []snapshot.Exception{
		except("M1", nil, "", ""), except("H1", &one, "", ""), except("H1", nil, "", "y"), except("C1", nil, "", ""), except("L1", nil, "", ""),
	}
	for i := range doc.Exceptions {
		doc.Exceptions[i].ID = uuid.UUID{15: byte(i)}
	}
	var got []string
	for _, a := range analysis.Acceptances(doc) {
		line := fmt.Sprintf("%s %s %d:", a.Check.ID, a.Check.Severity, a.Total())
		for _, f := range a.Findings {
			line += " " + f.Severity + ":" + f.InstanceName + "/" + f.Database + "/" + f.Object
		}
		got = append(got, line)
	}
	want := []string{
		"C1 Critical 0:", // in force, though nothing fails
		"L1 Critical 2: Low:a//x Critical:b//x",
		"H1 High 1: High:a//x",
		"H1 High 2: High:a//y High:b//y", // the one that names the object
		"M1 Medium 10: Medium:a/d/t",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := analysis.AcceptedCounts(doc, &doc.Instances[0]); !slices.Equal(n, []int{2, 1, 10}) {
		t.Errorf("%v accepted", n)
	}
	for kind, want := range map[report.Kind]int{report.Security: 3, report.DataInventory: 3, report.InstanceScorecard: 5} {
		doc.Kind = string(kind)
		if got := analysis.Acceptances(doc); len(got) != want {
			t.Errorf("%s is about %d exceptions, want %d", kind, len(got), want)
		}
	}
}

// Every finding is open or accepted, never both and never neither, whatever the
// exceptions; and so is the change since the report before.
func TestOpenAndAcceptedAreAll(t *testing.T) {
	t.Parallel()
	kinds := []report.Kind{report.Security, report.InstanceScorecard, report.DataInventory}
	rapid.Check(t, func(t *rapid.T) {
		doc := snapshottest.Rich(rapid.SampledFrom(kinds).Draw(t, "kind"))
		before := snapshottest.Rich(report.Kind(doc.Kind))
		doc.Exceptions, before.Exceptions = drawExceptions(t, doc), drawExceptions(t, doc)
		open, others := analysis.Keys(before)
		doc.Previous = &snapshot.Previous{Findings: open, Accepted: others}

		bare := doc
		bare.Exceptions = nil
		all := analysis.CountBySeverity(analysis.Findings(bare))
		for i, n := range analysis.CountBySeverity(analysis.Accepted(doc)) {
			if all[i] -= n; all[i] != analysis.CountBySeverity(analysis.Findings(doc))[i] {
				t.Fatalf("%s: %d open and %d accepted are not all", analysis.Severities[i], analysis.CountBySeverity(analysis.Findings(doc))[i], n)
			}
		}
		accepted := 0
		for _, a := range analysis.Acceptances(doc) {
			accepted += a.Total()
		}
		if want := analysis.CountBySeverity(analysis.Accepted(doc)).Total(); accepted != want {
			t.Fatalf("%d are listed with their exceptions, %d are accepted", accepted, want)
		}
		c, _ := analysis.ChangeSince(doc)
		now, _ := analysis.Keys(doc)
		if c.Unchanged+c.Accepted+c.Closed+c.Unknown != len(open) || c.New+c.Unchanged+c.Reopened != len(now) {
			t.Fatalf("%+v does not add up to %d before and %d now", c, len(open), len(now))
		}
		if c.Closed+c.New+c.Unknown != 0 {
			t.Fatalf("nothing but the exceptions differs, and the change is %+v", c)
		}
		for i := range doc.Instances {
			in := &doc.Instances[i]
			if got, want := len(analysis.Results(doc, in)), len(analysis.Results(bare, in)); got != want {
				t.Fatalf("%d results, %d without exceptions", got, want)
			}
			for _, r := range analysis.Results(doc, in) {
				if !(r.FailFraction >= 0 && r.FailFraction <= 1) {
					t.Fatalf("%s fails on %f of its objects", r.CheckID, r.FailFraction)
				}
			}
			with, without := analysis.HealthScore(doc, in), analysis.HealthScore(bare, in)
			if with.Known && with.NotAssessed != without.NotAssessed {
				t.Fatalf("an exception changes what was not assessed")
			}
		}
		if a, b := analysis.AssessmentCoverage(doc), analysis.AssessmentCoverage(bare); a != b {
			t.Fatalf("an exception changes the coverage: %+v, %+v", a, b)
		}
	})
}

// drawExceptions makes exceptions over what a document has and has not.
func drawExceptions(t *rapid.T, doc snapshot.Document) []snapshot.Exception {
	var out []snapshot.Exception
	for range rapid.IntRange(0, 6).Draw(t, "exceptions") {
		x := snapshot.Exception{ID: uuid.New(), CheckID: rapid.SampledFrom(doc.Checks).Draw(t, "check").ID}
		if rapid.Bool().Draw(t, "on an instance") {
			in := rapid.SampledFrom(doc.Instances).Draw(t, "instance")
			x.InstanceID = &in.ID
			if len(in.Databases) > 0 && rapid.Bool().Draw(t, "in a database") {
				db := rapid.SampledFrom(in.Databases).Draw(t, "database")
				x.Database = &snapshot.DatabaseRef{ID: db.ID, Name: db.Name}
			}
		}
		x.Object = rapid.SampledFrom([]string{"", "", "line 94", "etl_nightly", "public.customer_01", "nothing"}).Draw(t, "object")
		out = append(out, x)
	}
	return out
}

// Two calls over one document, with its exceptions in any order, say the same.
func TestExceptionsInAnyOrder(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	doc.Exceptions = append(doc.Exceptions, doc.Exceptions[0])
	doc.Exceptions[0].ID = uuid.UUID{1}
	want, acceptances := analysis.Accepted(doc), analysis.Acceptances(doc)
	if len(want) == 0 {
		t.Fatal("the sample accepts nothing")
	}
	for range doc.Exceptions {
		doc.Exceptions = append(doc.Exceptions[1:len(doc.Exceptions):len(doc.Exceptions)], doc.Exceptions[0])
		if diff := cmp.Diff(want, analysis.Accepted(doc)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(acceptances, analysis.Acceptances(doc)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}
