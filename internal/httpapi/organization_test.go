package httpapi

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// change sends a change of the settings made from tag.
func (w *world) change(as person, tag string, body map[string]any) answer {
	w.t.Helper()
	header := map[string]string{}
	if tag != "" {
		header["If-Match"] = tag
	}
	return w.do(request{method: "PATCH", path: "/api/v1/organization", as: as, json: body, header: header})
}

func TestSettings(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	first := w.get(w.ours.viewer, "/api/v1/organization").is(200)
	tag := first.Header().Get("ETag")
	if !strings.HasPrefix(tag, `"`) {
		t.Errorf("ETag %s is no strong one", tag)
	}
	shown := first.object()
	if shown["reportRetentionDays"] != 30.0 || shown["inputsRetentionDays"] != 400.0 || shown["paperSize"] != "A4" || shown["statementTexts"] != "off" {
		t.Errorf("at first: %v", shown)
	}
	watch := map[string]any{"silentMinutes": 5.0, "volumePercent": 90.0, "lockWaitMinutes": 5.0, "wraparoundPercent": 80.0, "advisoryLocks": "on"}
	if diff := cmp.Diff(watch, shown["watch"]); diff != "" {
		t.Errorf("watch (-want +got):\n%s", diff)
	}

	change := map[string]any{"name": "Acme", "reportRetentionDays": 90, "inputsRetentionDays": 800, "paperSize": "Letter", "statementTexts": "normalized", "exceptionApproval": "another",
		"watch": map[string]any{"silentMinutes": 10, "wraparoundPercent": 50, "advisoryLocks": "off"}}
	w.change(w.ours.admin, "", change).problem(428, "precondition_required")
	for _, stale := range []string{`"other"`, "W/" + tag, "nonsense", strings.Trim(tag, `"`)} {
		w.change(w.ours.admin, stale, change).problem(412, "precondition_failed")
	}
	changed := w.change(w.ours.admin, `"other", `+tag, change).is(200)
	next := changed.Header().Get("ETag")
	if next == tag || next != w.get(w.ours.viewer, "/api/v1/organization").is(200).Header().Get("ETag") {
		t.Errorf("the ETag was %s and is %s", tag, next)
	}
	shown = changed.object()
	watch["silentMinutes"], watch["wraparoundPercent"], watch["advisoryLocks"] = 10.0, 50.0, "off"
	if shown["name"] != "Acme" || shown["reportRetentionDays"] != 90.0 || shown["inputsRetentionDays"] != 800.0 || shown["paperSize"] != "Letter" ||
		shown["statementTexts"] != "normalized" || shown["exceptionApproval"] != "another" || !cmp.Equal(shown["watch"], any(watch)) {
		t.Errorf("changed to %v", shown)
	}
	if o := w.get(w.ours.member, "/api/v1/session").is(200).object()["organization"]; !cmp.Equal(o, any(shown)) {
		t.Errorf("the session's organization is %v", o)
	}
	w.change(w.ours.admin, tag, change).problem(412, "precondition_failed")
	if again := w.change(w.ours.admin, next, change).is(200); again.Header().Get("ETag") != next {
		t.Error("a change of nothing changes the ETag")
	}
	w.change(w.ours.admin, "*", map[string]any{"paperSize": "A4"}).is(200)
	if theirs := w.get(w.theirs.admin, "/api/v1/organization").is(200).object(); theirs["name"] != "theirs" || theirs["paperSize"] != "A4" || theirs["statementTexts"] != "normalized" { // the demo
		t.Errorf("another organization is %v", theirs)
	}

	var facts []any
	for _, e := range w.get(w.ours.auditor, "/api/v1/audit-events?type=organizationSettingsChanged").is(200).object()["items"].([]any) {
		facts = append(facts, e.(map[string]any)["data"])
		if actor := e.(map[string]any)["actor"].(map[string]any); actor["id"] != w.ours.admin.ID.String() {
			t.Errorf("changed by %v", actor)
		}
	}
	fromTo := func(from, to any) map[string]any { return map[string]any{"from": from, "to": to} }
	want := []any{
		map[string]any{"paperSize": fromTo("Letter", "A4")},
		map[string]any{"nameChanged": true, "reportRetentionDays": fromTo(30.0, 90.0), "inputsRetentionDays": fromTo(400.0, 800.0),
			"paperSize": fromTo("A4", "Letter"), "statementTexts": fromTo("off", "normalized"), "exceptionApproval": fromTo("any", "another"), "silentMinutes": fromTo(5.0, 10.0), "wraparoundPercent": fromTo(80.0, 50.0), "advisoryLocks": fromTo("on", "off")},
	}
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Errorf("the log says (-want +got):\n%s", diff)
	}
}

