package handlers_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/domain/schedule"
	"muster/handlers"
	"muster/internal/proof/attest/offline"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/sheets"
	"muster/internal/report/snapshot/snapshottest"
)

// TestASummaryFromItsScheduleToItsProof: a schedule of each kind of summary requests the window before its due time.
// The report is built and signed, every recipient's mail says what page 1 says first, and a month later its recorded
// inputs give the same bytes.
func TestASummaryFromItsScheduleToItsProof(t *testing.T) {
	t.Parallel()
	s := newTimedScene(t)
	start := time.Now().UTC().Truncate(time.Minute) // signatures are of now
	s.at(start)
	due := start.Add(2 * time.Minute)
	windows := map[report.Kind]string{report.AlertsSummary: "7d", report.PerformanceSLA: "30d", report.DailyDigest: ""}
	schedules := map[report.Kind]uuid.UUID{}
	for _, d := range report.Definitions() {
		if !sheets.Has(d) {
			continue
		}
		window, known := windows[d.Name]
		if !known {
			t.Errorf("nothing is scheduled of %s", d.Name)
		}
		schedules[d.Name] = s.schedule(func(x *schedule.Terms) {
			x.Name, x.Kind, x.At, x.RecipientIDs = "Every "+string(d.Name), d.Name, due.Format("15:04"), []uuid.UUID{s.bob}
			x.Scope.Window = window
		})
	}
	s.at(due)
	s.work("w1", append(s.tasks(), s.scheduler().Task(1))...)
	built := map[report.Kind]uuid.UUID{}
	for kind, id := range schedules {
		s.until("a report of "+string(kind)+" is requested", func() bool { return len(requested(s.runs(id))) == 1 })
		built[kind] = requested(s.runs(id))[0]
	}
	for kind, id := range built {
		s.until(string(kind)+" is mailed and signed", func() bool {
			s.at(s.clock.Now().Add(50 * time.Millisecond)) // signatures wait for the clock
			return s.count(id, "report.email_sent") == 2 && s.has(id, "report.signed")
		})
		queued, _ := last[report.Queued](s, id)
		days := map[string]int{"7d": 7, "30d": 30, "": 1}[windows[kind]]
		if queued.Kind != kind || !queued.Scope.To.Equal(due) || !queued.Scope.From.Equal(due.AddDate(0, 0, -days)) {
			t.Errorf("%s is requested as %s of %+v", kind, queued.Kind, queued.Scope)
		}
		s.checkSigned(id)
		s.checkMails(kind, id)
	}
	s.at(due.AddDate(0, 1, 0))
	for kind, id := range built {
		ready, _ := last[report.Ready](s, id)
		for _, name := range append([]string{""}, report.Companions(kind)...) {
			again, sum := s.rebuilder(s.renderer()), ready.PDFSHA256
			again.File = name
			for _, f := range ready.Files {
				if f.Name == name {
					sum = f.SHA256
				}
			}
			var file bytes.Buffer
			if o, err := again.Rebuild(t.Context(), id, &file); err != nil || o.Verdict != handlers.Identical || snapshot.Digest(file.Bytes()) != sum {
				t.Errorf("%s of %s a month later: %v, %v; recorded is %s", name, kind, o, err, sum)
			}
		}
	}
}

// checkMails compares the mails about a summary with its page 1.
func (s *scene) checkMails(kind report.Kind, id uuid.UUID) {
	s.t.Helper()
	page, err := sheets.Of(snapshottest.Rich(kind))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range []string{"ana", "bob"} {
		text := ""
		for _, m := range s.smtp.To(s.address(name)) {
			if read, ok := offline.ReadMail([]byte(m.Data)); ok && strings.Contains(read.Text, id.String()) {
				text = strings.Join(strings.Fields(read.Text), " ")
			}
		}
		for _, want := range []string{page.Lead, "Every " + string(kind), "https://muster.example.org/exports?reportId=" + id.String()} {
			if !strings.Contains(text, want) {
				s.t.Errorf("the mail to %s about %s does not say %q: %s", name, kind, want, text)
			}
		}
	}
}
