package handlers_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/report"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/files/blobs"
	"muster/internal/mail"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
)

func TestTheWholeLifeOfAReport(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.request(s.ana, s.bob)
	s.work("w1", s.tasks()...)

	s.until("every recipient has their mail", func() bool { return s.count(id, "report.email_sent") == 2 })
	s.until("the PDF is signed", func() bool { return s.has(id, "report.signed") })
	want := []string{
		"report.queued", "report.build_started", "report.step_completed", "report.step_completed", "report.step_completed",
		"report.ready", "report.email_sent", "report.email_sent", "report.signed",
	}
	got := s.types(id)
	slices.Sort(got[min(len(got), 6):]) // mails and signature come as they come
	if !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	ready, _ := last[report.Ready](s, id)
	file, err := s.blobs.Open(t.Context(), ready.PDFKey)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(file)
	if err != nil || int64(len(content)) != ready.SizeBytes || snapshot.Digest(content) != ready.PDFSHA256 || !bytes.HasPrefix(content, []byte("%PDF")) {
		t.Errorf("the file has %d bytes, SHA-256 %s, error %v; recorded are %d, %s", len(content), snapshot.Digest(content), err, ready.SizeBytes, ready.PDFSHA256)
	}
	_ = file.Close()
	if _, digest, err := s.blobs.ReadInputs(t.Context(), ready.InputsKey); err != nil || digest != ready.InputsSHA256 {
		t.Errorf("inputs have digest %s %v, recorded is %s", digest, err, ready.InputsSHA256)
	}
	for name, member := range map[string]string{"ana": s.ana.String(), "bob": s.bob.String()} {
		mails := s.smtp.To(s.address(name))
		if len(mails) != 1 || len(mails[0].To) != 1 {
			t.Fatalf("%s got %d mails", name, len(mails))
		}
		if got, want := mails[0].Header("Message-Id"), "<"+id.String()+"."+member+"@reports.muster.internal>"; got != want {
			t.Errorf("%s: Message-ID %s, want %s", name, got, want)
		}
	}
	s.sweep()
	if got := s.stored(); len(got) != 6 {
		t.Errorf("files %v, want the PDF, the signed one, its tables and their inputs", got)
	}

	// The window elapses: first by the database's clock only, then by the workers' too.
	s.due(jobs.Expire)
	s.until("the expiry is put off by a worker whose clock is behind", func() bool {
		rows := s.jobs(jobs.Expire)
		return len(rows) == 1 && rows[0].Status == jobs.StatusQueued && rows[0].RunAt.Sub(ready.ExpiresAt) >= 0
	})
	s.clock.Advance(31 * 24 * time.Hour)
	s.due(jobs.Expire)
	s.until("PDF and table are deleted", func() bool { return s.has(id, "report.expired") && len(s.stored()) == 1 })
	if expired, _ := last[report.Expired](s, id); !expired.ExpiredAt.Equal(ready.ExpiresAt) {
		t.Errorf("expired at %s, want %s", expired.ExpiredAt, ready.ExpiresAt)
	}

	s.due(jobs.Erase)
	s.until("the inputs are erased", func() bool { return s.has(id, "report.inputs_erased") && len(s.stored()) == 0 })
	s.until("nothing is left to do", func() bool { return len(s.jobs()) == 0 })
}

func TestTheWindowInForceAtReadyStays(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.setRetention(7)
	id := s.request(s.ana)
	s.work("w1", s.builder().Task(1))
	s.until("Ready", func() bool { return s.has(id, "report.ready") })
	s.setRetention(90)

	ready, _ := last[report.Ready](s, id)
	if ready.RetentionSeconds != 7*24*3600 {
		t.Errorf("retention %d s, want 7 days", ready.RetentionSeconds)
	}
	expiry := s.jobs(jobs.Expire)
	if len(expiry) != 1 || !expiry[0].RunAt.Equal(ready.ExpiresAt) {
		t.Errorf("expiry jobs %+v, want one at %s", expiry, ready.ExpiresAt)
	}
	short := handlers.Parts{Accounts: s.accounts, Retention: 3 * time.Second}
	if reports, inputs, err := short.Windows(t.Context(), s.organization); err != nil || reports != 3*time.Second || inputs != 400*24*time.Hour {
		t.Errorf("override gives %s %s %v", reports, inputs, err)
	}
}

