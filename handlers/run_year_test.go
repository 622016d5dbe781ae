package handlers_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/schedule"
	"muster/handlers"
	"muster/internal/testing/longtest"
)

// TestLongAYearOfSchedules has three replicas run daily, weekly and last-of-month schedules of
// four zones for a year, while replicas are killed amid a run and the database's clock steps:
// every due time has one fact, in order, and every missed one says why.
func TestLongAYearOfSchedules(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a plan, and no secret
	s := newTimedScene(t)
	all := map[uuid.UUID]schedule.Recurrence{}
	for _, zone := range []string{"Europe/Amsterdam", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"} {
		for _, when := range []schedule.Recurrence{
			{Every: schedule.Day, At: "02:30"}, {Every: schedule.Week, Weekday: "sunday", At: "02:15"}, {Every: schedule.Month, DayOfMonth: schedule.LastDay, At: "23:45"},
		} {
			when.TimeZone = zone
			id := s.schedule(func(x *schedule.Terms) {
				x.Name, x.Recurrence, x.Scope.InstanceIDs = fmt.Sprint(zone, when.Every), when, []uuid.UUID{uuid.New()}
			})
			all[id] = when
		}
	}
	var ends []func()
	replica := func() (stop func()) { return s.work(uuid.NewString(), s.scheduler().Task(2)) }
	stops := make([]func(), 3)
	for i := range stops {
		stops[i] = replica()
	}
	now, latest, killed, stepped, away := noon, noon, 0, 0, 0
	for end := noon.AddDate(1, 0, 0); latest.Before(end); {
		switch step := random.IntN(100); {
		case step < 3: // no process runs for days
			away++
			for _, stop := range stops {
				stop()
			}
			now = now.Add(time.Duration(random.IntN(9*24)) * time.Hour)
			s.at(now)
			for i := range stops {
				stops[i] = replica()
			}
		case step < 8 && killed < 15: // one dies amid the next run, and turns out to be alive when the year is over
			killed++
			w, i := s.scheduler(), random.IntN(len(stops))
			dying := diesAt([]string{handlers.PointPlanned, handlers.PointRun}[random.IntN(2)])
			w.OnPass(dying.pass)
			for _, stop := range stops {
				stop()
			}
			stops[i] = s.work(uuid.NewString(), w.Task(1))
			now = s.next(now)
			s.at(now)
			<-dying.reached
			s.lapse("run")
			ends = append(ends, dying.resume, stops[i])
			for i := range stops {
				stops[i] = replica()
			}
		case step < 14: // the clock steps back
			stepped++
			now = now.Add(-time.Duration(random.IntN(3*60)) * time.Minute)
		default:
			now = now.Add(time.Duration(random.IntN(14*60)) * time.Minute)
		}
		if now.After(latest) {
			latest = now
		}
		s.at(now)
		s.idle()
		s.built(100)
	}
	s.at(latest)
	s.idle()
	for _, end := range ends {
		end()
	}
	s.idle()
	t.Logf("%d kills, %d steps back, away %d times", killed, stepped, away)
	facts, reasons := 0, map[string]int{}
	for id, when := range all {
		zone, err := usecase.Zone(when.TimeZone)
		if err != nil {
			t.Fatal(err)
		}
		runs, due := s.runs(id), noon
		for _, run := range runs {
			if due = when.Next(zone, due); !run.DueAt.Equal(due) {
				t.Fatalf("%+v: the fact of %s stands where that of %s has to be", when, run.DueAt, due)
			}
			reasons[string(run.Status)+" "+run.Reason]++
		}
		if next := when.Next(zone, due); !next.After(latest) {
			t.Errorf("%+v: %s has no fact by %s", when, next, latest)
		}
		facts += len(runs)
	}
	t.Logf("%d due times: %v", facts, reasons)
	if facts < 4*(365+52+12) || reasons["requested "] < facts/2 || reasons["requested "]+reasons["missed away"]+reasons["missed next_due"] != facts {
		t.Errorf("%d due times: %v", facts, reasons)
	}
}

// next is when the next schedule has to be looked at.
func (s *scene) next(after time.Time) time.Time {
	s.t.Helper()
	var next time.Time
	if err := s.db.GetContext(s.t.Context(), &next, `SELECT min(due_at) FROM jobs WHERE kind = 'run' AND due_at > $1`, after); err != nil {
		s.t.Fatal(err)
	}
	return next
}
