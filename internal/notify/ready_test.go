package notify_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/notifying"
	"muster/domain/notification"
	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/notify/channel/chat"
	"muster/internal/report/brief"
)

// TestAReadyReportIsSentWithItsVerdictAndFirstAction: a webhook gets them as fields, a chat and a mail as words. A
// report of another organization lends nothing, and neither does one whose files have expired.
func TestAReadyReportIsSentWithItsVerdictAndFirstAction(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	hook, room := s.receiver(), s.receiver()
	only := func(t *notification.Terms) {
		t.Match = notification.Match{Events: []notification.EventType{notification.ReportReady}}
	}
	s.rule(s.webhook(hook.URL), only)
	s.rule(s.channel(notifying.CreateChannel{Name: "Room", Kind: chat.Name, Address: notification.Address{URL: room.URL}}), only)
	s.rule(s.channel(notifying.CreateChannel{Name: "Administrators", Kind: notification.Email, Administrators: true}), only)
	requested, err := s.commands.RequestReport(t.Context(), s.actor, commands.RequestReport{Kind: report.Security})
	must(t, err)
	says := report.Brief{
		State: "Critical", Verdict: "43 critical and high findings are overdue.",
		Debt:  &report.BriefDebt{Assessed: 1, Overdue: 43, New: &report.BySeverity{Critical: 1}, Closed: &report.BySeverity{Medium: 4}},
		First: &report.FirstAction{What: "Logins have no password: tmp", Instance: "prod-orders", Due: time.Date(2026, 11, 26, 5, 10, 0, 0, time.UTC), Overdue: 3},
	}
	s.ready(requested.ReportID, says)
	s.process("a", s.sender)
	s.follow()
	s.await("all three are told", func() bool { return len(hook.got()) == 1 && len(room.got()) == 1 && len(s.smtp.Mails()) == 1 })
	told := hook.got()[0].Told.Events
	want, err := json.Marshal(says)
	must(t, err)
	if got, _ := json.Marshal(told[0].Brief); len(told) != 1 || string(got) != string(want) || !strings.Contains(string(hook.got()[0].Body), `"report":{"state":"Critical"`) {
		t.Errorf("the webhook is told %s, want %s", hook.got()[0].Body, want)
	}
	for _, words := range []string{
		"Verdict: Critical. Overdue: 43 critical and high findings. New: 1 critical. Closed: 4 medium.",
		"Do first: Logins have no password: tmp. Server: prod-orders. Owner: no owner. Due: 2026-11-26, 3 days overdue.",
	} {
		if !strings.Contains(string(room.got()[0].Body), words) {
			t.Errorf("the chat is not told %q: %s", words, room.got()[0].Body)
		}
	}
	mail := strings.ReplaceAll(s.smtp.Mails()[0].Data, "=\r\n", "")
	for _, words := range []string{"Verdict: Critical. 43 critical and high findings are overdue.", "Do first: Logins have no password: tmp.", "Owner: no owner.", "Due: 2026-11-26, 3 days overdue."} {
		if !strings.Contains(mail, words) {
			t.Errorf("the mail does not say %q: %s", words, mail)
		}
	}
	if foreign, err := brief.Read(t.Context(), s.db, uuid.New(), requested.ReportID); err != nil || len(foreign) != 0 {
		t.Errorf("another organization reads %v, %v", foreign, err)
	}
	must(t, brief.Forget(t.Context(), s.db, s.org.ID, requested.ReportID))
	if left, err := brief.Read(t.Context(), s.db, s.org.ID, requested.ReportID); err != nil || len(left) != 0 {
		t.Errorf("left is %v, %v", left, err)
	}
}

// ready records that a report is ready, with its brief.
func (s *scene) ready(id uuid.UUID, says report.Brief) {
	s.Helper()
	must(s.T, eventstore.Transact(s.Context(), s.db, func(tx *sqlx.Tx) error {
		if _, err := s.commands.StartBuild(s.Context(), tx, s.org.ID, id, "w", 1, ""); err != nil {
			return err
		}
		digest := strings.Repeat("9f", 32)
		_, err := s.commands.MarkReady(s.Context(), tx, s.org.ID, id, report.Ready{
			AsOf: s.clock.Now(), InputsSHA256: digest, InputsKey: "inputs", PDFSHA256: digest, PDFKey: "pdf", FileName: "security.pdf",
			SizeBytes: 1, Pages: 1, RetentionSeconds: 3600, InputsErasedOn: s.clock.Now().Add(time.Hour),
			Witness: report.Witness{Log: "reports", Position: 1, Hash: digest},
		}, func(report.Ready) error { return brief.Keep(s.Context(), tx, s.org.ID, id, says) })
		return err
	}))
}
