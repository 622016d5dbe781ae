package notify_test

import (
	"net/http"
	"testing"
	"time"

	"muster/commands"
	"muster/domain/alert"
)

// TestRaisedThenResolved are told in that order, each once, under ids that stay.
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

// TestWhatBeganBeforeTheRule is told where Muster learns of it later: whoever connects an
// Alertmanager to an installation that has rules is told of what fires then.
func TestWhatBeganBeforeTheRule(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.rule(s.webhook(s.receiver().URL))
	s.process("a", s.sender)
	now := s.clock.Now()
	_, _, err := s.commands.RecordFirings(t.Context(), commands.Actor{OrganizationID: s.org.ID, Component: "watch"}, []alert.Firing{
		{Key: "watch/lag", Title: "lag", Severity: alert.Critical, InstanceID: s.orders, StartsAt: now.Add(-24 * time.Hour), SeenAt: now},
	})
	must(t, err)
	s.follow()
	s.wantStory("sent raised:lag")
}

// TestResolvedOnlyWhereRaisedWas: neither where the rule came later, nor where the raise failed.
func TestResolvedOnlyWhereRaisedWas(t *testing.T) {
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
