package pdf_test

import (
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

// TestOwnersArePrinted: on the cover if all servers have the same owner, and beside each action
// and risk. An action on a server without one says so.
func TestOwnersArePrinted(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	security, inventory := snapshottest.Rich(report.Security), snapshottest.Rich(report.DataInventory)
	for name, test := range map[string]struct {
		doc            snapshot.Document
		says, saysNone []string
	}{
		"one owner": {
			snapshottest.Owned(security, "Payments"), []string{"Owner Payments Snapshot", "effort S Payments 2026-"}, []string{"no owner"},
		},
		"several": {
			snapshottest.Owned(security, "Payments", "Platform", "Analytics", ""), []string{"pg-crm-01 Platform", "pg-billing-02 no owner", "pg-billing-01 Analytics"},
			[]string{"Owner Payments"},
		},
		"of before":         {security, []string{"no owner"}, []string{"Owner Snapshot"}},
		"a scorecard":       {snapshottest.Owned(snapshottest.Rich(report.InstanceScorecard), "Payments"), []string{"Owner Payments Window", "Owner of pg-orders-01: Payments."}, nil},
		"an inventory":      {snapshottest.Owned(inventory, "Payments"), []string{"Owner Payments Snapshot"}, nil},
		"several inventory": {snapshottest.Owned(inventory, "Payments", "Platform", ""), []string{"no owner no retention", "Platform no retention"}, []string{"Owner Payments Snapshot"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			says(t, r, test.doc, test.says, test.saysNone)
		})
	}
}
