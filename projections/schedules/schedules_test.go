package schedules_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/report"
	"muster/domain/schedule"
	"muster/eventstore"
	"muster/internal/testing/pgtest"
	"muster/projections"
	"muster/projections/projectionstest"
	"muster/projections/schedules"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var (
	noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	acme = uuid.New()
	ana  = uuid.New()
	eve  = uuid.New()
)

func terms(name string) schedule.Terms {
	return schedule.Terms{
		Name: name, Kind: report.Security, Enabled: true, Recurrence: schedule.Recurrence{Every: schedule.Day, At: "08:00", TimeZone: "UTC"},
	}.Normal()
}

func eight(days int) time.Time { return time.Date(2026, 11, 20+days, 8, 0, 0, 0, time.UTC) }

func TestSchedules(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db, registry := pgtest.Connect(t, url), eventstore.NewRegistry()
	for _, e := range schedule.Events() {
		registry.Register(schedule.Name(e), 1, e)
	}
	stage, reader := projectionstest.Run(t, db, url, schedules.Projection(registry.Decode)), schedules.NewReader(db)
	happens := func(organization, id uuid.UUID, minute int, facts ...schedule.Event) {
		t.Helper()
		a := eventstore.Append{Organization: organization, StreamType: schedule.StreamType, Stream: id, Expected: eventstore.AnyVersion, Metadata: eventstore.Metadata{ActorID: ana.String()}}
		for _, fact := range facts {
			e, err := registry.Encode(fact)
			if err != nil {
				t.Fatal(err)
			}
			e.OccurredAt = noon.Add(time.Duration(minute) * time.Minute)
			a.Events = append(a.Events, e)
		}
		stage.Append(eventstore.Organization, a)
	}
	security, b, gone, foreign, made := uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New()
	happens(acme, security, 1, schedule.Created{OwnerID: ana, Terms: terms("zeta")})
	happens(acme, b, 2, schedule.Created{OwnerID: ana, Terms: terms("Beta")})
	happens(acme, gone, 3, schedule.Created{OwnerID: ana, Terms: terms("gone")}, schedule.Missed{DueAt: eight(1), Reason: "away"}, schedule.Removed{})
	happens(uuid.New(), foreign, 4, schedule.Created{OwnerID: eve, Terms: terms("theirs")})
	happens(acme, security, 5, schedule.TakenOver{OwnerID: eve}, schedule.Changed{Terms: terms("alpha")})
	happens(acme, security, 6, schedule.Missed{DueAt: eight(1), Reason: "away"}, schedule.Requested{DueAt: eight(2), ReportID: made})
	happens(acme, security, 7, schedule.Unchanged{DueAt: eight(3), ReportID: made}, schedule.Paused{DueAt: eight(4), Reason: "owner_disabled"})
	happens(acme, uuid.New(), 8, schedule.Removed{}) // of nothing: it is set aside
	stage.Settle()

	page, total, err := reader.Page(t.Context(), acme, 1, 20)
	var names []string
	for _, s := range page {
		names = append(names, s.Terms.Name)
	}
	if err != nil || total != 2 || strings.Join(names, " ") != "alpha Beta" {
		t.Fatalf("%v of %d, %v", names, total, err)
	}
	if rest, total, err := reader.Page(t.Context(), acme, 9, 20); err != nil || len(rest) != 0 || total != 2 {
		t.Errorf("past the end: %v of %d, %v", rest, total, err)
	}
	want := schedules.Schedule{
		ID: security, OrganizationID: acme, CreatedAt: noon.Add(time.Minute),
		State:   schedule.State{OwnerID: eve, Terms: terms("alpha"), From: eight(4), Ran: true},
		LastRun: &schedules.Run{Run: schedule.Run{DueAt: eight(4), Status: schedule.StatusPaused, Reason: "owner_disabled"}, At: noon.Add(7 * time.Minute)},
	}
	got, ok, err := reader.Schedule(t.Context(), acme, security)
	if err != nil || !ok || !cmp.Equal(want, got) {
		t.Errorf("%v %v\n%s", ok, err, cmp.Diff(want, got))
	}
	if dues := got.Due(time.UTC, eight(6)); len(dues) != 2 || !dues[0].Equal(eight(5)) {
		t.Errorf("due are %v", dues)
	}
	for name, id := range map[string]uuid.UUID{"foreign": foreign, "removed": gone, "unknown": uuid.New()} {
		if _, ok, err := reader.Schedule(t.Context(), acme, id); ok || err != nil {
			t.Errorf("one that is %s: %v %v", name, ok, err)
		}
		if runs, total, err := reader.Runs(t.Context(), acme, id, 0, 20); len(runs) != 0 || total != 0 || err != nil {
			t.Errorf("runs of one that is %s: %v %d %v", name, runs, total, err)
		}
	}
	told := func(offset int64, size int) string {
		t.Helper()
		runs, total, err := reader.Runs(t.Context(), acme, security, offset, size)
		if err != nil {
			t.Fatal(err)
		}
		words := fmt.Sprint(total)
		for _, r := range runs {
			words += fmt.Sprintf(" %d %s", r.DueAt.UTC().Day(), r.Status)
		}
		return words
	}
	if all := told(0, 20); all != "4 24 paused 23 unchanged 22 requested 21 missed" {
		t.Errorf("runs are %s", all)
	}
	if some := told(1, 2); some != "4 23 unchanged 22 requested" {
		t.Errorf("a page of runs is %s", some)
	}
	if none := told(9, 2); none != "4" {
		t.Errorf("past the end of the runs: %s", none)
	}
	difference, err := stage.Rebuild(t.Context(), schedules.Name, projections.RebuildOptions{}, nil)
	if err != nil || !difference.Empty() {
		t.Errorf("rebuild gives %+v, %v", difference, err)
	}
}
