package notify_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/domain/organization"
	"muster/handlers/jobs"
	"muster/internal/lease"
	"muster/internal/notify"
)

// TestWhoLostTheJobNotesNothing: what came of an attempt is said by who holds the job.
func TestWhoLostTheJobNotesNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	s.fires(alert.Critical, "lag")
	s.follow()
	waiting, err := s.queue.List(t.Context(), s.org.ID, 1, jobs.Notify)
	must(t, err)
	r.answers(503)
	err = s.sender.Handle(t.Context(), jobs.Claimed{Job: waiting[0].Job, Fence: -1})
	if !lease.IsLost(t.Context(), err) || len(r.got()) != 1 {
		t.Errorf("%d posts, then %v", len(r.got()), err)
	}
	all, err := s.reader.Deliveries(t.Context(), notify.DeliveryQuery{Organization: s.org.ID, Limit: 1})
	if err != nil || all[0].Attempts != 0 || all[0].LastCode != 0 || all[0].LastError != "" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestWhatFailedIsToldAgain, where it is open still when the rule says so.
func TestWhatFailedIsToldAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	r.answers(410)
	s.rule(s.webhook(r.URL), func(t *notification.Terms) { t.RepeatMinutes = 30 })
	s.process("a", s.sender)
	s.fires(alert.Critical, "lag")
	s.follow()
	s.wantStory("failed raised:lag")
	r.answers(204)
	s.clock.Advance(31 * time.Minute)
	must(t, s.follower.Repeat(t.Context()))
	s.wantStory("failed raised:lag | sent raised:lag")
	s.ends("lag")
	s.follow()
	s.wantStory("failed raised:lag | sent raised:lag | sent resolved:lag")
}

// TestOneMailboxIsGone: a delivery has failed where somebody cannot be mailed at all, and who
// was mailed of the alert is told when it is over.
func TestOneMailboxIsGone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ben, _, _, _, err := s.commands.InviteMember(t.Context(), s.actor, commands.NewMember{Email: "ben@acme.example", Name: "Ben", Role: organization.Member})
	must(t, err)
	s.rule(s.channel(commands.CreateChannel{Name: "Both", Kind: notification.Email, MemberIDs: []uuid.UUID{s.ana.ID, ben.ID}}))
	s.process("a", s.sender)
	s.smtp.Answer("ben@acme.example", 550, [3]int{5, 1, 1}, "gone")
	s.fires(alert.Critical, "lag")
	s.follow()
	s.wantStory("failed raised:lag")
	s.ends("lag")
	s.follow()
	s.wantStory("failed raised:lag | failed resolved:lag")
	if mails := s.smtp.Mails(); len(mails) != 2 || mails[0].To[0] != "ana@acme.example" || mails[1].To[0] != "ana@acme.example" {
		t.Errorf("%d mails", len(mails))
	}
}
