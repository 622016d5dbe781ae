package handlers_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/usecase"
	domain "muster/domain/fleet"
	"muster/domain/report"
	"muster/internal/assessment"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// TestGatherIncludesFactsFromFeeds: documents name a SQL Server and an Oracle from a feed, and leave out
// servers that were removed since.
func TestGatherIncludesFactsFromFeeds(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	actor := usecase.Actor{OrganizationID: e.organization, Component: "ingest"}
	item := func(name string, engine domain.Engine) inventory.Item {
		return inventory.Item{ExternalID: name, Name: name, Engine: engine, CreatedAt: e.clock.Now().AddDate(-1, 0, 0),
			Databases: []inventory.Database{{ExternalID: "erp", Name: "ERP"}, {ExternalID: "old", Name: "Old"}}}
	}
	items := []inventory.Item{item("ledger", domain.SQLServer), item("erp", domain.Oracle), item("silent", domain.Oracle), item("blind", domain.PostgreSQL)}
	ids, _, err := e.commands.RecordFleet(t.Context(), actor, items)
	if err != nil {
		t.Fatal(err)
	}
	items[1].Databases[1].Removed = true
	_, mark, err := e.commands.RecordFleet(t.Context(), actor, items)
	if err != nil {
		t.Fatal(err)
	}
	e.wait(mark)
	yes, size := true, int64(4096)
	sent := func(instance uuid.UUID, ago time.Duration, check string) assessment.Sent {
		at := e.clock.Now().Add(-ago)
		return assessment.Sent{Instance: instance, Engine: domain.Oracle, At: at, Assessment: snapshot.Assessment{
			StartedAt: at, FinishedAt: at, Outcome: snapshot.OutcomeComplete, Sent: true, VersionText: "19.24.0.0.0",
			Results:   []snapshot.CheckResult{{CheckID: check, Status: snapshot.StatusFail, FailFraction: 1, Total: 1, Violations: []snapshot.Violation{{Object: "SCOTT"}}}},
			Databases: []snapshot.DatabaseFact{{Name: "ERP", SizeBytes: &size, EncryptedAtRest: &yes}, {Name: "Old"}},
		}, Classified: []assessment.DatabaseClassification{
			{Database: "ERP", Classification: snapshot.Classification{Status: snapshot.ClassificationCompleted, FinishedAt: at}},
			{Database: "Old", Classification: snapshot.Classification{Status: snapshot.ClassificationCompleted, FinishedAt: at}},
		}}
	}
	all := []assessment.Sent{sent(ids[0].ID, 90*24*time.Hour, "MS-02"), sent(ids[1].ID, time.Hour, "OR-01"), sent(ids[1].ID, 2*time.Hour, "OR-02")}
	if err := e.facts.RecordSent(t.Context(), e.organization, all, e.tellAll); err != nil {
		t.Fatal(err)
	}
	doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{}))
	if err != nil {
		t.Fatal(err)
	}
	one, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{InstanceIDs: []uuid.UUID{ids[1].ID}}))
	if err != nil {
		t.Fatal(err)
	}
	if len(one.Checks) < 50 || slices.ContainsFunc(one.Checks, func(c snapshot.Check) bool { return c.Engine != "oracle" }) {
		t.Errorf("a report on one Oracle defines %d checks", len(one.Checks))
	}
	for _, in := range doc.Instances {
		version, answered := analysis.Version(&in)
		switch in.Name {
		case "ledger", "erp":
			check := map[string]string{"ledger": "MS-02", "erp": "OR-01"}[in.Name]
			if in.Assessment == nil || in.Assessment.Results[0].CheckID != check || in.NotAssessed != "" || in.Collected || version != "19.24.0.0.0" || !answered {
				t.Errorf("%+v", in)
			}
			if (in.Release != nil) != (in.Name == "erp") || in.Name == "erp" && (in.Release.Major != "19c" || in.Release.CVEsUnknown || in.Release.CVEGap == "" || in.Release.Target != "19.32" || len(in.CVEs) < 20) {
				t.Errorf("%s is supported as %+v", in.Name, in.Release)
			}
		case "silent":
			if in.Assessment != nil || in.NotAssessed != "no connection is registered" {
				t.Errorf("%+v", in)
			}
		case "blind":
			if in.NotAssessed != "no connection is registered" {
				t.Errorf("%+v", in)
			}
		}
		if in.Name == "erp" {
			if len(in.Databases) != 1 || in.Databases[0].Classification == nil || in.Databases[0].Encrypted == nil || *in.Databases[0].SizeBytes != size {
				t.Errorf("%+v", in.Databases)
			}
		}
	}
	if n := analysis.CountBySeverity(analysis.Findings(doc)).Total(); n != 2 || analysis.AssessmentCoverage(doc).Assessed != 2 {
		t.Errorf("%d findings, %+v", n, analysis.AssessmentCoverage(doc))
	}
	if _, err := e.inputs().Gather(t.Context(), e.gathering(report.DataInventory, report.Scope{})); err != nil {
		t.Errorf("there is a classification: %v", err)
	}
	inputs, err := snapshot.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := snapshot.Decode(inputs)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := snapshot.Encode(decoded); err != nil || !bytes.Equal(inputs, again) {
		t.Errorf("its inputs are not read back: %v", err)
	}

	// Another organization has none of it, and an inactive instance is not assessed.
	foreign := e.gathering(report.Security, report.Scope{})
	foreign.OrganizationID = e.stranger()
	if doc, err := e.inputs().Gather(t.Context(), foreign); err != nil || len(doc.Instances) != 0 {
		t.Errorf("%+v, %v", doc.Instances, err)
	}
	off := false
	items[0].Active = &off
	if _, mark, err = e.commands.RecordFleet(t.Context(), actor, items[:1]); err != nil {
		t.Fatal(err)
	}
	e.wait(mark)
	doc, err = e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{InstanceIDs: []uuid.UUID{ids[0].ID}}))
	if err != nil || doc.Instances[0].Assessment != nil || doc.Instances[0].NotAssessed == "" {
		t.Errorf("%+v, %v", doc.Instances, err)
	}
}
