package httpapi

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/organization"
)

const maintenancePath = "/api/v1/maintenance-windows"

// announcing is the body that announces a window, from an hour ago on for two hours.
func (w *world) announcing(name string, change ...func(map[string]any)) map[string]any {
	body := map[string]any{
		"name": name, "selector": map[string]any{"tags": map[string]any{"env": []string{"prod"}}},
		"from": w.ago(time.Hour), "to": w.ago(-time.Hour), "timeZone": "Europe/Amsterdam",
	}
	for _, c := range change {
		c(body)
	}
	return body
}

func selecting(tags map[string][]string, ids ...any) func(map[string]any) {
	if tags == nil {
		tags = map[string][]string{}
	}
	if ids == nil {
		ids = []any{}
	}
	return func(b map[string]any) { b["selector"] = map[string]any{"tags": tags, "instanceIds": ids} }
}

func weeklyAt(minutes int) func(map[string]any) {
	return func(b map[string]any) {
		delete(b, "from")
		delete(b, "to")
		b["recurrence"] = map[string]any{"every": "week", "weekday": "sunday", "at": "02:00", "minutes": minutes}
	}
}

// announce announces a window and returns its id.
func (w *world) announce(as person, name string, change ...func(map[string]any)) string {
	w.t.Helper()
	made := w.post(as, maintenancePath, w.announcing(name, change...)).is(201)
	id := made.object()["id"].(string)
	if got := made.Header().Get("Location"); got != maintenancePath+"/"+id {
		w.t.Errorf("the location of a window is %s", got)
	}
	return id
}

// windowsOf are the names and states of the windows that somebody sees.
func (w *world) windowsOf(as person, query string) string {
	w.t.Helper()
	var said []string
	for _, item := range w.get(as, maintenancePath+query).is(200).object()["items"].([]any) {
		one := item.(map[string]any)
		said = append(said, one["name"].(string)+" "+one["state"].(string))
	}
	return strings.Join(said, ", ")
}

func TestMaintenanceWindows(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	w.tag(w.ours.admin, ids["orders"], map[string]string{"env": "prod"}).is(200)
	w.announce(w.theirs.admin, "theirs")
	now := w.announce(w.ours.member, "now")
	later := w.announce(w.ours.admin, "later", func(b map[string]any) { b["from"], b["to"] = w.ago(-time.Hour), w.ago(-2*time.Hour) })
	weekly := w.announce(w.ours.admin, "weekly", weeklyAt(180), selecting(nil, ids["billing"]))
	if got := w.windowsOf(w.ours.viewer, ""); got != "later coming, now running, weekly coming" {
		t.Errorf("windows are %s", got)
	}
	for query, want := range map[string]string{ids["orders"].String(): "later coming, now running", ids["billing"].String(): "weekly coming", ids["ledger"].String(): "", uuid.NewString(): ""} {
		if got := w.windowsOf(w.ours.viewer, "?instanceId="+query); got != want {
			t.Errorf("of %s: %s, want %s", query, got, want)
		}
	}
	shown := w.get(w.ours.viewer, maintenancePath+"/"+now).is(200).object()
	if shown["instanceCount"] != float64(1) || shown["mayChange"] != false || shown["running"] == nil || shown["timeZone"] != "Europe/Amsterdam" {
		t.Errorf("a window is %v", shown)
	}
	// What breaks rules is refused with its place, for a new window and for one that is there.
	for name, c := range map[string]struct {
		change func(map[string]any)
		at     string
	}{
		"of no length":       {func(b map[string]any) { b["to"] = b["from"] }, "#/to"},
		"past":               {func(b map[string]any) { b["from"], b["to"] = w.ago(3*time.Hour), w.ago(2*time.Hour) }, "#/to"},
		"no zone":            {func(b map[string]any) { b["timeZone"] = "Europe/Atlantis" }, "#/timeZone"},
		"a foreign server":   {selecting(nil, w.instance(w.theirs, "x")), "#/selector/instanceIds/0"},
		"an unknown server":  {selecting(nil, uuid.New()), "#/selector/instanceIds/0"},
		"nothing":            {selecting(nil), "#/selector"},
		"a name of nothing":  {func(b map[string]any) { b["name"] = " " }, "#/name"},
		"longer than a week": {weeklyAt(20_000), "#/recurrence/minutes"},
	} {
		body := w.announcing("x", c.change)
		for _, a := range []answer{w.post(w.ours.admin, maintenancePath, body), w.do(request{method: "PATCH", path: maintenancePath + "/" + now, as: w.ours.admin, json: body})} {
			if a.Code != 422 || !strings.Contains(a.Body.String(), `"pointer":"`+c.at+`"`) {
				t.Errorf("%s: %d %s", name, a.Code, a.Body)
			}
		}
	}
	act := func(as person, method, path string) answer {
		return w.do(request{method: method, path: maintenancePath + "/" + path, as: as, json: map[string]any{}})
	}
	end := func(as person, id string) answer {
		return w.do(request{method: "POST", path: maintenancePath + "/" + id + "/end", as: as})
	}
	for _, path := range []string{now, now + "/end"} {
		method := map[bool]string{true: "POST", false: "DELETE"}[strings.HasSuffix(path, "end")]
		w.do(request{method: method, path: maintenancePath + "/" + path, as: w.theirs.admin}).problem(404, "not_found")
		w.do(request{method: method, path: maintenancePath + "/" + path, as: w.ours.viewer}).problem(403, "forbidden")
	}
	end(w.ours.member, later).problem(409, "invalid_state")
	end(w.ours.member, now).is(200)
	end(w.ours.member, now).problem(409, "invalid_state")
	if got := w.windowsOf(w.ours.viewer, ""); got != "later coming, now over, weekly coming" {
		t.Errorf("after the end: %s", got)
	}
	// A weekly window takes a time, and the reverse.
	patched := w.do(request{method: "PATCH", path: maintenancePath + "/" + weekly, as: w.ours.admin, json: map[string]any{"from": w.ago(time.Minute), "to": w.ago(-time.Minute)}}).is(200).object()
	if patched["recurrence"] != nil || patched["state"] != "running" || patched["timeZone"] != "Europe/Amsterdam" {
		t.Errorf("a weekly window with a time is %v", patched)
	}
	w.do(request{method: "DELETE", path: maintenancePath + "/" + weekly, as: w.ours.admin}).is(204)
	act(w.ours.admin, "PATCH", weekly).is(400)
	w.do(request{method: "DELETE", path: maintenancePath + "/" + weekly, as: w.ours.admin}).problem(404, "not_found")
	for typ, n := range map[string]int{"maintenanceCreated": 3, "maintenanceEnded": 1, "maintenanceChanged": 1, "maintenanceRemoved": 1} {
		if got := len(w.trail(typ)); got != n {
			t.Errorf("the audit list has %d entries %s, want %d", got, typ, n)
		}
	}
}

