package analysis_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/snapshottest"
)

var (
	one = uuid.MustParse("0199f0d2-7a10-7c44-9b0e-000000000001")
	two = uuid.MustParse("0199f0d2-7a10-7c44-9b0e-000000000002")
)

// catalogue has a check for each severity and scope that the tests need.
func catalogue() []snapshot.Check {
	return []snapshot.Check{
		{ID: "C1", Domain: "Security", Severity: "Critical", Title: "a C1", Remediation: "fix C1", Effort: "S"},
		{ID: "H1", Domain: "Security", Severity: "High", Title: "an H1", Remediation: "fix TLS", Effort: "M"},
		{ID: "H2", Domain: "Security", Severity: "High", Title: "an H2", Remediation: "fix TLS", Effort: "M", NeedsRestart: true},
		{ID: "L1", Domain: "Maintenance", Severity: "Low", Title: "an L1", Remediation: "fix L1", Effort: "S"},
		{ID: "M1", Domain: "Schema", Severity: "Medium", Scope: "database", Remediation: "fix M1", Effort: "L"},
	}
}

func fail(check string, objects ...string) snapshot.CheckResult {
	r := snapshot.CheckResult{CheckID: check, Status: snapshot.StatusFail, FailFraction: 1, Total: len(objects)}
	for _, o := range objects {
		r.Violations = append(r.Violations, snapshot.Violation{Object: o})
	}
	return r
}

func status(check, status string) snapshot.CheckResult {
	return snapshot.CheckResult{CheckID: check, Status: status}
}

func on(database string, r snapshot.CheckResult) snapshot.CheckResult {
	r.Database = database
	return r
}

func instance(id uuid.UUID, name string, results ...snapshot.CheckResult) snapshot.Instance {
	return snapshot.Instance{ID: id, Name: name, Engine: "postgresql", Active: true, Assessment: &snapshot.Assessment{
		Outcome: snapshot.OutcomeComplete, Results: results,
	}}
}

func document(instances ...snapshot.Instance) snapshot.Document {
	return snapshot.Document{
		AsOf: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Checks: catalogue(), Instances: instances,
	}
}

