package handlers_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/domain/report"
	"muster/internal/assessment"
	"muster/internal/assessment/changes"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore"
	"muster/internal/report/snapshot"
)

// A scorecard has the inputs of its hints, and no other server's: the settings that they are
// about, the machine, the open sessions, and the mean of the hours in which some waited.
func TestGatherIncludesTheInputsOfHints(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	tuned, bare := e.register("tuned", true), e.register("bare", true)
	orders := e.databases(tuned, "orders", "crm")
	now := e.clock.Now().UTC().Truncate(time.Minute) // where the report's window ends
	e.clock.Advance(now.Sub(e.clock.Now()))          // sessions of a minute ago are open no more
	scope := changes.Scope{Kind: domain.ChangedSetting}
	item := func(name, value, unit string) changes.Item {
		return changes.Item{Scope: scope, Name: name, Value: value, Unit: unit, Sent: true, Secret: changes.SecretSetting(name)}
	}
	sent := assessment.Sent{Instance: tuned, Engine: domain.PostgreSQL, At: now.Add(-time.Hour), Assessment: snapshot.Assessment{
		StartedAt: now.Add(-time.Hour), FinishedAt: now.Add(-time.Hour), Outcome: snapshot.OutcomeComplete, Sent: true,
	}, State: changes.State{Seen: []changes.Scope{scope}, Items: []changes.Item{
		item("Shared_Buffers", "16384", "8kB"), item("work_mem", "4", "MB"), item("log_connections", "on", ""), item("archive_command", "cp", ""),
	}}}
	if err := e.facts.RecordSent(t.Context(), e.organization, []assessment.Sent{sent}, e.tellAll); err != nil {
		t.Fatal(err)
	}
	machine := hostSample("tuned", now.Add(-time.Minute), 40)
	machine.Memory = &measurements.MemoryBytes{Total: 8 << 30, Available: -1, Used: -1}
	e.measured(machine)
	sessions := func(database uuid.UUID, ago time.Duration, active, io int64) measurements.SessionSample {
		return measurements.SessionSample{Instance: tuned, Engine: domain.PostgreSQL, Database: database, At: now.Add(-ago), Interval: 10 * time.Second,
			Active: active, Idle: 1, Waits: map[string]int64{"IO": io}}
	}
	store := pgstore.New(e.db, slog.New(slog.DiscardHandler))
	if _, err := store.Write(t.Context(), measurements.Batch{Organization: e.organization, Sessions: []measurements.SessionSample{
		sessions(orders["orders"], 5*time.Second, 7, 2), sessions(orders["crm"], 5*time.Second, 4, 0), sessions(orders["orders"], 26*time.Hour, 90, 6),
	}}); err != nil {
		t.Fatal(err)
	}
	e.measured()
	doc, err := e.inputs().Gather(t.Context(), e.scorecard(tuned, nil, 7*day))
	if err != nil {
		t.Fatal(err)
	}
	got := doc.Tuning
	want := []snapshot.Setting{{Name: "shared_buffers", Value: "16384", Unit: "8kB"}, {Name: "work_mem", Value: "4", Unit: "MB"}}
	if diff := cmp.Diff(want, got.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if len(got.Machines) != 1 || got.Machines[0].Host != "tuned" || *got.Machines[0].MemoryBytes != 8<<30 || got.Machines[0].CPUs != nil {
		t.Errorf("machines: %+v", got.Machines)
	}
	if got.Open == nil || *got.Open != 13 || !got.SampledAt.Equal(now.Add(-5*time.Second)) {
		t.Errorf("open: %v at %v", got.Open, got.SampledAt)
	}
	if w := got.Waits; w == nil || w.Hours != 2 || w.IO != 4 || w.Locks != 0 || w.Of < 7*24 || w.Partial { // 2 in one hour, 6 in another
		t.Errorf("waits: %+v", w)
	}
	cut := sessions(orders["orders"], 3*time.Hour, 0, 1)
	cut.Part, cut.Partial = measurements.OnlyWaits, true
	if _, err := store.Write(t.Context(), measurements.Batch{Organization: e.organization, Sessions: []measurements.SessionSample{cut}}); err != nil {
		t.Fatal(err)
	}
	if doc, err = e.inputs().Gather(t.Context(), e.scorecard(tuned, nil, 7*day)); err != nil || !doc.Tuning.Waits.Partial {
		t.Errorf("waits of a part: %+v, %v", doc.Tuning.Waits, err)
	}
	for name, of := range map[string]uuid.UUID{"bare": bare, "a stranger's": tuned} {
		g := e.scorecard(of, nil, 7*day)
		if name != "bare" {
			g.OrganizationID = e.stranger()
		}
		doc, err := e.inputs().Gather(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		if u := doc.Tuning; u == nil || len(u.Settings)+len(u.Machines) > 0 || u.Open != nil || u.Waits != nil {
			t.Errorf("%s: %+v", name, u)
		}
	}
	if doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{})); err != nil || doc.Tuning != nil {
		t.Errorf("a Security report has %+v, %v", doc.Tuning, err)
	}
}
