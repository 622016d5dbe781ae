package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"muster/commands/inventory"
	"muster/internal/watch"

	"github.com/google/go-cmp/cmp"
)

const watchRulesPath = "/api/v1/watch-rules"

func (w *world) setRule(as person, rule string, body map[string]any) answer {
	w.t.Helper()
	return w.do(request{method: "PUT", path: watchRulesPath + "/" + rule, as: as, json: body})
}

// settingsOf are the settings of a rule, one a line.
func (a answer) settingsOf() (lines []string) {
	for _, s := range a.object()["settings"].([]any) {
		s := s.(map[string]any)
		line := fmt.Sprintf("%v %v for %v %v", s["enabled"], s["threshold"], s["forSeconds"], s["severity"])
		for key, values := range s["tags"].(map[string]any) {
			line = fmt.Sprintf("%s:%v %s", key, values, line)
		}
		lines = append(lines, line)
	}
	return lines
}

// TestTheCatalogueOfWatchRules has what the contract asks for (§34), and what is not measured says so and is off.
func TestTheCatalogueOfWatchRules(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	measured := map[string]bool{}
	for _, item := range w.get(w.ours.viewer, watchRulesPath).is(200).object()["items"].([]any) {
		rule := item.(map[string]any)
		id := rule["id"].(string)
		measured[id] = rule["measured"].(bool)
		for _, field := range []string{"group", "name", "watches", "meaning", "advice"} {
			if len(rule[field].(string)) < 4 {
				t.Errorf("%s has the %s %q", id, field, rule[field])
			}
		}
		if rule["measured"] == (rule["unmeasuredReason"] != nil) || rule["measured"] == (rule["sources"] == nil) {
			t.Errorf("%s: measured %v, because %v, by %v", id, rule["measured"], rule["unmeasuredReason"], rule["sources"])
		}
		settings := rule["settings"].([]any)
		if len(settings) != 1 || !cmp.Equal(settings[0], rule["default"]) {
			t.Errorf("%s has the settings %v at first, and the default %v", id, settings, rule["default"])
		}
		if on := settings[0].(map[string]any)["enabled"]; rule["measured"] == false && on != false {
			t.Errorf("%s is on and is not measured", id)
		}
		alone := w.get(w.ours.viewer, watchRulesPath+"/"+id).is(200).object()
		if !cmp.Equal(alone, rule) {
			t.Errorf("%s alone is %v", id, alone)
		}
	}
	for _, id := range []string{"down", "silent", "volume", "lock_wait", "wraparound", "replication_lag", "replication_broken", "failed_jobs"} {
		if !measured[id] {
			t.Errorf("%s is not measured", id)
		}
	}
	for _, id := range []string{"replication_lag", "replication_broken", "backup_rpo", "days_until_full", "connections", "long_transaction",
		"idle_in_transaction", "blocking", "deadlocks", "failed_jobs", "certificate", "temp_files"} {
		if _, there := measured[id]; !there {
			t.Errorf("the catalogue lacks %s", id)
		}
	}
	w.get(w.ours.viewer, watchRulesPath+"/nonsense").problem(404, "not_found")
	w.setRule(w.ours.admin, "nonsense", map[string]any{"enabled": false}).problem(404, "not_found")
	w.setRule(w.ours.member, "volume", map[string]any{"enabled": false}).problem(403, "forbidden")
}

// TestWatchRulesAreSet one by one and all at once, by tag, for one organization only, and once in the log.
func TestWatchRulesAreSet(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	want := func(a answer, lines ...string) {
		t.Helper()
		if diff := cmp.Diff(lines, a.is(200).settingsOf()); diff != "" {
			t.Errorf("settings (-want +got):\n%s", diff)
		}
	}
	all := map[string]any{"enabled": true, "threshold": 80, "forSeconds": 60, "severity": "info", "tags": map[string]any{}}
	want(w.setRule(w.ours.admin, "volume", all), "true 80 for 60 info")
	want(w.setRule(w.ours.admin, "volume", all), "true 80 for 60 info")
	prod := map[string]any{"threshold": 70, "severity": "critical", "tags": map[string]any{"env": []string{"prod", "prod"}}}
	want(w.setRule(w.ours.admin, "volume", prod), "env:[prod] true 70 for 0 critical", "true 80 for 60 info")
	want(w.setRule(w.ours.admin, "volume", map[string]any{"enabled": false, "tags": map[string]any{"env": []string{"tools"}}}),
		"env:[prod] true 70 for 0 critical", "env:[tools] false 90 for 0 warning", "true 80 for 60 info")
	want(w.setRule(w.ours.admin, "volume", map[string]any{"forSeconds": 300, "tags": map[string]any{"env": []string{"prod"}}}),
		"env:[prod] true 70 for 300 critical", "env:[tools] false 90 for 0 warning", "true 80 for 60 info")

	// The threshold of all servers is the organization's setting of old, and the same value.
	if got := w.get(w.ours.viewer, "/api/v1/organization").object()["watch"].(map[string]any)["volumePercent"]; got != 80.0 {
		t.Errorf("volumePercent is %v", got)
	}
	w.change(w.ours.admin, w.get(w.ours.admin, "/api/v1/organization").Header().Get("ETag"), map[string]any{"watch": map[string]any{"volumePercent": 77}}).is(200)
	want(w.get(w.ours.viewer, watchRulesPath+"/volume"), "env:[prod] true 70 for 300 critical", "env:[tools] false 90 for 0 warning", "true 77 for 60 info")

	want(w.setRule(w.ours.admin, "volume", map[string]any{"settings": []any{map[string]any{"threshold": 91}}}), "true 91 for 60 info")
	want(w.get(w.theirs.viewer, watchRulesPath+"/volume"), "true 90 for 0 warning")
	want(w.get(w.ours.viewer, watchRulesPath+"/wraparound"), "true 80 for 0 critical")

	changes := 0
	for _, item := range w.get(w.ours.auditor, "/api/v1/audit-events?"+url.Values{"type": {"watchRuleChanged"}}.Encode()).is(200).object()["items"].([]any) {
		if data := item.(map[string]any)["data"].(map[string]any); data["rule"] != "volume" || len(data["from"].([]any)) == 0 || len(data["to"].([]any)) == 0 {
			t.Errorf("the audit has %v", data)
		}
		changes++
	}
	if changes != 5 {
		t.Errorf("%d changes in the audit, want 5: what changes nothing is none", changes)
	}
}