func TestFindingsOrder(t *testing.T) {
	t.Parallel()
	idle := instance(uuid.Max, "idle", fail("C1", "x"))
	idle.Active = false
	severe := fail("L1", "y")
	severe.Severity = "Critical"
	doc := document(
		instance(one, "b", fail("H1", "z", "a"), fail("H2"), on("db2", fail("M1", "t")), on("db1", fail("M1", "t"))),
		instance(two, "a", fail("H2", "q"), severe, fail("unknown", "u")),
		idle,
	)
	type row struct{ check, severity, instance, database, object string }
	var got []row
	for _, g := range analysis.Findings(doc) {
		for _, f := range g.Findings {
			got = append(got, row{g.Check.ID, g.Check.Severity, f.InstanceName, f.Database, f.Object})
		}
	}
	want := []row{
		{"L1", "Critical", "a", "", "y"}, // as judged there, not as the catalogue says
		{"H2", "High", "a", "", "q"},     // two instances before one
		{"H2", "High", "b", "", ""},      // no object: still a finding
		{"H1", "High", "b", "", "a"},
		{"H1", "High", "b", "", "z"},
		{"M1", "Medium", "b", "db1", "t"},
		{"M1", "Medium", "b", "db2", "t"},
		{"unknown", "Low", "a", "", "u"}, // not in the catalogue: kept
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if counts := analysis.CountBySeverity(analysis.Findings(doc)); counts != (analysis.SeverityCounts{1, 4, 2, 1}) {
		t.Errorf("counts %v", counts)
	}
	bars := analysis.CountByInstance(doc)
	if diff := cmp.Diff([]analysis.InstanceCounts{{Name: "a", Counts: analysis.SeverityCounts{1, 1, 0, 1}}, {Name: "b", Counts: analysis.SeverityCounts{0, 2, 1, 0}}}, bars); diff != "" {
		t.Errorf("bars (-want +got):\n%s", diff)
	}
}

func TestFindingsBeyondTheListAreCounted(t *testing.T) {
	t.Parallel()
	r := fail("C1", "a", "b")
	r.Total = 731
	g := analysis.Findings(document(instance(one, "a", r)))[0]
	if g.Unlisted != 729 || g.Total() != 731 {
		t.Errorf("unlisted %d, total %d", g.Unlisted, g.Total())
	}
}

func openKeys(doc snapshot.Document) []snapshot.FindingKey {
	open, _ := analysis.Keys(doc)
	return open
}

func TestChangeSince(t *testing.T) {
	t.Parallel()
	key := func(check, object string) snapshot.FindingKey {
		return snapshot.FindingKey{InstanceID: one, CheckID: check, Object: object}
	}
	doc := document(instance(one, "a", fail("C1", "kept", "new"), status("H1", snapshot.StatusPass), status("H2", snapshot.StatusNotAssessed)))
	if _, ok := analysis.ChangeSince(doc); ok {
		t.Error("a change without a previous report")
	}
	doc.Previous = &snapshot.Previous{Findings: []snapshot.FindingKey{key("C1", "kept"), key("C1", "kept"), key("C1", "gone"), key("H1", "gone"), key("H2", "unseen")}}
	got, ok := analysis.ChangeSince(doc)
	if want := (analysis.Change{New: 1, Closed: 2, Unchanged: 1, Unknown: 1, NewBy: analysis.SeverityCounts{1}, ClosedBy: analysis.SeverityCounts{1, 1}}); !ok || got != want {
		t.Errorf("change %+v, want %+v", got, want)
	}
	if diff := cmp.Diff([]snapshot.FindingKey{key("C1", "kept"), key("C1", "new")}, openKeys(doc)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestHealthScore(t *testing.T) {
	t.Parallel()
	half := func(r snapshot.CheckResult) snapshot.CheckResult { r.FailFraction = 0.5; return r }
	for _, tc := range []struct {
		name              string
		results           []snapshot.CheckResult
		accepted          []string // checks
		database          string
		overall, uncapped int
		grade             string
		caps              int
	}{
		{name: "all pass", results: []snapshot.CheckResult{status("C1", "pass"), status("M1", "pass")}, overall: 100, uncapped: 100, grade: "A"},
		// Security: 100 − 100·20/36; Schema 100; weights 30 and 10: (44.4·30 + 100·10)/40 = 58.3
		{name: "a critical", results: []snapshot.CheckResult{fail("C1"), status("H1", "pass"), status("H2", "pass"), on("d", status("M1", "pass"))}, overall: 58, uncapped: 58, grade: "E"},
		// Security 100 − 100·8/36 = 77.8, Maintenance 100: (77.8·30 + 100·20)/50 = 86.7
		{name: "a high under the cap", results: []snapshot.CheckResult{status("C1", "pass"), fail("H1"), status("H2", "pass"), status("L1", "pass")}, overall: 87, uncapped: 87, grade: "B"},
		// Schema: one of two databases fails half its tables: f = 0.25, 100 − 100·(0.5+0.125) = 37.5;
		// Security 100: (100·30 + 37.5·10)/40 = 84.4
		{name: "a check counts once over its databases", results: []snapshot.CheckResult{status("C1", "pass"), half(on("d1", fail("M1"))), on("d2", status("M1", "pass"))}, overall: 84, uncapped: 84, grade: "B"},
		{name: "what has no answer leaves the denominator", results: []snapshot.CheckResult{status("C1", "pass"), status("H1", "not_assessed"), status("H2", "not_applicable"), fail("L1")}, accepted: []string{"L1"}, overall: 100, uncapped: 100, grade: "A"},
		{name: "scoped to a database", database: "d2", results: []snapshot.CheckResult{status("C1", "pass"), on("d1", fail("M1")), on("d2", status("M1", "pass"))}, overall: 100, uncapped: 100, grade: "A"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			doc := document(instance(one, "a", tc.results...))
			if tc.database != "" {
				doc.Database = &snapshot.DatabaseRef{Name: tc.database}
			}
			for _, check := range tc.accepted {
				doc.Exceptions = append(doc.Exceptions, snapshot.Exception{CheckID: check})
			}
			s := analysis.HealthScore(doc, &doc.Instances[0])
			if s.Accepted != len(tc.accepted) {
				t.Errorf("%d accepted, want %d", s.Accepted, len(tc.accepted))
			}
			if !s.Known || s.Overall != tc.overall || s.Uncapped != tc.uncapped || s.Grade != tc.grade || (s.Binding() != nil) != (tc.caps > 0) {
				t.Errorf("score %d (%d) %s, caps %+v", s.Overall, s.Uncapped, s.Grade, s.Caps)
			}
			lost := 0.0
			for _, l := range s.Lost {
				lost += l.Points
			}
			if math.Abs(100-lost-float64(s.Uncapped)) > 0.5 {
				t.Errorf("%f points lost do not explain a score of %d", lost, s.Uncapped)
			}
		})
	}
}

func TestHealthScoreCaps(t *testing.T) {
	t.Parallel()
	// Many passing checks, so that one failing check costs little.
	results := []snapshot.CheckResult{}
	checks := catalogue()
	for _, id := range []string{"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9"} {
		checks = append(checks, snapshot.Check{ID: id, Domain: "Security", Severity: "Critical"})
		results = append(results, status(id, "pass"))
	}
	for _, tc := range []struct {
		failing string
		overall int
		grade   string
		words   string
	}{
		{"H1", 89, "B", "capped at 89 because 1 high check fails"},
		{"C1", 59, "E", "capped at 59 because 1 critical check fails"},
	} {
		doc := document(instance(one, "a", append([]snapshot.CheckResult{fail(tc.failing)}, results...)...))
		doc.Checks = checks
		s := analysis.HealthScore(doc, &doc.Instances[0])
		if s.Overall != tc.overall || s.Grade != tc.grade || s.Uncapped < 90 && tc.failing == "H1" || !strings.HasSuffix(analysis.ScoreWords(s), tc.words) {
			t.Errorf("%s: %s", tc.failing, analysis.ScoreWords(s))
		}
	}
	nothing := document(instance(one, "a", status("C1", "not_assessed")))
	if s := analysis.HealthScore(nothing, &nothing.Instances[0]); s.Known || s.NotAssessed != 1 {
		t.Errorf("a score out of nothing: %+v", s)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	upgradable := instance(two, "b", fail("H1", "x"), fail("L1"))
	upgradable.Release = &snapshot.Release{Major: "15", Target: "15.9"}
	upgradable.CVEs = []snapshot.InstanceCVE{{ID: "CVE-1", Applies: "open"}, {ID: "CVE-2", Applies: "not_exploitable"}}
	doc := document(instance(one, "a", fail("H1", "x", "y"), fail("H2"), fail("C1", "z")), upgradable)
	doc.Vulnerabilities = []snapshot.Vulnerability{{ID: "CVE-1", CVSS: 7.5}, {ID: "CVE-2", CVSS: 9.8}}
	type row struct {
		subject, where   string
		findings         int
		severity, effort string
		restart          bool
		due              string
		weight           float64
	}
	var got []row
	steps := analysis.Plan(doc)
	for _, s := range steps {
		got = append(got, row{s.Subject(), s.Where, s.Findings, s.Severity, s.Effort, s.NeedsRestart, s.Deadline.At.Format("2006-01-02"), s.Weight})
	}
	want := []row{
		{"a C1: z", "a", 1, "Critical", "S", false, "2026-11-27", 20},
		{"an H1: x, y", "a", 3, "High", "M", true, "2026-12-20", 16}, // two checks, one action: 16 over 3
		{"an H1: x", "b", 1, "High", "M", false, "2026-12-20", 8},    // 8 over 3
		{"Update PostgreSQL 15 to 15.9", "b", 1, "High", "M", true, "2026-12-20", 8},
		{"an L1", "b", 1, "Low", "S", false, "2027-05-19", 1},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if last := steps[len(steps)-1].Cleared; last != 1 || math.Abs(steps[1].Cleared-36.0/53) > 1e-12 {
		t.Errorf("cleared %v, %v", steps[1].Cleared, last)
	}
}

// A version that no check spoke of is left all the same, and what is only not ruled
// out is not counted among what is closed.
func TestPlanLeavesAMajorPastItsEnd(t *testing.T) {
	t.Parallel()
	doc := document()
	ended, newest := doc.AsOf.AddDate(0, 0, -731), doc.AsOf.AddDate(4, 0, 0)
	legacy := snapshot.Instance{ID: one, Name: "legacy", Engine: "postgresql", Active: true,
		Release: &snapshot.Release{Major: "12", EndOfLife: &ended, Target: "18.7", TargetEndOfLife: &newest},
		CVEs:    []snapshot.InstanceCVE{{ID: "CVE-1", Applies: snapshot.CVEUnknown}, {ID: "CVE-2", Applies: snapshot.CVENotExploitable}}}
	doc.Instances = []snapshot.Instance{legacy}
	doc.Vulnerabilities = []snapshot.Vulnerability{{ID: "CVE-1", CVSS: 4.3}, {ID: "CVE-2", CVSS: 9.8}}
	doc.Checks = []snapshot.Check{{ID: "PG-S30", Domain: "Security", Severity: "High"}}
	steps := analysis.Plan(doc)
	if len(steps) != 1 || steps[0].Findings != 1 || steps[0].Possible != 1 || steps[0].Severity != "High" ||
		steps[0].Title != "Leave PostgreSQL 12, out of support since 2024-11-19: upgrade to 18.7" {
		t.Errorf("%+v", steps)
	}
	if c := analysis.AllCVEs(doc); c.Open.Total() != 0 || c.Possible != (analysis.SeverityCounts{0, 0, 1, 0}) {
		t.Errorf("CVEs %+v", c)
	}
}

// One band for one CVE, and one severity for one line, wherever it is counted.
func TestAFindingHasOneSeverity(t *testing.T) {
	t.Parallel()
	r := fail("H1", "CVE-1", "CVE-2", "CVE-3")
	r.Violations[0].Severity, r.Violations[1].Severity, r.Violations[2].Severity = "High", "Medium", "Low"
	r.Severity = "High"
	doc := document(instance(one, "a", r))
	if counts := analysis.CountBySeverity(analysis.Findings(doc)); counts != (analysis.SeverityCounts{0, 1, 1, 1}) {
		t.Errorf("counts %v", counts)
	}
	if bars := analysis.CountByInstance(doc); bars[0].Counts != (analysis.SeverityCounts{0, 1, 0, 0}) {
		t.Errorf("one check that fails is %v in the chart", bars[0].Counts)
	}
	doc.Exceptions = []snapshot.Exception{except("H1", nil, "", "CVE-1")}
	if results := analysis.Results(doc, &doc.Instances[0]); results[0].Severity != "Medium" {
		t.Errorf("with the worst accepted it is %s", results[0].Severity)
	}
	if accepted := analysis.Acceptances(doc); accepted[0].Check.Severity != "High" || accepted[0].Findings[0].Severity != "High" {
		t.Errorf("accepted is %+v", accepted[0])
	}
}

func TestRisks(t *testing.T) {
	t.Parallel()
	column := func(category string, weight int) []snapshot.ClassifiedColumn {
		return []snapshot.ClassifiedColumn{{Name: "c", Category: category, Weight: weight}}
	}
	clean := []snapshot.CheckResult{status("PG-S01", "pass"), status("PG-S02", "pass"), status("PG-S04", "pass"), status("PG-S05", "pass")}
	for _, tc := range []struct {
		name               string
		results            []snapshot.CheckResult
		cve, accepted      string
		table              snapshot.ClassifiedTable
		likelihood, impact int
		level              string
		partial, uncounted bool
	}{
		{name: "quiet", results: clean, table: snapshot.ClassifiedTable{Columns: column("Contact", 5)}, likelihood: 1, impact: 3, level: "Low"},
		{name: "public", results: clean, table: snapshot.ClassifiedTable{PublicAccess: true, Columns: column("Contact", 5)}, likelihood: 3, impact: 3, level: "Medium"},
		{name: "everything, capped", cve: "open", results: []snapshot.CheckResult{fail("PG-S01"), fail("PG-S05")},
			table: snapshot.ClassifiedTable{PublicAccess: true, EstimatedRows: 100_001, Columns: column("Credentials", 10)}, likelihood: 5, impact: 5, level: "High"},
		{name: "half a point rounds up", results: append([]snapshot.CheckResult{fail("PG-S05")}, clean[:3]...), table: snapshot.ClassifiedTable{EstimatedRows: 100_000, Columns: column("Special category", 6)}, likelihood: 2, impact: 4, level: "Medium"},
		{name: "an accepted hole is a hole", results: append([]snapshot.CheckResult{fail("PG-S01")}, clean[3]), accepted: "PG-S01", table: snapshot.ClassifiedTable{Columns: column("Contact", 5)}, likelihood: 2, impact: 3, level: "Low"},
		{name: "rows that nobody has counted", results: clean, uncounted: true, table: snapshot.ClassifiedTable{SizeBytes: 3_000_000, Columns: column("Contact", 5)}, likelihood: 1, impact: 3, level: "Low", partial: true},
		{name: "too small for many rows", results: clean, uncounted: true, table: snapshot.ClassifiedTable{SizeBytes: 2_800_000, Columns: column("Contact", 5)}, likelihood: 1, impact: 3, level: "Low"},
		{name: "unknown rules", results: []snapshot.CheckResult{status("PG-S01", "not_assessed")}, table: snapshot.ClassifiedTable{Columns: column("Contact", 5)}, likelihood: 1, impact: 3, level: "Low", partial: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			in := instance(one, "a", tc.results...)
			in.Release = &snapshot.Release{}
			if tc.cve != "" {
				in.CVEs = []snapshot.InstanceCVE{{ID: "CVE-1", Applies: tc.cve}}
			}
			tc.table.RowsKnown = !tc.uncounted
			in.Databases = []snapshot.Database{{Name: "d", Classification: &snapshot.Classification{Status: "completed", Tables: []snapshot.ClassifiedTable{tc.table}}}}
			doc := document(in)
			doc.Vulnerabilities = []snapshot.Vulnerability{{ID: "CVE-1", CVSS: 7}}
			doc.Exceptions = []snapshot.Exception{{CheckID: tc.accepted}}
			r := analysis.Risks(doc)[0]
			if r.Likelihood != tc.likelihood || r.Impact != tc.impact || r.Score != tc.likelihood*tc.impact || r.Level() != tc.level || r.Partial != tc.partial {
				t.Errorf("%d × %d = %d %s, partial %v, drivers %q", r.Likelihood, r.Impact, r.Score, r.Level(), r.Partial, r.Drivers)
			}
		})
	}
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	got := analysis.AssessmentCoverage(doc)
	if got.Total != 14 || got.Assessed != 10 || got.Inactive != 1 || got.Unreachable != 1 || got.Never != 2 || got.Partial != 3 || got.Gaps != 9 {
		t.Errorf("%+v", got)
	}
	c := analysis.ClassificationCoverage(doc)
	if c.Databases != 22 || c.Completed+c.Partial+c.Failed+c.Off+c.Never != c.Databases {
		t.Errorf("%+v", c)
	}
	share, ok := c.Tables()
	if !ok || share <= 0.9 || share >= 1 {
		t.Errorf("coverage %v", share)
	}
	if _, ok := (analysis.Classified{}).Tables(); ok {
		t.Error("a share of nothing")
	}
}

// Map order must not show: the printed result has to be the same every time.
func TestSameAnswerEveryTime(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	findings, plan, risks := analysis.Findings(doc), analysis.Plan(doc), analysis.Risks(doc)
	for range 20 {
		if !cmp.Equal(findings, analysis.Findings(doc)) || !cmp.Equal(plan, analysis.Plan(doc)) || !cmp.Equal(risks, analysis.Risks(doc)) {
			t.Fatal("two calls over one document differ")
		}
	}
}
