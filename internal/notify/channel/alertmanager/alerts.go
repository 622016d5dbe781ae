package alertmanager

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"muster/internal/notify/channel"
)

// OriginLabel marks what Muster feeds to an Alertmanager, with the alert's id: an alert
// that comes back by an Alertmanager's webhook is one that we have.
const OriginLabel = "muster_alert_id"

// labelSet are the labels that tell an alert from others there. Its title is not among them:
// an Alertmanager takes an alert with other labels for another one. The severity is, because
// it is what alerts are routed by.
func labelSet(f channel.Fed, organization string) map[string]string {
	if f.Labels != nil {
		return f.Labels
	}
	labels := map[string]string{
		"alertname": cmp.Or(f.Label, f.Title), "severity": string(f.Severity), "organization": organization, OriginLabel: f.ID.String(),
	}
	if f.Instance != "" {
		labels["instance"] = f.Instance
	}
	return labels
}

// Alerts are the body for an Alertmanager's API, version 2.
func Alerts(alerts []channel.Fed, organization, publicURL string) ([]byte, error) {
	type posted struct {
		Labels       map[string]string `json:"labels"`
		Annotations  map[string]string `json:"annotations"`
		StartsAt     time.Time         `json:"startsAt"`
		EndsAt       time.Time         `json:"endsAt"`
		GeneratorURL string            `json:"generatorURL"`
	}
	all := make([]posted, len(alerts))
	for i, a := range alerts {
		if a.EndsAt.Before(a.StartsAt) { // whose clock was off: it would refuse all of them
			a.StartsAt = a.EndsAt
		}
		all[i] = posted{
			Labels:       labelSet(a, organization),
			Annotations:  map[string]string{"summary": a.Title},
			StartsAt:     a.StartsAt.UTC(),
			EndsAt:       a.EndsAt.UTC(),
			GeneratorURL: channel.Link(publicURL, channel.Notice{AlertID: &a.ID}),
		}
		if a.Owner != "" { // no label: an alert with another owner is the same one
			all[i].Annotations["owner"] = a.Owner
		}
		if a.Description != "" {
			all[i].Annotations["description"] = a.Description
		}
	}
	body, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("encode alerts: %w", err)
	}
	return body, nil
}

// alertsURL is where an Alertmanager takes alerts.
func alertsURL(base string) string { return strings.TrimRight(base, "/") + "/api/v2/alerts" }
