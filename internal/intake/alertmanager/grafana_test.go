package alertmanager_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/domain/alert"
	"muster/internal/intake"
	"muster/internal/intake/alertmanager"
)

var cameAt = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// grafana is a message with alerts in it.
func grafana(alerts ...string) []byte {
	return fmt.Appendf(nil, `{"receiver":"muster","status":"firing","orgId":1,"alerts":[%s],"groupLabels":{},"commonLabels":{},"externalURL":"https://grafana.example.org/",
		"version":"1","groupKey":"{}:{}","truncatedAlerts":0,"title":"[FIRING:1]","state":"alerting","message":"**Firing**"}`, strings.Join(alerts, ","))
}

// TestGrafana: the firings made from its alerts. C21.
func TestGrafana(t *testing.T) {
	t.Parallel()
	const times = `"startsAt":"2026-11-26T11:00:00+01:00","endsAt":"0001-01-01T00:00:00Z","fingerprint":"c6eadffa33fcdf37"`
	ends := time.Date(2026, 11, 26, 11, 30, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		alert, title, description string
		rule                      string
		severity                  alert.Severity
		resolved                  bool
		ends                      time.Time
		dropped                   intake.Reason
	}{
		"firing": {alert: `{"status":"firing","labels":{"alertname":"High load","severity":"critical","instance":"db7:9187"},"annotations":{"summary":"Load of db7","description":"Too much."},
			"values":{"C":1,"B":44.2,"D":null},"valueString":"[ metric='' ]","silenceURL":"https://g/silence","dashboardURL":"","panelURL":"javascript:alert(1)",` + times + `}`,
			title: "Load of db7", description: "Too much.\nValues: B = 44.2, C = 1\nSilence in Grafana: https://g/silence", rule: "High load", severity: alert.Critical},
		"firing until its next evaluation": {alert: `{"status":"firing","labels":{"alertname":"A"},"values":null,"startsAt":"2026-11-26T10:00:00Z","endsAt":"2026-11-26T12:04:00Z","fingerprint":"c6eadffa33fcdf37"}`,
			title: "A", rule: "A", severity: alert.Warning},
		"resolved": {alert: `{"status":"resolved","labels":{"alertname":"A"},"startsAt":"2026-11-26T10:00:00Z","endsAt":"2026-11-26T11:30:00Z","fingerprint":"c6eadffa33fcdf37"}`,
			title: "A", rule: "A", severity: alert.Warning, resolved: true, ends: ends},
		"no data": {alert: `{"status":"firing","labels":{"alertname":"DatasourceNoData","rulename":"High load","datasource_uid":"p"},"annotations":{},` + times + `}`,
			title: "No data: High load", rule: "High load", severity: alert.Warning},
		"an error": {alert: `{"status":"firing","labels":{"alertname":"DatasourceError","rulename":"High load"},"annotations":{"Error":"connection refused"},` + times + `}`,
			title: "Evaluation failed: High load", description: "connection refused", rule: "High load", severity: alert.Warning},
		"its button Test": {alert: `{"status":"firing","labels":{"alertname":"TestAlert","instance":"Grafana"},"annotations":{"summary":"Notification test"},"values":null,` + times + `}`,
			title: "Notification test", rule: "TestAlert", severity: alert.Info, ends: cameAt.Add(5 * time.Minute)},
		"no status":           {alert: `{"labels":{"alertname":"A"},` + times + `}`, dropped: intake.Malformed},
		"no labels":           {alert: `{"status":"firing","labels":{},` + times + `}`, dropped: intake.NoLabels},
		"a label twice":       {alert: `{"status":"firing","labels":{"alertname":"A","instance":"a","instance":"b"},` + times + `}`, dropped: intake.DuplicateLabel},
		"a member twice":      {alert: `{"status":"firing","Status":"resolved","labels":{"alertname":"A"},` + times + `}`, dropped: intake.DuplicateLabel},
		"Muster's own":        {alert: `{"status":"firing","labels":{"alertname":"A","muster_alert_id":"1"},` + times + `}`, dropped: intake.OurOwn},
		"labels of two cases": {alert: `{"status":"firing","labels":{"alertname":"A","instance":"a","Instance":"b"},` + times + `}`, title: "A", rule: "A", severity: alert.Warning},
	} {
		m, err := alertmanager.DecodeGrafana(grafana(c.alert), cameAt)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found := m.Next(10)
		if c.dropped != "" {
			if len(found) != 0 || m.Dropped[c.dropped] != 1 {
				t.Errorf("%s: %+v, dropped %v", name, found, m.Dropped)
			}
			continue
		}
		if len(found) != 1 {
			t.Errorf("%s: dropped %v", name, m.Dropped)
			continue
		}
		a := found[0]
		if !strings.HasPrefix(a.Key, "grafana/1/labels/") || a.FormerKey != "grafana/1/c6eadffa33fcdf37" || a.Title != c.title || a.Description != c.description || a.Rule.Name != c.rule || a.Severity != c.severity ||
			a.Resolved != c.resolved || !a.EndsAt.Equal(c.ends) {
			t.Errorf("%s: %+v of rule %+v", name, a, a.Rule)
		}
	}
}

// TestGrafanaOrganizations: the same labels in two organizations of one Grafana are two alerts.
func TestGrafanaOrganizations(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for _, org := range []string{`"orgId":1`, `"orgId":2`} {
		body := strings.Replace(string(grafana(`{"status":"firing","labels":{"alertname":"A"}}`)), `"orgId":1`, org, 1)
		m, err := alertmanager.DecodeGrafana([]byte(body), cameAt)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range m.Next(10) {
			keys[a.Key] = true
		}
	}
	if len(keys) != 2 {
		t.Errorf("%v", keys)
	}
	for body, want := range map[string]string{
		`[]`: "#", `{"orgId":"x","version":"1","alerts":[]}`: "#", `{"version":"4","alerts":[]}`: "#/version", `{"version":"1"}`: "#/alerts",
	} {
		var bad *intake.UnreadableError
		if _, err := alertmanager.DecodeGrafana([]byte(body), cameAt); !errors.As(err, &bad) || bad.Pointer != want {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestALabelTwice on Alertmanager's routes makes an alert unusable, too. C24.
func TestALabelTwice(t *testing.T) {
	t.Parallel()
	const twice, good = `{"status":"firing","labels":{"alertname":"A","instance":"a","instance":"b"}}`, `{"status":"firing","labels":{"alertname":"B"}}`
	webhook, err := alertmanager.DecodeWebhook([]byte(`{"version":"4","alerts":[`+twice+`,`+good+`]}`), cameAt)
	if err != nil {
		t.Fatal(err)
	}
	posted, err := alertmanager.DecodeAlerts([]byte(`[`+twice+`,`+good+`]`), cameAt)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*alertmanager.Message{webhook, posted} {
		if found := m.Next(10); len(found) != 1 || m.Dropped[intake.DuplicateLabel] != 1 {
			t.Errorf("%+v, dropped %v", found, m.Dropped)
		}
	}
}
