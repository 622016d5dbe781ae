package notify_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"muster/commands/notifying"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify/channel/chat"
	"muster/internal/notify/channel/webhook"
)

// TestSecretsAreKeptOnlySealed: not in rows, the log, answers or our own log.
func TestSecretsAreKeptOnlySealed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	r.answers(http.StatusInternalServerError)
	path := "/services/T0S3CRET/B0S3CRET"
	slack := s.channel(notifying.CreateChannel{Name: "Chat", Kind: chat.Name, Address: notification.Address{URL: r.URL + path}})
	s.rule(slack)
	s.rule(s.webhook(r.URL))
	nobody := httptest.NewServer(nil)
	nobody.Close()
	s.rule(s.channel(notifying.CreateChannel{Name: "Nobody", Kind: chat.Name, Address: notification.Address{URL: nobody.URL + path}}))
	s.fires(alert.Critical, "lag")
	s.follow()
	s.process("a", s.sender)
	s.await("all were tried", func() bool {
		return len(r.got()) > 3 && strings.Contains(s.log.String(), "The receiver refused the connection.")
	})
	if _, err := s.sender.Test(t.Context(), s.org, slack); err != nil {
		t.Fatal(err)
	}
	channels, err := s.reader.Channels(t.Context(), s.org.ID, nil)
	must(t, err)
	if channels[0].URL != "http://"+hostOf(t, r.URL) {
		t.Errorf("a chat is shown at %s", channels[0].URL)
	}
	shown, err := json.Marshal(channels[0].URL)
	must(t, err)
	for _, table := range []string{"events", "jobs", "deliveries", "delivery_events", "notification_channels", "notification_rules"} {
		var text string
		must(t, s.db.Get(&text, `SELECT coalesce(string_agg(t::text, ' '), '') FROM `+table+` t`))
		if table == "events" {
			must(t, s.db.Get(&text, `SELECT string_agg(convert_from(data, 'UTF8') || convert_from(metadata, 'UTF8'), ' ') FROM events`))
		}
		shown = append(shown, text...)
	}
	if !strings.Contains(s.log.String(), "The receiver answered 500") {
		t.Error("the log does not say that an attempt failed")
	}
	shown = append(shown, s.log.String()...)
	for _, hidden := range []string{"S3CRET", hostOf(t, nobody.URL), secret, strings.TrimPrefix(secret, webhook.SecretPrefix)} {
		if strings.Contains(string(shown), hidden) {
			t.Errorf("%s is shown", hidden)
		}
	}
}