func (s *scene) setRetention(days int) {
	s.t.Helper()
	if _, err := s.db.ExecContext(s.t.Context(), `UPDATE organizations SET report_retention_days = $1`, days); err != nil {
		s.t.Fatal(err)
	}
}

// TestOneOrganizationRendersTwoReportsAtOnce: an organization that is alone has all slots for
// rendering.
func TestOneOrganizationRendersTwoReportsAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ids := []uuid.UUID{s.request(s.ana), s.requestKind(report.DataInventory)}
	b := s.builder()
	b.Renderer = meeting{Renderer: b.Renderer, here: make(chan struct{})}
	s.work("w1", b.Task(len(ids)))
	for _, id := range ids {
		s.until("Ready", func() bool { return s.has(id, "report.ready") })
	}
}

// meeting renders two documents when both are there.
type meeting struct {
	handlers.Renderer
	here chan struct{}
}

func (m meeting) RenderCanonical(w io.Writer, inputs snapshot.Canonical) (pdf.Rendered, error) {
	select {
	case m.here <- struct{}{}:
	case <-m.here:
	case <-time.After(patience):
		return pdf.Rendered{}, errors.New("the other document is not rendered at the same time")
	}
	return m.Renderer.RenderCanonical(w, inputs)
}

func TestARequesterWhoJoinsDuringTheBuildGetsTheMail(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.request(s.ana)
	b := s.builder()
	b.OnPass(func(_ context.Context, at string) error {
		if at == handlers.PointPDFStored {
			if joined := s.request(s.bob, s.eva); joined != id {
				t.Errorf("the same request made another report")
			}
		}
		return nil
	})
	s.work("w1", b.Task(1), s.mailer().Task(2))
	s.until("every recipient has their mail", func() bool { return s.count(id, "report.email_sent") == 3 })
	for _, name := range []string{"ana", "bob", "eva"} {
		if got := len(s.smtp.To(s.address(name))); got != 1 {
			t.Errorf("%s got %d mails", name, got)
		}
	}
}

func TestAReportThatCannotBeBuilt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fails    error
		attempts int // until the report is Failed
		code     string
		says     string
		dead     bool // the job stays for a person to look at
	}{
		"nothing classified": {&handlers.NoClassificationError{Databases: 3}, 1, report.CodeNoCompletedClassification, "Switch classification on", false},
		"source away":        {&handlers.SourceError{What: "the instances", Err: errors.New("connection refused")}, 5, report.CodeSourceUnavailable, "ask the operator", true},
		"too slow":           {&handlers.SourceError{What: "the assessments", Err: context.DeadlineExceeded}, 5, report.CodeGenerationTimeout, "fewer instances", true},
		"disk full":          {&blobs.FullError{Name: "x", Err: io.ErrShortWrite}, 5, report.CodeGenerationFailed, "make room", true},
		"anything else":      {errors.New("surprise"), 5, report.CodeGenerationFailed, "report's id", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.gatherer.fail(tc.fails)
			id := s.request(s.ana)
			ended := make(chan report.Status, tc.attempts)
			b := s.builder()
			b.Ended = func(_ report.Kind, status report.Status, _ time.Duration) { ended <- status }
			stop := s.work("w1", b.Task(1))
			for attempt := 1; attempt <= tc.attempts; attempt++ {
				s.until("the attempt failed", func() bool {
					rows := s.jobs(jobs.Build)
					return s.has(id, "report.failed") || len(rows) == 1 && rows[0].Attempts == attempt && rows[0].Status == jobs.StatusQueued
				})
				if attempt < tc.attempts {
					if s.has(id, "report.failed") {
						t.Fatalf("Failed after attempt %d", attempt)
					}
					s.due(jobs.Build)
				}
			}
			s.until("Failed", func() bool { return s.has(id, "report.failed") })
			failed, _ := last[report.Failed](s, id)
			if failed.Code != tc.code || !strings.Contains(failed.Message, tc.says) {
				t.Errorf("%+v, want %s with %q", failed, tc.code, tc.says)
			}
			dead, err := s.queue.Dead(t.Context(), s.organization, 10)
			if err != nil || (len(dead) == 1) != tc.dead {
				t.Errorf("set aside %v %v", dead, err)
			}
			if got := s.stored(); len(got) != 0 {
				t.Errorf("files %v, want none", got)
			}
			stop()
			if n := len(ended); n != 1 || <-ended != report.StatusFailed {
				t.Errorf("its end is counted %d times", n)
			}
			if again := s.request(s.ana); again == id {
				t.Error("the same request after a failure did not make a new report")
			}
		})
	}
}

