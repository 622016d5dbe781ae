package analysis_test

import (
	"strings"
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/snapshottest"
)

// TestAPlanRowHasTheOwnersOfItsServers: the teams with the number of their servers, most servers
// first, and those without an owner at the end. Without owners there is nothing to say.
func TestAPlanRowHasTheOwnersOfItsServers(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	owners := map[string]string{}
	doc = snapshottest.Owned(doc, "Payments", "Platform", "")
	for _, in := range doc.Instances {
		owners[in.Name] = analysis.OwnerOf(&in)
	}
	several := 0
	for _, s := range analysis.Plan(doc) {
		counted := map[string]int{}
		for _, name := range s.Where {
			counted[owners[name]]++
		}
		for i, o := range s.Owners {
			if counted[o.Name] != o.Instances || o.Name == "" && i < len(s.Owners)-1 {
				t.Errorf("%s: %+v, want %v", s.Action, s.Owners, counted)
			}
			if i > 0 && o.Name != "" && s.Owners[i-1].Instances < o.Instances {
				t.Errorf("%s: the order of %+v", s.Action, s.Owners)
			}
		}
		if len(s.Owners) != len(counted) {
			t.Errorf("%s: %+v, want %v", s.Action, s.Owners, counted)
		}
		if len(s.Owners) > 1 {
			several++
		}
	}
	if several == 0 {
		t.Error("no step has several owners")
	}
	for _, s := range analysis.Plan(snapshottest.Rich(report.Security)) {
		if s.OwnersInWords() != "" {
			t.Errorf("without owners: %s", s.OwnersInWords())
		}
	}
}

// TestOwnersInWords name at most three teams, and say which servers have none.
func TestOwnersInWords(t *testing.T) {
	t.Parallel()
	for want, owners := range map[string][]analysis.Owned{
		"": {{Name: "", Instances: 4}}, "Payments": {{Name: "Payments", Instances: 3}},
		"Payments (3), Web (1)":                         {{Name: "Payments", Instances: 3}, {Name: "Web", Instances: 1}},
		"Payments (3), no owner (2)":                    {{Name: "Payments", Instances: 3}, {Name: "", Instances: 2}},
		"A (4), B (3), C (2), no owner (1)":             {{Name: "A", Instances: 4}, {Name: "B", Instances: 3}, {Name: "C", Instances: 2}, {Name: "", Instances: 1}},
		"A (4), B (3), C (2), 2 others":                 {{Name: "A", Instances: 4}, {Name: "B", Instances: 3}, {Name: "C", Instances: 2}, {Name: "D", Instances: 1}, {Name: "", Instances: 1}},
		strings.Repeat("x", 60) + "…":                   {{Name: strings.Repeat("x", 200), Instances: 1}},
		strings.Repeat("x", 30) + "… (2), no owner (1)": {{Name: strings.Repeat("x", 200), Instances: 2}, {Name: "", Instances: 1}},
	} {
		if got := (analysis.Step{Owners: owners}).OwnersInWords(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestADocumentHasOneOwner if the same team owns all its servers. Two teams of the same name are two.
func TestADocumentHasOneOwner(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	for name, test := range map[string]struct {
		doc  snapshot.Document
		want string
	}{
		"of before":  {doc, ""},
		"no servers": {snapshottest.Empty(report.Security), ""},
		"one":        {snapshottest.Owned(doc, "Payments"), "Payments"},
		"two":        {snapshottest.Owned(doc, "Payments", "Web"), ""},
		"same name":  {snapshottest.Owned(doc, "Payments", "Payments"), ""},
		"not all":    {snapshottest.Owned(doc, "Payments", ""), ""},
	} {
		got := ""
		if owner := analysis.OneOwner(test.doc); owner != nil {
			got = owner.Name
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	inventory := snapshottest.Owned(snapshottest.Rich(report.DataInventory), "Payments", "Platform", "")
	owners := map[string]string{}
	for _, in := range inventory.Instances {
		owners[in.Name] = analysis.OwnerOf(&in)
	}
	for _, r := range analysis.Risks(inventory) {
		if r.Owner != owners[r.InstanceName] {
			t.Errorf("the risk of %s is of %q, want %q", r.InstanceName, r.Owner, owners[r.InstanceName])
		}
	}
}
