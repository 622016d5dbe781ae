package pdf_test

import (
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

// TestOwnersArePrinted: on the cover if all servers have the same owner, and beside each action
// and risk. Where none is known there is room to write one in, as before there were owners.
func TestOwnersArePrinted(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	security, inventory := snapshottest.Rich(report.Security), snapshottest.Rich(report.DataInventory)
	for name, test := range map[string]struct {
		doc            snapshot.Document
		says, saysNone []string
	}{
		"one owner": {
			snapshottest.Owned(security, "Payments"), []string{"Owner Payments Snapshot", "Payments 2026-11-27", "22% Payments"}, []string{"Fill in the owners"},
		},
		"several": {
			snapshottest.Owned(security, "Payments", "Platform", "Analytics", ""), []string{"see plan 2026-11-27", "3 owners 2026-12-20", "Payments (2), Analytics (1)", "no owner (1)"},
			[]string{"Owner Payments", "Fill in the owners"},
		},
		"of before":         {security, []string{"Fill in the owners."}, []string{"Owner Snapshot", "no owner", "see plan"}},
		"a scorecard":       {snapshottest.Owned(snapshottest.Rich(report.InstanceScorecard), "Payments"), []string{"Owner Payments Window", "62% Payments"}, nil},
		"an inventory":      {snapshottest.Owned(inventory, "Payments"), []string{"Owner Payments Snapshot"}, nil},
		"several inventory": {snapshottest.Owned(inventory, "Payments", "Platform", ""), nil, []string{"Owner Payments Snapshot", "no owner"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			says(t, r, test.doc, test.says, test.saysNone)
		})
	}
}
