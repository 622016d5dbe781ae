package handlers_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/mail/sent"
	"muster/internal/testing/pgtest"
)

// join records in the log that the members of the scene belong to it.
func (s *scene) join(members ...uuid.UUID) {
	s.t.Helper()
	var joined []eventstore.NewEvent
	for _, m := range members {
		e, err := usecase.Registry().Encode(organization.MemberJoined{MemberID: m, Role: organization.Member})
		if err != nil {
			s.t.Fatal(err)
		}
		joined = append(joined, e)
	}
	_, err := s.events.Append(s.t.Context(), eventstore.Organization, eventstore.Append{
		Organization: s.organization, StreamType: organization.StreamType, Stream: s.organization,
		Expected: eventstore.AnyVersion, Events: joined,
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) erase(member uuid.UUID) {
	s.t.Helper()
	if _, err := s.commands.EraseMember(s.t.Context(), usecase.Actor{OrganizationID: s.organization, Component: "cli"}, member, func(tx *sqlx.Tx) error {
		return sent.ForgetMember(s.t.Context(), tx, s.organization, member)
	}); err != nil {
		s.t.Fatal(err)
	}
}

// forgotten fails where any table still has the text, whosever it is.
func (s *scene) forgotten(text string) {
	s.t.Helper()
	for table, rows := range pgtest.Mentions(s.t, s.db, text) {
		s.t.Errorf("%s still has %q: %q", table, text, rows)
	}
}

func (s *scene) rebuild(id uuid.UUID) handlers.RebuildOutcome {
	s.t.Helper()
	o, err := s.rebuilder(s.renderer()).Rebuild(s.t.Context(), id, &bytes.Buffer{})
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

// TestAnErasedMemberTakesTheInputsAlong: those that name them, and no others.
func TestAnErasedMemberTakesTheInputsAlong(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.join(s.ana, s.bob, s.eva)
	hers := s.request(s.ana)
	stop := s.work("w1", s.builder().Task(1), s.mailer().Task(1))
	s.until("her mail is sent", func() bool { return s.has(hers, "report.email_sent") })
	his := s.request(s.bob)
	s.until("his mail is sent", func() bool { return s.has(his, "report.email_sent") })
	stop()
	ready, _ := last[report.Ready](s, hers)
	other, _ := last[report.Ready](s, his)
	inputs, err := os.ReadFile(filepath.Join(s.files, ready.InputsKey))
	if err != nil {
		t.Fatal(err)
	}

	s.erase(s.ana)
	if rows := s.jobs(jobs.Erase); len(rows) != 3 {
		t.Errorf("erasures waiting: %+v, want one because of her and two for the end of the retention", rows)
	}
	stop = s.work("w2", s.eraser().Task())
	s.until("the inputs are erased", func() bool { return s.has(hers, "report.inputs_erased") })
	if erased, _ := last[report.InputsErased](s, hers); erased.Rule != "member_erased" {
		t.Errorf("erased by rule %q", erased.Rule)
	}
	if got, want := s.stored(), slices.Concat(files(ready), files(other), []string{other.InputsKey}); !equalSets(got, want) {
		t.Errorf("left are %v, want %v", got, want)
	}
	if o := s.rebuild(hers); o.Verdict != handlers.InputsErased || o.ExitStatus() != 4 || !strings.Contains(o.String(), "by rule member_erased") {
		t.Errorf("a rebuild says %q (%d)", o, o.ExitStatus())
	}
	if o := s.rebuild(his); o.Verdict != handlers.Identical {
		t.Errorf("a rebuild of a report that does not name her says %q", o)
	}

	// A worker dies between the file and the event: the file is gone, and the erasure comes
	// again. So does the one that waited for the end of the retention.
	if _, err := s.blobs.WriteInputs(t.Context(), ready.InputsKey, bytes.NewReader(inputs)); err != nil {
		t.Fatal(err)
	}
	s.due(jobs.Erase)
	s.until("every erasure is over", func() bool { return len(s.jobs(jobs.Erase)) == 0 })
	stop()
	if n := s.count(hers, "report.inputs_erased"); n != 1 {
		t.Errorf("%d events say that they were erased", n)
	}
	if erased, _ := last[report.InputsErased](s, his); erased.Rule != "retention" {
		t.Errorf("his were erased by rule %q", erased.Rule)
	}
	if got := s.stored(); !equalSets(got, slices.Concat(files(ready), files(other))) {
		t.Errorf("left are %v", got)
	}
	var named int
	if err := s.db.Get(&named, `SELECT count(*) FROM report_people`); err != nil || named != 0 {
		t.Errorf("%d people are remembered of inputs that are gone, %v", named, err)
	}
	s.forgotten(s.address("ana"))
}

// TestAMemberErasedDuringTheBuild: the report still becomes Ready, and its
// inputs go at once.
func TestAMemberErasedDuringTheBuild(t *testing.T) {
	t.Parallel()
	for _, point := range []string{handlers.PointStarted, handlers.PointGathered, handlers.PointPDFStored} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.join(s.ana, s.bob)
			id := s.request(s.ana, s.bob)
			b := s.builder()
			b.OnPass(func(_ context.Context, at string) error {
				if at == point {
					s.erase(s.ana)
				}
				return nil
			})
			s.work("w1", b.Task(1), s.mailer().Task(1), s.eraser().Task())
			s.until("the inputs are erased", func() bool { return s.has(id, "report.inputs_erased") })
			s.until("both mails are settled", func() bool { return s.has(id, "report.email_sent") && s.has(id, "report.email_failed") })
			if erased, _ := last[report.InputsErased](s, id); erased.Rule != "member_erased" {
				t.Errorf("erased by rule %q", erased.Rule)
			}
			ready, _ := last[report.Ready](s, id)
			if got := s.stored(); !equalSets(got, files(ready)) {
				t.Errorf("left are %v, want the PDF and its table", got)
			}
			if failed, _ := last[report.EmailFailed](s, id); failed.MemberID != s.ana || !strings.Contains(failed.Reason, "no e-mail address") {
				t.Errorf("recorded %+v", failed)
			}
		})
	}
}

// TestAWaitingMailToAnErasedMemberFailsAtOnce: it is not tried for a day.
func TestAWaitingMailToAnErasedMemberFailsAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.join(s.ana, s.bob)
	s.smtp.Answer(s.address("bob"), 451, [3]int{4, 7, 1}, "come back later, <"+s.address("bob")+">")
	id := s.request(s.ana, s.bob)
	s.work("w1", s.builder().Task(1), s.mailer().Task(1))
	s.until("his mail waits", func() bool {
		rows := s.jobs(jobs.Mail)
		return s.has(id, "report.email_sent") && len(rows) == 1 && rows[0].Status == jobs.StatusQueued && rows[0].LastError != ""
	})
	if _, err := s.db.ExecContext(t.Context(), `UPDATE jobs SET due_at = now() + interval '1 hour' WHERE kind = 'mail'`); err != nil {
		t.Fatal(err)
	}
	s.erase(s.bob)
	s.until("his mail has failed", func() bool { return s.has(id, "report.email_failed") && len(s.jobs(jobs.Mail)) == 0 })
	if failed, _ := last[report.EmailFailed](s, id); failed.MemberID != s.bob {
		t.Errorf("recorded %+v", failed)
	}
	if rows := s.jobs(jobs.Erase); len(rows) != 1 {
		t.Errorf("a recipient is not named in the inputs; erasures waiting: %+v", rows)
	}
	s.forgotten(s.address("bob"))
}
