package alertmanager

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/domain/alert"
	"muster/internal/intake"
	"muster/internal/intake/resolve"
)

var receipt = time.Date(2026, 11, 20, 15, 10, 0, 0, time.UTC)

func instant(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}

// content is all of a message.
type content struct {
	Alerts   []Alert
	Received int
	Dropped  map[intake.Reason]int
}

func read(m *Message, err error) (content, error) {
	if err != nil {
		return content{}, err
	}
	var all []Alert
	for alerts := m.Next(2); len(alerts) > 0; alerts = m.Next(2) {
		all = append(all, alerts...)
	}
	return content{all, m.Received, m.Dropped}, nil
}

// TestWebhookAsAlertmanagerSends reads two posts that a real Alertmanager made.
func TestWebhookAsAlertmanagerSends(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]Alert{
		"alertmanager-webhook-rule-fired.json": {
			Firing: alert.Firing{
				Key: "alertmanager/338e9b45a1b43617", Title: "PostgreSQL 127.0.0.1:9781 is up", Severity: alert.Warning,
				Rule: &alert.Rule{ID: "PgUp", Name: "PgUp"}, StartsAt: instant("2026-11-20T14:59:07.737Z"), SeenAt: receipt,
			},
			Labels: resolve.Labels{Address: "127.0.0.1:9781"},
		},
		"alertmanager-webhook.json": {
			Firing: alert.Firing{
				Key: "alertmanager/29ca344d57e2d6dd", Title: "PostgreSQL pg1 is down", Severity: alert.Critical,
				Rule: &alert.Rule{ID: "DBDown", Name: "DBDown"}, StartsAt: instant("2026-11-20T14:59:04.360039149Z"),
				SeenAt: instant("2026-11-20T15:04:04.360039149Z"), EndsAt: instant("2026-11-20T15:04:04.360039149Z"), Resolved: true,
			},
			Labels: resolve.Labels{Address: "pg1.example"},
		},
	} {
		body, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(DecodeWebhook(body, receipt))
		if err != nil {
			t.Fatal(err)
		}
		want.Sender = "webhook vm:9783" // C2: by its externalURL
		if diff := cmp.Diff(content{Alerts: []Alert{want}, Received: 1}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
		// Alertmanager's fingerprint is the labels' own: the API, which states
		// none, makes the same alert of them.
		unstated, err := read(DecodeWebhook([]byte(strings.Replace(string(body), `"fingerprint"`, `"passed over"`, 1)), receipt))
		if err != nil || len(unstated.Alerts) != 1 || unstated.Alerts[0].Key != want.Key {
			t.Errorf("%s: computed %v, %v; stated %s", file, unstated.Alerts, err, want.Key)
		}
	}
}

// TestAPIAsPrometheusSends: one post with what may differ.
func TestAPIAsPrometheusSends(t *testing.T) {
	t.Parallel()
	const labels = `"labels":{"alertname":"PgUp","instance":"127.0.0.1:9781","job":"postgres","org":"demo","severity":"warning","empty":""}`
	for name, c := range map[string]struct {
		times              string
		starts, seen, ends time.Time
		resolved           bool
	}{
		"fires": {
			times:  `"startsAt":"2026-11-20T16:00:00+01:00","endsAt":"2026-11-20T15:14:00Z"`,
			starts: instant("2026-11-20T15:00:00Z"), seen: receipt, ends: instant("2026-11-20T15:14:00Z"),
		},
		"is over": {
			times:  `"startsAt":"2026-11-20T15:00:00Z","endsAt":"2026-11-20T15:09:00Z"`,
			starts: instant("2026-11-20T15:00:00Z"), seen: instant("2026-11-20T15:09:00Z"), ends: instant("2026-11-20T15:09:00Z"), resolved: true,
		},
		"is over this instant": {
			times:  `"startsAt":"2026-11-20T15:00:00Z","endsAt":"2026-11-20T15:10:00Z"`,
			starts: instant("2026-11-20T15:00:00Z"), seen: receipt, ends: receipt, resolved: true,
		},
		"without an end it is good for five minutes": {
			times:  `"startsAt":"2026-11-20T15:00:00Z"`,
			starts: instant("2026-11-20T15:00:00Z"), seen: receipt, ends: receipt.Add(5 * time.Minute),
		},
		"the zero time is none": {
			times:  `"startsAt":"0001-01-01T00:00:00Z","endsAt":"0001-01-01T00:00:00Z"`,
			starts: receipt, seen: receipt, ends: receipt.Add(5 * time.Minute),
		},
		"a start without an end, far ahead": {
			times:  `"startsAt":"2026-11-20T18:00:00Z"`,
			starts: receipt, seen: receipt, ends: receipt.Add(5 * time.Minute),
		},
		"an end without a start": {
			times:  `"endsAt":"2026-11-20T15:09:00Z"`,
			starts: instant("2026-11-20T15:09:00Z"), seen: instant("2026-11-20T15:09:00Z"), ends: instant("2026-11-20T15:09:00Z"), resolved: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := read(DecodeAlerts([]byte(`[{`+labels+`,"generatorURL":"http://vm/graph","annotations":{},`+c.times+`}]`), receipt))
			if err != nil || len(got.Alerts) != 1 {
				t.Fatalf("got %+v, %v", got, err)
			}
			a := got.Alerts[0]
			if a.Key != "alertmanager/338e9b45a1b43617" {
				t.Errorf("key is %s: an empty label is none", a.Key)
			}
			if !a.StartsAt.Equal(c.starts) || !a.SeenAt.Equal(c.seen) || !a.EndsAt.Equal(c.ends) || a.Resolved != c.resolved {
				t.Errorf("starts %s, seen %s, ends %s, resolved %v", a.StartsAt, a.SeenAt, a.EndsAt, a.Resolved)
			}
		})
	}
}

