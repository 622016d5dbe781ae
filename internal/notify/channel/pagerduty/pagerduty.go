// Package pagerduty sends alerts to PagerDuty: an event for each, by its Events API version 2.
//
// # Sources
//
// developer.pagerduty.com, "Events API v2 Overview" (codes, limits) and "Send an Alert Event"
// (members and their lengths); support.pagerduty.com, "Service Regions" (hosts in the US and EU).
//
// # How it works
//
// An alert that is raised triggers an incident, acknowledging the alert in Muster acknowledges
// the incident, and the end of the alert resolves it. The three have one dedup_key, which is
// made of the alert's id. So a message that comes twice changes nothing.
//
// # What may go wrong
//
//   - The receiver refuses an event in the middle of a delivery: the next attempt sends all of
//     them again, in their order. What is over by then was resolved, and is not triggered again,
//     because of each alert only what holds at the end of the delivery is sent.
//   - It answers 429: this attempt waits and goes on where it is, while its time lasts. Otherwise
//     a delivery with more alerts than PagerDuty takes at once would never come to its end.
//   - It answers 400: the event is wrong, and trying again is of no use.
package pagerduty

import (
	"cmp"
	"context"
	_ "embed" // the statement
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/notification"
	"muster/domain/printable"
	"muster/domain/rule"
	"muster/internal/concurrency/pause"
	"muster/internal/notify/channel"
	"muster/internal/postgres/statement"
)

// Name is the name of the kind.
const Name notification.Kind = "pagerduty"

const (
	longestSummary = 1024 // characters, by PagerDuty
	longestFact    = 4000 // characters; an event may have 512 KB
	// busy is the wait after a 429 that names none.
	busy = 20 * time.Second
	path = "/v2/enqueue"
)

//go:embed sql/events.sql
var eventsQuery string

// routingKey is an integration key as PagerDuty makes it.
var routingKey = regexp.MustCompile(`^[0-9A-Za-z]{32}$`)

// Kind is an incident for each alert. The secret is the routing key.
func Kind() channel.Kind {
	return channel.Kind{
		Name: Name, Title: "PagerDuty", Validate: validate, Shown: channel.ShownURL, Send: send,
		Follows: []notification.EventType{notification.AlertRaised, notification.AlertResolved, notification.AlertAcknowledged},
	}
}

func validate(c notification.Channel) []rule.Broken {
	broken := append(channel.Refuse(c, channel.URL, channel.Secret), channel.BrokenURL(c.URL)...)
	switch {
	case c.Secret == "":
		broken = append(broken, rule.Broken{Pointer: "#/secret", Code: "secret_required", Detail: "is the integration key of a service in PagerDuty"})
	case !routingKey.MatchString(c.Secret):
		broken = append(broken, rule.Broken{Pointer: "#/secret", Code: "out_of_range", Detail: "must be the 32 letters and digits of an integration key"})
	}
	return broken
}

// event is an event of the Events API.
type event struct {
	RoutingKey string   `json:"routing_key"`
	Action     string   `json:"event_action"`
	DedupKey   string   `json:"dedup_key"`
	Client     string   `json:"client,omitempty"`
	ClientURL  string   `json:"client_url,omitempty"`
	Payload    *payload `json:"payload,omitempty"` // of a trigger
	Links      []link   `json:"links,omitempty"`
}

type payload struct {
	Summary   string            `json:"summary"`
	Source    string            `json:"source"`
	Severity  string            `json:"severity"`
	Timestamp time.Time         `json:"timestamp"`
	Group     string            `json:"group,omitempty"`
	Details   map[string]string `json:"custom_details,omitempty"`
}

type link struct {
	Href string `json:"href"`
	Text string `json:"text"`
}

func send(ctx context.Context, with channel.Tools, d channel.Delivery) (code int, err error) {
	address, err := d.Channel.Address(with.Seal)
	if err != nil {
		return 0, err
	}
	events, err := eventsOf(ctx, with, d)
	if err != nil {
		return 0, err
	}
	to := strings.TrimSuffix(strings.TrimRight(address.URL, "/"), path) + path
	for _, e := range events {
		e.RoutingKey = address.Secret
		body, err := json.Marshal(e)
		if err != nil {
			return 0, fmt.Errorf("encode an event: %w", err)
		}
		if code, err = enqueue(ctx, with.Poster, to, body); err != nil {
			return code, err
		}
	}
	return code, nil
}

