package httpapi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
)

func TestEveryAnswerHasTheCommonHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	demo := w.tenant("made-up", true)
	_, _, err := w.deps.Commands.AddMember(t.Context(), usecase.Actor{OrganizationID: demo.organization.ID, Component: "cli"},
		commands.NewMember{Email: "ana@made-up.example", Name: "Ana Ruiz", Role: organization.Viewer, Password: goodPassword})
	must(t, err)

	for _, path := range []string{"/api/v1/reports", "/api/v1/reports/", "/api/v1/exports"} {
		if lost := w.do(request{method: "PUT", path: path, as: w.ours.member}); lost.Header().Get("X-Api-Stability") != "beta" {
			t.Errorf("PUT %s, answered %d, does not say beta", path, lost.Code)
		}
	}
	in := w.do(request{method: "POST", path: "/api/v1/session", body: `{"email":"ana@made-up.example","password":"` + goodPassword + `"}`}).is(200)
	if in.Header().Get("X-Demo-Data") != "true" {
		t.Error("who signs in to the demo is not told that it is one")
	}

	id := func(header map[string]string) string {
		return w.do(request{method: "GET", path: "/healthz", header: header}).is(200).Header().Get("X-Request-Id")
	}
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	parent := "00-" + trace + "-00f067aa0ba902b7-01"
	if got := id(map[string]string{"Traceparent": parent}); got != trace {
		t.Errorf("a request of trace %s has the id %s", trace, got)
	}
	if got := id(map[string]string{"Traceparent": parent, "X-Request-Id": "mine"}); got != "mine" {
		t.Errorf("the caller's own id became %s", got)
	}
	for _, bad := range []string{"00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", "00-" + trace, strings.ToUpper(parent)} {
		if got := id(map[string]string{"Traceparent": bad}); strings.Contains(bad, got) {
			t.Errorf("traceparent %s was believed: %s", bad, got)
		}
	}
}

func TestACreatedResourceHasALocation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	invited := w.post(w.ours.admin, "/api/v1/members", map[string]any{"email": "new@ours.example", "name": "New", "role": "viewer"}).is(201)
	var made struct {
		Member    struct{ ID string }
		InviteURL string
	}
	invited.decode(&made)
	if got := invited.Header().Get("Location"); got != "/api/v1/members/"+made.Member.ID {
		t.Errorf("an invited member's Location is %q", got)
	}
	_, token, _ := strings.Cut(made.InviteURL, "#")
	joined := w.do(request{method: "POST", path: "/api/v1/invitations/" + token, body: `{"name":"New","password":"` + goodPassword + `"}`}).is(201)
	if got := joined.Header().Get("Location"); got != "/api/v1/session" {
		t.Errorf("a new session's Location is %q", got)
	}
}

func TestRevokedTokensAreNotListed(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	for _, path := range []string{"/api/v1/api-tokens", "/api/v1/ingest-tokens"} {
		body := map[string]any{"name": "ci"}
		if path == "/api/v1/api-tokens" {
			body["scopes"] = []string{"reports:read"}
		}
		location := w.post(w.ours.admin, path, body).is(201).Header().Get("Location")
		kept := w.post(w.ours.admin, path, body).is(201).Header().Get("Location")
		w.do(request{method: "DELETE", path: location, as: w.ours.admin}).is(204)
		var left []string
		for _, e := range w.get(w.ours.admin, path).is(200).object()["items"].([]any) {
			left = append(left, path+"/"+e.(map[string]any)["id"].(string))
		}
		if diff := cmp.Diff([]string{kept}, left); diff != "" {
			t.Errorf("%s after a revocation: %s", path, diff)
		}
	}
}