// TestWebhookStatus: the end in Alertmanager's messages, and in those of others.
func TestWebhookStatus(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		alert    string
		ends     time.Time
		resolved bool
	}{
		"firing has no end":                   {`"status":"firing"`, time.Time{}, false},
		"firing with an end that is ahead":    {`"status":"firing","endsAt":"2026-11-20T15:14:00Z"`, instant("2026-11-20T15:14:00Z"), false},
		"firing with an end that has passed":  {`"status":"firing","endsAt":"2026-11-20T15:09:00Z"`, instant("2026-11-20T15:09:00Z"), true},
		"resolved without an end is over now": {`"status":"resolved"`, receipt, true},
		"resolved by a clock that is ahead":   {`"status":"resolved","endsAt":"2026-11-20T15:14:00Z"`, receipt, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := read(DecodeWebhook([]byte(`{"version":"4","alerts":[{"labels":{"a":"b"},"startsAt":"2026-11-20T15:00:00Z",`+c.alert+`}]}`), receipt))
			if err != nil || len(got.Alerts) != 1 {
				t.Fatalf("got %+v, %v", got, err)
			}
			if a := got.Alerts[0]; !a.EndsAt.Equal(c.ends) || a.Resolved != c.resolved {
				t.Errorf("ends %s, resolved %v", a.EndsAt, a.Resolved)
			}
		})
	}
}

