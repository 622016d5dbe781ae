package httpapi

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/watch/status"
	"muster/internal/watch/uptime"
)

const objectivesPath = "/api/v1/objectives"

// aims is an objective of servers by id, or of all.
func aims(percent float64, ids ...uuid.UUID) map[string]any {
	if ids == nil {
		ids = []uuid.UUID{}
	}
	return map[string]any{"selector": map[string]any{"instanceIds": ids}, "availabilityPercent": percent, "window": "month"}
}

func (w *world) setObjectives(as person, items ...any) answer {
	return w.do(request{method: "PUT", path: objectivesPath, as: as, json: map[string]any{"items": append([]any{}, items...)}})
}

// keeping are how servers keep their objectives, each in a line.
func (w *world) keeping(as person, query string) (lines []string) {
	w.t.Helper()
	for _, item := range w.get(as, objectivesPath+"/status"+query).is(200).object()["items"].([]any) {
		one := item.(map[string]any)
		line := fmt.Sprintf("%s %.0f/%.0f/%.0f/%.0f", one["instance"].(map[string]any)["name"], one["upSeconds"], one["downSeconds"], one["unknownSeconds"], one["maintenanceSeconds"])
		if a, ok := one["availability"].(map[string]any); ok {
			line += fmt.Sprintf(" %v–%v of %v %v, %v of %v", a["lowPercent"], a["highPercent"], a["objectivePercent"], a["verdict"], a["usedSeconds"], a["budgetSeconds"])
		}
		lines = append(lines, line)
	}
	return lines
}

