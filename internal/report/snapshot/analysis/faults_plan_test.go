package analysis_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// seen dates the violations of a failed check.
func seen(at time.Time, r snapshot.CheckResult) snapshot.CheckResult {
	for i := range r.Violations {
		r.Violations[i].FirstSeenAt = &at
	}
	r.FirstSeenAt = &at
	return r
}

// TestFault01DueCountsFromTheFirstSight, by the organization's days, and says by how much it is over: a report of the
// next day moves no date.
func TestFault01DueCountsFromTheFirstSight(t *testing.T) {
	t.Parallel()
	doc := document(instance(one, "a"))
	first := doc.AsOf.AddDate(0, 0, -56)
	doc.Instances[0].Assessment.Results = []snapshot.CheckResult{seen(first, fail("H1", "x")), seen(doc.AsOf.Add(-7*24*time.Hour-time.Hour), fail("C1", "z")), seen(first, fail("L1", "y"))}
	for range 2 {
		for _, s := range analysis.Plan(doc) {
			want := map[string]time.Time{"C1": doc.Instances[0].Assessment.Results[1].FirstSeenAt.AddDate(0, 0, 7), "H1": first.AddDate(0, 0, 30), "L1": first.AddDate(0, 0, 180)}[s.Checks[0]]
			if !s.Deadline.At.Equal(want) {
				t.Errorf("%v is due %s, want %s", s.Checks, s.Deadline.At, want)
			}
		}
		doc.AsOf = doc.AsOf.AddDate(0, 0, 1)
	}
	doc.AsOf = doc.AsOf.AddDate(0, 0, -2)
	debt := analysis.DebtOf(doc, analysis.Findings(doc))
	if debt.Grave() != 2 || debt.Longest != 26 || len(debt.Servers) != 1 || debt.Servers[0] != (analysis.Owed{Name: "a", N: 2}) {
		t.Errorf("%+v", debt)
	}
	doc.Organization.DueDays = &snapshot.BySeverity{Critical: 7, High: 60, Medium: 90, Low: 180}
	if debt = analysis.DebtOf(doc, analysis.Findings(doc)); debt.Grave() != 1 {
		t.Errorf("high findings may be open for 60 days: %+v", debt)
	}
	doc.Kind = string(report.Security)
	v, err := analysis.Judge(doc)
	if err != nil || !strings.HasPrefix(v.Lead, "1 critical or high finding is overdue.") {
		t.Errorf("%+v, %v", v, err)
	}
	doc.Instances[0].Assessment.Results[1].Violations[0].FirstSeenAt = nil
	if debt = analysis.DebtOf(doc, analysis.Findings(doc)); debt.Grave() != 0 || debt.Undated != 1 {
		t.Errorf("the first sight is not known: %+v", debt)
	}
}

// TestFault02WorstActionsComeFirst: a critical CVE on a server without checks is before a lesser finding that is done
// sooner, and one that is exploited is before one that is not.
func TestFault02WorstActionsComeFirst(t *testing.T) {
	t.Parallel()
	mongo := snapshot.Instance{ID: two, Name: "mongo", Engine: "mongodb", Active: true,
		Release: &snapshot.Release{Major: "7.0", Latest: "7.0.40", Target: "7.0.40", Behind: true}, CVEs: []snapshot.InstanceCVE{{ID: "CVE-1", Applies: snapshot.CVEOpen}}}
	exploited := mongo
	exploited.ID, exploited.Name, exploited.CVEs = [16]byte{9}, "bled", []snapshot.InstanceCVE{{ID: "CVE-2", Applies: snapshot.CVEOpen}}
	doc := document(instance(one, "a", fail("L1", "x"), fail("H1", "y")), mongo, exploited)
	since := doc.AsOf.AddDate(0, -11, 0)
	doc.Vulnerabilities = []snapshot.Vulnerability{{ID: "CVE-1", CVSS: 9.8}, {ID: "CVE-2", CVSS: 7.5, ExploitedSince: &since}}
	var order []string
	for _, s := range analysis.Plan(doc) {
		order = append(order, s.Where+" "+s.Severity+" "+strings.Join(s.Exploited, ","))
	}
	if want := []string{"bled Critical CVE-2", "mongo Critical ", "a High ", "a Low "}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}

// TestFault03AnActionNamesObjectAndServer: each is about one server, and every finding is in exactly one.
func TestFault03AnActionNamesObjectAndServer(t *testing.T) {
	t.Parallel()
	doc := document(instance(one, "a", fail("H1", "x", "y", "z")), instance(two, "b", fail("H1", "w")))
	plan := analysis.Plan(doc)
	if len(plan) != 2 || plan[0].Subject() != "an H1: x, y and 1 more" || plan[0].Where != "a" || plan[1].Subject() != "an H1: w" || plan[1].Where != "b" {
		t.Errorf("%+v", plan)
	}
}

