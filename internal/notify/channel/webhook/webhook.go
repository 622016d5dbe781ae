// Package webhook posts notifications to programs, signed as Standard Webhooks says.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/notification"
	"muster/domain/rule"
	"muster/internal/notify/channel"
)

// Name is the name of the kind.
const Name notification.Kind = "webhook"

// SecretPrefix begins a secret of Standard Webhooks.
const SecretPrefix = "whsec_"

const leastSecret, longestSecret = 24, 64 // bytes, as Standard Webhooks has them

// Kind is a POST that is signed by Standard Webhooks.
func Kind() channel.Kind {
	return channel.Kind{Name: Name, Title: "Webhook", Validate: validate, Shown: channel.ShownURL, Send: channel.Posted(form)}
}

func validate(c notification.Channel) []rule.Broken {
	broken := append(channel.Refuse(c, channel.URL, channel.Secret), channel.BrokenURL(c.URL)...)
	const is = "whsec_ and 24 to 64 bytes in base64"
	if c.Secret == "" {
		return append(broken, rule.Broken{Pointer: "#/secret", Code: "secret_required", Detail: "is what a webhook is signed with: " + is})
	}
	if _, ok := Secret(c.Secret); !ok {
		broken = append(broken, rule.Broken{Pointer: "#/secret", Code: "out_of_range", Detail: "must be " + is})
	}
	return broken
}

// Secret are the bytes by which a webhook is signed; ok is false where the text is no secret.
func Secret(text string) (key []byte, ok bool) {
	encoded, found := strings.CutPrefix(text, SecretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	return key, found && err == nil && len(key) >= leastSecret && len(key) <= longestSecret
}

// form is a message with the headers of Standard Webhooks: the id is the delivery's and stays
// at every attempt, time and signature are the attempt's.
func form(m channel.Message, to notification.Address, now time.Time) (http.Header, []byte, error) {
	key, ok := Secret(to.Secret)
	if !ok {
		return nil, nil, errors.New("the channel's secret cannot sign a webhook")
	}
	body, err := json.Marshal(struct {
		ID      uuid.UUID         `json:"id"`
		Type    string            `json:"type"`
		At      time.Time         `json:"at"`
		Rule    channel.Reference `json:"rule"`
		Events  []channel.Notice  `json:"events"`
		Omitted int               `json:"omitted"`
	}{m.ID, "notification", m.At.UTC(), m.Rule, m.Events, m.Omitted})
	if err != nil {
		return nil, nil, fmt.Errorf("encode a webhook: %w", err)
	}
	id, at := m.ID.String(), strconv.FormatInt(now.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	header := http.Header{}
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", at)
	header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return header, body, nil
}