// TestObjectives sets a list and judges servers of which one was down, one was in a maintenance window meanwhile, and one is
// not known.
func TestObjectives(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	w.exec(`UPDATE fleet_v3.instances SET created_at = '2026-01-20T00:00:00Z'`)
	w.setObjectives(w.theirs.admin, aims(90)).is(200)
	if list := w.get(w.ours.viewer, objectivesPath).is(200).object(); len(list["items"].([]any)) != 0 || list["since"] != nil {
		t.Errorf("at first there are %v", list)
	}
	w.setObjectives(w.ours.admin, aims(99.9, ids["orders"]), aims(95)).is(200)
	w.setObjectives(w.ours.admin, aims(99.9, ids["orders"]), aims(95)).is(200) // again: nothing happens
	w.setObjectives(w.ours.member, aims(95)).problem(403, "forbidden")
	if n := len(w.trail("objectivesChanged")); n != 1 {
		t.Errorf("the audit list has %d entries", n)
	}
	up := time.Date(2026, 1, 20, 0, 0, 0, 0, time.UTC)
	record := func(at time.Time, states map[uuid.UUID]status.State, since time.Time) {
		t.Helper()
		all := map[uuid.UUID]status.Status{}
		for id, state := range states {
			all[id] = status.Status{State: state, Since: &since}
		}
		must(t, (&uptime.Recorder{}).Record(t.Context(), w.deps.DB, at, map[uuid.UUID]map[uuid.UUID]status.Status{w.ours.organization.ID: all}))
	}
	record(up.Add(12*time.Hour), map[uuid.UUID]status.State{ids["orders"]: status.Up, ids["billing"]: status.Up}, up)
	down := up.Add(12 * time.Hour)
	record(down.Add(time.Minute), map[uuid.UUID]status.State{ids["orders"]: status.Down, ids["billing"]: status.Down}, down)
	record(down.Add(time.Hour-10*time.Second), map[uuid.UUID]status.State{ids["orders"]: status.Down, ids["billing"]: status.Down}, down)
	record(down.Add(time.Hour), map[uuid.UUID]status.State{ids["orders"]: status.Up, ids["billing"]: status.Up}, down.Add(time.Hour))
	record(up.AddDate(0, 0, 12), map[uuid.UUID]status.State{ids["orders"]: status.Up, ids["billing"]: status.Up}, down.Add(time.Hour))
	w.exec(`INSERT INTO maintenance_windows (id, organization_id, name, terms, created_at, holds_from) VALUES (gen_random_uuid(), $1, 'work',
		jsonb_build_object('selector', jsonb_build_object('instanceIds', jsonb_build_array($2::text)), 'from', '2026-01-20T11:00:00Z', 'to', '2026-01-20T13:00:00Z'), '2026-01-20', '2026-01-20')`,
		w.ours.organization.ID, ids["billing"].String())
	want := []string{ // the last 12 days of January
		"orders 1033200/3600/0/0 99.653–99.653 of 99.9 missed, 3600 of 1036",
		"ledger 0/0/1036800/0 0–100 of 95 cannot_be_told, 0 of 51840",
		"billing 1029600/0/0/7200 100–100 of 95 kept, 0 of 51480",
	}
	if got := w.keeping(w.ours.viewer, "?month=2026-01"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("servers keep their objectives so:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	page := w.get(w.ours.viewer, objectivesPath+"/status?month=2026-01&pageSize=1&page=3").is(200).object()
	if page["missed"] != 1.0 || page["kept"] != 1.0 || page["cannotBeTold"] != 1.0 || page["without"] != 0.0 || len(page["items"].([]any)) != 1 || page["knownSince"] != "2026-01-20T00:00:00Z" {
		t.Errorf("the last page is %v", page)
	}
	if got := w.keeping(w.ours.viewer, "?month=2026-01&instanceId="+ids["billing"].String()); len(got) != 1 || got[0] != want[2] {
		t.Errorf("of one server %v", got)
	}
	if got := w.keeping(w.ours.viewer, "?month=2025-12"); len(got) != 3 || got[0] != "billing 0/0/0/0 <nil>–<nil> of 95 cannot_be_told, 0 of 0" {
		t.Errorf("before they were there: %v", got)
	}
	w.get(w.ours.viewer, objectivesPath+"/status?month=2026-13").is(400)
	if got := w.keeping(w.theirs.viewer, "?month=2026-01"); len(got) != 0 {
		t.Errorf("others see %v", got)
	}
	for name, c := range map[string]struct {
		item map[string]any
		at   string
	}{
		"a foreign server":  {aims(95, w.instance(w.theirs, "x")), "#/items/0/selector/instanceIds/0"},
		"an unknown server": {aims(95, uuid.New()), "#/items/0/selector/instanceIds/0"},
		"100 percent":       {aims(100), "#/items/0/availabilityPercent"},
		"nothing":           {map[string]any{"selector": map[string]any{}, "window": "month"}, "#/items/0"},
	} {
		if a := w.setObjectives(w.ours.admin, c.item); a.Code != 422 || !strings.Contains(a.Body.String(), `"pointer":"`+c.at+`"`) {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}
	w.setObjectives(w.ours.admin).is(200)
	if got := w.keeping(w.ours.viewer, "?month=2026-01"); got[0] != "billing 1029600/0/0/7200" {
		t.Errorf("without objectives %v", got)
	}
}

// TestAPastMonthIsJudgedByTheObjectivesOfItsEnd, whatever they are now.
func TestAPastMonthIsJudgedByTheObjectivesOfItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance(w.ours, "orders")
	w.exec(`UPDATE fleet_v3.instances SET created_at = '2025-09-01T00:00:00Z'`)
	for month, percent := range map[time.Month]float64{9: 91, 10: 92} {
		w.exec(`INSERT INTO objectives (organization_id, items, holds_from, holds_until) VALUES ($1, $2, $3, $4)`, w.ours.organization.ID,
			fmt.Sprintf(`[{"selector":{},"availabilityPercent":%v,"window":"month"}]`, percent), time.Date(2025, month, 15, 0, 0, 0, 0, time.UTC), time.Date(2025, month+1, 15, 0, 0, 0, 0, time.UTC))
	}
	w.exec(`INSERT INTO objectives (organization_id, items, holds_from) VALUES ($1, '[{"selector":{},"availabilityPercent":93,"window":"month"}]', '2025-11-15T00:00:00Z')`, w.ours.organization.ID)
	for month, want := range map[string]string{"2025-08": "of 91 ", "2025-09": "of 91 ", "2025-10": "of 92 ", "2025-11": "of 93 "} {
		if got := w.keeping(w.ours.viewer, "?month="+month); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s: %v, want %s", month, got, want)
		}
	}
}

// TestTwoAdministratorsSetObjectives: the second is refused if they name the state that they saw.
func TestTwoAdministratorsSetObjectives(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	tag := w.get(w.ours.admin, objectivesPath).is(200).Header().Get("ETag")
	codes := make([]int, 4)
	var group sync.WaitGroup
	for i := range codes {
		group.Go(func() {
			codes[i] = w.do(request{method: "PUT", path: objectivesPath, as: w.ours.admin, header: map[string]string{"If-Match": tag}, json: map[string]any{"items": []any{aims(float64(90 + i))}}}).Code
		})
	}
	group.Wait()
	count := map[int]int{}
	for _, c := range codes {
		count[c]++
	}
	if count[200] != 1 || count[412] != 3 {
		t.Errorf("answers are %v", codes)
	}
}
