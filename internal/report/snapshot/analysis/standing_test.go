package analysis

import (
	"slices"
	"strings"
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

// Every instance stands somewhere, with the figures of the sections that follow.
func TestStandings(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	all := Standings(doc)
	if len(all) != len(doc.Instances) {
		t.Fatalf("%d of %d instances", len(all), len(doc.Instances))
	}
	failed, seen := map[string]SeverityCounts{}, true
	for _, c := range CountByInstance(doc) {
		failed[c.Name] = c.Counts
	}
	for i, s := range all {
		in := named(t, doc, s.Name)
		if s.Reason != WhyNotAssessed(in) || s.Failed != failed[s.Name] {
			t.Errorf("%s: %+v, want %v because %q", s.Name, s, failed[s.Name], WhyNotAssessed(in))
		}
		if s.Reason != "" {
			seen = false
		} else if !seen {
			t.Errorf("%s was assessed, and stands below one that was not", s.Name)
		} else if i > 0 && s.Failed.Weight() > all[i-1].Failed.Weight() {
			t.Errorf("%s is heavier than %s", s.Name, all[i-1].Name)
		}
		unanswered := map[string]bool{}
		if in.Active && in.Assessment != nil {
			for _, r := range in.Assessment.Results { // as they were recorded
				if r.Status == snapshot.StatusNotAssessed && !outside(doc)[r.CheckID] {
					unanswered[r.CheckID] = true
				}
			}
		}
		if s.Reason == "" && s.Unanswered != len(unanswered) {
			t.Errorf("%s: %d checks without an answer, want %d", s.Name, s.Unanswered, len(unanswered))
		}
		if s.Versioned != (in.Active && in.Release != nil) || s.CVEs != CVEs(doc, in) && s.Versioned {
			t.Errorf("%s: %+v", s.Name, s.CVEs)
		}
	}
}

// An end of life is known without a CVE, and says nothing of them.
func TestAnEndOfLifeImpliesNoCVE(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	doc.Checks = slices.DeleteFunc(doc.Checks, func(c snapshot.Check) bool { return c.Engine == "postgresql" })
	in := named(t, doc, "mssql-finance-01")
	end, longest := doc.AsOf.AddDate(0, -4, 0), doc.AsOf.AddDate(9, 0, 0)
	in.Release = &snapshot.Release{Major: "2016", EndOfLife: &end, Target: "2025", TargetEndOfLife: &longest, CVEsUnknown: true}
	doc.Instances = []snapshot.Instance{*in}
	if s := Standings(doc)[0]; s.Versioned || s.EndOfLife == nil {
		t.Errorf("%+v", s)
	}
	if s := SupportOf(doc); s.Ended != 1 || s.Unknown != 0 {
		t.Errorf("%+v", s)
	}
	only := &doc.Instances[0]
	only.Assessment = &snapshot.Assessment{Outcome: snapshot.OutcomeComplete, Sent: true, Results: []snapshot.CheckResult{{CheckID: "MS-02", Status: snapshot.StatusPass}}}
	only.NotAssessed, only.Databases, only.Release.EndOfLife = "", nil, &longest
	for _, unknown := range []bool{true, false} {
		only.Release.CVEsUnknown = unknown
		if v := judged(t, doc); (v.State == Clean) == unknown {
			t.Errorf("CVEs unknown %t: %+v", unknown, v)
		}
	}
	only.Release.EndOfLife, only.Release.CVEsUnknown = &end, true
	steps := Plan(doc)
	if len(steps) != 1 || steps[0].Severity != High || steps[0].Effort != "L" ||
		steps[0].Title != "Leave SQL Server 2016, out of support since 2026-07-20: upgrade to 2025" {
		t.Errorf("%+v", steps)
	}
}

func named(t *testing.T, doc snapshot.Document, name string) *snapshot.Instance {
	t.Helper()
	for i := range doc.Instances {
		if doc.Instances[i].Name == name {
			return &doc.Instances[i]
		}
	}
	t.Fatalf("no instance %s", name)
	return nil
}

// A check that fails on one database and has no answer on another counts once, as failed.
func TestACheckCountsOnce(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	in := named(t, doc, "pg-orders-01")
	in.Assessment.Results = []snapshot.CheckResult{
		{CheckID: "PG-S01", Database: "a", Status: snapshot.StatusFail, Total: 1},
		{CheckID: "PG-S01", Database: "b", Status: snapshot.StatusNotAssessed},
		{CheckID: "PG-S02", Database: "a", Status: snapshot.StatusPass},
		{CheckID: "PG-S02", Database: "b", Status: snapshot.StatusNotAssessed},
		{CheckID: "PG-S02", Database: "c", Status: snapshot.StatusNotAssessed},
	}
	doc.Instances, doc.Exceptions = []snapshot.Instance{*in}, nil
	if s := Standings(doc)[0]; s.Failed.Total() != 1 || s.Unanswered != 1 {
		t.Errorf("%+v", s)
	}
}

func TestSupport(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	doc.Instances = doc.Instances[:4]
	for i, end := range []int{0, 1, 365, 366} { // days after the snapshot; 0: at its instant
		at := doc.AsOf.AddDate(0, 0, end)
		doc.Instances[i].Active, doc.Instances[i].Release = true, &snapshot.Release{EndOfLife: &at}
	}
	if got := SupportOf(doc); got != (Support{Ended: 1, Ending: 1}) { // a year later is not within it
		t.Errorf("%+v", got)
	}
	doc.Instances[0].Active = false
	doc.Instances[1].Release = nil
	doc.Instances[2].Release.EndOfLife = nil
	if got := SupportOf(doc); got != (Support{Ended: 1, Unknown: 2}) { // an inactive server may be running
		t.Errorf("%+v", got)
	}
}

// What the steps close of findings adds up to all findings, by severity.
func TestPlanClosesEveryFinding(t *testing.T) {
	t.Parallel()
	for _, kind := range []report.Kind{report.Security, report.InstanceScorecard} {
		doc := snapshottest.Rich(kind)
		for _, in := range doc.Instances {
			if in.Assessment == nil {
				continue
			}
			for i := range in.Assessment.Results { // more objects than are listed
				if r := &in.Assessment.Results[i]; r.Status == snapshot.StatusFail {
					r.Total += 1000
				}
			}
		}
		var closed SeverityCounts
		for _, s := range Plan(doc) {
			for i, n := range s.Closes {
				closed[i] += n
			}
			if s.Where == "" || s.Closes.Total()+s.CVEs > s.Findings {
				t.Errorf("%s: %+v", kind, s)
			}
		}
		if want := CountBySeverity(Findings(doc)); closed != want {
			t.Errorf("%s: %v, want %v", kind, closed, want)
		}
	}
}

// A server was looked at of whose engine there is no check: that is nothing wrong, and
// nothing right.
func TestAnEngineWithoutAnyCheck(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	in := named(t, doc, "pg-orders-01")
	in.Assessment.Results, in.CVEs = []snapshot.CheckResult{{CheckID: "PG-S01", Status: snapshot.StatusPass}}, nil
	in.Release = &snapshot.Release{Major: "16", Latest: "16.4"}
	one := *in
	one.ID, one.Name, one.Engine = snapshottest.ID(77), "mongo", "mongodb"
	a := *in.Assessment
	a.Results = nil
	one.Assessment = &a
	doc.Exceptions, doc.Instances = nil, []snapshot.Instance{*in}
	if v := judged(t, doc); v.State != Clean {
		t.Fatalf("the scene is not clean without it: %+v", v)
	}
	doc.Instances = append(doc.Instances, one)
	if v := judged(t, doc); v.State != Unknown || !strings.Contains(v.Lead, "1 of 2 instances was not assessed") {
		t.Errorf("%+v", v)
	}
	if c := AssessmentCoverage(doc); c.Assessed != 1 || c.Unchecked != 1 {
		t.Errorf("%+v", c)
	}
	if s := Standings(doc)[1]; s.Name != "mongo" || s.Reason != "the catalogue has no check for MongoDB" {
		t.Errorf("%+v", s)
	}
	if why := WhyNotAssessed(&doc.Instances[1]); why != "" { // its accounts and data were
		t.Error(why)
	}
	doc.Instances[1] = doc.Instances[0]
	doc.Instances[1].ID, doc.Instances[1].Release = one.ID, &snapshot.Release{Major: "7", CVEsUnknown: true}
	if v := judged(t, doc); v.State != Unknown || !strings.Contains(v.Lead, "The feed has no CVEs for the engine of 1 assessed instance.") {
		t.Errorf("%+v", v)
	}
}

// Each driver of a risk has a proposal against it, the one that removes most first; an
// encrypted table needs none.
func TestTreatments(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	doc := snapshottest.Rich(report.DataInventory)
	proposed := func(change func(*snapshot.Instance, *snapshot.Database, *snapshot.ClassifiedTable)) []string {
		in := *named(t, doc, "pg-orders-01")
		a := *in.Assessment
		a.Results = []snapshot.CheckResult{{CheckID: "PG-S01", Status: snapshot.StatusPass}, {CheckID: "PG-S05", Status: snapshot.StatusPass}}
		in.Assessment, in.CVEs = &a, nil
		table := snapshot.ClassifiedTable{Schema: "s", Name: "t", Columns: []snapshot.ClassifiedColumn{{Name: "c", Category: "Contact", Weight: 4}}}
		db := snapshot.Database{Name: "d"}
		change(&in, &db, &table)
		db.Classification = &snapshot.Classification{Status: snapshot.ClassificationCompleted, Tables: []snapshot.ClassifiedTable{table}}
		in.Databases = []snapshot.Database{db}
		one := doc
		one.Instances = []snapshot.Instance{in}
		return Risks(one)[0].Treatments
	}
	type (
		instance = snapshot.Instance
		database = snapshot.Database
		table    = snapshot.ClassifiedTable
	)
	for name, tc := range map[string]struct {
		change func(*instance, *database, *table)
		want   []string
	}{
		"nothing":           {func(*instance, *database, *table) {}, nil},
		"public":            {func(_ *instance, _ *database, x *table) { x.PublicAccess = true }, []string{treatPublic}},
		"not encrypted":     {func(_ *instance, d *database, _ *table) { d.Encrypted = &no }, []string{treatAtRest}},
		"encrypted":         {func(_ *instance, d *database, _ *table) { d.Encrypted = &yes }, nil},
		"an encrypted one":  {func(_ *instance, d *database, x *table) { d.Encrypted, x.Encrypted = &no, &yes }, nil},
		"of special weight": {func(_ *instance, _ *database, x *table) { x.Columns[0].Category = "Special category" }, []string{treatSpecial}},
		"many rows":         {func(_ *instance, _ *database, x *table) { x.EstimatedRows = manyRows + 1 }, []string{treatRows}},
		"as many as may be": {func(_ *instance, _ *database, x *table) { x.EstimatedRows = manyRows }, nil},
		"sign-in and public": {func(in *instance, _ *database, x *table) {
			in.Assessment.Results[0].Status, x.PublicAccess = snapshot.StatusFail, true
		}, []string{treatPublic, treatSignIn}},
		"superuser": {func(in *instance, _ *database, _ *table) { in.Assessment.Results[1].Status = snapshot.StatusFail }, []string{"let superusers sign in locally only"}},
		"CVE": {func(in *instance, _ *database, _ *table) {
			for _, v := range doc.Vulnerabilities {
				in.CVEs = append(in.CVEs, snapshot.InstanceCVE{ID: v.ID, Applies: snapshot.CVEOpen})
			}
		}, []string{treatCVEs}},
	} {
		if got := proposed(tc.change); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func judged(t *testing.T, doc snapshot.Document) Verdict {
	t.Helper()
	v, err := Judge(doc)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
