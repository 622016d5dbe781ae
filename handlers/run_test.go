package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

func TestAScheduleRunsOnceWithThreeReplicas(t *testing.T) {
	t.Parallel()
	s := newTimedScene(t)
	id := s.schedule(func(x *schedule.Terms) { x.RecipientIDs = []uuid.UUID{s.bob} })
	for _, name := range []string{"w1", "w2", "w3"} {
		s.work(name, s.scheduler().Task(2))
	}
	s.idle()
	for _, now := range []time.Time{
		eight(1).Add(-time.Second), eight(1), eight(1).Add(-time.Hour), eight(1).Add(time.Minute), // the clock steps back
		eight(2), eight(3),
	} {
		s.at(now)
		s.idle()
		s.built(9)
	}
	if got := s.told(id); got != "21 requested, 22 requested, 23 requested" {
		t.Errorf("what became of it: %s", got)
	}
	reports := requested(s.runs(id))
	if len(reports) != 3 {
		t.Fatalf("reports %v", reports)
	}
	queued, ok := last[report.Queued](s, reports[2])
	if !ok || queued.RequesterID != s.ana || len(queued.RecipientIDs) != 2 || queued.Kind != report.Security {
		t.Errorf("the report is requested as %+v", queued)
	}
	if all := s.jobs(jobs.Run); len(all) != 1 || !all[0].RunAt.Equal(eight(4)) {
		t.Errorf("its job is %+v", all)
	}
}

// TestAWorkerDiesDuringARun: another one takes over, and later the first turns out to be
// alive after all.
func TestAWorkerDiesDuringARun(t *testing.T) {
	t.Parallel()
	for _, at := range []string{handlers.PointPlanned, handlers.PointRun} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			s := newTimedScene(t)
			id := s.schedule()
			s.at(eight(1))
			killed := diesAt(at)
			first := s.scheduler()
			first.OnPass(killed.pass)
			stopFirst := s.work("w1", first.Task(1))
			<-killed.reached
			s.lapse(jobs.Run)
			s.work("w2", s.scheduler().Task(1))
			s.until("it is run", func() bool { return len(s.runs(id)) == 1 })
			killed.resume()
			stopFirst()
			s.idle()
			if got := s.told(id); got != "21 requested" {
				t.Errorf("what became of it: %s", got)
			}
			if n := s.claims(); n != 1 {
				t.Errorf("%d reports", n)
			}
		})
	}
}

