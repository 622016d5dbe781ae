package httpapi

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/organization"
)

// channelOfAdministrators makes a channel to the administrators.
func (w *world) channelOfAdministrators(of tenant) string {
	w.t.Helper()
	return w.post(of.admin, "/api/v1/channels", map[string]any{"name": "Administrators", "kind": "email", "administrators": true}).is(201).object()["id"].(string)
}

// rulesOf are the rules that cover a server, as its page shows them, each with its recipients.
func (w *world) rulesOf(as person, instance string) string {
	w.t.Helper()
	var words []string
	for _, rule := range w.get(as, "/api/v1/instances/"+instance+"/notification-rules").is(200).object()["items"].([]any) {
		rule := rule.(map[string]any)
		word := rule["rule"].(map[string]any)["name"].(string)
		for _, channel := range rule["channels"].([]any) {
			var names []string
			for _, recipient := range channel.(map[string]any)["recipients"].([]any) {
				names = append(names, recipient.(map[string]any)["name"].(string))
			}
			slices.Sort(names)
			word += " (" + strings.Join(names, " ") + ")"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// TestTheRulesOfAServerFollowItsTagsAndTeams: the page of a server lists the rules that match
// its tags and its owner of today.
func TestTheRulesOfAServerFollowItsTagsAndTeams(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	w.tag(w.ours.admin, ids["orders"], map[string]string{"team": "payments", "env": "prod"}).is(200)
	w.tag(w.ours.admin, ids["billing"], map[string]string{"team": "payments", "env": "test"}).is(200)
	payments := w.team(w.ours, "Payments", map[string][]string{"team": {"payments"}, "env": {"prod"}}, w.ours.member, organization.Member)
	rest := w.team(w.ours, "Rest", map[string][]string{"team": {"payments"}}, w.ours.member, organization.Member)
	empty := w.team(w.ours, "Empty", nil, w.ours.member, organization.Member)
	channel := w.channelOfAdministrators(w.ours)
	for name, match := range map[string]map[string]any{
		"1 prod":             {"tags": map[string]any{"env": []string{"prod"}}},
		"2 payments or shop": {"tags": map[string]any{"team": []string{"payments", "shop"}}},
		"3 two keys":         {"tags": map[string]any{"team": []string{"payments"}, "env": []string{"test"}}},
		"4 of Payments":      {"teamIds": []string{payments}},
		"5 of Rest":          {"teamIds": []string{rest}},
		"6 of Empty":         {"teamIds": []string{empty}},
		"7 no such value":    {"tags": map[string]any{"env": []string{"mars"}}},
		"8 reports alone":    {"tags": map[string]any{"env": []string{"prod"}}, "event": []string{"report.ready"}},
	} {
		w.post(w.ours.admin, "/api/v1/notification-rules", map[string]any{"name": name, "match": match, "channelIds": []string{channel}}).is(201)
	}
	covered := func(when string, want map[string]string) {
		t.Helper()
		for name, rules := range want {
			if got := strings.ReplaceAll(w.rulesOf(w.ours.viewer, ids[name].String()), " (ADMIN)", ""); got != rules {
				t.Errorf("%s, %s is covered by %q, want %q", when, name, got, rules)
			}
		}
	}
	covered("at first", map[string]string{
		"orders": "1 prod, 2 payments or shop, 4 of Payments", "billing": "2 payments or shop, 3 two keys, 5 of Rest", "ledger": "",
	})
	w.tag(w.ours.admin, ids["orders"], map[string]string{"team": "shop", "env": "prod"}).is(200)
	w.tag(w.ours.admin, ids["billing"], map[string]string{"team": "payments", "env": "prod"}).is(200)
	covered("with other tags", map[string]string{"orders": "1 prod, 2 payments or shop", "billing": "1 prod, 2 payments or shop, 4 of Payments", "ledger": ""})
	w.do(request{method: "DELETE", path: teamsPath + "/" + payments, as: w.ours.admin}).is(204)
	covered("without the team", map[string]string{"orders": "1 prod, 2 payments or shop", "billing": "1 prod, 2 payments or shop, 5 of Rest", "ledger": ""})
	w.do(request{method: "PATCH", path: teamsPath + "/" + rest, as: w.ours.admin, json: map[string]any{"selector": map[string]any{"instanceIds": []any{ids["ledger"]}}}, header: map[string]string{"If-Match": "*"}}).is(200)
	covered("with another selector", map[string]string{"orders": "1 prod, 2 payments or shop", "billing": "1 prod, 2 payments or shop", "ledger": "5 of Rest"})
	for _, id := range []string{uuid.NewString(), w.team(w.theirs, "Theirs", nil, w.theirs.member, organization.Member)} {
		if a := w.post(w.ours.admin, "/api/v1/notification-rules", map[string]any{"name": "x", "match": map[string]any{"teamIds": []string{id}}, "channelIds": []string{channel}}); !strings.Contains(a.Body.String(), `"pointer":"#/match/teamIds/0"`) {
			t.Errorf("a rule of an unknown team: %d %s", a.Code, a.Body)
		}
	}
}

// TestNotificationsOfTheOwningTeamOverHTTP: a channel of kind team has no settings. The page of a server names
// the members of the owner, and so do the waiting notifications of an alert.
func TestNotificationsOfTheOwningTeamOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	w.tag(w.ours.admin, ids["orders"], map[string]string{"team": "payments"}).is(200)
	payments := w.team(w.ours, "Payments", map[string][]string{"team": {"payments"}}, w.ours.member, organization.Member)
	if a := w.post(w.ours.admin, "/api/v1/channels", map[string]any{"name": "x", "kind": "team", "administrators": true, "url": "https://a.example"}); a.Code != 422 || !strings.Contains(a.Body.String(), `"pointer":"#/url"`) {
		t.Errorf("settings of a channel of kind team: %s", a.Body)
	}
	made := w.post(w.ours.admin, "/api/v1/channels", map[string]any{"name": "The owner", "kind": "team"}).is(201).object()
	if made["kind"] != "team" || made["url"] != nil || len(made["memberIds"].([]any)) != 0 {
		t.Errorf("made %v", made)
	}
	w.post(w.ours.admin, "/api/v1/notification-rules", map[string]any{"name": "All", "match": map[string]any{}, "channelIds": []any{made["id"]}}).is(201)
	if got := w.rulesOf(w.ours.viewer, ids["orders"].String()) + ", " + w.rulesOf(w.ours.viewer, ids["ledger"].String()); got != "All (MEMBER), All ()" {
		t.Errorf("will be notified: %s", got)
	}
	now := w.clock.Now()
	_, mark, err := w.deps.Commands.RecordFirings(t.Context(), usecase.Actor{OrganizationID: w.ours.organization.ID, Component: "watch"},
		[]alert.Firing{{Key: "watch/lag", Title: "lag", Severity: alert.Critical, InstanceID: ids["orders"], StartsAt: now, SeenAt: now}})
	must(t, err)
	if !w.deps.Waiter.Wait(t.Context(), mark.Log, mark.Position) {
		t.Fatal("the projections do not follow")
	}
	w.followed()
	event := w.get(w.ours.auditor, "/api/v1/deliveries").is(200).object()["items"].([]any)[0].(map[string]any)["events"].([]any)[0].(map[string]any)
	if owner := event["owner"].(map[string]any); owner["id"] != payments || owner["name"] != "Payments" {
		t.Errorf("the owner is %v", owner)
	}
	told := w.get(w.ours.viewer, "/api/v1/alerts/"+event["alertId"].(string)+"/notifications").is(200).object()["items"].([]any)[0].(map[string]any)
	if people := told["recipients"].([]any); len(people) != 1 || people[0].(map[string]any)["id"] != w.ours.member.ID.String() {
		t.Errorf("the notification waits for %v", people)
	}
}
