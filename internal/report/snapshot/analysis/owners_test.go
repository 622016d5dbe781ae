package analysis_test

import (
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/snapshottest"
)

// TestAnActionHasTheOwnerOfItsServer, and none where no team owns it.
func TestAnActionHasTheOwnerOfItsServer(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Owned(snapshottest.Rich(report.Security), "Payments", "Platform", "")
	owners := map[string]string{}
	for _, in := range doc.Instances {
		owners[in.Name] = analysis.OwnerOf(&in)
	}
	seen := map[string]bool{}
	for _, s := range analysis.Plan(doc) {
		if s.Owner != owners[s.Where] {
			t.Errorf("%s on %s: owner %q, want %q", s.Title, s.Where, s.Owner, owners[s.Where])
		}
		seen[s.Owner] = true
	}
	if len(seen) != 3 {
		t.Errorf("the owners are %v", seen)
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