// TestBadSettingsOfWatchRules are told with everything that is wrong.
func TestBadSettingsOfWatchRules(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	places := func(rule string, body map[string]any, want ...string) {
		t.Helper()
		a := w.setRule(w.ours.admin, rule, body)
		var p struct {
			Errors []struct{ Pointer, Code string }
		}
		a.decode(&p)
		var got []string
		for _, e := range p.Errors {
			got = append(got, e.Pointer+" "+e.Code)
		}
		if slices.Sort(got); a.Code < 400 || a.Code >= 500 || !slices.Equal(got, want) {
			t.Errorf("%v: %d %v, want %v", body, a.Code, got, want)
		}
	}
	places("volume", map[string]any{"threshold": 101, "forSeconds": -1, "tags": map[string]any{"Env": []string{"x"}, "team": []string{}}},
		"#/forSeconds out_of_range", "#/tags/Env invalid_name", "#/tags/team out_of_range", "#/threshold out_of_range")
	places("volume", map[string]any{"severity": "bad"}, "#/severity invalid_parameter")
	places("volume", map[string]any{"threshold": 80, "settings": []any{map[string]any{}}}, "#/settings conflicting_parameters")
	places("volume", map[string]any{"settings": []any{}}, "#/settings too_many_items")
	places("volume", map[string]any{"settings": []any{
		map[string]any{}, map[string]any{"tags": map[string]any{"env": []string{"a"}}}, map[string]any{"threshold": 0, "tags": map[string]any{"env": []string{"a"}}},
	}}, "#/settings/0/tags invalid_parameter", "#/settings/2/tags invalid_parameter", "#/settings/2/threshold out_of_range")
	places("volume", map[string]any{"settings": []any{
		map[string]any{"tags": map[string]any{"env": []string{"a"}}}, map[string]any{"tags": map[string]any{"env": []string{"a"}}}, map[string]any{},
	}}, "#/settings/1/tags duplicate_key")
	places("down", map[string]any{"threshold": 1}, "#/threshold out_of_range")
	var many []any
	for i := range 50 {
		many = append(many, map[string]any{"tags": map[string]any{"env": []string{fmt.Sprint(i)}}})
	}
	w.setRule(w.ours.admin, "volume", map[string]any{"settings": append(slices.Clone(many[:49]), map[string]any{})}).is(200)
	places("volume", map[string]any{"settings": append(slices.Clone(many), map[string]any{})}, "#/settings too_many_items")
	places("volume", map[string]any{"tags": map[string]any{"env": []string{"one more"}}}, "#/settings too_many_items")
	if got := w.get(w.ours.viewer, watchRulesPath+"/volume").settingsOf(); len(got) != 50 || strings.Contains(got[49], "one more") {
		t.Errorf("%d settings", len(got))
	}
}

// TestAWatchRuleIsPreviewed with the body of PUT, by figures that came in through the door, and saves nothing.
func TestAWatchRuleIsPreviewed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	instance := w.fed(w.ours, inventory.Item{ExternalID: "orders", CreatedAt: w.ago(day)})["orders"]
	_, err := watch.Record(t.Context(), w.deps.DB, w.clock.Now(), []watch.Sign{
		{OrganizationID: w.ours.organization.ID, Rule: watch.Connections, InstanceID: instance, Value: 88, At: w.clock.Now()},
	})
	must(t, err)
	path := watchRulesPath + "/connections/preview"
	p := w.post(w.ours.admin, path, map[string]any{"threshold": 80, "forSeconds": 0}).is(200).object()
	if p["alerts"] != 1.0 || p["servers"] != 1.0 || p["since"] == nil || !cmp.Equal(p["current"], any(map[string]any{"alerts": 0.0, "servers": 0.0})) {
		t.Errorf("%v", p)
	}
	if item := p["items"].([]any)[0].(map[string]any); item["instanceId"] != instance.String() || item["threshold"] != 80.0 || len(item["raised"].([]any)) != 1 || len(item["figures"].([]any)) != 1 {
		t.Errorf("%v", item)
	}
	if p := w.post(w.ours.admin, path, map[string]any{"settings": []any{map[string]any{"enabled": false}}}).is(200).object(); p["alerts"] != 0.0 {
		t.Errorf("off: %v", p)
	}
	if p := w.post(w.theirs.admin, path, map[string]any{"threshold": 80, "forSeconds": 0}).is(200).object(); p["alerts"] != 0.0 || p["since"] != nil {
		t.Errorf("another organization: %v", p)
	}
	w.post(w.ours.admin, path, map[string]any{"threshold": 0}).problem(422, "out_of_range")
	w.post(w.ours.member, path, map[string]any{"threshold": 80}).problem(403, "forbidden")
	w.post(w.ours.admin, watchRulesPath+"/nonsense/preview", map[string]any{}).problem(404, "not_found")
	if got := w.get(w.ours.viewer, watchRulesPath+"/connections").settingsOf(); !slices.Equal(got, []string{"true 90 for 300 warning"}) {
		t.Errorf("saved: %v", got)
	}
}