// TestFault11PatchingIsOneActionOfAServer, whichever check and CVEs ask for it.
func TestFault11PatchingIsOneActionOfAServer(t *testing.T) {
	t.Parallel()
	for engine, check := range map[string]string{"sqlserver": "MS-19", "oracle": "OR-14", "postgresql": "PG-S31"} {
		in := instance(one, "a", fail(check, "old"))
		in.Engine = engine
		in.Release = &snapshot.Release{Major: "16", Latest: "16.9", Target: "16.9", Behind: true}
		in.CVEs = []snapshot.InstanceCVE{{ID: "CVE-1", Applies: snapshot.CVEOpen}}
		doc := document(in)
		doc.Checks = append(doc.Checks, snapshot.Check{ID: check, Domain: "Security", Severity: "High", Remediation: "install"})
		doc.Vulnerabilities = []snapshot.Vulnerability{{ID: "CVE-1", CVSS: 9.9}}
		if plan := analysis.Plan(doc); len(plan) != 1 || !slices.Contains(plan[0].Checks, check) {
			t.Errorf("%s: %+v", engine, plan)
		}
	}
}

// TestFault12AnUpgradeIsDividedIntoNowAndPlanned: the update within the major now, another major until support ends, and
// past its end at once.
func TestFault12AnUpgradeIsDividedIntoNowAndPlanned(t *testing.T) {
	t.Parallel()
	in := instance(one, "a", fail("PG-S31", "CVE-1"))
	end := document().AsOf.AddDate(0, 6, 0)
	in.Release = &snapshot.Release{Major: "15", Latest: "15.20", MinorsBehind: 4, EndOfLife: &end, Target: "15.20", Longest: &snapshot.LongestSupport{Version: "18.7"}}
	in.CVEs = []snapshot.InstanceCVE{{ID: "CVE-1", Applies: snapshot.CVEOpen}}
	doc := document(in)
	doc.Checks = append(doc.Checks, snapshot.Check{ID: "PG-S31", Domain: "Security", Severity: "High"}, snapshot.Check{ID: "PG-S30", Domain: "Security", Severity: "High"})
	doc.Vulnerabilities = []snapshot.Vulnerability{{ID: "CVE-1", CVSS: 8.8}}
	plan := analysis.Plan(doc)
	if len(plan) != 2 || plan[0].Title != "Update PostgreSQL 15 to 15.20" || plan[0].Planned || !plan[1].Planned || !plan[1].Deadline.At.Equal(end) {
		t.Errorf("%+v", plan)
	}
	far := doc.AsOf.AddDate(2, 0, 0)
	doc.Instances[0].Release.EndOfLife = &far
	if plan = analysis.Plan(doc); len(plan) != 1 {
		t.Errorf("support ends in two years: %+v", plan)
	}
	over := doc.AsOf.AddDate(0, 0, -40)
	doc.Instances[0].Release.EndOfLife, doc.Instances[0].Release.Target = &over, "18.7"
	plan = analysis.Plan(doc)
	if len(plan) != 2 || plan[0].Title != "Leave PostgreSQL 15, out of support since 2026-10-11: upgrade to 18.7" && plan[1].Title != "Leave PostgreSQL 15, out of support since 2026-10-11: upgrade to 18.7" {
		t.Errorf("%+v", plan)
	}
	for _, s := range plan {
		if s.Ended != strings.HasPrefix(s.Title, "Leave") {
			t.Errorf("%s: ended %t", s.Title, s.Ended)
		}
		if strings.HasPrefix(s.Title, "Leave") && s.Deadline.Overdue(doc.AsOf) != 10 {
			t.Errorf("overdue by %d days", s.Deadline.Overdue(doc.AsOf))
		}
	}
}

// TestFault10TrendComparesWithDaysThatHaveAHistory, and not with a report of minutes before.
func TestFault10TrendComparesWithDaysThatHaveAHistory(t *testing.T) {
	t.Parallel()
	doc := document(instance(one, "a"), instance(two, "b"))
	day := func(n int) time.Time { return doc.AsOf.AddDate(0, 0, -n) }
	doc.Instances[0].CreatedAt, doc.Instances[1].CreatedAt = day(200), day(10)
	doc.Instances[0].Assessment.Results = []snapshot.CheckResult{seen(day(56), fail("H1", "x")), seen(day(40), fail("C1", "y")), seen(day(56), fail("L1", "y"))}
	doc.Instances[1].Assessment.Results = []snapshot.CheckResult{seen(day(9), fail("H1", "x", "z"))}
	groups := analysis.Findings(doc)
	if analysis.Trends(doc, groups) != nil {
		t.Error("a document without a history has a trend")
	}
	since := day(60)
	doc.History = &snapshot.History{Since: &since, Past: []snapshot.PastFindings{
		{At: day(90)}, {At: day(30), Gone: snapshot.BySeverity{Critical: 1, High: 2, Medium: 7, Low: 7}, Overdue: snapshot.BySeverity{Critical: 1, Medium: 7}},
	}}
	trends := analysis.Trends(doc, groups)
	want := analysis.Trend{Days: 30, At: day(30), Known: true, Since: &since, Open: 5, New: 2, Joined: 2, Closed: 3, Overdue: 2}
	if len(trends) != 2 || trends[0] != want {
		t.Errorf("%+v, want %+v", trends, want)
	}
	if trends[1].Known || trends[1].Days != 90 {
		t.Errorf("there is no history of 90 days: %+v", trends[1])
	}
	line := analysis.TrendLine(doc, groups)
	if len(line) != 3 || line[0].Known || line[1].Open != 5 || line[2].Open != 4 || line[2].Overdue != 2 {
		t.Errorf("%+v", line)
	}
}