func TestSettingsOutOfRange(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	tag := w.get(w.ours.admin, "/api/v1/organization").Header().Get("ETag")
	for _, n := range []struct{ reports, inputs, minutes, percent int }{{0, 0, 0, 0}, {-1, -1, -1, -1}, {366, 3651, 1441, 101}} {
		p := w.change(w.ours.admin, tag, map[string]any{"name": " ", "reportRetentionDays": n.reports, "inputsRetentionDays": n.inputs,
			"watch": map[string]any{"silentMinutes": n.minutes, "volumePercent": n.percent, "lockWaitMinutes": n.minutes, "wraparoundPercent": n.percent}}).
			problem(422, "out_of_range")
		want := []string{"name", "reportRetentionDays", "inputsRetentionDays", "watch/silentMinutes", "watch/volumePercent", "watch/lockWaitMinutes", "watch/wraparoundPercent"}
		for i, name := range want {
			want[i] = "body #/" + name + " out_of_range"
		}
		if diff := cmp.Diff(want, p.places()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for _, body := range []map[string]any{{}, {"watch": map[string]any{}}, {"paperSize": "A5"}, {"statementTexts": "raw"}, {"statementTexts": false}, {"exceptionApproval": "nobody"}, {"watch": map[string]any{"advisoryLocks": "some"}}, {"reportRetentionDays": "90"}, {"retention": 90}} {
		if got := w.change(w.ours.admin, tag, body); got.Code != 400 {
			t.Errorf("%v: %d", body, got.Code)
		}
	}
	for _, edge := range []map[string]any{{"reportRetentionDays": 1, "inputsRetentionDays": 1}, {"reportRetentionDays": 365, "inputsRetentionDays": 3650,
		"watch": map[string]any{"silentMinutes": 1440, "volumePercent": 100, "lockWaitMinutes": 1440, "wraparoundPercent": 100}}} {
		tag = w.change(w.ours.admin, tag, edge).is(200).Header().Get("ETag")
	}
}

// TestTwoAdministratorsChangeTheSettings from the same ETag at once: one of them
// does, with all of their change.
func TestTwoAdministratorsChangeTheSettings(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	tag := w.get(w.ours.admin, "/api/v1/organization").Header().Get("ETag")
	answers := make([]answer, 4)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			answers[i] = w.change(w.ours.admin, tag, map[string]any{"name": fmt.Sprint("by ", i), "reportRetentionDays": 100 + i})
		})
	}
	all.Wait()
	won := slices.IndexFunc(answers, func(a answer) bool { return a.Code == 200 })
	for i, a := range answers {
		if i != won {
			a.problem(412, "precondition_failed")
		}
	}
	got := w.get(w.ours.admin, "/api/v1/organization").object()
	if won < 0 || got["name"] != fmt.Sprint("by ", won) || got["reportRetentionDays"] != float64(100+won) {
		t.Errorf("the %d. won, the settings are %v", won, got)
	}
}

// TestANewRetentionLeavesReadyReportsAlone: reading 29.
func TestANewRetentionLeavesReadyReportsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested(w.ours, w.ours.member)
	w.ready(w.ours, id, pdfText)
	path := "/api/v1/reports/" + id.String()
	before := w.get(w.ours.member, path).is(200).object()["expiresAt"]
	w.change(w.ours.admin, "*", map[string]any{"reportRetentionDays": 1}).is(200)
	if after := w.get(w.ours.member, path).is(200).object()["expiresAt"]; after != before {
		t.Errorf("it expired at %v and now at %v", before, after)
	}
	w.clock.Advance(29 * 24 * time.Hour)
	w.get(w.signedIn(w.ours.member), path+"/download").is(200)
}