// enqueue posts one event, and again while PagerDuty is busy and the attempt has time.
func enqueue(ctx context.Context, poster *channel.Poster, to string, body []byte) (int, error) {
	for {
		code, err := poster.Post(ctx, to, http.Header{}, body)
		refused, is := errors.AsType[*channel.Error](err)
		switch {
		case !is:
			return code, err
		case refused.Code == http.StatusBadRequest:
			refused.Final = true
			return code, refused
		case refused.Code != http.StatusTooManyRequests:
			return code, refused
		}
		wait := cmp.Or(refused.After, busy)
		if end, ends := ctx.Deadline(); !ends || time.Until(end) < 2*wait || pause.For(ctx, wait) != nil {
			return code, refused
		}
	}
}

// eventsOf are the events of a delivery; of a test two that leave nothing open.
func eventsOf(ctx context.Context, with channel.Tools, d channel.Delivery) ([]event, error) {
	if d.Test {
		key := "muster/test/" + d.ID.String()
		p := payload{Summary: printable.Cut(printable.Clean(d.Rule.Name), longestSummary), Source: printable.Clean(d.Organization), Severity: "info", Timestamp: d.At.UTC()}
		return []event{{Action: "trigger", DedupKey: key, Client: "Muster", ClientURL: d.PublicURL, Payload: &p}, {Action: "resolve", DedupKey: key}}, nil
	}
	kept, err := statement.All[struct {
		Alert  uuid.UUID              `db:"alert_id"`
		Type   notification.EventType `db:"type"`
		Notice []byte                 `db:"notice"`
	}](ctx, with.DB, "read what PagerDuty is told", eventsQuery, d.ID)
	if err != nil {
		return nil, err
	}
	notices := make([]channel.Notice, len(kept))
	for i, k := range kept {
		if err := json.Unmarshal(k.Notice, &notices[i]); err != nil {
			return nil, fmt.Errorf("read a notice: %w", err)
		}
	}
	if err := channel.Name(ctx, with.DB, d.OrganizationID, notices); err != nil {
		return nil, err
	}
	rows := make([]happened, len(kept))
	for i, k := range kept {
		rows[i] = happened{k.Alert, k.Type, notices[i]}
	}
	var events []event
	for len(rows) > 0 {
		n := slices.IndexFunc(rows, func(h happened) bool { return h.Alert != rows[0].Alert })
		if n < 0 {
			n = len(rows)
		}
		all, err := stateOf(rows[:n], d.Message)
		if err != nil {
			return nil, err
		}
		events, rows = append(events, all...), rows[n:]
	}
	return events, nil
}

// happened is an event of an alert.
type happened struct {
	Alert  uuid.UUID
	Type   notification.EventType
	Notice channel.Notice
}

// stateOf are the events that bring PagerDuty to what holds of one alert in the end.
func stateOf(all []happened, m channel.Message) ([]event, error) {
	key := "muster/" + all[0].Alert.String()
	last := all[len(all)-1].Type
	if last == notification.AlertResolved {
		return []event{{Action: "resolve", DedupKey: key}}, nil
	}
	var events []event
	for _, h := range slices.Backward(all) {
		if h.Type != notification.AlertRaised {
			continue
		}
		raised, err := trigger(h.Notice, m)
		if err != nil {
			return nil, err
		}
		raised.DedupKey = key
		events = append(events, raised)
		break
	}
	if last == notification.AlertAcknowledged {
		events = append(events, event{Action: "acknowledge", DedupKey: key})
	}
	return events, nil
}

func trigger(n channel.Notice, m channel.Message) (event, error) {
	severity, err := severityOf(n.Severity)
	if err != nil {
		return event{}, err
	}
	p := payload{
		Summary: printable.Cut(channel.About(n), longestSummary), Source: printable.Clean(m.Organization),
		Severity: severity, Timestamp: n.At.UTC(), Group: printable.Clean(m.Organization),
	}
	if n.Instance != nil && n.Instance.Name != "" {
		p.Source = printable.Clean(n.Instance.Name)
	}
	if facts := channel.Facts(n); len(facts) > 0 {
		p.Details = map[string]string{"details": printable.Cut(strings.Join(facts, " "), longestFact), "rule": printable.Cut(printable.Clean(m.Rule.Name), longestFact)}
	}
	to := channel.Link(m.PublicURL, n)
	return event{Action: "trigger", Client: "Muster", ClientURL: to, Payload: &p, Links: []link{{Href: to, Text: "Open in Muster"}}}, nil
}

// severityOf is PagerDuty's word. It has error, too, which no alert of Muster's is.
func severityOf(s *alert.Severity) (string, error) {
	words := map[alert.Severity]string{alert.Critical: "critical", alert.Warning: "warning", alert.Info: "info"}
	if s == nil || words[*s] == "" {
		return "", errors.New("an alert has a severity that PagerDuty has no word for")
	}
	return words[*s], nil
}
