package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/handlers"
	"muster/handlers/gather/standing"
	"muster/internal/assessment"
	"muster/internal/assessment/changes"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/room"
	"muster/internal/report/serverfacts"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/watch"
)

// capped is an estate whose assessments are capped as those of the program.
func capped(t *testing.T) (*estate, *handlers.Inputs) {
	t.Helper()
	e := newEstate(t)
	in := e.inputs()
	e.facts.Standing = standing.Source{
		Feed: in.Feed, Fleet: in.Fleet, Alerts: in.Alerts, Now: e.clock.Now,
		Facts: serverfacts.Source{DB: e.db, Accounts: e.accounts, Fleet: in.Fleet, Facts: e.facts, Measurements: in.Measurements},
	}.Of
	return e, in
}

// sent records an assessment, and returns what the history has of it.
func (e *estate) sent(instance uuid.UUID, version string, at time.Time, results ...snapshot.CheckResult) (event domain.InstanceAssessed) {
	e.t.Helper()
	all := []assessment.Sent{{Instance: instance, Engine: domain.PostgreSQL, At: at, Assessment: snapshot.Assessment{
		Sent: true, Outcome: snapshot.OutcomeComplete, StartedAt: at, FinishedAt: at, VersionText: version, Results: results,
	}}}
	var mark usecase.Mark
	err := e.facts.RecordSent(e.t.Context(), e.organization, all, func(tx *sqlx.Tx, told []domain.Assessed) (err error) {
		event, _ = told[0].(domain.InstanceAssessed)
		mark, err = e.commands.RecordAssessmentTx(e.t.Context(), tx, e.actor(), told...)
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
	e.wait(mark)
	return event
}

// grown records a size of each of the last days.
func (e *estate) grown(subject string, kind room.Kind, name string, days int, used func(ago int) float64) {
	e.t.Helper()
	for ago := days - 1; ago >= 0; ago-- {
		at := e.clock.Now().Add(-time.Duration(ago) * 24 * time.Hour)
		if err := room.RecordSizes(e.t.Context(), e.db, e.organization, subject, at, []room.Size{{Kind: kind, Name: name, Used: used(ago), Limit: 1000}}); err != nil {
			e.t.Fatal(err)
		}
	}
}

// onHost has a server run on a host of its name.
func (e *estate) onHost(name string, instance uuid.UUID) string {
	e.t.Helper()
	now := e.clock.Now()
	if _, err := watch.Record(e.t.Context(), e.db, now, []watch.Sign{watch.VolumesTold(e.organization, name, []uuid.UUID{instance}, now)}); err != nil {
		e.t.Fatal(err)
	}
	return room.HostSubject(name)
}

// backedUp records when a server's last backup ended; none of its databases has another one.
func (e *estate) backedUp(instance uuid.UUID, kind backups.Kind, ago time.Duration) {
	e.t.Helper()
	now := e.clock.Now()
	look := backups.Look{Instance: instance, At: now, Source: backups.Feed, Condition: backups.Works, Backups: []backups.Backup{{Kind: kind, FinishedAt: now.Add(-ago)}}}
	if err := backups.Record(e.t.Context(), e.db, e.organization, now, []backups.Look{look}); err != nil {
		e.t.Fatal(err)
	}
}

// TestAServerHasOneScore: drawn servers have the same score and grade in the list, in the history and in scorecards of any
// window, and each cap binds some of them.
func TestAServerHasOneScore(t *testing.T) {
	t.Parallel()
	e, in := capped(t)
	const drawn = 24
	var names []string
	for n := range drawn {
		names = append(names, fmt.Sprintf("drawn-%02d", n))
	}
	ids, rnd := e.fleet(names...), rand.New(rand.NewPCG(7, 11)) //nolint:gosec // G404: a drawn world
	checks := []string{"PG-S01", "PG-F01", "PG-F02", "PG-F04", "PG-M04", "PG-M05", "PG-S02", "PG-S03", "PG-S04", "PG-S05", "PG-S07", "PG-S10", "PG-S11", "PG-S13", "PG-S14", "PG-S15", "PG-S17"}
	drawnResults := func(n int) (results []snapshot.CheckResult) {
		for i, id := range checks {
			status := snapshot.StatusPass
			if n == 1 && i == 0 || n == 2 && i == len(checks)-1 || n == 8 && i > 11 || n > 12 && rnd.IntN(20) == 0 { // the first is critical
				status = snapshot.StatusFail
			}
			results = append(results, snapshot.CheckResult{CheckID: id, Status: status})
		}
		return results
	}
	for n, name := range names {
		id := ids[name].ID
		if n == 3 || n > 12 && rnd.IntN(4) == 0 {
			e.alerted(name, e.item("away", alert.Critical, time.Hour, 0))
		}
		host := e.onHost(name, id)
		if n == 1 || n == 2 || n == 8 { // their checks alone cap them
			continue
		}
		switch grows := rnd.IntN(4); {
		case n == 4 || n > 12 && grows == 0:
			e.grown(host, room.Volume, "/", 20, func(ago int) float64 { return 940 - 15*float64(ago) })
		case n == 5 || grows == 1:
			e.grown(room.InstanceSubject(id), room.Tablespace, "USERS", 20, func(ago int) float64 { return 950 - 10*float64(ago) })
		case grows == 2:
			e.grown(host, room.Volume, "/", 20, func(ago int) float64 { return 500 - 10*float64(ago) })
		}
		switch rnd.IntN(4) {
		case 0:
			e.backedUp(id, backups.Base, time.Duration(rnd.IntN(60))*time.Hour)
		case 1:
			e.backedUp(id, backups.WAL, time.Minute)
		}
	}
	e.backedUp(ids[names[6]].ID, backups.Base, 30*time.Hour)
	if _, err := in.Gather(t.Context(), e.scorecard(ids[names[0]].ID, nil, time.Hour)); err != nil { // waits for the alerts
		t.Fatal(err)
	}
	bound := map[string]int{}
	for n, name := range names {
		id, version := ids[name].ID, "18.4"
		if n == 7 || n > 12 && rnd.IntN(6) == 0 {
			version = "12.22"
		}
		event := e.sent(id, version, e.clock.Now().UTC().Truncate(time.Microsecond), drawnResults(n)...)
		last, err := in.Health.Last(t.Context(), e.organization, []uuid.UUID{id}, e.clock.Now().Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		days, err := in.Health.Days(t.Context(), e.organization, []uuid.UUID{id}, e.clock.Now().AddDate(0, 0, -2))
		if err != nil || len(days) != 1 {
			t.Fatalf("%+v, %v", days, err)
		}
		for _, ago := range []time.Duration{time.Hour, 7 * day, 31 * day} {
			doc, err := in.Gather(t.Context(), e.scorecard(id, nil, ago))
			if err != nil {
				t.Fatal(err)
			}
			s := analysis.HealthScore(doc, &doc.Instances[0])
			if event.Score == nil || s.Overall != *event.Score || s.Overall != *last[id].Score || s.Overall != *days[0].Score || s.Grade != event.Grade || s.Grade != last[id].Grade {
				t.Errorf("%s, a scorecard of %s: %s (%+v); the history has %v %s, the list %v", name, ago, analysis.ScoreWords(s), s.Caps, event.Score, event.Grade, last[id].Score)
			}
			if c := s.Binding(); c != nil {
				bound[c.Name]++
			}
		}
	}
	for _, name := range []string{"Failed critical check", "No recent backup", "Open critical alert", "Volume full within 7 days", "Past end of support", "Five failed high checks", "Failed high check"} {
		if bound[name] == 0 {
			t.Errorf("%q binds no drawn server: the test shows nothing of it; %v", name, bound)
		}
	}
}

// TestAnAssessmentOfLongAgoIsCappedByTheEndOfSupport alone: what else capped it then is not known any more.
func TestAnAssessmentOfLongAgoIsCappedByTheEndOfSupport(t *testing.T) {
	t.Parallel()
	e, in := capped(t)
	ids := e.fleet("ended", "alerted", "filling", "late")
	e.alerted("alerted", e.item("away", alert.Critical, time.Hour, 0))
	e.grown(e.onHost("filling", ids["filling"].ID), room.Volume, "/", 20, func(ago int) float64 { return 940 - 15*float64(ago) })
	e.backedUp(ids["late"].ID, backups.Base, 48*time.Hour)
	if _, err := in.Gather(t.Context(), e.scorecard(ids["alerted"].ID, nil, day)); err != nil { // waits for the alerts
		t.Fatal(err)
	}
	now := e.clock.Now().UTC().Truncate(time.Microsecond)
	for name, test := range map[string]struct {
		version      string
		longAgo, now int
	}{"ended": {"12.22", 69, 69}, "alerted": {"18.4", 100, 69}, "filling": {"18.4", 100, 69}, "late": {"18.4", 100, 59}} {
		pass := snapshot.CheckResult{CheckID: "PG-S07", Status: snapshot.StatusPass}
		past, event := e.sent(ids[name].ID, test.version, now.AddDate(0, 0, -3), pass), e.sent(ids[name].ID, test.version, now, pass)
		if past.Score == nil || *past.Score != test.longAgo || event.Score == nil || *event.Score != test.now {
			t.Errorf("%s: three days ago %+v, now %+v", name, past, event)
		}
	}
}

// TestAnAssessmentIsKeptWhenItsCapsCannotBeRead, but without a score, because one without its caps would be too
// good. The caps of all assessments of a request are read once.
func TestAnAssessmentIsKeptWhenItsCapsCannotBeRead(t *testing.T) {
	t.Parallel()
	e, _ := capped(t)
	ids, reads := e.fleet("a", "b", "c"), 0
	e.facts.Standing = func(context.Context, uuid.UUID, []changes.Assessed) ([]changes.Standing, error) {
		reads++
		return nil, errors.New("the measurements cannot be read")
	}
	var unscored error
	e.facts.Unscored = func(_ context.Context, err error) { unscored = err }
	now := e.clock.Now().UTC().Truncate(time.Microsecond)
	var all []assessment.Sent
	for _, id := range ids {
		for ago := range 5 {
			at := now.Add(-time.Duration(ago) * time.Minute)
			all = append(all, assessment.Sent{Instance: id.ID, Engine: domain.PostgreSQL, At: at, Assessment: snapshot.Assessment{
				Sent: true, Outcome: snapshot.OutcomeComplete, StartedAt: at, FinishedAt: at, VersionText: "18.4",
				Results: []snapshot.CheckResult{{CheckID: "PG-S07", Status: snapshot.StatusPass}},
			}})
		}
	}
	var told []domain.Assessed
	err := e.facts.RecordSent(t.Context(), e.organization, all, func(tx *sqlx.Tx, events []domain.Assessed) error {
		told = events
		return e.tellAll(tx, events)
	})
	if err != nil || reads != 1 || unscored == nil || len(told) != len(all) {
		t.Fatalf("%v, after %d reads, %v, %d events", err, reads, unscored, len(told))
	}
	for name, id := range ids {
		latest, err := e.facts.LatestAssessment(t.Context(), e.organization, id.ID)
		if err != nil || latest == nil || !latest.At.Equal(now) {
			t.Errorf("%s: %+v, %v", name, latest, err)
		}
	}
	for _, one := range told {
		if event, ok := one.(domain.InstanceAssessed); ok && (event.Score != nil || event.Grade != "" || len(event.Domains) == 0) {
			t.Errorf("%+v", event)
		}
	}
}
