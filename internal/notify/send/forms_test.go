package send_test

import (
	"testing"

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
	failed := send.Notice{Type: notification.ReportFailed, Title: "Security Report", ReportID: &id}
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
	for want, n := range map[string]send.Notice{
		"https://muster.example.org/alerts/" + id.String():  waits,
		"https://muster.example.org/reports/" + id.String(): failed,
	} {
		if got := send.Link("https://muster.example.org/", n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
