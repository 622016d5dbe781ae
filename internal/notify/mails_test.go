package notify_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/notifying"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/domain/organization"
	"muster/internal/mail"
	"muster/internal/notify"
)

// TestMailsToMembers go to each once, to whom they still may, under the name of today.
func TestMailsToMembers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	invite := func(email string, role organization.Role) uuid.UUID {
		m, _, _, _, err := s.commands.InviteMember(t.Context(), s.actor, commands.NewMember{Email: email, Name: strings.ToUpper(email[:3]), Role: role})
		must(t, err)
		return m.ID
	}
	ben, eve, zoe := invite("ben@acme.example", organization.Member), invite("eve@acme.example", organization.Viewer), invite("zoe@acme.example", organization.Viewer)
	s.rule(s.channel(notifying.CreateChannel{
		Name: "People", Kind: notification.Email, Administrators: true, MemberIDs: []uuid.UUID{ben, eve, zoe},
	}))
	disabled := organization.Disabled
	_, _, err := s.commands.ChangeMember(t.Context(), s.actor, eve, commands.ChangeMember{Status: &disabled})
	must(t, err)
	_, err = s.commands.EraseMember(t.Context(), s.actor, zoe, nothing)
	must(t, err)
	s.smtp.Answer("ben@acme.example", 450, [3]int{4, 2, 2}, "s3cret")
	s.fires(alert.Critical, "lag")
	s.follow()
	s.process("a", s.sender)
	s.await("Ben was refused for now", func() bool {
		all, err := s.reader.Deliveries(t.Context(), notify.DeliveryQuery{Organization: s.org.ID, Limit: 1})
		return err == nil && all[0].Attempts > 1 && all[0].LastCode == 450 && all[0].LastError != "" && !strings.Contains(all[0].LastError, "s3cret")
	})
	s.smtp.Answer("ben@acme.example", 0, [3]int{}, "")
	s.wantStory("sent raised:lag")
	to := map[string]int{}
	for _, m := range s.smtp.Mails() {
		to[m.To[0]]++
		if !strings.Contains(m.Header("Message-Id"), "@notifications.muster.internal") || m.Header("Auto-Submitted") != "auto-generated" {
			t.Errorf("headers of %s", m.Data)
		}
	}
	if len(to) != 2 || to["ana@acme.example"] != 1 || to["ben@acme.example"] != 1 {
		t.Errorf("mailed %v", to)
	}
	// No recipient is left.
	only := s.channel(notifying.CreateChannel{Name: "Ben", Kind: notification.Email, MemberIDs: []uuid.UUID{ben}})
	s.rule(only)
	_, err = s.commands.EraseMember(t.Context(), s.actor, ben, nothing)
	must(t, err)
	s.fires(alert.Critical, "nobody")
	s.follow()
	s.await("nobody is told of it", func() bool { return strings.Contains(s.story(), "suppressed no_recipients raised:nobody") })
}

// nothing is what else is forgotten of a member here.
func nothing(*sqlx.Tx) error { return nil }

// TestMailsToExternalAddresses have alerts, never reports, once each address was confirmed, with a link that
// ends them. F15.
func TestMailsToExternalAddresses(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const team, pager = "team@else.example", "pager@else.example"
	channel := s.channel(notifying.CreateChannel{Name: "Team", Kind: notification.Email, Addresses: []string{team, pager}})
	s.rule(channel)
	questions, err := s.commands.AskAddresses(t.Context(), s.actor, channel, false)
	must(t, err)
	for _, q := range questions {
		if q.Address == team {
			_, _, err := s.commands.ConfirmAddress(t.Context(), q.Token)
			must(t, err)
		}
	}
	// A report that failed is in the same delivery as an alert, and alone in the next.
	report := func(title string) {
		s.exec(`UPDATE delivery_events SET type = 'report.failed' WHERE notice->>'title' = $1`, title)
	}
	s.fires(alert.Critical, "lag <b>", "a report")
	s.follow()
	report("a report")
	s.process("a", s.sender)
	s.await("the alert is told", func() bool { return len(s.smtp.Mails()) == 1 && strings.HasPrefix(s.story(), "sent ") })
	m := s.smtp.Mails()[0]
	text := strings.ReplaceAll(m.Data, "=\r\n", "")
	if m.To[0] != team || !strings.Contains(text, "Stop these e-mails: https://muster.example.org/addresses/leave#") || !strings.Contains(text, ">Stop these e-mails</a>") ||
		strings.Contains(text, "a report") || strings.ContainsAny(text, "\x00\x01") {
		t.Errorf("the mail to %v: %s", m.To, text)
	}
	told, err := s.reader.OfAlert(t.Context(), s.org.ID, s.alertOf("lag <b>"))
	must(t, err)
	if len(told) != 1 || len(told[0].Recipients.Value) != 0 {
		t.Errorf("members who were told: %+v", told)
	}
	s.exec(`UPDATE notification_rules SET terms = jsonb_set(terms, '{groupSeconds}', '60')`)
	s.fires(alert.Critical, "another report")
	s.follow()
	report("another report")
	s.passes(time.Minute)
	s.await("nobody is told of the report", func() bool { return strings.Contains(s.story(), "suppressed no_recipients") })
	if n := len(s.smtp.Mails()); n != 1 {
		t.Errorf("%d mails", n)
	}
}

// TestOnlyUnansweredConfirmationsMayHaveArrived: one that was sent completely and not answered. Package mail's
// test lists the errors of a transport that say so.
func TestOnlyUnansweredConfirmationsMayHaveArrived(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"sent whole":           {fmt.Errorf("ask: %w", &mail.DeliveryError{Stage: mail.Content, Unanswered: true}), true},
		"cut off before":       {&mail.DeliveryError{Stage: mail.Content}, false},
		"refused":              {&mail.DeliveryError{Stage: mail.Content, Code: 554}, false},
		"no server":            {&mail.DeliveryError{Stage: mail.Opening}, false},
		"no outbox":            {&mail.DeliveryError{Stage: mail.Storing}, false},
		"not composed":         {errors.New("a template"), false},
		"no time to begin":     {context.DeadlineExceeded, false},
		"canceled before then": {context.Canceled, false},
	} {
		if got := notify.MayHaveArrived(c.err); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