// TestTwoAdministratorsChangeAWindow: the second is refused if they name the state that they saw.
func TestTwoAdministratorsChangeAWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.announce(w.ours.admin, "patch day")
	tag := w.get(w.ours.admin, maintenancePath+"/"+id).is(200).Header().Get("ETag")
	codes := make([]int, 4)
	var group sync.WaitGroup
	for i := range codes {
		group.Go(func() {
			codes[i] = w.do(request{method: "PATCH", path: maintenancePath + "/" + id, as: w.ours.admin, header: map[string]string{"If-Match": tag},
				json: map[string]any{"to": w.ago(-time.Duration(i+2) * time.Hour)}}).Code
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
	if n := w.count(`SELECT count(*) FROM maintenance_windows WHERE holds_until IS NULL`); n != 1 {
		t.Errorf("%d terms hold", n)
	}
}

// TestATeamAnnouncesWindowsOfItsServers, and sees no others.
func TestATeamAnnouncesWindowsOfItsServers(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, unlimited)
	ids, somebody := w.withTeams()
	ask := func(change func(map[string]any)) answer {
		return w.post(somebody, maintenancePath, w.announcing("ours", change))
	}
	own := ask(selecting(nil, ids["orders"])).is(201).object()["id"].(string)
	ask(selecting(nil, ids["billing"])).problem(403, "forbidden") // they only see it
	ask(selecting(map[string][]string{"env": {"prod"}})).problem(403, "forbidden")
	unseen, unknown := ask(selecting(nil, ids["ledger"])), ask(selecting(nil, uuid.New()))
	if unseen.problem(422, "instance_not_in_organization"); withoutIDs(unseen, "-") != withoutIDs(unknown, "-") {
		t.Errorf("another's server: %s, want %s", unseen.Body, unknown.Body)
	}
	hidden := w.announce(w.ours.admin, "hidden", selecting(nil, ids["ledger"]))
	both := w.announce(w.ours.admin, "both", selecting(nil, ids["ledger"], ids["billing"]))
	if got := w.windowsOf(somebody, ""); got != "both running, ours running" {
		t.Errorf("they see %s", got)
	}
	if text := w.get(somebody, maintenancePath+"/"+both).is(200).Body.String(); strings.Contains(text, ids["ledger"].String()) || !strings.Contains(text, `"instanceCount":1`) {
		t.Errorf("a window of others' servers is %s", text)
	}
	for _, c := range []struct {
		id   string
		code int
		as   string
	}{{hidden, 404, "not_found"}, {uuid.NewString(), 404, "not_found"}, {both, 403, "forbidden"}} {
		w.do(request{method: "POST", path: maintenancePath + "/" + c.id + "/end", as: somebody}).problem(c.code, c.as)
		w.do(request{method: "DELETE", path: maintenancePath + "/" + c.id, as: somebody}).problem(c.code, c.as)
		w.do(request{method: "PATCH", path: maintenancePath + "/" + c.id, as: somebody, json: map[string]any{"name": "x"}}).problem(c.code, c.as)
	}
	w.do(request{method: "POST", path: maintenancePath + "/" + own + "/end", as: somebody}).is(200)
	w.do(request{method: "DELETE", path: maintenancePath + "/" + own, as: somebody}).is(204)
	if role := somebody.Role; role != organization.Team {
		t.Errorf("somebody is %s", role)
	}
}