// TestBadAlertsAreLeftOut: each by its reason, and the good one beside it is taken.
func TestBadAlertsAreLeftOut(t *testing.T) {
	t.Parallel()
	for item, want := range map[string]intake.Reason{
		`null`:                                 intake.Malformed,
		`7`:                                    intake.Malformed,
		`[]`:                                   intake.Malformed,
		`{"labels":{"a":1},"status":"firing"}`: intake.Malformed,
		`{"labels":"a","status":"firing"}`:     intake.Malformed,
		`{"labels":{"a":"b"},"startsAt":"yesterday","status":"firing"}`:                                                 intake.Malformed,
		`{"labels":{},"status":"firing"}`:                                                                               intake.NoLabels,
		`{"annotations":{"summary":"s"},"status":"firing"}`:                                                             intake.NoLabels,
		`{"labels":{"a":""},"status":"firing"}`:                                                                         intake.NoLabels,
		`{"labels":{"a":"b","muster_alert_id":"0199f0c1-7a10-7c44-9b0e-2f6f1e6c1a06"},"status":"firing"}`:               intake.OurOwn,
		`{"labels":{"a":"b"},"startsAt":"2026-11-20T15:00:00Z","endsAt":"2026-11-20T14:59:59Z","status":"resolved"}`:    intake.InvalidTime,
		`{"labels":{"a":"b"},"startsAt":"9999-12-31T23:59:59-01:00","status":"firing"}`:                                 intake.InvalidTime,
		`{"labels":{"a":"b"},"startsAt":"0000-01-01T00:00:00Z","status":"firing"}`:                                      intake.InvalidTime,
		`{"labels":{"a":"b"},"startsAt":"2026-11-20T15:00:00Z","endsAt":"9999-12-31T23:59:59-01:00","status":"firing"}`: intake.InvalidTime,
	} {
		got, err := read(DecodeWebhook([]byte(`{"version":"4","alerts":[`+item+`,{"labels":{"a":"b"},"status":"firing"}]}`), receipt))
		if err != nil || len(got.Alerts) != 1 || got.Received != 2 || !cmp.Equal(got.Dropped, map[intake.Reason]int{want: 1}) {
			t.Errorf("webhook %s: got %+v, %v, want %s", item, got, err, want)
		}
		if strings.Contains(item, "9999-12-31T23:59:59-01:00\",\"status") && want == intake.InvalidTime && !strings.Contains(item, "endsAt") {
			continue // without an end, the API puts a start that lies ahead at the receipt
		}
		got, err = read(DecodeAlerts([]byte(`[`+item+`,{"labels":{"a":"b"}}]`), receipt))
		if err != nil || len(got.Alerts) != 1 || got.Received != 2 || !cmp.Equal(got.Dropped, map[intake.Reason]int{want: 1}) {
			t.Errorf("API %s: got %+v, %v, want %s", item, got, err, want)
		}
	}
	got, err := read(DecodeWebhook([]byte(`{"version":"4","alerts":[{"labels":{"a":"b"},"status":"pending"}],"truncatedAlerts":17}`), receipt))
	if err != nil || !cmp.Equal(got.Dropped, map[intake.Reason]int{intake.Malformed: 1, intake.Truncated: 17}) || got.Received != 1 {
		t.Errorf("an unknown status, and 17 cut off: %+v, %v", got, err)
	}
}

// TestNoMessage: an invalid message is refused, with the place of the fault.
func TestNoMessage(t *testing.T) {
	t.Parallel()
	for body, pointer := range map[string]string{
		``: "#", `null`: "#/version", `[]`: "#", `"x"`: "#", `{"version":"4","alerts":[`: "#", `{}`: "#/version",
		`{"version":4,"alerts":[]}`: "#/version", `{"version":"3","alerts":[]}`: "#/version",
		`{"version":"4"}`: "#/alerts", `{"version":"4","alerts":null}`: "#/alerts", `{"version":"4","alerts":{}}`: "#/alerts",
	} {
		_, err := read(DecodeWebhook([]byte(body), receipt))
		var bad *intake.UnreadableError
		if !errors.As(err, &bad) || bad.Pointer != pointer {
			t.Errorf("webhook %s: %v, want %s", body, err, pointer)
		}
	}
	for _, body := range []string{``, `null`, `{}`, `"x"`, `[{]`, `[] []`} {
		_, err := read(DecodeAlerts([]byte(body), receipt))
		var bad *intake.UnreadableError
		if !errors.As(err, &bad) || bad.Pointer != "#" {
			t.Errorf("API %s: %v", body, err)
		}
	}
	if got, err := read(DecodeWebhook([]byte(`{"version":"4","alerts":[],"new":{"of":"version 4"},"truncatedAlerts":"no number"}`), receipt)); err != nil || got.Received != 0 {
		t.Errorf("a message of none: %+v, %v", got, err)
	}
}

// TestAlertsOfAMessageAreReadOnDemand: of a message of a million, a thousand are
// in memory.
func TestAlertsOfAMessageAreReadOnDemand(t *testing.T) {
	t.Parallel()
	const alerts = `[{"labels":{"a":"1"}},null,{"labels":{"a":"2"}},{"labels":{"a":"3"}},null]`
	notified := strings.ReplaceAll(alerts, `"}}`, `"},"status":"firing"}`)
	for road, decode := range map[string]func() (*Message, error){
		"webhook": func() (*Message, error) {
			return DecodeWebhook([]byte(`{"version":"4","truncatedAlerts":9,"alerts":`+notified+`}`), receipt)
		},
		"API": func() (*Message, error) { return DecodeAlerts([]byte(alerts), receipt) },
	} {
		m, err := decode()
		if err != nil || m.Received != 0 {
			t.Fatalf("%s: %+v before anything is asked for, %v", road, m, err)
		}
		for _, want := range []struct{ read, received, malformed int }{{2, 3, 1}, {1, 5, 2}, {0, 5, 2}, {0, 5, 2}} {
			if got := m.Next(2); len(got) != want.read || m.Received != want.received || m.Dropped[intake.Malformed] != want.malformed {
				t.Errorf("%s: %d are read, %d received, %v dropped; want %+v", road, len(got), m.Received, m.Dropped, want)
			}
		}
	}
}

