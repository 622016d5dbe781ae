package mail_test

import (
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/mail"
)

// TestNoticesDescribeTheEvent as text and as a page, in which nothing of an event is read as markup or as a
// name of ours.
func TestNoticesDescribeTheEvent(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 11, 37, 42, 0, time.UTC)
	c := mail.Composer{From: &netmail.Address{Address: "muster@localhost"}, Now: func() time.Time { return at }}
	n := mail.Notices{
		DeliveryID: uuid.New(), MemberID: uuid.New(), Organization: "Acme", Demo: true, Rule: "All of it", Heading: "Raised (critical): <b>${Because}</b> and 8 more", Omitted: 7, At: at,
		Lines: []mail.NoticeLine{
			{What: "Raised (critical)", About: "<b>${Because}</b>", Link: "https://muster.example.org/alerts/1", At: at},
			{What: "Resolved", About: "two\nlines", Why: "It <i>ended</i>.", Link: "https://muster.example.org/alerts/2", At: at},
		},
	}
	text, page := mail.NoticesLetter(n)
	for _, want := range []string{"DEMO DATA", "9 events\nAcme", "Raised (critical): <b>${Because}</b>\n  20 November 2026, 11:37 UTC\n  https://muster.example.org/alerts/1\n", "lines\n  It <i>ended</i>.\n  20 November", "There are 7 more.", n.DeliveryID.String(), `rule “All of it”`} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "two\nlines") || strings.Contains(page, "<b>") || strings.Contains(page, "<i>") || strings.Contains(page, "${Rows}") || strings.Contains(page, "${More}") || !strings.Contains(page, "&lt;b&gt;${Because}&lt;/b&gt;") {
		t.Errorf("text\n%s\npage\n%s", text, page)
	}
	composed, err := c.ComposeNotices(n, mail.Address{Name: "Ana", Email: "ana@acme.example"})
	if err != nil || composed.ID != mail.NoticesID(n.DeliveryID, n.MemberID) {
		t.Fatalf("%+v, %v", composed, err)
	}
	if want := "[Demo] Raised (critical): <b>${Because}</b> and 8 more · Acme"; composed.Subject != want {
		t.Errorf("the subject is %q, want %q", composed.Subject, want)
	}
	// F23: short, with the figure first; and what there is to know and to do.
	n.Heading = "Raised (critical): shop-main: 10 sessions wait for a lock on table public.pgbench_history in database shop, the longest for 5m18s"
	n.Organization = "The Department of Very Long Names of Acme"
	if composed, err = c.ComposeNotices(n, mail.Address{Name: "Ana", Email: "ana@acme.example"}); err != nil ||
		composed.Subject != "[Demo] Raised (critical): shop-main: 10 sessions wait for a lock on table public.pgbench_history… · The Department of Very Long N…" {
		t.Errorf("the subject is %q, %v", composed.Subject, err)
	}
	n.Organization = "Acme"
	n.Lines[0].Facts, n.Lines[0].Acknowledge, n.Lines[0].Dashboard = []string{"Since then, threshold 5 minutes.", "<b>End\nit</b>."}, "https://m/alerts/1#acknowledge", "https://m/?instanceId=1"
	text, page = mail.NoticesLetter(n)
	if want := "/alerts/1\n  Since then, threshold 5 minutes.\n  <b>End\ufffdit</b>.\n  Acknowledge: https://m/alerts/1#acknowledge\n  Dashboard: https://m/?instanceId=1\n\n"; !strings.Contains(text, want) {
		t.Errorf("the text has no %q:\n%s", want, text)
	}
	if !strings.Contains(page, `href="https://m/alerts/1#acknowledge"`) || !strings.Contains(page, "&lt;b&gt;End") || strings.Contains(page, "<b>") || strings.Contains(page, "\x00") {
		t.Errorf("the page is\n%s", page)
	}
	n.Lines[0].Facts, n.Lines[0].Acknowledge, n.Lines[0].Dashboard = nil, "", ""
	n.Lines, n.Omitted = n.Lines[:1], 0
	if text, _ = mail.NoticesLetter(n); !strings.Contains(text, "\nRaised (critical)\nAcme\n\nRaised (critical): ") || strings.Contains(text, "\n\n\n") {
		t.Errorf("one event says\n%s", text)
	}
	n.Lines = nil
	if text, _ = mail.NoticesLetter(n); !strings.Contains(text, "This is a test") || strings.Contains(text, "rule") || strings.Contains(text, "\n\n\n") {
		t.Errorf("a test says\n%s", text)
	}
	if _, err := c.ComposeNotices(n, mail.Address{Email: "nobody"}); err == nil {
		t.Error("an address that is none is taken")
	}
}
