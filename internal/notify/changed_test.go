package notify_test

import (
	"testing"
	"time"

	"muster/commands/notifying"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify/channel/alertmanager"
)

func only(severities ...alert.Severity) func(*notification.Terms) {
	return func(t *notification.Terms) { t.Match.Severities = severities }
}

// previewed is what a rule would have told in the last month.
func (s *scene) previewed(m notification.Match) int64 {
	s.Helper()
	p, err := s.reader.Preview(s.Context(), s.org.ID, m, time.Minute)
	must(s.T, err)
	return p.Events
}

// TestAnAlertThatBecomesCritical has a disk fill up: a rule with critical alerts alone sends it
// once when it becomes critical, and once when it is over, whatever it is by then.
func TestAnAlertThatBecomesCritical(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL), only(alert.Critical))
	s.process("a", s.sender)
	for _, severity := range []alert.Severity{alert.Warning, alert.Critical, alert.Warning, alert.Critical, alert.Warning} {
		s.clock.Advance(time.Second)
		s.fires(severity, "disk")
		s.follow()
		if severity == alert.Critical {
			s.wantStory("sent raised:disk")
		}
	}
	s.wantStory("sent raised:disk")
	if posts := r.got(); len(posts) != 1 || *posts[0].Told.Events[0].Severity != alert.Critical {
		t.Errorf("told %+v", posts)
	}
	s.clock.Advance(time.Second)
	s.ends("disk")
	s.follow()
	s.wantStory("sent raised:disk | sent resolved:disk")
	s.clock.Advance(time.Second)
	if n := s.previewed(notification.Match{Severities: []alert.Severity{alert.Critical}}); n != 2 {
		t.Errorf("the preview has %d events, and 2 were told", n)
	}
}

func TestAnAlertThatChangesWithinOneRead(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL), only(alert.Critical))
	for _, severity := range []alert.Severity{alert.Critical, alert.Warning, alert.Critical, alert.Warning} {
		s.clock.Advance(time.Second)
		s.fires(severity, "disk")
	}
	s.fires(alert.Warning, "minor")
	s.ends("disk", "minor")
	s.follow()
	s.process("a", s.sender)
	s.wantStory("sent raised:disk resolved:disk")
}

// TestAnInformedReceiverGetsNoSecondNotification when the alert becomes critical.
func TestAnInformedReceiverGetsNoSecondNotification(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	s.process("a", s.sender)
	s.fires(alert.Warning, "disk")
	s.follow()
	s.wantStory("sent raised:disk")
	s.clock.Advance(time.Second)
	s.fires(alert.Critical, "disk")
	s.follow()
	s.wantStory("sent raised:disk")
	s.clock.Advance(time.Second)
	s.ends("disk")
	s.follow()
	s.wantStory("sent raised:disk | sent resolved:disk")
}

// TestAlertmanagersGetChangedAlerts: one has a rule for critical alerts.
func TestAlertmanagersGetChangedAlerts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.channel(notifying.CreateChannel{Name: "AM", Kind: alertmanager.Name, Address: notification.Address{URL: r.URL}}), only(alert.Critical))
	s.process("a", s.sender)
	s.fires(alert.Warning, "disk")
	s.clock.Advance(time.Second)
	s.fires(alert.Critical, "disk")
	s.follow()
	s.wantStory("sent raised:disk")
	s.clock.Advance(time.Second)
	s.fires(alert.Warning, "disk")
	s.ends("disk")
	s.follow()
	s.wantStory("sent raised:disk | sent resolved:disk")
}
