package alertsum_test

import (
	"strings"
	"testing"
	"time"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/alertsum"
	"muster/internal/report/snapshot/sheet"
	"muster/internal/report/snapshot/snapshottest"
)

// TestTheSheetNamesOpenAlertsAndUnknownFigures: the sentence names the open alerts, a median that is not known is "at
// least", and a scope without servers is not a quiet one.
func TestTheSheetNamesOpenAlertsAndUnknownFigures(t *testing.T) {
	t.Parallel()
	w := snapshot.Window{From: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)}
	last := w.From.AddDate(0, -2, 0)
	server := snapshot.AlertServer{ID: snapshottest.ID(100), Name: "pg-1"}
	with := func(all ...snapshot.AlertRecord) sheet.Sheet {
		return alertsum.Sheet(snapshot.Document{Window: &w, AlertRecords: &snapshot.AlertRecords{Servers: []snapshot.AlertServer{server}, Listed: all}})
	}
	if s := with(); s.State != "Clean" || s.Lead != "No alert is open." {
		t.Errorf("a quiet month: %s, %s", s.State, s.Lead)
	}
	if s := alertsum.Sheet(snapshot.Document{Window: &w, AlertRecords: &snapshot.AlertRecords{}}); s.State != "Nothing" {
		t.Errorf("no servers: %s, %s", s.State, s.Lead)
	}
	old := snapshot.AlertRecord{InstanceID: server.ID, Rule: "Disk", Title: "Disk is full", Severity: "critical", RaisedAt: last}
	s := with(old)
	if s.State != "Critical" || !strings.HasPrefix(s.Lead, "1 alert is open, 1 critical") || s.Rest != "Disk is full on pg-1 has been open since 1 Nov 2025." {
		t.Errorf("open since last year: %s, %s %s", s.State, s.Lead, s.Rest)
	}
	young := old
	young.RaisedAt = w.To.Add(-3 * time.Hour)
	times, _ := with(young).Section(string(report.SectionAlertTimes))
	if got := times.Parts[1].Spans.Rows[0]; got.MedianText != "at least 3 h" {
		t.Errorf("an alert that is still open was resolved after %s", got.MedianText)
	}
}
