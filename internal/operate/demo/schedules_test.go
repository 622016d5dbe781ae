package demo_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/schedule"
	"muster/eventstore"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/notify"
	"muster/internal/operate/demo"
	"muster/projections/projectionstest"
)

// scheduled is the schedule of that name, by the log.
func (s *scene) scheduled(name string) (id uuid.UUID) {
	s.Helper()
	must(s.T, s.db.Get(&id, `SELECT stream_id FROM events WHERE type = 'schedule.created' AND convert_from(data, 'UTF8')::jsonb ->> 'name' = $1`, name))
	return id
}

// run does what a worker does about a schedule, the next minute.
func (s *scene) run(o accounts.Organization, id uuid.UUID) {
	s.Helper()
	ctx := context.WithoutCancel(s.Context())
	s.clock.Advance(80 * time.Second)
	run, err := s.Commands.PlanRun(ctx, o.ID, id, s.clock.Now())
	must(s.T, err)
	must(s.T, eventstore.Transact(ctx, s.db, func(tx *sqlx.Tx) error {
		_, err := s.Commands.RunSchedule(ctx, tx, run, func(time.Time) string { return schedule.ReasonAway }, func(time.Time) error { return nil })
		return err
	}))
}

// Ana's schedule comes within moments, and once more when its report is there; then she
// sets the time at which she wants it, and it is left alone.
func TestAnaTriesHerScheduleOut(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	berlin, err := time.LoadLocation("Europe/Berlin")
	must(t, err)
	if s.clock.Now().Add(155*time.Second).In(berlin).Format("15:04") == "07:30" { // her own time would be the second one's
		s.clock.Advance(time.Minute)
	}
	o := s.filled(s.Demo)
	id := s.scheduled(demo.Tried)
	times := func() (all []string) {
		must(t, s.db.Select(&all, `SELECT convert_from(data, 'UTF8')::jsonb ->> 'at' FROM events
			WHERE stream_id = $1 AND type IN ('schedule.created', 'schedule.changed') ORDER BY position`, id))
		return all
	}
	try := func(want int) {
		t.Helper()
		for range 2 {
			must(t, s.TryOut(t.Context(), o))
		}
		if got := times(); len(got) != want {
			t.Fatalf("its times were %v", got)
		}
	}
	try(1)
	s.run(o, id)
	try(1) // its report is still being built
	var reports []uuid.UUID
	asked := `SELECT (convert_from(data, 'UTF8')::jsonb ->> 'reportId')::uuid FROM events WHERE stream_id = $1 AND type = 'schedule.requested' ORDER BY position`
	must(t, s.db.Select(&reports, asked, id))
	if len(reports) != 1 {
		t.Fatalf("%d reports were requested at its first time", len(reports))
	}
	s.ready(o.ID, reports[0], day)
	try(2)
	s.run(o, id)
	must(t, s.db.Select(&reports, asked, id))
	s.ready(o.ID, reports[1], day)
	try(3)
	if got := times(); got[2] != "07:30" {
		t.Errorf("its times were %v", got)
	}
	s.run(o, id)
	try(3)
}

// Whoever else changes it has the last word.
func TestAChangedScheduleIsNotTriedOut(t *testing.T) {
	t.Parallel()
	s, o := newFilledScene(t)
	id := s.scheduled(demo.Tried)
	s.run(o, id)
	var report, jonas uuid.UUID
	must(t, s.db.Get(&report, `SELECT (convert_from(data, 'UTF8')::jsonb ->> 'reportId')::uuid FROM events WHERE stream_id = $1 AND type = 'schedule.requested'`, id))
	s.ready(o.ID, report, day)
	must(t, s.db.Get(&jonas, `SELECT id FROM members WHERE email LIKE 'jonas.%'`))
	another := s.clock.Now().UTC().Add(6 * time.Hour).Format("15:04")
	_, err := s.Commands.ChangeSchedule(t.Context(), usecase.Actor{OrganizationID: o.ID, MemberID: jonas}, id,
		commands.EditSchedule{Admin: true, Change: func(t *schedule.Terms) { t.At = another }})
	must(t, err)
	must(t, s.TryOut(t.Context(), o))
	if n := s.count(`events WHERE type = 'schedule.changed'`); n != 1 {
		t.Errorf("it was changed %d times", n)
	}
}

