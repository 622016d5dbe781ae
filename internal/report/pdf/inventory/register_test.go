package inventory

import (
	"strings"
	"testing"

	"muster/domain/report"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

// TestFault52OwnerAndDeadlineHaveCellsOfTheirOwn: a risk's deadline stands with its decision, and never in the cell of the
// owner, which names the owner or says that there is none.
func TestFault52OwnerAndDeadlineHaveCellsOfTheirOwn(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.DataInventory)
	for i := range doc.Instances {
		if i%2 == 0 {
			doc.Instances[i].Owner = &snapshot.Owner{ID: snapshottest.ID(7), Name: "Payments"}
		}
	}
	b, err := blocks.New(doc, "inputs")
	if err != nil {
		t.Fatal(err)
	}
	dated := 0
	for _, r := range b.Risks {
		owner, decided := ownerAndRetention(&b, r), decision(&b, r)
		due := riskDue(&b, r)
		if owner.Text != "Payments" && owner.Text != "no owner" || strings.Contains(owner.Sub, due) {
			t.Errorf("%s: the cell of the owner says %q, %q", r.ID, owner.Text, owner.Sub)
		}
		if r.Due == nil {
			continue
		}
		if dated++; !strings.HasSuffix(decided.Sub, "\n"+due) || strings.Contains(decided.Text+decided.Sub, "Payments") {
			t.Errorf("%s: the cell of the decision says %q, %q", r.ID, decided.Text, decided.Sub)
		}
	}
	if dated < 10 {
		t.Errorf("only %d risks have a deadline", dated)
	}
}
