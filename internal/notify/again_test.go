package notify_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/notification"
)

// TestQuietHoursInDeliveries: events within quiet hours wait and are sent together, an alert
// that is raised and resolved within them is not sent, and critical alerts need not wait.
func TestQuietHoursInDeliveries(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	now := s.clock.Now()
	night := &notification.Quiet{From: now.Add(-time.Hour).Format("15:04"), To: now.Add(2 * time.Hour).Format("15:04"), TimeZone: "UTC", ExceptCritical: true}
	s.rule(s.webhook(r.URL), func(t *notification.Terms) { t.Quiet = night })
	s.process("a", s.sender)
	s.fires(alert.Warning, "short", "long")
	s.follow()
	s.wantStory("pending quiet_hours raised:short raised:long")
	s.record(true, alert.Warning, []string{"short"})
	s.fires(alert.Critical, "burns")
	s.follow()
	s.wantStory("pending quiet_hours raised:long | sent raised:burns")
	s.passes(3 * time.Hour)
	s.wantStory("sent raised:long | sent raised:burns")
	if r.told() != "raised:burns raised:long" {
		t.Errorf("told %s", r.told())
	}
	// Alone in it, it leaves nothing to tell.
	s.clock.Advance(22 * time.Hour)
	s.fires(alert.Warning, "alone")
	s.follow()
	s.record(true, alert.Warning, []string{"alone"})
	s.follow()
	s.wantStory("sent raised:long | sent raised:burns | suppressed resolved_meanwhile raised:alone resolved:alone")
}

// TestAnOpenAlertIsRepeated after the rule's time, as the same event, unless it is acknowledged.
func TestAnOpenAlertIsRepeated(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL), func(t *notification.Terms) {
		t.RepeatMinutes, t.Match.Events = 30, []notification.EventType{notification.AlertRaised, notification.AlertResolved}
	})
	s.process("a", s.sender)
	s.fires(alert.Critical, "open", "known", "muted", "over")
	s.follow()
	s.await("it is sent", func() bool { return len(r.got()) == 1 })
	for key, does := range map[string]func(context.Context, usecase.Actor, uuid.UUID) (usecase.Mark, error){
		"known": s.commands.AcknowledgeAlert, "muted": s.commands.MuteAlert,
	} {
		_, err := does(t.Context(), s.actor, s.alertOf(key))
		must(t, err)
	}
	s.ends("over")
	s.follow()
	s.await("the end is sent", func() bool { return strings.HasSuffix(s.story(), "sent resolved:over") })
	before := s.story()
	s.clock.Advance(29 * time.Minute)
	must(t, s.dispatch.Repeat(t.Context()))
	if got := s.story(); got != before {
		t.Errorf("before its time: %s", got)
	}
	s.clock.Advance(2 * time.Minute)
	var group sync.WaitGroup
	for range 3 { // of three processes one does it
		group.Go(func() {
			if err := s.dispatch.Repeat(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	s.passes(0)
	s.await("it is told again", func() bool { return strings.HasSuffix(r.told(), "resolved:over raised:open") })
	s.wantStory(before + " | sent raised:open")
	must(t, s.dispatch.Repeat(t.Context()))
	if got := s.story(); got != before+" | sent raised:open" {
		t.Errorf("after it was told again: %s", got)
	}
	if n := 0; s.db.Get(&n, `SELECT count(*) FROM delivery_events WHERE dropped <> ''`) != nil || n > 0 {
		t.Errorf("%d events were put into deliveries that are not told", n)
	}
	posts := r.got()
	if len(posts) != 3 || posts[2].Told.Events[0].ID != posts[0].Told.Events[0].ID || posts[2].Told.ID == posts[0].Told.ID {
		t.Errorf("%d posts, told %s", len(posts), r.told())
	}
}

// alertOf is the open alert of a key.
func (s *scene) alertOf(key string) (id uuid.UUID) {
	s.Helper()
	must(s.T, s.db.GetContext(s.Context(), &id, `SELECT stream_id FROM stream_keys WHERE organization_id = $1 AND key = $2`, s.org.ID, "watch/"+key))
	return id
}
