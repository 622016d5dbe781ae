package handlers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/commands"
	domain "muster/domain/fleet"
	"muster/domain/report"
	"muster/handlers"
)

// TestATagChangesWhileAReportIsQueued: the report is about the servers that had the tags when it was requested, whatever
// happens to the tags before and after it is built.
func TestATagChangesWhileAReportIsQueued(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	tag := func(id uuid.UUID, value string) {
		t.Helper()
		_, mark, err := e.commands.TagInstances(t.Context(), e.actor(), []uuid.UUID{id}, domain.ChangeTags{By: domain.ByPerson, Set: map[string]string{"env": value}})
		if err != nil {
			t.Fatal(err)
		}
		e.wait(mark)
	}
	stays, leaves, comes := e.register("stays", true), e.register("leaves", true), e.register("comes", true)
	tag(stays, "prod")
	tag(leaves, "prod")
	tag(comes, "test")
	requested, err := e.commands.RequestReport(t.Context(), e.actor(), commands.RequestReport{Kind: report.Security, Tags: domain.TagFilter{"env": {"prod"}}})
	if err != nil {
		t.Fatal(err)
	}
	tag(leaves, "test")
	tag(comes, "prod")
	doc := e.build(requested.ReportID)
	var names []string
	for _, in := range doc.Instances {
		names = append(names, in.Name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "leaves stays" {
		t.Errorf("the report is about %s", got)
	}
	if doc.ScopeLabel != "env:prod (2 instances)" {
		t.Errorf("the report's scope is %q", doc.ScopeLabel)
	}
	tag(stays, "test")
	if o := e.rebuild(requested.ReportID); o.Verdict != handlers.Identical {
		t.Errorf("built again: %s", o)
	}
}
