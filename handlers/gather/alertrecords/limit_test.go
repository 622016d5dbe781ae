package alertrecords

import (
	"testing"
	"time"

	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/alertsum"
)

// TestUnlistedAlertsStayInTheBalance: of more alerts than a document may have, the latest are listed, and the
// others are one row of every table.
func TestUnlistedAlertsStayInTheBalance(t *testing.T) {
	t.Parallel()
	w := snapshot.Window{From: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 8, 0, 0, 0, 0, time.UTC)}
	r := &snapshot.AlertRecords{}
	for i := range 20 {
		a := snapshot.AlertRecord{Rule: "disk", Severity: "warning", RaisedAt: w.From.Add(time.Duration(i-5) * time.Hour)}
		if closed := a.RaisedAt.Add(10 * time.Hour); i%2 == 0 {
			a.ClosedAt = &closed
		}
		r.Listed = append(r.Listed, a)
	}
	doc := snapshot.Document{Window: &w, AlertRecords: r}
	want := alertsum.BalanceOf(doc).All
	limit(r, w, 8)
	b := alertsum.BalanceOf(doc)
	if b.All != want || len(r.Listed) != 8 || r.Unlisted == nil || r.Unlisted.Start != want.Start {
		t.Errorf("of 20 alerts %d are listed, with %+v; the balance is %+v, want %+v", len(r.Listed), r.Unlisted, b.All, want)
	}
	for _, rows := range [][]alertsum.Row{b.Severities, b.Servers, b.Rules} {
		var sum snapshot.AlertSum
		for _, row := range rows {
			sum.Add(row.AlertSum)
		}
		if sum != want {
			t.Errorf("the rows %+v add up to %+v, want %+v", rows, sum, want)
		}
	}
}
