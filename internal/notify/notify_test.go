package notify_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/notifying"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify/channel/chat"
)

// TestRaisedThenResolved are sent in that order, each once, under stable ids.
func TestRaisedThenResolved(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	s.process("a", s.sender)
	s.fires(alert.Critical, "lag")
	s.follow()
	s.wantStory("sent raised:lag")
	s.fires(alert.Critical, "lag") // is nothing new
	s.ends("lag")
	s.follow()
	s.follow()
	s.wantStory("sent raised:lag | sent resolved:lag")
	posts := r.got()
	if len(posts) != 2 || r.told() != "raised:lag resolved:lag" {
		t.Fatalf("told %s in %d posts", r.told(), len(posts))
	}
	first := posts[0].Told
	if first.Type != "notification" || first.Rule.Name != "Everything" || first.Events[0].Instance.Name != "prod-orders" || *first.Events[0].Severity != alert.Critical {
		t.Errorf("told %s", posts[0].Body)
	}
	if posts[0].Header.Get("Webhook-Id") != first.ID.String() || first.ID == posts[1].Told.ID || first.Events[0].ID == posts[1].Told.Events[0].ID {
		t.Error("the ids are not those of deliveries and events")
	}
}

// TestAResolvedAlertIsSentWithItsDuration, by every kind of channel that people read. The end of an
// outage does not say that the server is down.
func TestAResolvedAlertIsSentWithItsDuration(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	webhook, slack := s.receiver(), s.receiver()
	s.rule(s.webhook(webhook.URL))
	s.rule(s.channel(notifying.CreateChannel{Name: "Chat", Kind: chat.Name, Address: notification.Address{URL: slack.URL}}))
	s.rule(s.channel(notifying.CreateChannel{Name: "Mail", Kind: notification.Email, MemberIDs: []uuid.UUID{s.ana.ID}}))
	s.process("a", s.sender)
	fell := s.clock.Now().Add(-12 * time.Minute)
	tell := func(over bool) {
		t.Helper()
		f := alert.Firing{
			Key: "watch/down/x", Title: "prod-orders is down: connection refused", Severity: alert.Critical, Rule: &alert.Rule{ID: "down", Name: "Server is down"},
			InstanceID: s.orders, StartsAt: fell, SeenAt: s.clock.Now(),
		}
		if over {
			f.Resolved, f.EndsAt = true, fell.Add(12*time.Minute)
		}
		_, _, err := s.commands.RecordFirings(t.Context(), usecase.Actor{OrganizationID: s.org.ID, Component: "watch"}, []alert.Firing{f})
		must(t, err)
		s.follow()
	}
	for n, over := range []bool{false, true} {
		tell(over)
		s.await("every channel is told", func() bool {
			return len(webhook.got()) == n+1 && len(slack.got()) == n+1 && len(s.smtp.Mails()) == n+1 && strings.Count(s.story(), "sent ") == 3*(n+1)
		})
	}
	const line = "Resolved after 12 min (critical): prod-orders was down: connection refused"
	for what, text := range map[string]string{
		"webhook": string(webhook.got()[len(webhook.got())-1].Body), "chat": string(slack.got()[len(slack.got())-1].Body), "mail": strings.ReplaceAll(s.smtp.Mails()[len(s.smtp.Mails())-1].Data, "=\r\n", ""),
	} {
		want := []string{line}
		switch what {
		case "webhook":
			want = []string{`"title":"prod-orders was down: connection refused"`, `"since":"` + fell.Truncate(time.Microsecond).Format(time.RFC3339Nano) + `"`, `"until":"`}
		case "mail":
			want = append(want, "It is over. It lasted 12 min, from ")
		}
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("the %s has no %q: %s", what, part, text)
			}
		}
		if strings.Contains(text, "orders is down") {
			t.Errorf("the %s says that the server is down: %s", what, text)
		}
	}
}

// TestAlertsFromBeforeARuleAreSent if Muster learns about them later: after an Alertmanager is connected to an
// installation with rules, its firing alerts are sent.
func TestAlertsFromBeforeARuleAreSent(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.rule(s.webhook(s.receiver().URL))
	s.process("a", s.sender)
	now := s.clock.Now()
	_, _, err := s.commands.RecordFirings(t.Context(), usecase.Actor{OrganizationID: s.org.ID, Component: "watch"}, []alert.Firing{
		{Key: "watch/lag", Title: "lag", Severity: alert.Critical, InstanceID: s.orders, StartsAt: now.Add(-24 * time.Hour), SeenAt: now},
	})
	must(t, err)
	s.follow()
	s.wantStory("sent raised:lag")
}

// TestAnEndIsSentOnlyToReceiversOfItsRaise: neither where the rule came later, nor where the raise failed.
func TestAnEndIsSentOnlyToReceiversOfItsRaise(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.fires(alert.Critical, "old")
	channel := s.webhook(r.URL)
	s.clock.Advance(time.Second)
	s.rule(channel)
	s.process("a", s.sender)
	s.clock.Advance(time.Second)
	s.ends("old")
	s.follow()
	s.wantStory("suppressed not_told_raised resolved:old")
	r.answers(http.StatusGone)
	s.fires(alert.Critical, "refused")
	s.follow()
	s.wantStory("suppressed not_told_raised resolved:old | failed raised:refused")
	r.answers(http.StatusNoContent)
	s.ends("refused")
	s.follow()
	s.wantStory("suppressed not_told_raised resolved:old | failed raised:refused | suppressed not_told_raised resolved:refused")
}
