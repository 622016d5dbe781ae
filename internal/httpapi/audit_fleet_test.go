package httpapi

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFleetChangesByMembersAreAudited: changes that members make to servers and alerts are in the list, those
// of feeds are not, and other organizations see neither.
func TestFleetChangesByMembersAreAudited(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	server := w.instance(w.ours, "fed") // as a feed registers it
	path := "/api/v1/instances/" + server.String()
	w.do(request{method: "PATCH", path: path, as: w.ours.admin, json: map[string]any{"name": "renamed", "active": false}}).is(200)
	w.do(request{method: "PATCH", path: path, as: w.ours.admin, json: map[string]any{"active": true}}).is(200)
	w.do(request{method: "DELETE", path: path, as: w.ours.admin}).is(204)

	feed, raised := w.ingestToken(w.ours.admin), w.clock.Now()
	told := w.do(request{method: "POST", path: "/ingest/v1/alerts", token: feed, json: map[string]any{"alerts": []any{map[string]any{
		"externalId": "cpu", "title": "CPU", "severity": "critical", "state": "Open",
		"createdAt": raised, "firstTriggeredAt": raised, "lastTriggeredAt": raised,
	}}}}).is(200).object()
	alarm := told["alerts"].([]any)[0].(map[string]any)["id"].(string)
	for _, what := range []string{"acknowledge", "mute", "unmute", "resolve"} {
		w.post(w.ours.member, "/api/v1/alerts/"+alarm+"/"+what, nil).is(200)
	}
	w.post(w.ours.member, "/api/v1/alerts/"+alarm+"/mute", map[string]any{"note": "over", "until": time.Now().Add(time.Hour)}).is(200)

	about := func(subject string, who person, query string) (types []string) {
		t.Helper()
		for _, item := range w.get(who, "/api/v1/audit-events?limit=200"+query).is(200).object()["items"].([]any) {
			e := item.(map[string]any)
			if e["subjectId"] == subject {
				types = append(types, e["type"].(string))
			}
		}
		return types
	}
	changes := []string{"instanceRemoved", "instanceActivated", "instanceDeactivated", "instanceChanged"}
	actions := []string{"alertNoted", "alertMutedUntil", "alertResolved", "alertUnmuted", "alertMuted", "alertAcknowledged"}
	admin, member := "&actorId="+w.ours.admin.ID.String(), "&actorId="+w.ours.member.ID.String()
	for _, c := range []struct {
		query           string
		server, alarmed []string
	}{
		{"", changes, actions},
		{admin, changes, nil},
		{member, nil, actions},
		{admin + member, changes, actions},
		{"&type=instanceRegistered&type=alertRaised", nil, nil}, // by the feed
		{"&type=instanceRemoved&type=instanceChanged&type=alertMuted", []string{"instanceRemoved", "instanceChanged"}, []string{"alertMuted"}},
		{"&type=instanceRemoved&type=alertMuted" + admin, []string{"instanceRemoved"}, nil},
	} {
		if got := about(server.String(), w.ours.auditor, c.query); !slices.Equal(got, c.server) {
			t.Errorf("%q lists %q of the server, want %q", c.query, got, c.server)
		}
		if got := about(alarm, w.ours.auditor, c.query); !slices.Equal(got, c.alarmed) {
			t.Errorf("%q lists %q of the alert, want %q", c.query, got, c.alarmed)
		}
	}
	if got := slices.Concat(about(server.String(), w.theirs.auditor, ""), about(alarm, w.theirs.auditor, "")); got != nil {
		t.Errorf("another organization sees %q", got)
	}
}

// TestAlertsSentWithAMembersTokenAreNotAudited: alerts that come in with an admin's API token are a machine's
// word, as with an ingest token.
func TestAlertsSentWithAMembersTokenAreNotAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, raised := w.token(w.ours.admin, "ingest:write"), w.clock.Now()
	w.do(request{method: "POST", path: "/ingest/v1/alerts", token: token, json: map[string]any{"alerts": []any{map[string]any{
		"externalId": "cpu", "title": "CPU", "severity": "critical", "state": "Acknowledged", "isMuted": true,
		"createdAt": raised, "firstTriggeredAt": raised, "lastTriggeredAt": raised,
	}}}}).is(200)
	w.do(request{method: "POST", path: "/ingest/v1/alertmanager/webhook", token: token, json: map[string]any{
		"version": "4", "alerts": []any{map[string]any{"status": "firing", "labels": map[string]any{"alertname": "Disk"}, "startsAt": raised}},
	}}).is(200)
	told := map[string]string{}
	for _, item := range w.get(w.ours.viewer, alertsPath).is(200).object()["items"].([]any) {
		a := item.(map[string]any)
		told[a["title"].(string)] = w.get(w.ours.viewer, alertsPath+"/"+a["id"].(string)).told()
	}
	if diff := cmp.Diff(map[string]string{"CPU": "triggered, acknowledged, muted", "Disk": "triggered"}, told); diff != "" {
		t.Error(diff)
	}
	for _, item := range w.get(w.ours.auditor, "/api/v1/audit-events?limit=200").is(200).object()["items"].([]any) {
		if e := item.(map[string]any); strings.HasPrefix(e["type"].(string), "alert") {
			t.Errorf("audited: %v", e)
		}
	}
}
