package handlers_test

import (
	"io"
	"mime"
	"mime/quotedprintable"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/schedule"
	"muster/handlers"
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
		if len(m.Message) > 0 {
			s.t.Errorf("the list has the bytes of the mail to %s", m.To)
		}
		if mails[m.MemberID], _, err = sent.To(s.t.Context(), s.db, s.organization, id, m.MemberID); err != nil {
			s.t.Fatal(err)
		}
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

// letterTo is the text of the latest mail to a member.
func (s *scene) letterTo(name string) string {
	s.t.Helper()
	got := s.smtp.To(s.address(name))
	if len(got) == 0 {
		s.t.Fatalf("%s got no mail", name)
	}
	m := got[len(got)-1]
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header("Subject"))
	if err != nil {
		s.t.Fatal(err)
	}
	_, body, _ := strings.Cut(m.Data, "\r\n\r\n")
	plain, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(body)))
	if err != nil {
		s.t.Fatal(err)
	}
	return "Subject: " + subject + "\n" + strings.ReplaceAll(string(plain), "\r\n", "\n")
}

// TestAMailNamesItsSchedule, as it was called when it was due, at every attempt alike.
func TestAMailNamesItsSchedule(t *testing.T) {
	t.Parallel()
	s := newTimedScene(t)
	id := s.schedule(func(x *schedule.Terms) { x.Name, x.RecipientIDs = "Every morning", []uuid.UUID{s.bob} })
	s.at(eight(1))
	s.work("w1", s.scheduler().Task(1), s.builder().Task(1))
	s.until("it is run", func() bool { return len(s.runs(id)) == 1 })
	made := requested(s.runs(id))[0]
	s.until("its report is ready", func() bool { return s.has(made, "report.ready") })
	killed := diesAt(handlers.PointSent)
	dying := s.mailer()
	dying.OnPass(killed.pass)
	stop := s.work("w2", dying.Task(1))
	<-killed.reached
	_, err := s.commands.ChangeSchedule(t.Context(), commands.Actor{OrganizationID: s.organization, MemberID: s.ana}, id, commands.EditSchedule{
		Change: func(x *schedule.Terms) { x.Name = "Renamed" },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.due(jobs.Mail) // its lease lapses
	s.work("w3", s.mailer().Task(1))
	s.until("both mails are recorded", func() bool { return s.count(made, "report.email_sent") == 2 })
	killed.resume()
	stop()
	sends := 0
	for _, name := range []string{"ana", "bob"} {
		got := s.smtp.To(s.address(name))
		for _, m := range got[1:] {
			if m.Data != got[0].Data {
				t.Errorf("%s got\n%s\nand then\n%s", name, got[0].Data, m.Data)
			}
		}
		sends += len(got)
		because := map[string]string{"ana": "your schedule “Every morning” requested this report.", "bob": "you are a recipient of Ana's schedule “Every morning”."}[name]
		letter := s.letterTo(name)
		for _, want := range []string{") · Every morning\n", "From the schedule Every morning:\nhttps://muster.example.org/schedules/" + id.String() + "\n", because} {
			if !strings.Contains(letter, want) {
				t.Errorf("the mail to %s lacks %q:\n%s", name, want, letter)
			}
		}
	}
	if sends != 3 {
		t.Errorf("%d mails were sent, want one twice", sends)
	}
}

// TestAScheduleJoinsAReport that somebody requested by hand: each recipient is told of
// whoever asked for them, and the mails go with whom they name.
func TestAScheduleJoinsAReport(t *testing.T) {
	t.Parallel()
	s := newTimedScene(t)
	s.join(s.ana, s.bob, s.eva)
	id := s.schedule(func(x *schedule.Terms) { x.Name, x.RecipientIDs = "Every morning", []uuid.UUID{s.bob} })
	byHand := s.request(s.eva)
	s.request(s.ana) // before her schedule does
	s.at(eight(1))
	s.work("w1", s.scheduler().Task(1))
	s.until("it is run", func() bool { return len(s.runs(id)) == 1 })
	if made := requested(s.runs(id))[0]; made != byHand {
		t.Fatalf("it made report %s, and %s is being built", made, byHand)
	}
	s.work("w2", s.builder().Task(1), s.mailer().Task(1))
	s.until("the mails are sent", func() bool { return s.count(byHand, "report.email_sent") == 3 })
	for name, want := range map[string]string{
		"eva": "because you requested this report.",
		"ana": "because your schedule “Every morning” requested this report.",
		"bob": "because you are a recipient of Ana's schedule “Every morning”.",
	} {
		letter := s.letterTo(name)
		if !strings.Contains(letter, want) || strings.Contains(letter, "From the schedule") != (name != "eva") {
			t.Errorf("the mail to %s lacks %q, or names what it should not:\n%s", name, want, letter)
		}
	}
	s.erase(s.ana)
	if left := s.kept(byHand); len(left) != 1 || left[s.eva].MemberID != s.eva {
		t.Errorf("after ana was erased, %d mails are kept, want eva's, which does not name her", len(left))
	}
}
