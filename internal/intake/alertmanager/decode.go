package alertmanager

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"muster/internal/intake"
)

// Most is how many alerts of one message are taken (contract, §26). A sender that is
// refused for sending more would send the same again without end.
const Most = 10_000

// Message is a post of alerts that are read as they are asked for: 32 MiB may be
// more than a million of them, and only those at hand are to take memory. Those
// behind the first Most are counted and not looked at.
type Message struct {
	// Receipt is of the alerts that were read so far; of a webhook's Dropped are also
	// those that its sender left out.
	intake.Receipt

	items  *json.Decoder // inside the array
	decode func([]byte) (Alert, intake.Reason)
}

// Next returns the next alerts that can be used, n at the most; none at the end.
func (m *Message) Next(n int) []Alert {
	var alerts []Alert
	var item json.RawMessage
	for m.Received < Most && len(alerts) < n && m.items.More() && m.items.Decode(&item) == nil {
		m.Received++
		if a, reason := m.decode(item); reason != "" {
			m.Drop(reason, 1)
		} else {
			alerts = append(alerts, a)
		}
	}
	if len(alerts) == 0 {
		m.countRest()
	}
	return alerts
}

// countRest passes over what is behind the first Most.
func (m *Message) countRest() {
	var passed json.RawMessage
	for m.items.More() && m.items.Decode(&passed) == nil {
		m.Received++
		m.Drop(intake.TooMany, 1)
	}
}

// openEnd is how long an alert of the API fires without another message, where
// it does not say itself: Alertmanager's resolve_timeout.
const openEnd = 5 * time.Minute

// DecodeWebhook opens what Alertmanager posts to a webhook receiver at a
// receipt. An error is an *intake.UnreadableError.
func DecodeWebhook(body []byte, receipt time.Time) (*Message, error) {
	var post struct {
		Version         json.RawMessage `json:"version"`
		ExternalURL     json.RawMessage `json:"externalURL"`
		Alerts          json.RawMessage `json:"alerts"`
		TruncatedAlerts json.RawMessage `json:"truncatedAlerts"`
	}
	if json.Unmarshal(body, &post) != nil {
		return nil, &intake.UnreadableError{Pointer: "#", Detail: "must be an object"}
	}
	switch string(post.Version) {
	case `"4"`:
	case `"1"`:
		return nil, &intake.UnreadableError{Pointer: "#/version", Detail: `must be "4"; Grafana's "1" is taken at /ingest/v1/grafana/webhook`}
	default:
		return nil, &intake.UnreadableError{Pointer: "#/version", Detail: `must be "4"`}
	}
	m, ok := open(post.Alerts, func(item []byte) (Alert, intake.Reason) {
		return decodeNotified(item, senderAt("webhook", post.ExternalURL), receipt)
	})
	if !ok {
		return nil, &intake.UnreadableError{Pointer: "#/alerts", Detail: "must be an array"}
	}
	var cut uint32 // one that is no number says nothing of the alerts
	if json.Unmarshal(post.TruncatedAlerts, &cut) == nil && cut > 0 {
		m.Drop(intake.Truncated, int(cut))
	}
	return m, nil
}

// DecodeAlerts opens what is posted to Alertmanager's API, version 2, at a
// receipt. An error is an *intake.UnreadableError.
func DecodeAlerts(body []byte, receipt time.Time) (*Message, error) {
	m, ok := open(body, func(item []byte) (Alert, intake.Reason) { return decodePosted(item, receipt) })
	if !ok || !json.Valid(body) { // found in the midst, what is no message would be half taken
		return nil, &intake.UnreadableError{Pointer: "#", Detail: "must be an array"}
	}
	return m, nil
}

// open goes into an array; ok is false where there is none.
func open(array []byte, decode func([]byte) (Alert, intake.Reason)) (m *Message, ok bool) {
	items := json.NewDecoder(bytes.NewReader(array))
	begin, err := items.Token()
	return &Message{items: items, decode: decode}, err == nil && begin == json.Delim('[')
}

// posted is an alert as it is on the wire by either road.
type posted struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt"`
	EndsAt      time.Time         `json:"endsAt"`
	// Generator is where the sender of the API is; what is no text says nothing.
	Generator json.RawMessage `json:"generatorURL"`
	sender    string
}

// senderAt names a sender by its road and the host of a URL that it tells; empty where it
// tells none.
func senderAt(road string, text json.RawMessage) string {
	var said string
	if json.Unmarshal(text, &said) != nil {
		return ""
	}
	u, err := url.Parse(said)
	if err != nil || u.Host == "" {
		return ""
	}
	return road + " " + u.Host
}

// decodeNotified reads one alert of a webhook's message.
func decodeNotified(item []byte, sender string, receipt time.Time) (Alert, intake.Reason) {
	var p struct {
		posted
		Status string `json:"status"`
	}
	if reason := unmarshal(item, &p); reason != "" {
		return Alert{}, reason
	}
	switch {
	case p.Status == "resolved" && (p.EndsAt.IsZero() || p.EndsAt.After(receipt)):
		p.EndsAt = receipt
		if p.StartsAt.After(receipt) { // the sender's clock is ahead, not its order of times wrong
			p.StartsAt = receipt
		}
	case p.Status != "resolved" && p.Status != "firing":
		return Alert{}, intake.Malformed
	}
	p.sender = sender
	return p.alert(receipt)
}

// decodePosted reads one alert of a post to the API.
func decodePosted(item []byte, receipt time.Time) (Alert, intake.Reason) {
	var p posted
	if reason := unmarshal(item, &p); reason != "" {
		return Alert{}, reason
	}
	if p.EndsAt.IsZero() {
		p.EndsAt = receipt.Add(openEnd)
		if p.StartsAt.After(p.EndsAt) {
			p.StartsAt = receipt
		}
	} else if p.StartsAt.IsZero() { // as Alertmanager has it
		p.StartsAt = p.EndsAt
	}
	p.sender = senderAt("api", p.Generator)
	return p.alert(receipt)
}

// unmarshal reads an alert, and says why it cannot be used.
func unmarshal(item []byte, to any) intake.Reason {
	switch {
	case len(item) == 0 || item[0] != '{' || json.Unmarshal(item, to) != nil: // which takes null for anything
		return intake.Malformed
	case memberTwice(item):
		return intake.DuplicateLabel
	}
	return ""
}

// memberTwice is whether an alert has a member twice, or a label or an annotation.
func memberTwice(item []byte) bool {
	walk := json.NewDecoder(bytes.NewReader(item))
	seen := []map[string]bool{} // the names in each object that is open; nil: of an array
	isName := false
	for {
		token, err := walk.Token()
		if err != nil {
			return false
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				seen, isName = append(seen, map[string]bool{}), true
				continue
			case '[':
				seen = append(seen, nil)
			default:
				seen = seen[:len(seen)-1]
			}
		case string:
			if isName {
				if len(seen) == 1 { // members are found in any case, labels in theirs
					t = strings.ToLower(t)
				}
				if seen[len(seen)-1][t] {
					return true
				}
				seen[len(seen)-1][t], isName = true, false
				continue
			}
		}
		isName = len(seen) > 0 && seen[len(seen)-1] != nil
	}
}
