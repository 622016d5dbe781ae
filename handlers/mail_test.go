package handlers_test

import (
	"mime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/mail/sent"
	"muster/internal/proof/attest"
	"muster/internal/proof/attest/offline"
	"muster/internal/report/brief"
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

// TestSentMailsAreKept, byte for byte, as long as the report is offered.
func TestSentMailsAreKept(t *testing.T) {
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
		if letter := s.letterTo(name); !strings.Contains(letter, "\nVerdict: ") || !strings.Contains(letter, "\n  Overdue   ") || !strings.Contains(letter, "\n  Do first  ") {
			t.Errorf("%s is not told the verdict and what to do first: %s", name, letter)
		}
	}
	s.erase(s.bob)
	if left := s.kept(id); len(left) != 1 || left[s.ana].MemberID != s.ana {
		t.Errorf("after bob was erased: %d", len(left))
	}
	s.clock.Advance(366 * 24 * time.Hour)
	s.due(jobs.Expire)
	s.until("it has expired, and its mails and its brief are gone", func() bool {
		briefs, err := brief.Read(t.Context(), s.db, s.organization, id)
		return err == nil && s.has(id, "report.expired") && len(s.kept(id)) == 0 && len(briefs) == 0
	})
}

// TestAMailThatNamesAnErasedRequester is deleted with the requester, whom the mails to all
// others name.
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

