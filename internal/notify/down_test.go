package notify_test

import (
	"testing"
	"time"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/notification"
)

// TestPagerDutyLearnsThatAServerIsBack, although the rule asks for servers that go down alone.
func TestPagerDutyLearnsThatAServerIsBack(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.pagerDuty(takes, notification.InstanceDown)
	s.process("a", s.sender)
	for _, state := range []string{"triggered", "resolved"} {
		now := s.clock.Now()
		f := alert.Firing{
			Key: "watch/down", Title: "prod-orders is down", Severity: alert.Critical, InstanceID: s.orders, StartsAt: now.Add(-time.Second), SeenAt: now,
			Rule: &alert.Rule{ID: "down", Name: "Server down"},
		}
		if f.Resolved = state == "resolved"; f.Resolved {
			f.EndsAt = now
		}
		_, _, err := s.commands.RecordFirings(t.Context(), usecase.Actor{OrganizationID: s.org.ID, Component: "watch"}, []alert.Firing{f})
		must(t, err)
		s.follow()
		s.await("it is "+state, func() bool { return p.states() == state })
	}
}
