package notify_test

import (
	"testing"
	"time"

	"muster/commands"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/internal/notify/send"
)

// TestMissedSchedulesAreTold: each due time of which there is no report, once, with why, and
// under the schedule's name of today.
func TestMissedSchedulesAreTold(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	only := func(t *notification.Terms) {
		t.Match = notification.Match{Events: []notification.EventType{notification.ScheduleMissed}}
	}
	s.rule(s.webhook(r.URL), only)
	s.rule(s.channel(commands.CreateChannel{Name: "Administrators", Kind: notification.Email, Administrators: true}), only)
	terms := schedule.Terms{Name: "Weekly", Kind: report.Security, Recurrence: schedule.Recurrence{Every: schedule.Day, At: "08:00", TimeZone: "UTC"}, Enabled: true}
	id, _, err := s.commands.CreateSchedule(t.Context(), s.actor, terms)
	must(t, err)
	_, err = s.commands.ChangeSchedule(t.Context(), s.actor, id, commands.EditSchedule{Change: func(t *schedule.Terms) { t.Name = "Security, daily" }})
	must(t, err)
	s.fires(alert.Critical, "lag") // is no missed report
	s.clock.Advance(3*24*time.Hour + time.Minute)
	run := func() {
		planned, err := s.commands.PlanRun(t.Context(), s.org.ID, id, s.clock.Now())
		must(t, err)
		tx, err := s.db.BeginTxx(t.Context(), nil)
		must(t, err)
		away := func(time.Time) string { return schedule.ReasonAway }
		_, err = s.commands.RunSchedule(t.Context(), tx, planned, away, func(time.Time) error { return nil })
		must(t, err)
		must(t, tx.Commit())
	}
	run() // of three due times two were missed, and the latest asks for its report
	run() // there is nothing more to do
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
	if send.Line(told[0]) != line || send.Link("https://muster.example.org", told[0]) != "https://muster.example.org/schedules/"+id.String() {
		t.Errorf("%s at %s", send.Line(told[0]), send.Link("", told[0]))
	}
}