// TestTheFirstAlertsOfAHugeMessageAreTaken: the rest is counted, whatever it is.
func TestTheFirstAlertsOfAHugeMessageAreTaken(t *testing.T) {
	t.Parallel()
	alerts := `[` + strings.Repeat(`{"labels":{"a":"1"},"status":"firing"},`, Most-1) + `null` + strings.Repeat(`,{"labels":{"a":"2"},"status":"firing"},null`, 500) + `]`
	for road, decode := range map[string]func() (*Message, error){
		"webhook": func() (*Message, error) { return DecodeWebhook([]byte(`{"version":"4","alerts":`+alerts+`}`), receipt) },
		"API":     func() (*Message, error) { return DecodeAlerts([]byte(alerts), receipt) },
	} {
		m, err := decode()
		if err != nil {
			t.Fatal(err)
		}
		taken := 0
		for page := m.Next(1000); len(page) > 0; page = m.Next(1000) {
			taken += len(page)
		}
		if want := map[intake.Reason]int{intake.Malformed: 1, intake.TooMany: 1000}; taken != Most-1 || m.Received != Most+1000 || !maps.Equal(m.Dropped, want) {
			t.Errorf("%s: %d of %d are taken, %v dropped", road, taken, m.Received, m.Dropped)
		}
	}
}

// TestLargeAlertsAreLeftOut, and the others of their message taken.
func TestLargeAlertsAreLeftOut(t *testing.T) {
	t.Parallel()
	var labels strings.Builder
	for n := range 50_000 {
		fmt.Fprintf(&labels, `,"l%d":""`, n)
	}
	const good = `{"status":"firing","labels":{"a":"1"}}`
	large := []string{
		`{"status":"firing","labels":{"a":"2"` + labels.String() + `}}`,
		`{"status":"firing","labels":{"a":"3"},"x":"` + strings.Repeat("x", maxAlert) + `"}`,
		`{"status":"firing","labels":{"a":"4"},"x":[` + strings.Repeat("{},", maxAlert/3) + `{}]}`,
	}
	alerts := `[` + strings.Join([]string{large[0], good, large[1], large[2], good}, ",") + `]`
	for road, decode := range map[string]func() (*Message, error){
		"webhook": func() (*Message, error) { return DecodeWebhook([]byte(`{"version":"4","alerts":`+alerts+`}`), receipt) },
		"Grafana": func() (*Message, error) {
			return DecodeGrafana([]byte(`{"version":"1","orgId":1,"alerts":`+alerts+`}`), receipt)
		},
		"API": func() (*Message, error) { return DecodeAlerts([]byte(alerts), receipt) },
	} {
		m, err := decode()
		if err != nil {
			t.Fatal(err)
		}
		taken := len(m.Next(1000))
		if want := map[intake.Reason]int{intake.TooLong: 3}; taken != 2 || m.Received != 5 || !maps.Equal(m.Dropped, want) || len(m.Next(1000)) != 0 {
			t.Errorf("%s: %d of %d are taken, %v dropped", road, taken, m.Received, m.Dropped)
		}
	}
}

// TestText: the stored form of texts.
func TestText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ alert, title, severity, rule, description string }{
		"summary":                 {`"labels":{"alertname":"A"},"annotations":{"summary":"S"}`, "S", "warning", "A", ""},
		"no summary":              {`"labels":{"alertname":"A","severity":"critical"}`, "A", "critical", "A", ""},
		"summary of spaces":       {`"labels":{"alertname":"A","severity":"Info"},"annotations":{"summary":"  "}`, "A", "info", "A", ""},
		"neither":                 {`"labels":{"b":"2","a":"1","severity":"page"}`, `{a="1", b="2", severity="page"}`, "warning", "", ""},
		"description":             {`"labels":{"a":"1"},"annotations":{"summary":"S","description":"D"}`, "S", "warning", "", "D"},
		"U+0000 is not kept":      {`"labels":{"alertname":"A\u0000B"},"annotations":{"summary":"\u0000"}`, "AB", "warning", "AB", ""},
		"a broken pair of UTF-16": {`"labels":{"alertname":"A"},"annotations":{"summary":"\ud800"}`, "\ufffd", "warning", "A", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := read(DecodeAlerts([]byte(`[{`+c.alert+`}]`), receipt))
			if err != nil || len(got.Alerts) != 1 {
				t.Fatalf("got %+v, %v", got, err)
			}
			a, rule := got.Alerts[0], ""
			if a.Rule != nil {
				rule = a.Rule.Name
			}
			if a.Title != c.title || string(a.Severity) != c.severity || rule != c.rule || a.Description != c.description {
				t.Errorf("title %q, severity %s, rule %q, description %q", a.Title, a.Severity, rule, a.Description)
			}
		})
	}
}

