package httpapi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/internal/assessment/changes"
	"muster/internal/report/snapshot"
)

// looked records an assessment of an instance that saw a state, as a collector does, and
// waits until it shows.
func (w *world) looked(in tenant, instance uuid.UUID, at time.Time, state changes.State, results ...snapshot.CheckResult) {
	w.t.Helper()
	w.keep(in, instance, at, state, snapshot.Assessment{Outcome: snapshot.OutcomeComplete, Results: results})
}

func (w *world) keep(in tenant, instance uuid.UUID, at time.Time, state changes.State, a snapshot.Assessment) {
	w.t.Helper()
	tx := w.deps.DB.MustBegin()
	defer func() { _ = tx.Rollback() }()
	e, _, err := changes.Keep(w.t.Context(), tx, changes.Look{
		Organization: in.organization.ID, Instance: instance, Engine: fleet.PostgreSQL, ID: uuid.New(), At: at, State: state,
		Assessment: a,
	})
	must(w.t, err)
	mark, err := w.deps.Commands.RecordAssessmentTx(w.t.Context(), tx, usecase.Actor{OrganizationID: in.organization.ID, Component: "collector"}, e)
	must(w.t, err)
	must(w.t, tx.Commit())
	w.settle(mark)
}

// lookedAt is looked at a server that runs since a time.
func (w *world) lookedAt(in tenant, instance uuid.UUID, at, started time.Time, state changes.State) {
	w.t.Helper()
	w.keep(in, instance, at, state, snapshot.Assessment{Outcome: snapshot.OutcomeComplete, ServerStartedAt: &started})
}

// setting is a state of one setting.
func setting(name, value, unit string) changes.State {
	scope := changes.Scope{Kind: fleet.ChangedSetting}
	return changes.State{Seen: []changes.Scope{scope}, Items: []changes.Item{{Scope: scope, Name: name, Value: value, Unit: unit, Secret: changes.SecretSetting(name)}}}
}

func TestInstanceHealth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.within(day, time.Second)
	orders, theirs := w.instance(w.ours, "orders"), w.instance(w.theirs, "theirs")
	path := "/api/v1/instances/" + orders.String() + "/health"
	never := w.get(w.ours.auditor, path).is(200).object()
	for member, want := range map[string]string{"score": "<nil>", "grade": "<nil>", "assessedAt": "<nil>", "domains": "[]", "history": "[]", "settings": "[]", "changes": "[]"} {
		if got := fmt.Sprint(never[member]); got != want {
			t.Errorf("never assessed: %s is %s", member, got)
		}
	}

	passes := snapshot.CheckResult{CheckID: "PG-S01", Status: snapshot.StatusPass}
	fails := snapshot.CheckResult{CheckID: "PG-S01", Status: snapshot.StatusFail, Total: 1, Violations: []snapshot.Violation{{Object: "o"}}}
	now := w.clock.Now()
	w.looked(w.ours, orders, now.AddDate(0, 0, -500), setting("work_mem", "1", "kB"), passes)
	w.looked(w.ours, orders, now.AddDate(0, 0, -3), setting("work_mem", "4096", "kB"), passes)
	w.looked(w.ours, orders, now.AddDate(0, 0, -1), setting("archive_command", "secret", ""), fails)
	w.looked(w.ours, orders, now.AddDate(0, 0, -1).Add(time.Second), setting("work_mem", "8192", "kB"), fails,
		snapshot.CheckResult{CheckID: "PG-C04", Database: "app", Status: snapshot.StatusNotAssessed})
	w.looked(w.theirs, theirs, now, setting("work_mem", "77", "kB"), passes)

	got := w.get(w.ours.member, path).is(200).object()
	day := func(days int) string { return now.AddDate(0, 0, days).Format(time.DateOnly) }
	for member, want := range map[string]string{
		"score": "0", "grade": "F", "assessedAt": now.AddDate(0, 0, -1).Add(time.Second).Format(time.RFC3339),
		"history": fmt.Sprintf("[map[day:%s score:100] map[day:%s score:<nil>] map[day:%s score:0] map[day:%s score:<nil>]]", day(-3), day(-2), day(-1), day(0)),
		"settings": fmt.Sprintf("[map[changedAt:<nil> name:archive_command unit:<nil> value:<nil>] map[changedAt:%s name:work_mem unit:kB value:8192]]",
			now.AddDate(0, 0, -1).Add(time.Second).Format(time.RFC3339)),
		"changes": fmt.Sprintf("[map[added:false after:8192 kB at:%s before:4096 kB kind:setting name:work_mem removed:false] map[added:false after:4096 kB at:%s before:1 kB kind:setting name:work_mem removed:false]]",
			now.AddDate(0, 0, -1).Add(time.Second).Format(time.RFC3339), now.AddDate(0, 0, -3).Format(time.RFC3339)),
	} {
		if have := fmt.Sprint(got[member]); have != want {
			t.Errorf("%s is\n%s, want\n%s", member, have, want)
		}
	}
	if domains := fmt.Sprint(got["domains"]); !strings.Contains(domains, "map[failed:1 name:Security notAssessed:0 passed:0 score:0]") ||
		!strings.Contains(domains, "map[failed:0 name:Schema notAssessed:1 passed:0 score:<nil>]") {
		t.Error(domains)
	}

	// What is no longer kept leaves the fact that there was a change.
	w.deps.DB.MustExec(`DELETE FROM instance_change_values`)
	if erased := fmt.Sprint(w.get(w.ours.member, path).object()["changes"].([]any)[0]); !strings.Contains(erased, "after:<nil>") || !strings.Contains(erased, "name:<nil>") || !strings.Contains(erased, "kind:setting") {
		t.Error(erased)
	}
	w.get(w.ours.member, "/api/v1/instances/"+theirs.String()+"/health").problem(404, "not_found")
	w.get(w.ours.member, "/api/v1/instances/"+uuid.NewString()+"/health").problem(404, "not_found")
	w.do(request{method: "DELETE", path: "/api/v1/instances/" + orders.String(), as: w.ours.admin}).is(204)
	w.get(w.ours.member, path).problem(404, "not_found")
}

// TestAScoreIsOfTheLastAssessment: F19. One that finds all as it was tells the log nothing,
// and the score is its score all the same.
func TestAScoreIsOfTheLastAssessment(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	orders := w.instance(w.ours, "orders")
	passes := snapshot.CheckResult{CheckID: "PG-S01", Status: snapshot.StatusPass}
	w.looked(w.ours, orders, w.clock.Now().Add(-22*time.Minute), setting("work_mem", "1", "kB"), passes)
	w.assessed(w.ours, orders, passes)
	health := w.get(w.ours.auditor, "/api/v1/instances/"+orders.String()+"/health").is(200).object()
	if instance := w.get(w.ours.auditor, "/api/v1/instances/"+orders.String()).is(200).object(); health["assessedAt"] != instance["lastAssessedAt"] {
		t.Errorf("a score of %v, last assessed %v", health["assessedAt"], instance["lastAssessedAt"])
	}
}
