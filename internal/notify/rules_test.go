package notify_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/notifying"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/domain/organization"
	"muster/internal/notify"
)

// TestADeletedRuleTakesItsWaitingDeliveriesAlong, and channels that are named stay.
func TestADeletedRuleTakesItsWaitingDeliveriesAlong(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	r.answers(http.StatusServiceUnavailable)
	channel := s.webhook(r.URL)
	rule := s.rule(channel)
	_, err := s.commands.RemoveChannel(t.Context(), s.actor, channel)
	var refused *usecase.RuleError
	if !errors.As(err, &refused) || refused.Code != "channel_in_use" {
		t.Errorf("a channel that a rule names: %v", err)
	}
	s.process("a", s.sender)
	s.fires(alert.Critical, "lag")
	s.follow()
	s.await("it was tried", func() bool { return len(r.got()) > 0 })
	off := false
	_, err = s.commands.ChangeNotificationRule(t.Context(), s.actor, rule, notifying.ChangeNotificationRule{Enabled: &off})
	must(t, err)
	s.wantStory("suppressed rule_disabled raised:lag")
	_, err = s.commands.RemoveNotificationRule(t.Context(), s.actor, rule)
	must(t, err)
	_, err = s.commands.RemoveChannel(t.Context(), s.actor, channel)
	must(t, err)
	var unknown *usecase.NotFoundError
	if _, err := s.commands.RemoveChannel(t.Context(), s.actor, channel); !errors.As(err, &unknown) {
		t.Errorf("removed twice: %v", err)
	}
	if n := 0; s.db.Get(&n, `SELECT count(*) FROM notification_channels WHERE sealed IS NOT NULL`) != nil || n > 0 {
		t.Errorf("%d addresses are left", n)
	}
}

// TestThePreviewMatchesTheNotification of the same events.
func TestThePreviewMatchesTheNotification(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.fires(alert.Critical, "a", "b")
	s.fires(alert.Warning, "c")
	s.ends("a")
	_, err := s.commands.AcknowledgeAlert(t.Context(), s.actor, s.alertOf("b"))
	must(t, err)
	s.follow()
	s.clock.Advance(time.Minute)
	for name, test := range map[string]struct {
		match notification.Match
		want  int64
	}{
		"everything": {notification.Match{}, 5}, "critical": {notification.Match{Severities: []alert.Severity{alert.Critical}}, 4},
		"by name": {notification.Match{NameContains: "ORDERS"}, 5}, "another": {notification.Match{NameContains: "staging"}, 0},
		"ends": {notification.Match{Events: []notification.EventType{notification.AlertResolved}}, 1},
	} {
		p, err := s.reader.Preview(t.Context(), s.org.ID, test.match, time.Minute)
		if err != nil || p.Events != test.want || int64(len(p.Newest)) != test.want || p.Notifications > test.want || test.want > 0 && p.Notifications == 0 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	foreign, err := s.reader.Preview(t.Context(), uuid.New(), notification.Match{}, 0)
	if err != nil || foreign.Events != 0 {
		t.Errorf("another organization's: %+v, %v", foreign, err)
	}
}

// TestTheFirstRuleIsCreatedOnce, by the first process, for an organization that has no rules yet.
func TestTheFirstRuleIsCreatedOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	own, _, _, err := s.commands.CreateOrganization(t.Context(), "Has its own", false, &commands.NewMember{
		Email: "olga@own.example", Name: "Olga", Role: organization.Admin, Password: "a long enough sentence",
	})
	must(t, err)
	olga, _, err := s.accounts.MemberByEmail(t.Context(), "olga@own.example")
	must(t, err)
	_, _, err = s.commands.CreateChannel(t.Context(), usecase.Actor{OrganizationID: own.ID, MemberID: olga.ID}, notifying.CreateChannel{
		Name: "Mine", Kind: notification.Email, MemberIDs: []uuid.UUID{olga.ID},
	})
	must(t, err)
	demo, _, _, err := s.commands.CreateOrganization(t.Context(), "Demo", true, nil)
	must(t, err)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := notify.Begin(context.WithoutCancel(t.Context()), s.db, s.commands.BeginNotifications); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	rules, err := s.reader.Rules(t.Context(), s.org.ID, nil)
	if err != nil || len(rules) != 1 || rules[0].CreatedBy != nil {
		t.Fatalf("%d rules, %v", len(rules), err)
	}
	for _, organization := range []uuid.UUID{own.ID, demo.ID} {
		if rules, err := s.reader.Rules(t.Context(), organization, nil); err != nil || len(rules) > 0 {
			t.Errorf("%d rules where there are to be none, %v", len(rules), err)
		}
	}
	_, err = s.commands.RemoveNotificationRule(t.Context(), s.actor, rules[0].ID)
	must(t, err)
	must(t, notify.Begin(t.Context(), s.db, s.commands.BeginNotifications))
	if rules, err = s.reader.Rules(t.Context(), s.org.ID, nil); err != nil || len(rules) != 0 {
		t.Errorf("it came back: %d, %v", len(rules), err)
	}
}

// TestAnOrganizationBeginsWithItsRule if there is a mail server: alerts in its first minute are
// sent. A demo has none, and an organization that is renamed at its first sign-in gets no
// second one.
func TestAnOrganizationBeginsWithItsRule(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.commands.Mails = true
	rules := func(organization uuid.UUID) int {
		t.Helper()
		all, err := s.reader.Rules(t.Context(), organization, nil)
		must(t, err)
		return len(all)
	}
	fresh, _, mark, err := s.commands.CreateOrganization(t.Context(), "Fresh", false, nil)
	must(t, err)
	demo, _, _, err := s.commands.CreateOrganization(t.Context(), "Demo", true, nil)
	must(t, err)
	if rules(fresh.ID) != 1 || rules(demo.ID) != 0 {
		t.Errorf("%d rules, and %d of the demo", rules(fresh.ID), rules(demo.ID))
	}
	var last int64
	must(t, s.db.Get(&last, `SELECT max(position) FROM events WHERE organization_id = $1`, fresh.ID))
	if mark.Position != last {
		t.Errorf("the mark is %d, and the last event %d", mark.Position, last)
	}
	must(t, notify.Begin(t.Context(), s.db, s.commands.BeginNotifications))
	if rules(fresh.ID) != 1 || rules(demo.ID) != 0 {
		t.Errorf("then %d rules, and %d of the demo", rules(fresh.ID), rules(demo.ID))
	}
}
