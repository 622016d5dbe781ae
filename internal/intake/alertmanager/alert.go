package alertmanager

import (
	"maps"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"muster/domain/alert"
	"muster/internal/intake"
	"muster/internal/intake/resolve"
)

// Alert is one alert of a message and where its labels say that it belongs;
// the Firing has no instance and no database yet.
type Alert struct {
	alert.Firing
	Labels resolve.Labels // of its place
}

// originLabel is on every alert that Muster feeds to an Alertmanager
// (internal/notify/channel/alertmanager, OriginLabel). Taken in again each would be an alert more, which would be fed, too.
const originLabel = "muster_alert_id"

// keyPrefix begins the key of an alert that Alertmanager or Prometheus sent.
const keyPrefix = "alertmanager/"

// alert says what is posted as a machine's firing.
func (p posted) alert(receipt time.Time) (Alert, intake.Reason) {
	labels := maps.Clone(p.Labels)
	maps.DeleteFunc(labels, func(_, value string) bool { return value == "" }) // to Prometheus it is not there
	switch {
	case len(labels) == 0:
		return Alert{}, intake.NoLabels
	case labels[originLabel] != "":
		return Alert{}, intake.OurOwn
	}
	if p.StartsAt.IsZero() {
		p.StartsAt = receipt
	}
	if !inCalendar(p.StartsAt) || !inCalendar(p.EndsAt) || !p.EndsAt.IsZero() && p.EndsAt.Before(p.StartsAt) {
		return Alert{}, intake.InvalidTime
	}
	a := Alert{Labels: resolve.Of(labels), Firing: alert.Firing{
		Key:         keyPrefix + fingerprint(labels),
		Sender:      p.sender,
		Title:       title(labels, p.Annotations),
		Description: text(p.Annotations["description"]),
		Severity:    severity(labels["severity"]),
		StartsAt:    p.StartsAt.UTC(),
		SeenAt:      receipt,
		EndsAt:      p.EndsAt.UTC(),
	}}
	if name := text(labels[model.AlertNameLabel]); name != "" {
		a.Rule = &alert.Rule{ID: name, Name: name}
	}
	if !p.EndsAt.IsZero() && !p.EndsAt.After(receipt) {
		a.Resolved, a.SeenAt = true, a.EndsAt
	}
	return a, ""
}

// inCalendar says that RFC 3339 can write the time in UTC, and so the log.
func inCalendar(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 1 && year <= 9999
}

// fingerprint is what Prometheus and Alertmanager make of labels. What a message states is
// not asked for: its sender could state another alert's.
func fingerprint(labels map[string]string) string {
	return model.Fingerprint(model.LabelsToSignature(labels)).String()
}

// title is what a person reads first: the summary, else the rule's name, else
// all there is.
func title(labels, annotations map[string]string) string {
	for _, candidate := range []string{annotations["summary"], labels[model.AlertNameLabel]} {
		if t := text(candidate); t != "" {
			return t
		}
	}
	set := make(model.LabelSet, len(labels))
	for name, value := range labels {
		set[model.LabelName(name)] = model.LabelValue(value)
	}
	return text(set.String())
}

func severity(label string) alert.Severity {
	for _, s := range alert.Severities() {
		if strings.EqualFold(label, string(s)) {
			return s
		}
	}
	return alert.Warning
}

// text is s as it can be kept: without U+0000, and without space around it.
func text(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\x00", "")) }
