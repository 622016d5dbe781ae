package handlers_test

import (
	"mime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/handlers/jobs"
	"muster/internal/mail/sent"
)

// kept are the mails about a report that are kept, by recipient.
func (s *scene) kept(id uuid.UUID) map[uuid.UUID]sent.Mail {
	s.t.Helper()
	all, err := sent.About(s.t.Context(), s.db, s.organization, id)
	if err != nil {
		s.t.Fatal(err)
	}
	mails := map[uuid.UUID]sent.Mail{}
	for _, m := range all {
		mails[m.MemberID] = m
	}
	return mails
}

// TestWhatWasSentIsKept, byte for byte, as long as the report is offered.
func TestWhatWasSentIsKept(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.join(s.ana, s.bob, s.eva)
	s.smtp.Answer(s.address("eva"), 550, [3]int{5, 1, 1}, "nobody here")
	id := s.request(s.ana, s.bob, s.eva)
	s.work("w1", s.tasks()...)
	s.until("all mails are over", func() bool { return s.count(id, "report.email_sent") == 2 && s.count(id, "report.email_failed") == 1 })
	kept := s.kept(id)
	if len(kept) != 2 {
		t.Fatalf("kept are %d, want those that were sent", len(kept))
	}
	for name, member := range map[string]uuid.UUID{"ana": s.ana, "bob": s.bob} {
		got := s.smtp.To(s.address(name))
		m := kept[member]
		if len(got) != 1 || got[0].Data != string(m.Message) {
			t.Errorf("%s got\n%s\nkept is\n%s", name, got[0].Data, m.Message)
		}
		subject, err := new(mime.WordDecoder).DecodeHeader(got[0].Header("Subject"))
		if err != nil || subject != m.Subject || m.To != s.address(name) || m.RequesterID != s.ana || m.SentAt.IsZero() {
			t.Errorf("%s: kept as %q to %q, sent as %q (%v)", name, m.Subject, m.To, subject, err)
		}
		if !strings.Contains(subject, " new, ") || !strings.Contains(got[0].Data, "Compared with the report as of") {
			t.Errorf("%s is not told what changed: %s", name, subject)
		}
	}
	s.erase(s.bob)
	if left := s.kept(id); len(left) != 1 || left[s.ana].MemberID != s.ana {
		t.Errorf("after bob was erased: %d", len(left))
	}
	s.clock.Advance(366 * 24 * time.Hour)
	s.due(jobs.Expire)
	s.until("it has expired, and its mails are gone", func() bool { return s.has(id, "report.expired") && len(s.kept(id)) == 0 })
}

// TestAMailThatNamesAnErasedRequester goes with him: who asked is named in the mails to all others.
func TestAMailThatNamesAnErasedRequester(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.join(s.ana, s.bob, s.eva)
	id := s.request(s.bob, s.ana)
	s.work("w1", s.builder().Task(1), s.mailer().Task(1))
	s.until("the mails are sent", func() bool { return s.count(id, "report.email_sent") == 2 })
	s.erase(s.bob)
	if left := s.kept(id); len(left) != 0 {
		t.Errorf("kept are %d mails that name him", len(left))
	}
}
