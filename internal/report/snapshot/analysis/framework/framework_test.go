package framework_test

import (
	"slices"
	"testing"

	"muster/domain/report"
	"muster/internal/assessment/catalogue"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis/framework"
)

func result(check, status string) snapshot.CheckResult {
	return snapshot.CheckResult{CheckID: check, Status: status}
}

// TestFault19EachControlFailsHoldsOrIsUnassessed on each server, once, whichever of its checks says so.
func TestFault19EachControlFailsHoldsOrIsUnassessed(t *testing.T) {
	t.Parallel()
	check := func(id string, references ...string) snapshot.Check {
		return snapshot.Check{ID: id, Engine: "postgresql", Domain: "Security", Severity: "High", References: references}
	}
	server := func(name string, results ...snapshot.CheckResult) snapshot.Instance {
		return snapshot.Instance{Name: name, Engine: "postgresql", Active: true, Assessment: &snapshot.Assessment{Results: results}}
	}
	mongo := server("mongo")
	mongo.Engine, mongo.Assessment = "mongodb", nil
	silent := server("silent")
	silent.Assessment = nil
	doc := snapshot.Document{Instances: []snapshot.Instance{server("fails", result("X1", "fail"), result("X2", "pass")), server("holds", result("X1", "pass"), result("X2", "not_applicable")),
		server("half", result("X1", "pass"), result("X2", "not_assessed")), mongo, silent}}
	doc.Kind = string(report.Security)
	doc.Checks = []snapshot.Check{
		check("X1", "ISO/IEC 27001:2022 Annex A, A.8.12", "PCI DSS 4.0.1, 7.2.2", "CIS PostgreSQL 17 Benchmark 1.1.0, 4.6"),
		check("X2", "ISO/IEC 27001:2022 Annex A, A.8.12", "ISO/IEC 27001:2022 Annex A, A.8.3"),
	}
	all := framework.All(doc)
	if len(all) != 3 || len(all[0].Controls) != 2 || all[0].Controls[0].ID != "A.8.3" {
		t.Fatalf("%+v", all)
	}
	for i, want := range []struct{ fail, hold, unasked int }{{1, 2, 3 + 3}, {1, 2, 2}, {1, 2, 1}} {
		if fail, hold, unasked := all[i].Total(); fail != want.fail || hold != want.hold || unasked != want.unasked {
			t.Errorf("%s: %d, %d, %d, want %+v", all[i].Name, fail, hold, unasked, want)
		}
	}
	if on := all[0].Controls[1].On; !slices.Equal(on, []framework.Standing{framework.Fails, framework.Holds, framework.Unasked, framework.Unasked, framework.Unasked}) {
		t.Errorf("by server it stands %q", on)
	}
	if c := all[0].Controls[1]; c.Checks != 2 || !slices.Equal(c.Failing, []string{"fails"}) || c.Hold != 1 || c.Unasked != 3 || c.Name == "" {
		t.Errorf("%+v", c)
	}
}

// TestFault19EachControlHasAName, of ISO and PCI DSS.
func TestFault19EachControlHasAName(t *testing.T) {
	t.Parallel()
	all, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	doc := snapshot.Document{Kind: string(report.InstanceScorecard), Checks: all.Definitions()}
	for i, f := range framework.All(doc) {
		for _, c := range f.Controls {
			if (c.Name == "") != (i == 2) {
				t.Errorf("%s %s is called %q", f.Name, c.ID, c.Name)
			}
		}
	}
}
