package send_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify/send"
)

// TestAMessageInALine has its first event, which says more than how many there are; each
// event leads to its own page.
func TestAMessageInALine(t *testing.T) {
	t.Parallel()
	critical, id := alert.Critical, uuid.MustParse("0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01")
	waits := send.Notice{Type: notification.AlertRaised, Severity: &critical, Title: "Lock waits", Instance: &send.Reference{Name: "orders"}, AlertID: &id}
	why := "No database in scope has a completed classification."
	failed := send.Notice{Type: notification.ReportFailed, Title: "Security Report", ReportID: &id, Reason: &why}
	for want, m := range map[string]send.Message{
		"":                                      {},
		"Raised (critical): Lock waits, orders": {Events: []send.Notice{waits}},
		"Raised (critical): Lock waits, orders and 1 more": {Events: []send.Notice{waits, failed}},
		"Report failed: Security Report and 7 more":        {Events: []send.Notice{failed}, Omitted: 7},
	} {
		if got := send.Heading(m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := send.Line(failed); got != "Report failed: Security Report: "+why || send.About(failed) != "Security Report" || send.Why(failed) != why {
		t.Errorf("%q is said of what failed, because of %q", got, send.Why(failed))
	}
	for want, n := range map[string]send.Notice{
		"https://muster.example.org/alerts/" + id.String():  waits,
		"https://muster.example.org/reports/" + id.String(): failed,
	} {
		if got := send.Link("https://muster.example.org/", n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestAnAlertIsOverAfterItBegan, whatever clocks say: an Alertmanager refuses one that is not.
func TestAnAlertIsOverAfterItBegan(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	for name, a := range map[string]send.Fed{
		"as it should be": {StartsAt: now.Add(-time.Minute), EndsAt: now}, "a clock that is ahead": {StartsAt: now.Add(time.Minute), EndsAt: now},
	} {
		body, err := send.Alerts([]send.Fed{a}, "Acme", "https://muster.example.org")
		var posted []struct{ StartsAt, EndsAt time.Time }
		if err := errors.Join(err, json.Unmarshal(body, &posted)); err != nil || posted[0].EndsAt.Before(posted[0].StartsAt) || !posted[0].EndsAt.Equal(now) {
			t.Errorf("%s: %s, %v", name, body, err)
		}
	}
}
