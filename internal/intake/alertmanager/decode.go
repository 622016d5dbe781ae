package alertmanager

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"muster/internal/intake"
	"muster/internal/intake/jsonwalk"
)

// Most is how many alerts of one message are taken (contract, §26). A sender that is
// refused for sending more would send the same again without end.
const Most = 10_000

// Sizes of what is decoded, in bytes. A map of a million labels took 1.4 GB.
const (
	maxAlert = 256 << 10
	atOnce   = 4 << 20 // of alerts that are asked for together
)

// Message is a post of alerts that are read as they are asked for: 32 MiB may be
// more than a million of them, and only those at hand are to take memory. Those
// behind the first Most are counted and not looked at.
type Message struct {
	// Receipt covers the alerts that were read so far; a webhook's Dropped includes those that
	// its sender left out.
	intake.Receipt

	items  jsonwalk.Items
	decode func([]byte) (Alert, intake.Reason)
}

// Next returns the next alerts that can be used, n at the most; none at the end.
func (m *Message) Next(n int) []Alert {
	var alerts []Alert
	for size := 0; m.Received < Most && len(alerts) < n && size < atOnce; {
		item, ok := m.items.Next()
		if !ok {
			break
		}
		m.Received++
		if len(item) > maxAlert {
			m.Drop(intake.TooLong, 1)
			continue
		}
		size += len(item)
		if a, reason := m.decode(item); reason != "" {
			m.Drop(reason, 1)
		} else {
			alerts = append(alerts, a)
		}
	}
	if len(alerts) == 0 {
		if m.Received < Most && !m.items.Done() { // none of those at hand can be used
			return m.Next(n)
		}
		m.countRest()
	}
	return alerts
}

// countRest passes over what is behind the first Most.
func (m *Message) countRest() {
	for _, ok := m.items.Next(); ok; _, ok = m.items.Next() {
		m.Received++
		m.Drop(intake.TooMany, 1)
	}
}

// openEnd is how long an alert of the API fires without another message if it states no end:
// Alertmanager's resolve_timeout.
const openEnd = 5 * time.Minute

// DecodeWebhook opens what Alertmanager posts to a webhook receiver at a
// receipt. An error is an *intake.UnreadableError.
func DecodeWebhook(body []byte, receipt time.Time) (*Message, error) {
	post, err := openPost(body)
	if err != nil {
		return nil, err
	}
	switch string(post.version) {
	case `"4"`:
	case `"1"`:
		return nil, &intake.UnreadableError{Pointer: "#/version", Detail: `must be "4"; Grafana's "1" is taken at /ingest/v1/grafana/webhook`}
	default:
		return nil, &intake.UnreadableError{Pointer: "#/version", Detail: `must be "4"`}
	}
	sender := senderAt("webhook", post.externalURL)
	return post.open(func(item []byte) (Alert, intake.Reason) { return decodeNotified(item, sender, receipt) })
}

// post is what webhooks' messages have in common, each member as it was written.
type post struct{ version, externalURL, orgID, alerts, truncated []byte }

// openPost finds the members of a message. The error is an *intake.UnreadableError.
func openPost(body []byte) (p post, err error) {
	if !json.Valid(body) {
		return p, &intake.UnreadableError{Pointer: "#", Detail: "must be an object"}
	}
	err = jsonwalk.Members(body, jsonwalk.To("version", &p.version), jsonwalk.To("externalURL", &p.externalURL),
		jsonwalk.To("orgId", &p.orgID), jsonwalk.To("alerts", &p.alerts), jsonwalk.To("truncatedAlerts", &p.truncated))
	if errors.Is(err, jsonwalk.ErrTwice) {
		return p, &intake.UnreadableError{Pointer: "#", Detail: "must not have a member twice"}
	}
	if err != nil {
		return p, &intake.UnreadableError{Pointer: "#", Detail: "must be an object"}
	}
	return p, nil
}

// open goes into the alerts of a message.
func (p post) open(decode func([]byte) (Alert, intake.Reason)) (*Message, error) {
	m, ok := open(p.alerts, decode)
	if !ok {
		return nil, &intake.UnreadableError{Pointer: "#/alerts", Detail: "must be an array"}
	}
	var cut uint32 // one that is no number says nothing of the alerts
	if json.Unmarshal(p.truncated, &cut) == nil && cut > 0 {
		m.Drop(intake.Truncated, int(cut))
	}
	return m, nil
}

// DecodeAlerts opens what is posted to Alertmanager's API, version 2, at a
// receipt. An error is an *intake.UnreadableError.
func DecodeAlerts(body []byte, receipt time.Time) (*Message, error) {
	if json.Valid(body) { // if a fault were found in the middle, the message would be half used
		m, ok := open(body, func(item []byte) (Alert, intake.Reason) { return decodePosted(item, receipt) })
		if ok {
			return m, nil
		}
	}
	return nil, &intake.UnreadableError{Pointer: "#", Detail: "must be an array"}
}

// open enters an array; ok is false if there is none.
func open(array []byte, decode func([]byte) (Alert, intake.Reason)) (m *Message, ok bool) {
	items, err := jsonwalk.In(array)
	return &Message{items: items, decode: decode}, err == nil && bytes.HasPrefix(bytes.TrimSpace(array), []byte("["))
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

// senderAt names a sender by its route and the host of a URL in its message; empty if it has
// none.
func senderAt(road string, text []byte) string {
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
