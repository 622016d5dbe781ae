package analysis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// A Security report is about that domain in every figure; a scorecard is not.
func TestSecurityReportIsAboutSecurityOnly(t *testing.T) {
	t.Parallel()
	in := instance(one, "a", fail("H1", "x"), status("H2", "pass"), fail("L1", "y"), on("d", fail("M1", "t")), fail("unknown"),
		on("d", status("M1", "not_assessed")))
	in.Assessment.Outcome = snapshot.OutcomePartial
	in.Assessment.MissingGrants = []snapshot.MissingGrant{{Object: "t", Statement: "GRANT SELECT ON t TO m;", Checks: []string{"M1"}}}
	for _, tc := range []struct {
		kind                                                report.Kind
		findings, steps, bars, checks, gaps, closed, grants int
		outcome                                             string
	}{
		{report.Security, 2, 2, 2, 3, 0, 0, 0, snapshot.OutcomeComplete},
		{report.InstanceScorecard, 4, 4, 4, 5, 1, 0, 1, snapshot.OutcomePartial},
	} {
		t.Run(string(tc.kind), func(t *testing.T) {
			t.Parallel()
			doc := document(in)
			doc.Kind = string(tc.kind)
			doc.Previous = &snapshot.Previous{Findings: openKeys(doc)}
			got, a := analysis.Findings(doc), analysis.AssessmentCoverage(doc)
			if len(got) != tc.findings || len(openKeys(doc)) != tc.findings || analysis.CountBySeverity(got).Total() != tc.findings {
				t.Errorf("%d checks fail, keys %v", len(got), openKeys(doc))
			}
			if steps := analysis.Plan(doc); len(steps) != tc.steps || steps[len(steps)-1].Cleared != 1 {
				t.Errorf("plan %+v", steps)
			}
			if bars := analysis.CountByInstance(doc); bars[0].Counts.Total() != tc.bars {
				t.Errorf("chart %+v", bars)
			}
			if a.Checks != tc.checks || a.Gaps != tc.gaps || (a.Partial == 1) != (tc.gaps > 0) || analysis.Outcome(doc, &doc.Instances[0]) != tc.outcome {
				t.Errorf("coverage %+v, outcome %s", a, analysis.Outcome(doc, &doc.Instances[0]))
			}
			if change, ok := analysis.ChangeSince(doc); !ok || change != (analysis.Change{Unchanged: tc.findings}) {
				t.Errorf("change %+v", change)
			}
			if grants := analysis.MissingGrants(doc, &doc.Instances[0]); len(grants) != tc.grants {
				t.Errorf("grants %+v", grants)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		registered, text string
		num              int
		want             string
		answered         bool
		engine           string // "": PostgreSQL
	}{
		{"2022 CU14", "16.0.4135.4", 0, "16.0.4135.4", true, "sqlserver"},
		{"", "19.24.0.0.0", 0, "19.24.0.0.0", true, "oracle"},
		{"19.24", "", 0, "19.24", false, "oracle"},
		{"", "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu", 150018, "15.18", true, ""},
		{"15.3", "PostgreSQL 18beta1", 180000, "18beta1", true, ""},
		{"15.3", "", 160004, "16.4", true, ""},
		{"15.3", "a fork", 0, "15.3", false, ""},
	} {
		engine := tc.engine
		if engine == "" {
			engine = "postgresql"
		}
		in := snapshot.Instance{Engine: engine, Version: tc.registered, Assessment: &snapshot.Assessment{VersionText: tc.text, VersionNum: tc.num}}
		if got, answered := analysis.Version(&in); got != tc.want || answered != tc.answered {
			t.Errorf("%+v: %q, %v", tc, got, answered)
		}
	}
	if got, answered := analysis.Version(&snapshot.Instance{Version: "16.2"}); got != "16.2" || answered {
		t.Errorf("never assessed: %q, %v", got, answered)
	}
}

func TestMissingGrantsAreFolded(t *testing.T) {
	t.Parallel()
	in := instance(one, "a")
	mapping := func(database string) snapshot.MissingGrant {
		return snapshot.MissingGrant{Object: "pg_user_mapping in database " + database, Statement: "GRANT SELECT ON pg_catalog.pg_user_mapping TO m;", Checks: []string{"S35"}}
	}
	in.Assessment.MissingGrants = []snapshot.MissingGrant{
		{Object: "rules", Statement: "GRANT SELECT ON rules TO m;", Checks: []string{"S1", "S2"}},
		{Object: "rules()", Statement: "GRANT EXECUTE ON FUNCTION rules() TO m;", Checks: []string{"S1", "S2"}},
		mapping("d1"), mapping("d2"),
	}
	doc := document(in)
	var got [][2]string
	grants := analysis.MissingGrants(doc, &doc.Instances[0])
	for _, g := range grants {
		got = append(got, [2]string{g.Object(), g.Statement})
	}
	want := [][2]string{
		{"rules", "GRANT SELECT ON rules TO m;"},
		{"rules()", "GRANT EXECUTE ON FUNCTION rules() TO m;"},
		{"pg_user_mapping in databases d1, d2", "GRANT SELECT ON pg_catalog.pg_user_mapping TO m;"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
	for check, want := range map[string][]string{"S1": {"rules"}, "S35": {"pg_user_mapping"}, "none": nil} {
		if diff := cmp.Diff(want, analysis.Denied(grants, check, "")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", check, diff)
		}
	}
	if diff := cmp.Diff([]string{"pg_user_mapping"}, analysis.Denied(grants, "S35", "d2")); diff != "" {
		t.Errorf("in one database (-want +got):\n%s", diff)
	}
	if got := analysis.Denied(grants, "S35", "d3"); got != nil {
		t.Errorf("in a database that lacks nothing: %v", got)
	}
}

// Servers of one major version share an upgrade, whatever says that it is due.
func TestPlanNamesTheUpgrade(t *testing.T) {
	t.Parallel()
	release := func(in snapshot.Instance, major, target string) snapshot.Instance {
		in.Release = &snapshot.Release{Major: major, Target: target}
		in.CVEs = []snapshot.InstanceCVE{{ID: "CVE-1", Applies: "open"}}
		return in
	}
	registered := snapshot.Instance{ID: two, Name: "b", Engine: "postgresql", Active: true}
	doc := document(release(instance(one, "a", fail("PG-S31", "CVE-1")), "15", "15.9"), release(registered, "15", "15.9"),
		release(instance(uuid.Max, "old", fail("PG-S30")), "9.6", "15.9"))
	doc.Checks = []snapshot.Check{{ID: "PG-S30", Domain: "Security", Severity: "High", Effort: "S"}, {ID: "PG-S31", Domain: "Security", Severity: "High", Effort: "S"}}
	doc.Vulnerabilities = []snapshot.Vulnerability{{ID: "CVE-1", CVSS: 7.5}}
	type row struct {
		title, where string
		checks       []string
		findings     int
		effort       string
		weight       float64
	}
	var got []row
	for _, s := range analysis.Plan(doc) {
		got = append(got, row{s.Title, s.Where, s.Checks, s.Findings, s.Effort, s.Weight})
	}
	want := []row{
		{"Update PostgreSQL 15 to 15.9", "a", []string{"PG-S31"}, 1, "M", 8},
		{"Update PostgreSQL 15 to 15.9", "b", []string{analysis.OpenCVEs}, 1, "M", 8},
		{"Leave PostgreSQL 9.6: upgrade to 15.9", "old", []string{"PG-S30", analysis.OpenCVEs}, 2, "L", 16},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// TestVersionOfAnEngine is without the engine's name, which is printed in front of it (C35), and makes
// no minor of a major alone (C12).
func TestVersionOfAnEngine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ engine, text, want string }{
		{"postgresql", "PostgreSQL 15.18 (Debian 15.18-0+deb12u1)", "15.18 (Debian 15.18-0+deb12u1)"}, {"postgresql", "15", "15"}, {"postgresql", "postgresql 15.18", "15.18"},
		{"sqlserver", "Microsoft SQL Server 2022 (RTM-CU14)", "2022 (RTM-CU14)"}, {"oracle", "Oracle Database 19c", "19c"}, {"mysql", "MySQL 8.0.36", "8.0.36"}, {"postgresql", "PostgreSQL", "PostgreSQL"},
	} {
		for _, a := range []*snapshot.Assessment{nil, {Sent: true, VersionText: c.text}} {
			if a != nil && c.engine == "postgresql" && c.text != "15" {
				continue // the answered form is cut at its first word
			}
			if got, _ := analysis.Version(&snapshot.Instance{Engine: c.engine, Version: c.text, Assessment: a}); got != c.want {
				t.Errorf("%s of %s is %q, not %q", c.text, c.engine, got, c.want)
			}
		}
	}
}
