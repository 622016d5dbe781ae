package httpapi

import (
	"slices"
	"testing"
)

// TestWhatMembersDidToTheFleetIsAudited: a member's change to a server is in the
// list, a feed's is not, and other organizations see neither.
func TestWhatMembersDidToTheFleetIsAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.instance(w.ours, "fed") // as a feed registers it
	path := "/api/v1/instances/" + server.String()
	w.do(request{method: "PATCH", path: path, as: w.ours.admin, json: map[string]any{"name": "renamed", "active": false}}).is(200)
	w.do(request{method: "PATCH", path: path, as: w.ours.admin, json: map[string]any{"active": true}}).is(200)
	w.do(request{method: "DELETE", path: path, as: w.ours.admin}).is(204)

	of := func(who person, query string) (types []string) {
		t.Helper()
		for _, item := range w.get(who, "/api/v1/audit-events?limit=200"+query).is(200).object()["items"].([]any) {
			e := item.(map[string]any)
			if e["subjectId"] == server.String() {
				types = append(types, e["type"].(string))
			}
		}
		return types
	}
	want := []string{"instanceRemoved", "instanceActivated", "instanceDeactivated", "instanceChanged"}
	for query, want := range map[string][]string{
		"":                                      want,
		"&actorId=" + w.ours.admin.ID.String():  want,
		"&actorId=" + w.ours.member.ID.String(): nil,
		"&type=instanceRegistered":              nil,
		"&type=instanceRemoved&type=instanceChanged":                {"instanceRemoved", "instanceChanged"},
		"&type=instanceRemoved&actorId=" + w.ours.admin.ID.String(): {"instanceRemoved"},
	} {
		if got := of(w.ours.auditor, query); !slices.Equal(got, want) {
			t.Errorf("%q lists %q, want %q", query, got, want)
		}
	}
	if got := of(w.theirs.auditor, ""); got != nil {
		t.Errorf("another organization sees %q", got)
	}
}