func (s *scene) claims() (n int) {
	s.t.Helper()
	if err := s.db.GetContext(s.t.Context(), &n, `SELECT count(*) FROM report_claims`); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// TestFiftySchedulesDueTogetherAllRun, though only ten reports of the organization may be built at the same
// time, and a person who requests a report meanwhile finds room.
func TestFiftySchedulesDueTogetherAllRun(t *testing.T) {
	t.Parallel()
	s := newTimedScene(t)
	s.commands.Limits = commands.Limits{CreatesPerHour: 30, BuildingAtOnce: 10}
	all := make([]uuid.UUID, 50)
	for i := range all {
		all[i] = s.schedule(func(x *schedule.Terms) { x.Name, x.Scope.InstanceIDs = fmt.Sprint(i), []uuid.UUID{uuid.New()} })
	}
	s.at(eight(1))
	s.work("w1", s.scheduler().Task(2))
	s.work("w2", s.scheduler().Task(2))
	came := func() (n int) { // one query, where the runs of each schedule are fifty
		return len(all) - len(slices.DeleteFunc(s.jobs(jobs.Run), func(j jobs.Row) bool { return j.RunAt.Equal(eight(2)) }))
	}
	for now, before := eight(1), 0; before < len(all); now = now.Add(6 * time.Second) {
		if now.After(eight(2)) {
			t.Fatalf("%d came in a day\n%s", before, s.story())
		}
		s.at(now)
		if before == 0 {
			s.idle() // each found room, or was put off
			if n := s.claims(); n != 5 {
				t.Errorf("%d of 10 places are taken by schedules", n)
			}
			for range 5 {
				s.ask(s.bob, commands.RequestReport{Kind: report.Security, InstanceIDs: []uuid.UUID{uuid.New()}})
			}
		}
		s.until("some have come", func() bool { return came() > before })
		before = came()
		s.built(7)
	}
	reports := map[uuid.UUID]bool{}
	for _, id := range all {
		if got := s.told(id); got != "21 requested" {
			t.Errorf("what became of %s: %s", id, got)
		}
		reports[requested(s.runs(id))[0]] = true
	}
	if len(reports) != 50 {
		t.Errorf("%d reports of 50", len(reports))
	}
}

// TestARunWithTooManyRecipientsRequestsItsOwnReport after the one that is being built: every recipient of a
// schedule gets a mail.
func TestARunWithTooManyRecipientsRequestsItsOwnReport(t *testing.T) {
	t.Parallel()
	s := newTimedScene(t)
	tx, err := s.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	further := make([]uuid.UUID, report.MaxRecipients-1)
	for i := range further {
		further[i] = s.member(tx, fmt.Sprint("reader", i))
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	crowded := s.schedule(func(x *schedule.Terms) { x.RecipientIDs = []uuid.UUID{s.bob} })
	fits := s.schedule()
	s.at(eight(1))
	full := s.request(s.ana, further...)
	s.work("w1", s.scheduler().Task(1))
	s.idle()
	if got := requested(s.runs(fits)); !slices.Equal(got, []uuid.UUID{full}) {
		t.Errorf("who has a place already asks for %v, want %s", got, full)
	}
	if runs := s.runs(crowded); len(runs) != 0 {
		t.Errorf("came meanwhile of the one without a place: %v", runs)
	}
	if reused, _ := last[report.Reused](s, full); len(reused.NotAdded) != 0 {
		t.Errorf("the report says that it leaves out %v", reused.NotAdded)
	}
	s.built(1)
	s.at(eight(1).Add(6 * time.Second))
	s.until("the one without a place is run", func() bool { return len(s.runs(crowded)) == 1 })
	own := requested(s.runs(crowded))
	if len(own) != 1 || own[0] == full {
		t.Fatalf("reports of its own: %v", own)
	}
	if queued, _ := last[report.Queued](s, own[0]); !slices.Equal(queued.RecipientIDs, []uuid.UUID{s.ana, s.bob}) {
		t.Errorf("it goes to %v", queued.RecipientIDs)
	}
}

// TestAMissedRunHasAReason: due times at which no process ran are distinguished from those without room.
func TestAMissedRunHasAReason(t *testing.T) {
	t.Parallel()
	t.Run("nobody looked", func(t *testing.T) {
		t.Parallel()
		s := newTimedScene(t)
		id := s.schedule()
		stop := s.work("w1", s.scheduler().Task(1))
		s.idle()
		stop()
		s.at(eight(3).Add(time.Hour))
		s.work("w2", s.scheduler().Task(1))
		s.until("it is run", func() bool { return len(s.runs(id)) == 3 })
		if got := s.told(id); got != "21 missed away, 22 missed away, 23 requested" {
			t.Errorf("what became of it: %s", got)
		}
	})
	t.Run("no room", func(t *testing.T) {
		t.Parallel()
		s := newTimedScene(t)
		s.commands.Limits = commands.Limits{BuildingAtOnce: 1}
		id := s.schedule(func(x *schedule.Terms) { x.Scope.InstanceIDs = []uuid.UUID{uuid.New()} })
		s.request(s.bob)
		s.work("w1", s.scheduler().Task(1))
		for _, now := range []time.Time{eight(1), eight(1).Add(time.Minute), eight(2)} {
			s.at(now)
			s.idle()
		}
		if runs := s.runs(id); len(runs) != 0 {
			t.Errorf("without room: %v", runs)
		}
		s.built(1)
		s.at(eight(2).Add(time.Minute))
		s.until("it is run", func() bool { return len(s.runs(id)) == 2 })
		if got := s.told(id); got != "21 missed next_due, 22 requested" {
			t.Errorf("what became of it: %s", got)
		}
	})
	t.Run("every attempt failed", func(t *testing.T) {
		t.Parallel()
		s := newTimedScene(t)
		id := s.schedule()
		failing := s.scheduler()
		failing.OnPass(func(context.Context, string) error { return errors.New("the database is in a mood") })
		s.at(eight(1))
		stop := s.work("w1", failing.Task(1))
		s.until("an attempt failed", func() bool { all := s.jobs(jobs.Run); return len(all) == 1 && all[0].LastError != "" })
		stop()
		s.at(eight(2))
		s.work("w2", s.scheduler().Task(1))
		s.until("it is run", func() bool { return len(s.runs(id)) == 2 })
		if got := s.told(id); got != "21 missed next_due, 22 requested" {
			t.Errorf("what became of it: %s", got)
		}
	})
	t.Run("its servers are gone", func(t *testing.T) {
		t.Parallel()
		s := newTimedScene(t)
		gone, left := uuid.New(), uuid.New()
		both := s.schedule(func(x *schedule.Terms) { x.Scope.InstanceIDs = []uuid.UUID{gone, left} })
		only := s.schedule(func(x *schedule.Terms) { x.Scope.InstanceIDs = []uuid.UUID{gone} })
		s.commands.Instances = everyServer{gone: true}
		s.at(eight(1))
		s.work("w1", s.scheduler().Task(1))
		s.until("both are run", func() bool { return len(s.runs(both))+len(s.runs(only)) == 2 })
		if s.told(both) != "21 requested" || s.told(only) != "21 missed refused" {
			t.Errorf("what became of them: %s; %s", s.told(both), s.told(only))
		}
		if queued, _ := last[report.Queued](s, requested(s.runs(both))[0]); len(queued.Scope.InstanceIDs) != 1 || queued.Scope.InstanceIDs[0] != left {
			t.Errorf("the report covers %v", queued.Scope.InstanceIDs)
		}
	})
}

// TestAScheduleWithoutItsOwnerPauses, and goes on when it has one again.
func TestAScheduleWithoutItsOwnerPauses(t *testing.T) {
	t.Parallel()
	s := newTimedScene(t)
	id := s.schedule(func(x *schedule.Terms) { x.RecipientIDs = []uuid.UUID{s.bob, s.eva} })
	s.work("w1", s.scheduler().Task(1))
	for day, change := range []string{
		`UPDATE members SET status = 'disabled' WHERE name = 'Ana'`,
		`UPDATE members SET status = 'active', role = 'viewer' WHERE name = 'Ana'`,
		`UPDATE members SET role = 'member' WHERE name = 'Ana'; UPDATE members SET status = 'disabled' WHERE name = 'Bob'`,
		`UPDATE members SET status = 'erased', email = NULL, name = '', password_hash = NULL, role = 'viewer' WHERE name = 'Ana'`,
	} {
		s.exec(change)
		s.at(eight(day + 1))
		s.until(change, func() bool { return len(s.runs(id)) == day+1 })
		s.built(1)
	}
	_, err := s.commands.ChangeSchedule(t.Context(), usecase.Actor{OrganizationID: s.organization, MemberID: s.eva}, id, commands.EditSchedule{
		TakeOver: true, Admin: true, Change: func(x *schedule.Terms) { x.RecipientIDs = nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.at(eight(5))
	s.until("its new owner's is run", func() bool { return len(s.runs(id)) == 5 })
	want := "21 paused owner_disabled, 22 paused owner_not_allowed, 23 requested, 24 paused owner_erased, 25 requested"
	if got := s.told(id); got != want {
		t.Errorf("what became of it: %s\nwant %s", got, want)
	}
	reports := requested(s.runs(id))
	if queued, _ := last[report.Queued](s, reports[0]); len(queued.RecipientIDs) != 2 || queued.RecipientIDs[1] != s.eva {
		t.Errorf("a recipient who is disabled: %v", queued.RecipientIDs)
	}
	if queued, _ := last[report.Queued](s, reports[1]); queued.RequesterID != s.eva {
		t.Errorf("requested by %s", queued.RequesterID)
	}
}

// TestOnlyIfChanged compares with the last report that became Ready.
func TestOnlyIfChanged(t *testing.T) {
	t.Parallel()
	s := newTimedScene(t)
	id := s.schedule(func(x *schedule.Terms) { x.OnlyIfChanged = true })
	s.work("w1", append(s.tasks(), s.scheduler().Task(1))...)
	day := func(n int) schedule.Run {
		t.Helper()
		s.at(eight(n))
		s.until(fmt.Sprintf("day %d is run", n), func() bool { return len(s.runs(id)) == n })
		run := s.runs(id)[n-1]
		if run.Status == schedule.StatusRequested {
			s.until("its report ended", func() bool { return s.has(run.ReportID, "report.ready") || s.has(run.ReportID, "report.failed") })
		}
		return run
	}
	ready := day(1)
	if unchanged := day(2); unchanged.Status != schedule.StatusUnchanged || unchanged.ReportID != ready.ReportID {
		t.Errorf("nothing changed: %+v, want unchanged since %s", unchanged, ready.ReportID)
	}
	s.gatherer.find(func(doc *snapshot.Document) { // a finding less
		for i := range doc.Instances {
			if a := doc.Instances[i].Assessment; a != nil {
				a.Results = slices.DeleteFunc(a.Results, func(r snapshot.CheckResult) bool { return r.Status == snapshot.StatusFail })
			}
		}
	})
	changed := day(3)
	if changed.Status != schedule.StatusRequested {
		t.Errorf("with other findings: %+v", changed)
	}
	if unchanged := day(4); unchanged.Status != schedule.StatusUnchanged || unchanged.ReportID != changed.ReportID {
		t.Errorf("nothing changed again: %+v, want unchanged since %s", unchanged, changed.ReportID)
	}
	s.gatherer.fail(&handlers.AlteredFactsError{Altered: []handlers.AlteredFact{{Server: "legacy"}}})
	if altered := day(5); altered.Status != schedule.StatusRequested || !s.has(altered.ReportID, "report.failed") {
		t.Errorf("with altered facts: %+v", altered)
	}
	built, _ := last[report.Ready](s, ready.ReportID)
	if built.Findings == nil || len(built.Findings.SHA256) != 64 || built.Findings.Open == 0 {
		t.Fatalf("the report found %+v", built.Findings)
	}
	before := len(snapshottest.Rich(report.Security).Previous.Findings)
	if f := built.Findings; f.Accepted == 0 || f.Open != before+f.New-f.Closed-f.Accepted-f.Unknown {
		t.Errorf("%d were open before, and the figures do not add up: %+v", before, f)
	}
}

// TestAChangeWhileARunWaits: the due time that waits is missed, and the new ones come.
func TestAChangeWhileARunWaits(t *testing.T) {
	t.Parallel()
	s := newTimedScene(t)
	id := s.schedule()
	s.at(eight(1).Add(time.Minute))
	edit := func(change func(*schedule.Terms)) {
		t.Helper()
		if _, err := s.commands.ChangeSchedule(t.Context(), usecase.Actor{OrganizationID: s.organization, MemberID: s.ana}, id, commands.EditSchedule{Change: change}); err != nil {
			t.Fatal(err)
		}
	}
	edit(func(x *schedule.Terms) { x.At = "09:00" })
	s.work("w1", s.scheduler().Task(1))
	s.idle()
	s.at(eight(1).Add(time.Hour))
	s.until("the new time", func() bool { return len(s.runs(id)) == 2 })
	edit(func(x *schedule.Terms) { x.Enabled = false })
	s.idle()
	if all := s.jobs(jobs.Run); len(all) != 0 {
		t.Errorf("it is off, and there is %+v", all)
	}
	s.at(eight(3).Add(2 * time.Hour))
	edit(func(x *schedule.Terms) { x.Enabled = true })
	s.idle()
	s.built(1)
	s.at(eight(4).Add(time.Hour))
	s.until("it is on again", func() bool { return len(s.runs(id)) == 3 })
	if got := s.told(id); got != "21 missed changed, 21 requested, 24 requested" {
		t.Errorf("what became of it: %s", got)
	}
	if _, err := s.commands.RemoveSchedule(t.Context(), usecase.Actor{OrganizationID: s.organization, MemberID: s.ana}, id, false); err != nil {
		t.Fatal(err)
	}
	s.idle()
	if all := s.jobs(jobs.Run); len(all) != 0 {
		t.Errorf("it is removed, and there is %+v", all)
	}
}

// TestAChangeDuringARun: a run that was planned with other terms is not recorded.
func TestAChangeDuringARun(t *testing.T) {
	t.Parallel()
	s := newTimedScene(t)
	id := s.schedule()
	s.at(eight(1))
	planned := diesAt(handlers.PointPlanned)
	w := s.scheduler()
	w.OnPass(planned.pass)
	s.work("w1", w.Task(1))
	<-planned.reached
	_, err := s.commands.ChangeSchedule(t.Context(), usecase.Actor{OrganizationID: s.organization, MemberID: s.ana}, id, commands.EditSchedule{
		Change: func(x *schedule.Terms) { x.Scope.InstanceIDs = []uuid.UUID{{15: 7}} },
	})
	if err != nil {
		t.Fatal(err)
	}
	planned.resume()
	s.until("it is run", func() bool { return len(s.runs(id)) == 1 })
	if queued, _ := last[report.Queued](s, requested(s.runs(id))[0]); len(queued.Scope.InstanceIDs) != 1 {
		t.Errorf("the report is of the terms before: %+v", queued.Scope)
	}
}
