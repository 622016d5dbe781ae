package notify_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/notifying"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/internal/notify/channel"
)

// TestMissedSchedulesAreReported: each due time without a report is sent once, with the reason, and
// under the schedule's current name.
func TestMissedSchedulesAreReported(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	only := func(t *notification.Terms) {
		t.Match = notification.Match{Events: []notification.EventType{notification.ScheduleMissed}}
	}
	s.rule(s.webhook(r.URL), only)
	s.rule(s.channel(notifying.CreateChannel{Name: "Administrators", Kind: notification.Email, Administrators: true}), only)
	terms := schedule.Terms{Name: "Weekly", Kind: report.Security, Recurrence: schedule.Recurrence{Every: schedule.Day, At: "08:00", TimeZone: "UTC"}, Enabled: true}
	id, _, err := s.commands.CreateSchedule(t.Context(), s.actor, terms)
	must(t, err)
	_, err = s.commands.ChangeSchedule(t.Context(), s.actor, id, commands.EditSchedule{Change: func(t *schedule.Terms) { t.Name = "Security, daily" }})
	must(t, err)
	s.fires(alert.Critical, "lag")      // is no missed report
	s.clock.Advance(3 * 24 * time.Hour) // over three times eight o'clock, whenever it is
	s.runs(id)                          // of three due times two were missed, and the latest asks for its report
	s.runs(id)                          // there is nothing more to do
	s.process("a", s.sender)
	s.follow()
	s.follow()
	s.wantStory("sent schedule.missed:Security, daily schedule.missed:Security, daily | sent schedule.missed:Security, daily schedule.missed:Security, daily")
	told := r.got()[0].Told.Events
	if len(r.got()) != 1 || len(told) != 2 {
		t.Fatalf("%d posts: %s", len(r.got()), r.told())
	}
	for i, n := range told {
		if *n.ScheduleID != id || *n.Reason != schedule.ReasonAway || !n.DueAt.Equal(told[0].DueAt.AddDate(0, 0, i)) || n.DueAt.Hour() != 8 || n.AlertID != nil || n.ReportID != nil {
			t.Errorf("told %+v", n)
		}
	}
	mails := s.smtp.Mails()
	if len(mails) != 1 {
		t.Fatalf("%d mails", len(mails))
	}
	line := "Schedule missed: Security, daily, due " + told[0].DueAt.UTC().Format("2 January 2006, 15:04 UTC") + ", Muster was away"
	if channel.Line(told[0]) != line || channel.Link("https://muster.example.org", told[0]) != "https://muster.example.org/schedules/"+id.String() {
		t.Errorf("%s at %s", channel.Line(told[0]), channel.Link("", told[0]))
	}
}

// TestAReportNamesItsSchedules: the message that a report has failed names the schedules that
// waited for it.
func TestAReportNamesItsSchedules(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL), func(t *notification.Terms) {
		t.Match = notification.Match{Events: []notification.EventType{notification.ReportFailed}}
	})
	var ids []uuid.UUID
	for _, name := range []string{"Weekly for the board", "Weekly for us", "Of the auditors"} {
		id, _, err := s.commands.CreateSchedule(t.Context(), s.actor, schedule.Terms{
			Name: name, Kind: report.Security, Recurrence: schedule.Recurrence{Every: schedule.Day, At: "08:00", TimeZone: "UTC"}, Enabled: true,
		})
		must(t, err)
		ids = append(ids, id)
	}
	fails := func(id uuid.UUID) {
		tx, err := s.db.BeginTxx(t.Context(), nil)
		must(t, err)
		_, err = s.commands.MarkFailed(t.Context(), tx, s.org.ID, id, report.Failed{Code: report.CodeGenerationFailed, Message: "No room is left."})
		must(t, err)
		must(t, tx.Commit())
		s.follow()
	}
	s.clock.Advance(24*time.Hour + time.Minute)
	var scheduled uuid.UUID
	for _, id := range ids {
		if of := s.runs(id).(schedule.Requested).ReportID; scheduled != uuid.Nil && of != scheduled {
			t.Fatalf("two reports, %s and %s", scheduled, of)
		} else {
			scheduled = of
		}
	}
	fails(scheduled)
	byHand, err := s.commands.RequestReport(t.Context(), s.actor, commands.RequestReport{Kind: report.Security})
	must(t, err)
	fails(byHand.ReportID)
	s.process("a", s.sender)
	var told []channel.Notice
	s.await("both are told", func() bool {
		told = nil
		for _, p := range r.got() {
			told = append(told, p.Told.Events...)
		}
		return len(told) == 2
	})
	scheduledNotice, handNotice := told[0], told[1]
	if scheduledNotice.Title != "Security Report, All active instances, for the schedule Weekly for the board and 2 other schedules" || *scheduledNotice.ScheduleID != ids[0] || *scheduledNotice.ReportID != scheduled {
		t.Errorf("of schedules: %+v", scheduledNotice)
	}
	if handNotice.Title != "Security Report, All active instances" || handNotice.ScheduleID != nil {
		t.Errorf("by hand: %+v", handNotice)
	}
	if link := channel.Link("https://muster.example.org", scheduledNotice); link != "https://muster.example.org/reports/"+scheduled.String() {
		t.Errorf("leads to %s", link)
	}
}

// runs runs what is due of a schedule, and answers with the last of what came of it.
func (s *scene) runs(id uuid.UUID) any {
	s.Helper()
	planned, err := s.commands.PlanRun(s.Context(), s.org.ID, id, s.clock.Now())
	must(s.T, err)
	tx, err := s.db.BeginTxx(s.Context(), nil)
	must(s.T, err)
	away := func(time.Time) string { return schedule.ReasonAway }
	_, err = s.commands.RunSchedule(s.Context(), tx, planned, away, func(time.Time) error { return nil })
	must(s.T, err)
	must(s.T, tx.Commit())
	var last any
	for event, err := range s.dispatch.Events.Load(s.Context(), s.db, s.org.ID, id) {
		must(s.T, err)
		last, err = s.dispatch.Registry.Decode(event)
		must(s.T, err)
	}
	return last
}
