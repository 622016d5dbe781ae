package handlers_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/exception"
	"muster/domain/report"
	"muster/internal/assessment"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// TestTheRegisterKeepsTheHistoryAndDecisionsOfRisks: a risk keeps its id and its first day, names the days on
// which it went and came back, and is accepted only while an exception that a person granted is in force.
func TestTheRegisterKeepsTheHistoryAndDecisionsOfRisks(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	crm, other := e.register("pg-crm", true), e.register("pg-other", true)
	e.connect(crm)
	run := func(status string, tables ...string) {
		c := snapshot.Classification{StartedAt: e.clock.Now(), FinishedAt: e.clock.Now(), Status: status}
		for _, name := range tables {
			c.Tables = append(c.Tables, snapshot.ClassifiedTable{
				Schema: "public", Name: name, EstimatedRows: 200_000, PublicAccess: true,
				Columns: []snapshot.ClassifiedColumn{{Name: "iban", Category: "Financial", Regulation: "GDPR", Weight: 8}},
			})
		}
		found := snapshot.Assessment{Outcome: snapshot.OutcomeComplete, VersionNum: 150018, CatalogueVersion: "7", Databases: []snapshot.DatabaseFact{{Name: "crm"}}}
		e.looked(crm, found, assessment.DatabaseClassification{Database: "crm", Classification: c})
	}
	risks := func() map[string]analysis.TableRisk {
		doc, err := e.inputs().Gather(t.Context(), e.gathering(report.DataInventory, report.Scope{}))
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]analysis.TableRisk{}
		for _, r := range analysis.Risks(doc) {
			all[r.Table.Name] = r
		}
		return all
	}
	run(snapshot.ClassificationCompleted, "contact", "newsletter")
	first := risks()
	contact := first["contact"]
	if contact.Since == nil || contact.Since.EverFirstSeenAt != nil || contact.Decision != nil || contact.Due == nil ||
		!contact.Due.At.Equal(contact.Since.FirstSeenAt.AddDate(0, 0, 30)) {
		t.Fatalf("at first: %+v", contact)
	}

	// A look in part ends nothing, and neither does one that failed.
	run(snapshot.ClassificationPartial, "newsletter")
	run(snapshot.ClassificationFailed)
	run(snapshot.ClassificationCompleted, "contact", "newsletter")
	if now := risks()["contact"]; *now.Since != *contact.Since {
		t.Errorf("after a look in part: %+v, was %+v", now.Since, contact.Since)
	}

	run(snapshot.ClassificationCompleted, "newsletter")
	if _, there := risks()["contact"]; there {
		t.Error("a table that is no more is in the register")
	}
	run(snapshot.ClassificationCompleted, "contact", "newsletter")
	again := risks()
	since := again["contact"].Since
	if again["contact"].ID != contact.ID || since == nil || since.EverFirstSeenAt == nil || !since.EverFirstSeenAt.Equal(contact.Since.FirstSeenAt) ||
		since.EarlierGoneAt == nil || !since.FirstSeenAt.After(*since.EarlierGoneAt) {
		t.Errorf("back: %+v, first %+v", since, contact.Since)
	}
	if n := again["newsletter"].Since; *n != *first["newsletter"].Since {
		t.Errorf("a table that stayed is there since %+v, and was since %+v", n, first["newsletter"].Since)
	}

	// People decide: for the server of the risk alone, and until the exception is revoked.
	e.commands.Risks = e.facts
	on := func(instance *uuid.UUID) func(*commands.RequestException) {
		return func(r *commands.RequestException) { r.InstanceID = instance }
	}
	for name, subject := range map[string]exception.Subject{
		"another server":     {CheckID: contact.ID, InstanceID: &other},
		"no server":          {CheckID: contact.ID},
		"no such risk":       {CheckID: "R-AAAAAAA", InstanceID: &crm},
		"an object besides":  {CheckID: contact.ID, InstanceID: &crm, ObjectRef: "public.contact"},
		"no id of that form": {CheckID: "R-1", InstanceID: &crm},
	} {
		var broken *usecase.RuleError
		_, _, err := e.commands.RequestException(t.Context(), e.as(e.ana), commands.RequestException{Subject: subject, Reason: "r", Until: e.clock.Now().AddDate(0, 1, 0)})
		if !errors.As(err, &broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	asked := e.asked(contact.ID, on(&crm))
	if risks()["contact"].Decision != nil {
		t.Error("a request alone accepts the risk")
	}
	if _, err := e.commands.GrantException(t.Context(), e.as(e.bob), asked); err != nil {
		t.Fatal(err)
	}
	accepted := risks()
	switch d := accepted["contact"].Decision; {
	case d == nil:
		t.Fatal("not accepted")
	case d.GrantedBy.ID != e.bob || d.Reason == "" || d.Until.IsZero() || accepted["contact"].Due != nil:
		t.Errorf("accepted: %+v, due %+v", d, accepted["contact"].Due)
	}
	if accepted["newsletter"].Decision != nil {
		t.Error("another risk is accepted, too")
	}
	e.revoked(asked)
	if r := risks()["contact"]; r.Decision != nil || r.Due == nil {
		t.Errorf("revoked: %+v", r.Decision)
	}
}
