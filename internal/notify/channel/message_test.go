package channel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify/channel"
)

// TestAMessageOnOneLine has its first event, which says more than how many there are; each
// event leads to its own page.
func TestAMessageOnOneLine(t *testing.T) {
	t.Parallel()
	critical, id := alert.Critical, uuid.MustParse("0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01")
	waits := channel.Notice{Type: notification.AlertRaised, Severity: &critical, Title: "Lock waits", Instance: &channel.Reference{Name: "orders"}, AlertID: &id}
	why := "No database in scope has a completed classification."
	failed := channel.Notice{Type: notification.ReportFailed, Title: "Security Report", ReportID: &id, Reason: &why}
	for want, m := range map[string]channel.Message{
		"":                                      {},
		"Raised (critical): Lock waits, orders": {Events: []channel.Notice{waits}},
		"Raised (critical): Lock waits, orders and 1 more": {Events: []channel.Notice{waits, failed}},
		"Report failed: Security Report and 7 more":        {Events: []channel.Notice{failed}, Omitted: 7},
	} {
		if got := channel.Heading(m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := channel.Line(failed); got != "Report failed: Security Report: "+why || channel.About(failed) != "Security Report" || channel.Why(failed) != why {
		t.Errorf("%q is said of what failed, because of %q", got, channel.Why(failed))
	}
	for want, n := range map[string]channel.Notice{
		"https://muster.example.org/alerts/" + id.String():  waits,
		"https://muster.example.org/reports/" + id.String(): failed,
	} {
		if got := channel.Link("https://muster.example.org/", n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestAServerIsNamedOnce, and what a mail says of a raised alert. F23.
func TestAServerIsNamedOnce(t *testing.T) {
	t.Parallel()
	on := func(title string) channel.Notice {
		return channel.Notice{Type: notification.AlertRaised, Title: title, Instance: &channel.Reference{Name: "shop"}}
	}
	for title, want := range map[string]string{
		"shop: volume / is full": "shop: volume / is full", "host db7: full (billing, shop)": "host db7: full (billing, shop)",
		"Lag": "Lag, shop", "shop-2 lags behind": "shop-2 lags behind, shop", "workshop": "workshop, shop", "shops, and shop": "shops, and shop",
	} {
		if got := channel.About(on(title)); got != want {
			t.Errorf("about %q, want %q", got, want)
		}
	}
	id, threshold, since := uuid.MustParse("0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01"), 5.0, time.Date(2026, 11, 26, 18, 0, 0, 0, time.UTC)
	n := on("shop: 10 sessions wait")
	n.AlertID, n.Since, n.Details, n.AlertRule = &id, &since, "Find the session.\nEnd it.", &alert.Rule{Name: "x", Threshold: &threshold, Unit: "minutes"}
	if got := strings.Join(channel.Facts(n), "|"); got != "Since 26 November 2026, 18:00 UTC, threshold 5 minutes.|Find the session. End it." {
		t.Errorf("facts %q", got)
	}
	if got := channel.Acknowledge("https://m/", n) + " " + channel.Dashboard("https://m/", n); got != "https://m/alerts/"+id.String()+"#acknowledge https://m/?instanceId="+uuid.Nil.String() {
		t.Errorf("links %q", got)
	}
	owned := n
	owned.Owner = &channel.Reference{Name: "Payments\x01"}
	if got := channel.Line(owned) + "|" + channel.Facts(owned)[0]; got != "Raised: shop: 10 sessions wait, owner Payments\ufffd|Owner: Payments\ufffd." {
		t.Errorf("with an owner: %q", got)
	}
	n.Type = notification.AlertResolved
	if len(channel.Facts(n)) > 0 || channel.Acknowledge("https://m", n) != "" {
		t.Error("what is over is to be acknowledged")
	}
	for lasted, want := range map[time.Duration]string{
		0: "less than 1 s", 42 * time.Second: "42 s", 12 * time.Minute: "12 min", 12*time.Minute + 3*time.Second: "12 min 3 s", 2*time.Hour + 5*time.Minute: "2 h 5 min", 49 * time.Hour: "2 d 1 h",
	} {
		until := since.Add(lasted)
		n.Until = &until
		if got := channel.Line(n); got != "Resolved after "+want+": shop: 10 sessions wait" {
			t.Errorf("of what is over after %s: %q", lasted, got)
		}
		if got := strings.Join(channel.Facts(n), "|"); got != "It is over. It lasted "+want+", from 26 November 2026, 18:00:00 UTC to "+until.Format("2 January 2006, 15:04:05")+" UTC." {
			t.Errorf("facts of what is over after %s: %q", lasted, got)
		}
	}
}

// TestAnEventForTeams is about their servers, and its texts name no others.
func TestAnEventForTeams(t *testing.T) {
	t.Parallel()
	ours, theirs := &channel.Reference{ID: uuid.New()}, &channel.Reference{ID: uuid.New()}
	server := func(name string, owner *channel.Reference) channel.OwnedInstance {
		return channel.OwnedInstance{Reference: channel.Reference{ID: uuid.New(), Name: name}, Owner: owner}
	}
	a, b, c := server("a", theirs), server("b", ours), server("c", ours)
	n := channel.Notice{
		Title: "host db07: /data is 92 % full (a, b, c)", Details: "Free space. Servers on host db07: a, b, c.",
		Instance: &a.Reference, Owner: theirs, OtherInstances: []channel.OwnedInstance{b, c},
	}
	got := n.For([]uuid.UUID{ours.ID})
	if got.Title != "host db07: /data is 92 % full" || got.Details != "Free space." || *got.Instance != b.Reference || got.Owner != ours || len(got.OtherInstances) != 1 || got.OtherInstances[0] != c {
		t.Errorf("for one team: %+v", got)
	}
	if got := n.For([]uuid.UUID{ours.ID, theirs.ID}); got.Title != n.Title || *got.Instance != a.Reference || len(got.OtherInstances) != 2 {
		t.Errorf("for both: %+v", got)
	}
}
