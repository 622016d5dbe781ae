package pagerduty

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify/channel"
)

func of(t *testing.T, kind notification.EventType, title string, severity alert.Severity) happened {
	t.Helper()
	id := uuid.MustParse("0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01")
	return happened{Alert: id, Type: kind, Notice: channel.Notice{
		Type: kind, Title: title, Severity: &severity, AlertID: &id, Details: title, Instance: &channel.Reference{Name: title},
	}}
}

// TestATriggerFitsPagerDuty: whatever a machine calls an alert, the summary has the length that
// PagerDuty documents, and no character that misleads.
func TestATriggerFitsPagerDuty(t *testing.T) {
	t.Parallel()
	for _, title := range []string{strings.Repeat("ä", 10_000), "\u202egnp.exe\u2066 שלום", "a\x00b\x07\u0085\u2028c\r\nd", "<@U1> @channel [x](http://evil.example) **b**"} {
		e, err := trigger(of(t, notification.AlertRaised, title, alert.Critical).Notice, channel.Message{Organization: title, Rule: channel.Reference{Name: title}, PublicURL: "https://muster.example.org"})
		if err != nil {
			t.Fatal(err)
		}
		p := e.Payload
		if n := utf8.RuneCountInString(p.Summary); n < 1 || n > 1024 {
			t.Errorf("the summary has %d characters", n)
		}
		for _, said := range []string{p.Summary, p.Source, p.Group, p.Details["details"], p.Details["rule"]} {
			if strings.ContainsAny(said, "\u202e\u2066\x00\x07\u0085\u2028\r\n") {
				t.Errorf("PagerDuty is told %q", said)
			}
		}
		if body, err := json.Marshal(e); err != nil || len(body) > 512<<10 {
			t.Errorf("an event has %d bytes, %v", len(body), err)
		}
	}
	if _, err := trigger(of(t, notification.AlertRaised, "Lag", "loud").Notice, channel.Message{}); err == nil {
		t.Error("a severity that PagerDuty has no word for is sent")
	}
}

// TestATriggerNamesTheOwner of the server, within the details.
func TestATriggerNamesTheOwner(t *testing.T) {
	t.Parallel()
	n := of(t, notification.AlertRaised, "Lag", alert.Critical).Notice
	n.Owner = &channel.Reference{ID: uuid.MustParse("0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a02"), Name: "Payments"}
	e, err := trigger(n, channel.Message{PublicURL: "https://muster.example.org"})
	if err != nil || !strings.HasPrefix(e.Payload.Details["details"], "Owner: Payments.") {
		t.Errorf("%+v, %v", e.Payload, err)
	}
}

func TestPagerDutyGetsTheLastStateOfAnAlert(t *testing.T) {
	t.Parallel()
	const raised, acknowledged, resolved = notification.AlertRaised, notification.AlertAcknowledged, notification.AlertResolved
	for want, told := range map[string][]notification.EventType{
		"trigger":             {raised, raised},
		"trigger acknowledge": {raised, acknowledged},
		"acknowledge":         {acknowledged},
		"resolve":             {raised, acknowledged, resolved},
	} {
		var all []happened
		for _, kind := range told {
			all = append(all, of(t, kind, "Lag", alert.Info))
		}
		events, err := stateOf(all, channel.Message{})
		var said []string
		for _, e := range events {
			said = append(said, e.Action)
			if e.DedupKey != "muster/"+all[0].Alert.String() {
				t.Errorf("the key is %s", e.DedupKey)
			}
		}
		if got := strings.Join(said, " "); err != nil || got != want {
			t.Errorf("%v is %s, %v; want %s", told, got, err, want)
		}
	}
}

// TestTheRoutingKeyIsASecret: it is required, has PagerDuty's form, and is never shown.
func TestTheRoutingKeyIsASecret(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("R1", 16)
	for key, want := range map[string]string{"": "secret_required", "short": "out_of_range", good + "\n": "out_of_range", good: ""} {
		a := notification.Address{URL: "https://events.eu.pagerduty.com", Secret: key}
		broken := validate(notification.Channel{Kind: Name, Address: a})
		if want == "" && len(broken) > 0 || want != "" && (len(broken) != 1 || broken[0].Code != want || broken[0].Pointer != "#/secret") {
			t.Errorf("%q: %v", key, broken)
		}
		if Kind().Shown(a).Secret != "" {
			t.Error("the key is shown")
		}
	}
}
