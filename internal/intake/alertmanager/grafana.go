package alertmanager

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"muster/domain/alert"
	"muster/internal/intake"
)

// DecodeGrafana opens what a webhook contact point of Grafana posts at a receipt. An error is
// an *intake.UnreadableError.
func DecodeGrafana(body []byte, receipt time.Time) (*Message, error) {
	post, err := openPost(body)
	if err != nil {
		return nil, err
	}
	var org int64
	if len(post.orgID) > 0 && json.Unmarshal(post.orgID, &org) != nil {
		return nil, &intake.UnreadableError{Pointer: "#", Detail: "must be an object, with a whole number as orgId"}
	}
	if string(post.version) != `"1"` {
		return nil, &intake.UnreadableError{Pointer: "#/version", Detail: `must be "1"`}
	}
	sender := senderAt("grafana", post.externalURL)
	return post.open(func(item []byte) (Alert, intake.Reason) { return decodeGrafana(item, sender, org, receipt) })
}

// grafanaAlert is one alert of Grafana's message.
type grafanaAlert struct {
	posted
	Status      string                     `json:"status"`
	Fingerprint json.RawMessage            `json:"fingerprint"` // see formerKey
	Values      map[string]json.RawMessage `json:"values"`      // of the rule's expressions, by their letters
	SilenceURL  string                     `json:"silenceURL"`
	PanelURL    string                     `json:"panelURL"`
}

// testEnd is how long the message fires that Grafana's button "Test" sends: nothing resolves it.
const testEnd = 5 * time.Minute

func decodeGrafana(item []byte, sender string, org int64, receipt time.Time) (Alert, intake.Reason) {
	var g grafanaAlert
	if reason := unmarshal(item, &g); reason != "" {
		return Alert{}, reason
	}
	switch g.Status {
	case "firing", "alerting":
		g.EndsAt = time.Time{} // Grafana sends a repeat hours later, and a message of its own at the end
	case "resolved", "ok", "normal":
		if g.EndsAt.IsZero() || g.EndsAt.After(receipt) {
			g.EndsAt = receipt
		}
		if g.StartsAt.After(g.EndsAt) {
			g.StartsAt = g.EndsAt
		}
	default:
		return Alert{}, intake.Malformed
	}
	isTest := g.Labels[model.AlertNameLabel] == "TestAlert" && g.Labels["instance"] == "Grafana"
	if isTest && g.EndsAt.IsZero() {
		g.StartsAt, g.EndsAt = receipt, receipt.Add(testEnd)
	}
	g.sender = sender
	a, reason := g.alert(receipt)
	if reason != "" {
		return Alert{}, reason
	}
	// Organizations of one Grafana may have the same labels, and so the same fingerprints.
	of := "grafana/" + strconv.FormatInt(org, 10) + "/"
	a.Key, a.FormerKey = of+"labels/"+strings.TrimPrefix(a.Key, keyPrefix), g.formerKey(of)
	if isTest {
		a.Severity = alert.Info
	}
	g.nameRule(&a)
	a.Description = g.description()
	return a, ""
}

// formerKey is the key by which earlier releases know the alert: they took the fingerprint
// that Grafana states, which is over labels that it does not send. No alert is raised under
// it any more.
func (g *grafanaAlert) formerKey(of string) string {
	var stated string
	if json.Unmarshal(g.Fingerprint, &stated) != nil {
		return ""
	}
	if f, err := model.ParseFingerprint(stated); err == nil {
		return of + f.String()
	}
	return ""
}

// nameRule names the rule itself where Grafana could not evaluate it: then the alert is called
// DatasourceNoData or DatasourceError, whatever its rule.
func (g *grafanaAlert) nameRule(a *Alert) {
	what, known := map[string]string{"DatasourceNoData": "No data", "DatasourceError": "Evaluation failed"}[g.Labels[model.AlertNameLabel]]
	rule := text(g.Labels["rulename"])
	if !known || rule == "" {
		return
	}
	a.Rule = &alert.Rule{ID: rule, Name: rule}
	a.Title = what + ": " + rule
}

// description is the rule's text, with the values by which it was judged and Grafana's own
// pages about it.
func (g *grafanaAlert) description() string {
	var parts []string
	add := func(line string) {
		if line = text(line); line != "" {
			parts = append(parts, line)
		}
	}
	add(g.Annotations["description"])
	add(g.Annotations["Error"]) // of DatasourceError
	var values []string
	for _, name := range slices.Sorted(maps.Keys(g.Values)) {
		if value := string(g.Values[name]); value != "null" {
			values = append(values, fmt.Sprintf("%s = %s", name, strings.Trim(value, `"`)))
		}
	}
	if len(values) > 0 {
		add("Values: " + strings.Join(values, ", "))
	}
	for _, link := range [][2]string{{"Silence in Grafana: ", g.SilenceURL}, {"Panel in Grafana: ", g.PanelURL}} {
		if strings.HasPrefix(link[1], "http://") || strings.HasPrefix(link[1], "https://") {
			add(link[0] + link[1])
		}
	}
	return strings.Join(parts, "\n")
}