// TestFingerprintsMatchAlertmanager: they are over the labels, as Alertmanager 0.25
// answered for these sets at its API. What a webhook states is another alert's to take.
func TestFingerprintsMatchAlertmanager(t *testing.T) {
	t.Parallel()
	for labels, want := range map[string]string{
		`{"a":"b"}`: "d2b371819297f98a",
		`{"alertname":"DBDown","instance":"db01:9187","severity":"critical"}`: "fc3c84a848114f77",
		`{"alertname":"X","empty":"","z":"1"}`:                                "490f81c61af552cd",
		`{"alertname":"ü & <ß>\n\"q\"","B":"1","a":"2","_":"3"}`:              "43c865946085a13a",
		`{"alertname":"High load","grafana_folder":"DBs","instance":"db7"}`:   "12927dfdce54f7dc",
	} {
		for _, stated := range []string{`"fc3c84a848114f77"`, `"aaaaaaaaaaaaaaaa"`, `"D2B371819297F98A"`, `"not hex"`, `""`, `"watch/silent/x"`, `"\u0000"`, `null`, `7`, `{}`} {
			item := `{"status":"firing","labels":` + labels + `,"fingerprint":` + stated + `}`
			got, err := read(DecodeWebhook([]byte(`{"version":"4","alerts":[`+item+`]}`), receipt))
			if err != nil || len(got.Alerts) != 1 || got.Alerts[0].Key != "alertmanager/"+want || got.Alerts[0].FormerKey != "" {
				t.Errorf("webhook, %s of %s: %+v, %v", stated, labels, got, err)
			}
			got, err = read(DecodeGrafana([]byte(`{"version":"1","orgId":1,"alerts":[`+item+`]}`), receipt))
			if err != nil || len(got.Alerts) != 1 || got.Alerts[0].Key != "grafana/1/labels/"+want {
				t.Errorf("grafana, %s of %s: %+v, %v", stated, labels, got, err)
			}
		}
		got, err := read(DecodeAlerts([]byte(`[{"labels":`+labels+`}]`), receipt))
		if err != nil || len(got.Alerts) != 1 || got.Alerts[0].Key != "alertmanager/"+want {
			t.Errorf("api, %s: %+v, %v", labels, got, err)
		}
	}
}

// TestSendersAreDistinguishedByAddress. A sender without an address, or with nonsense, has none, and its alerts
// are still accepted. C2.
func TestSendersAreDistinguishedByAddress(t *testing.T) {
	t.Parallel()
	for url, host := range map[string]string{
		`"http://prom-1:9090/graph?g0.expr=up"`: "prom-1:9090", `"https://[2001:db8::1]:9090/"`: "[2001:db8::1]:9090",
		`""`: "", `null`: "", `7`: "", `{}`: "", `"::"`: "", `"/graph"`: "",
	} {
		api, err := read(DecodeAlerts([]byte(`[{"labels":{"a":"b"},"generatorURL":`+url+`}]`), receipt))
		if err != nil || len(api.Alerts) != 1 || api.Alerts[0].Sender != strings.TrimSuffix("api "+host, "api ") {
			t.Errorf("API, %s: %+v, %v", url, api, err)
		}
		hook, err := read(DecodeWebhook([]byte(`{"version":"4","externalURL":`+url+`,"alerts":[{"labels":{"a":"b"},"status":"firing","generatorURL":"http://p/"}]}`), receipt))
		if err != nil || len(hook.Alerts) != 1 || hook.Alerts[0].Sender != strings.TrimSuffix("webhook "+host, "webhook ") {
			t.Errorf("webhook, %s: %+v, %v", url, hook, err)
		}
	}
}
