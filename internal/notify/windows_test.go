package notify_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/maintenance"
	"muster/domain/alert"
	"muster/domain/fleet"
	domain "muster/domain/maintenance"
	"muster/domain/notification"
	"muster/domain/team"
)

// window announces a window from now on, about the scene's server by a tag.
func (s *scene) window(lasts time.Duration) uuid.UUID {
	s.Helper()
	_, _, err := s.commands.TagInstances(s.Context(), s.actor, []uuid.UUID{s.orders}, fleet.ChangeTags{Set: map[string]string{"env": "prod"}})
	must(s.T, err)
	s.caughtUp()
	from, to := s.clock.Now(), s.clock.Now().Add(lasts)
	id, _, err := s.commands.CreateWindow(s.Context(), s.actor, maintenance.Window{Name: "Patch day", Terms: domain.Terms{
		Selector: team.Selector{Tags: fleet.TagFilter{"env": {"prod"}}}, From: &from, To: &to, TimeZone: "UTC",
	}})
	must(s.T, err)
	return id
}

// TestAMaintenanceWindowHoldsNotifications: alerts inside are raised and marked, and sent when the window is
// over if they are still open. One that ends inside is never sent. The end of one that was sent before the
// window is.
func TestAMaintenanceWindowHoldsNotifications(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL), func(t *notification.Terms) {
		t.RepeatMinutes = 10
		t.Match.Events = []notification.EventType{notification.AlertRaised, notification.AlertResolved, notification.AlertAcknowledged}
	})
	s.process("a", s.sender)
	s.fires(alert.Warning, "before", "told")
	s.follow()
	s.wantStory("sent raised:before raised:told")
	s.window(time.Hour)
	s.passes(time.Minute)
	s.fires(alert.Critical, "short", "long", "known", "muted")
	s.follow()
	s.wantStory("sent raised:before raised:told | suppressed maintenance_window raised:short raised:long raised:known raised:muted")
	for _, key := range []string{"short", "long"} {
		marked, err := maintenance.OfAlerts(t.Context(), s.db, s.org.ID, []uuid.UUID{s.alertOf(key)})
		must(t, err)
		if in := marked[s.alertOf(key)]; in.Name != "Patch day" || !in.EndsAt.After(s.clock.Now()) {
			t.Errorf("%s is marked %+v", key, in)
		}
	}
	s.ends("short", "before")
	_, err := s.commands.AcknowledgeAlert(t.Context(), s.actor, s.alertOf("known"))
	must(t, err)
	_, err = s.commands.MuteAlert(t.Context(), s.actor, s.alertOf("muted"))
	must(t, err)
	s.follow()
	s.await("the end of what was told before is sent", func() bool { return r.told() == "raised:before raised:told resolved:before" })
	s.clock.Advance(30 * time.Minute) // a repeat is due
	must(t, s.dispatch.Repeat(t.Context()))
	must(t, s.dispatch.Release(t.Context()))
	s.passes(0)
	if got := r.told(); got != "raised:before raised:told resolved:before" {
		t.Errorf("within the window %s", got)
	}
	s.clock.Advance(30 * time.Minute)
	for range 2 { // of two processes one does it
		must(t, s.dispatch.Release(t.Context()))
	}
	s.await("what is open is told", func() bool { return r.told() == "raised:before raised:told resolved:before raised:long" })
	must(t, s.dispatch.Release(t.Context()))
	s.passes(time.Minute)
	s.ends("long", "known", "muted")
	s.follow()
	s.await("its end is told", func() bool { return r.told() == "raised:before raised:told resolved:before raised:long resolved:long" })
}

// TestEndingAWindowSendsAtOnce, and one that covers only some of an alert's servers holds nothing.
func TestEndingAWindowSendsAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	s.process("a", s.sender)
	id := s.window(time.Hour)
	s.passes(time.Minute)
	s.fires(alert.Critical, "held")
	s.follow()
	s.wantStory("suppressed maintenance_window raised:held")
	_, err := s.commands.EndWindow(t.Context(), s.actor, id)
	must(t, err)
	must(t, s.dispatch.Release(t.Context()))
	s.await("it is told", func() bool { return r.told() == "raised:held" })
	s.fires(alert.Critical, "after")
	s.follow()
	s.await("so is what comes after", func() bool { return r.told() == "raised:held raised:after" })
	if _, err := s.commands.EndWindow(t.Context(), s.actor, id); err == nil {
		t.Error("a window was ended twice")
	}
}