// Tomás has left: what his schedule is due for is paused. Who lets him in again, or removes
// what the demo made, has the last word.
func TestAnUndoneChangeStaysUndone(t *testing.T) {
	t.Parallel()
	s, o := newFilledScene(t)
	id := s.scheduled("Scorecard of the warehouse")
	s.run(o, id)
	s.filled(s.Demo) // alerts may have ended meanwhile
	if diff := cmp.Diff(map[string]int{"owner_disabled": 1}, s.tally(`SELECT convert_from(data, 'UTF8')::jsonb ->> 'reason' FROM events WHERE type = 'schedule.paused'`)); diff != "" {
		t.Errorf("paused (-want +got):\n%s", diff)
	}
	var tomas, jonas, rule uuid.UUID
	must(t, s.db.Get(&tomas, `SELECT id FROM members WHERE email LIKE 'tomas.%' AND status = 'disabled'`))
	must(t, s.db.Get(&jonas, `SELECT id FROM members WHERE email LIKE 'jonas.%'`))
	by, active := usecase.Actor{OrganizationID: o.ID, MemberID: jonas}, organization.Active
	_, _, err := s.Commands.ChangeMember(t.Context(), by, tomas, commands.ChangeMember{Status: &active})
	must(t, err)
	_, err = s.Commands.RemoveSchedule(t.Context(), by, id, true)
	must(t, err)
	must(t, s.db.Get(&rule, `SELECT id FROM notification_rules LIMIT 1`))
	_, err = s.Commands.RemoveNotificationRule(t.Context(), by, rule)
	must(t, err)
	kinds := func() map[string]int { return s.tally(`SELECT type FROM events`) }
	before := kinds()
	s.filled(s.Demo)
	if diff := cmp.Diff(before, kinds()); diff != "" {
		t.Errorf("events (-before +after):\n%s", diff)
	}
	if n := s.count(`members WHERE email LIKE 'tomas.%' AND status = 'active'`); n != 1 {
		t.Error("he is not let in again")
	}
}

// Of alerts, people are told what was open when the demo was made, and not of the month
// before; and of the report that fails.
func TestOnlyOpenAlertsAreSent(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	o, err := s.Organization(t.Context(), nil)
	must(t, err)
	since := s.clock.Now().Add(-time.Hour)
	// Fire may come before Fill.
	if sent, err := s.FireOnce(t.Context(), o, since); err != nil || !sent.Equal(since) || s.told()["alert.raised"] > 0 {
		t.Errorf("before it is said who is told, the alerts of %s are sent: %v, %v", sent, s.told(), err)
	}
	s.filled(s.Demo)
	dispatch := &notify.Dispatcher{DB: s.db, Events: eventstore.New(s.db), Registry: usecase.Registry(), Queue: jobs.NewQueue(s.db), Now: s.clock.Now}
	must(t, projectionstest.Handle(t.Context(), s.db, dispatch.Groups()...))
	critical := 0
	for _, a := range s.page(o, false, false) {
		if a.Severity == "critical" {
			critical++
		}
	}
	got := s.tally(`SELECT r.name || ': ' || e.type FROM delivery_events e JOIN deliveries d ON d.id = e.delivery_id JOIN notification_rules r ON r.id = d.rule_id`)
	if critical < 3 || got["Critical alerts: alert.raised"] != critical || got["Critical alerts: alert.resolved"] != 0 || got["Billing, quiet at night: alert.raised"] < 1 {
		t.Errorf("%d critical alerts are open; told is %v", critical, got)
	}
	if n := s.count(`delivery_events e JOIN deliveries d ON d.id = e.delivery_id JOIN notification_channels c ON c.id = d.channel_id WHERE c.kind <> 'email'`); n > 0 {
		t.Errorf("%d go out of the house", n)
	}
}