// TestOnlyRecipientsWhoSeeTheReportGetItsMail: a recipient who has the role team by the time of the mail, and
// does not see all servers of the report, gets none. The trail says why.
func TestOnlyRecipientsWhoSeeTheReportGetItsMail(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.join(s.ana, s.bob, s.eva)
	id := s.request(s.ana, s.bob)
	if _, err := s.db.ExecContext(t.Context(), `UPDATE members SET role = 'team' WHERE id = $1`, s.bob); err != nil {
		t.Fatal(err)
	}
	s.work("w1", s.builder().Task(1), s.mailer().Task(1))
	s.until("both mails are over", func() bool { return s.count(id, "report.email_sent") == 1 && s.count(id, "report.email_failed") == 1 })
	var why string
	if err := s.db.Get(&why, `SELECT convert_from(data, 'UTF8')::jsonb ->> 'reason' FROM events WHERE stream_id = $1 AND type = 'report.email_failed' AND convert_from(data, 'UTF8')::jsonb ->> 'memberId' = $2`, id, s.bob.String()); err != nil {
		t.Fatal(err)
	}
	if got := s.smtp.To(s.address("bob")); len(got) > 0 || !strings.Contains(why, "does not see all servers of the report") {
		t.Errorf("%d mails, and the reason is %q", len(got), why)
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
	read, ok := offline.ReadMail([]byte(m.Data))
	if !ok {
		s.t.Fatalf("%s got no mail with a text: %s", name, m.Data)
	}
	return "Subject: " + subject + "\n" + read.Text
}

// waiting is a worker that builds reports whose mails wait so long for the proof.
func (s *scene) waiting(long time.Duration) handlers.Task {
	b := s.builder()
	b.MailWait = long
	return b.Task(1)
}

// TestAMailWaitsForTheProof that it carries: it goes as soon as that is made, with what the
// installation gives out as proof.json, and is the same if it is sent again. It prints the
// fingerprint of the keys.
func TestAMailWaitsForTheProof(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.request(s.ana)
	killed := diesAt(handlers.PointSent)
	dying := s.mailer()
	dying.OnPass(killed.pass)
	stop := s.work("w1", s.waiting(time.Hour), dying.Task(1))
	s.until("the report is built", func() bool { return s.has(id, "report.ready") })
	if rows := s.jobs(jobs.Mail); len(rows) != 1 || rows[0].Attempts != 0 || time.Until(rows[0].RunAt) < 50*time.Minute {
		t.Errorf("the mail does not wait: %+v", rows)
	}
	s.work("w2", s.signer().Task())
	s.until("the mail is sent", func() bool {
		select {
		case <-killed.reached:
			return true
		default:
			return false
		}
	})
	if !s.has(id, "report.signed") {
		t.Error("the mail went before the report was signed")
	}
	s.lapse(jobs.Mail)
	s.work("w3", s.mailer().Task(1))
	s.until("the mail is recorded", func() bool { return s.has(id, "report.email_sent") })
	killed.resume()
	stop()
	got := s.smtp.To(s.address("ana"))
	if len(got) != 2 || got[0].Data != got[1].Data {
		t.Fatalf("%d mails were sent, want the same twice: %+v", len(got), got)
	}
	kept, ok, err := s.proofs.Kept(t.Context(), s.organization, id)
	if err != nil || !ok {
		t.Fatal("it has no proof", err)
	}
	document, err := kept.Encode()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := offline.ReadMail([]byte(got[0].Data))
	if len(m.Proofs) != 1 || string(m.Proofs[0]) != string(document) {
		t.Errorf("the mail carries %d proofs: %s, want %s", len(m.Proofs), m.Proofs, document)
	}
	if a := offline.CheckMail(m, nil, attest.Trust{Keys: s.keys()}); a.Verdict != attest.Holds || a.Report == nil || a.Report.ID != id {
		t.Errorf("the mail %s: %s", a.Verdict, a.Sentence)
	}
	if !strings.Contains(m.Text, "  Keys       "+s.keys().Fingerprint()+"\n") {
		t.Errorf("the mail does not print the fingerprint %s:\n%s", s.keys().Fingerprint(), m.Text)
	}
}

// TestAMailGoesWithoutAProof that cannot be made, once it has waited, and says so.
func TestAMailGoesWithoutAProof(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.request(s.ana)
	s.work("w1", s.waiting(time.Second), s.mailer().Task(1)) // no worker signs
	s.until("the mail is sent", func() bool { return s.has(id, "report.email_sent") })
	m, ok := offline.ReadMail([]byte(s.smtp.To(s.address("ana"))[0].Data))
	if !ok || m.Proofs != nil || !strings.Contains(m.Text, "The report had no proof yet when this e-mail was sent.") {
		t.Errorf("%d proofs, %s", len(m.Proofs), m.Text)
	}
	if a := offline.CheckMail(m, nil, attest.Trust{Keys: s.keys()}); a.Verdict != attest.Holds {
		t.Errorf("the mail %s: %s", a.Verdict, a.Sentence)
	}
}

// TestNoMailCarriesAForgedProof: an attacker replaced the stored one.
func TestNoMailCarriesAForgedProof(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	one, two := s.request(s.ana), s.requestKind(report.DataInventory)
	s.work("w1", s.builder().Task(1), s.signer().Task())
	s.until("both are signed", func() bool { return s.has(one, "report.signed") && s.has(two, "report.signed") })
	s.db.MustExec(`UPDATE report_proofs SET proof = (SELECT proof FROM report_proofs WHERE report_id = $2) WHERE report_id = $1`, one, two)
	s.work("w2", s.mailer().Task(1))
	s.until("the mail of the other is sent", func() bool { return s.has(two, "report.email_sent") })
	s.until("an operator is to look", func() bool {
		rows := s.jobs(jobs.Mail)
		return len(rows) == 1 && rows[0].Subject == one && rows[0].Status == jobs.StatusDead
	})
	if len(s.smtp.Mails()) != 1 {
		t.Errorf("%d mails were sent, want that of the other report", len(s.smtp.Mails()))
	}
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
	_, err := s.commands.ChangeSchedule(t.Context(), usecase.Actor{OrganizationID: s.organization, MemberID: s.ana}, id, commands.EditSchedule{
		Change: func(x *schedule.Terms) { x.Name = "Renamed" },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.lapse(jobs.Mail)
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

// TestAScheduleJoinsAReport that a member requested by hand: each recipient is told who added
// them, and the mails are deleted with the people whom they name.
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