func TestOneRecipientRefusedAndOneGreylisted(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.smtp.Answer(s.address("bob"), 550, [3]int{5, 1, 1}, "no <bob@example.org> here")
	s.smtp.Answer(s.address("eva"), 451, [3]int{4, 7, 1}, "come back later")
	id := s.request(s.ana, s.bob, s.eva)
	s.work("w1", s.tasks()...)

	s.until("one is sent, one refused, one waits", func() bool {
		rows := s.jobs(jobs.Mail)
		return s.has(id, "report.email_sent") && s.has(id, "report.email_failed") &&
			len(rows) == 1 && rows[0].Status == jobs.StatusQueued && rows[0].LastError != ""
	})
	failed, _ := last[report.EmailFailed](s, id)
	want := report.EmailFailed{
		MemberID: s.bob, MessageID: mail.MessageID(id, s.bob), SMTPCode: 550,
		Reason: "The mail server refused the recipient (550 5.1.1).",
	}
	if diff := cmp.Diff(want, failed); diff != "" {
		t.Error(diff)
	}
	if rows := s.jobs(jobs.Mail); strings.Contains(rows[0].LastError, "@") {
		t.Errorf("the job's error holds an address: %s", rows[0].LastError)
	}

	s.smtp.Answer(s.address("eva"), 0, [3]int{}, "")
	s.due(jobs.Mail)
	s.until("the greylisted one is sent too", func() bool { return s.count(id, "report.email_sent") == 2 })
}

func TestAMailThatIsTriedForADayIsGivenUp(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.smtp.Answer(s.address("ana"), 452, [3]int{4, 2, 2}, "mailbox full")
	id := s.request(s.ana)
	s.work("w1", s.tasks()...)
	s.until("the mail waits", func() bool {
		rows := s.jobs(jobs.Mail)
		return len(rows) == 1 && rows[0].LastError != "" && rows[0].Status == jobs.StatusQueued
	})
	if s.has(id, "report.email_failed") {
		t.Fatal("given up at once")
	}
	if _, err := s.db.ExecContext(t.Context(), `UPDATE jobs SET queued_at = now() - interval '25 hours' WHERE kind = 'mail'`); err != nil {
		t.Fatal(err)
	}
	s.due(jobs.Mail)
	s.until("the mail is given up", func() bool { return s.has(id, "report.email_failed") })
	failed, _ := last[report.EmailFailed](s, id)
	if failed.SMTPCode != 452 || failed.MemberID != s.ana {
		t.Errorf("recorded %+v", failed)
	}

	// An operator empties the mailbox and retries.
	s.smtp.Answer(s.address("ana"), 0, [3]int{}, "")
	dead, err := s.queue.Dead(t.Context(), s.organization, 10)
	if err != nil || len(dead) != 1 {
		t.Fatal(dead, err)
	}
	if err := s.queue.Retry(t.Context(), s.organization, dead[0].ID); err != nil {
		t.Fatal(err)
	}
	s.until("the mail is sent after all", func() bool { return s.has(id, "report.email_sent") })
}

func TestAMemberWhoHasLeftGetsNoMail(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.request(s.ana, s.bob)
	if _, err := s.db.ExecContext(t.Context(), `UPDATE members SET status = 'disabled' WHERE id = $1`, s.bob); err != nil {
		t.Fatal(err)
	}
	s.work("w1", s.tasks()...)
	s.until("both mails are settled", func() bool { return s.has(id, "report.email_sent") && s.has(id, "report.email_failed") })
	if failed, _ := last[report.EmailFailed](s, id); failed.MemberID != s.bob || len(s.smtp.To(s.address("bob"))) != 0 {
		t.Errorf("recorded %+v, mails %v", failed, s.smtp.To(s.address("bob")))
	}
}
