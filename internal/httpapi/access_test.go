package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"muster/domain/organization"
)

// TestEveryRouteAsEverybody walks the whole table: nobody, every role, and
// tokens with every single scope. A caller who is let in may still be refused
// for what they sent; never with 401 or 403.
func TestEveryRouteAsEverybody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(d *Dependencies) { d.Unlimited = true })
	people := map[organization.Role]person{"viewer": w.ours.viewer, "member": w.ours.member, "auditor": w.ours.auditor, "admin": w.ours.admin}
	tokens := map[organization.Scope]string{}
	for _, scope := range organization.Scopes() {
		tokens[scope] = w.token(w.ours.admin, scope)
	}
	ingesting := w.ingestToken(w.ours.admin)
	walk(w, func(r *route, send func(as person, token string) answer) {
		name := r.method + " " + r.path
		if got := send(person{}, "").Code; (got == http.StatusUnauthorized) == r.open() {
			t.Errorf("%s as nobody: %d", name, got)
		}
		ends := []string{"signOut", "revokeOtherSessions"} // the walkers' own sessions
		if r.open() || slices.Contains(ends, r.operation.OperationID) {
			return
		}
		if !r.isIngest() {
			for role, p := range people {
				admitted(t, name+" as "+string(role), send(p, "").Code, slices.Contains(r.roles, role))
			}
			if got := send(person{}, ingesting).Code; got != http.StatusUnauthorized {
				t.Errorf("%s with an ingest token: %d", name, got)
			}
		} else {
			admitted(t, name+" with an ingest token", send(person{}, ingesting).Code, true)
			if got := send(w.ours.admin, "").Code; got != http.StatusUnauthorized {
				t.Errorf("%s with a session: %d", name, got)
			}
		}
		for scope, token := range tokens {
			admitted(t, fmt.Sprintf("%s with %s", name, scope), send(person{}, token).Code, scope == organization.ScopeAdmin || slices.Contains(r.scopes, scope))
		}
	})
}

func admitted(t *testing.T, what string, status int, want bool) {
	t.Helper()
	if in := status != http.StatusForbidden && status != http.StatusUnauthorized; in != want {
		t.Errorf("%s: %d, let in should be %v", what, status, want)
	}
}

// walk visits every operation with ids that nobody has and bodies that nobody
// can read, so that whoever is let in changes nothing.
func walk(w *world, visit func(r *route, send func(as person, token string) answer)) {
	c := w.server.contract
	keys := make([]string, 0, len(c.routes))
	for key := range c.routes {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		r := c.routes[key]
		if r.page {
			continue
		}
		visit(r, func(as person, token string) answer {
			return w.do(request{method: r.method, path: somePath(r.path), as: as, token: token, body: someBody(r)})
		})
	}
}

func somePath(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		switch {
		case p == ":name" || p == ":mailId" || p == ":token":
			parts[i] = "unknown"
		case strings.HasPrefix(p, ":"):
			parts[i] = uuid.NewString()
		}
	}
	return strings.Join(parts, "/")
}

func someBody(r *route) string {
	if r.method == http.MethodGet || r.method == http.MethodDelete || r.operation.RequestBody == nil {
		return ""
	}
	return "nonsense"
}

// TestForeignIsUnknown asks for everything with an id, once with an id that
// nobody has and once with one of another organization: the answers are the same.
func TestForeignIsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	report := w.requested(w.theirs, w.theirs.member)
	w.ready(w.theirs, report, pdfText)
	instance := w.instance(w.theirs, "hidden")
	token := w.token(w.theirs.admin, organization.ScopeAdmin)
	var tokenID, sessionID string
	must(t, w.deps.DB.Get(&tokenID, `SELECT id FROM tokens LIMIT 1`))
	must(t, w.deps.DB.Get(&sessionID, `SELECT id FROM sessions WHERE member_id = $1`, w.theirs.admin.ID))
	_ = token
	for _, c := range []struct {
		method, path, id string
		body             any
	}{
		{"GET", "/api/v1/reports/%s", report.String(), nil},
		{"GET", "/api/v1/reports/%s/download", report.String(), nil},
		{"GET", "/api/v1/reports/%s/events", report.String(), nil},
		{"POST", "/api/v1/exports/seen", report.String(), map[string]string{"upTo": "%s"}},
		{"GET", "/api/v1/instances/%s", instance.String(), nil},
		{"GET", "/api/v1/instances/%s/databases", instance.String(), nil},
		{"PATCH", "/api/v1/instances/%s", instance.String(), map[string]bool{"active": false}},
		{"POST", "/api/v1/instances/%s/assess", instance.String(), nil},
		{"DELETE", "/api/v1/instances/%s", instance.String(), nil},
		{"DELETE", "/api/v1/api-tokens/%s", tokenID, nil},
		{"DELETE", "/api/v1/ingest-tokens/%s", tokenID, nil},
		{"DELETE", "/api/v1/sessions/%s", sessionID, nil},
		{"POST", "/api/v1/ops/dead-letters/%s/retry", uuid.NewString(), nil},
		{"DELETE", "/api/v1/ops/dead-letters/%s", uuid.NewString(), nil},
		{"GET", "/api/v1/ops/outbox/%s", "unknown", nil},
		{"POST", "/api/v1/ops/projections/%s/rebuild", "unknown", nil},
		{"GET", "/api/v1/ops/projections/%s/diff", "unknown", nil},
	} {
		ask := func(id string) shownProblem {
			body := c.body
			if m, ok := body.(map[string]string); ok {
				body = map[string]string{"upTo": fmt.Sprintf(m["upTo"], id)}
			}
			path := c.path
			if strings.Contains(path, "%s") {
				path = fmt.Sprintf(path, id)
			}
			return w.do(request{method: c.method, path: path, as: w.ours.admin, json: body}).problem(404, "not_found")
		}
		foreign, unknown := ask(c.id), ask(uuid.NewString())
		if strings.ReplaceAll(foreign.Detail, c.id, "") != unknown.Detail {
			t.Errorf("%s %s: %q for a foreign id, %q for an unknown one", c.method, c.path, foreign.Detail, unknown.Detail)
		}
	}
	// The create scope: the same for both, too.
	for _, id := range []string{instance.String(), uuid.NewString()} {
		p := w.post(w.ours.member, "/api/v1/reports", map[string]any{"kind": "Security", "scope": map[string]any{"instanceIds": []string{id}}}).
			problem(422, "instance_not_in_organization")
		if got := p.places(); !slices.Equal(got, []string{"body #/scope/instanceIds/0 instance_not_in_organization"}) {
			t.Errorf("places %v", got)
		}
		p = w.post(w.ours.admin, "/api/v1/ingest-tokens", map[string]any{"name": "x", "instanceIds": []string{id}}).problem(422, "instance_not_in_organization")
		if got := p.places(); !slices.Equal(got, []string{"body #/instanceIds/0 instance_not_in_organization"}) {
			t.Errorf("places %v", got)
		}
		page := w.get(w.ours.viewer, "/api/v1/instances?id="+id).is(200).object()
		if page["page"].(map[string]any)["totalItems"] != 0.0 {
			t.Errorf("a filter of foreign or unknown ids matches %v", page)
		}
	}
	if theirs := w.get(w.theirs.viewer, "/api/v1/instances").is(200); theirs.Header().Get("X-Demo-Data") != "true" {
		t.Error("the demo organization is not labelled")
	}
}

// TestTableIsWhole shows that a server with a hole in its table is not built.
func TestTableIsWhole(t *testing.T) {
	t.Parallel()
	c, err := loadContract(openapiYAML)
	must(t, err)
	s := &server{routes: c.routes}
	err = s.everyRouteHasItsRow(gin.RoutesInfo{{Method: "GET", Path: "/api/v1/secrets"}})
	if err == nil || !strings.Contains(err.Error(), "route GET /api/v1/secrets has no row") || !strings.Contains(err.Error(), "row GET /healthz has no route") {
		t.Errorf("got %v", err)
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader := w.token(w.ours.member, organization.ScopeReportsRead)
	const path = "/api/v1/reports?kind=Security"
	for name, c := range map[string]struct {
		header map[string]string
		as     person
		status int
		code   string
	}{
		"no credential":           {nil, person{}, 401, "unauthenticated"},
		"another scheme":          {map[string]string{"Authorization": "Basic eA=="}, person{}, 401, "unauthenticated"},
		"a token of no form":      {map[string]string{"Authorization": "Bearer x"}, person{}, 401, "unauthenticated"},
		"an unknown session":      {nil, person{session: "x"}, 401, "unauthenticated"},
		"the header beats cookie": {map[string]string{"Authorization": "Bearer x"}, w.ours.admin, 401, "unauthenticated"},
		"lower-case scheme":       {map[string]string{"Authorization": "bearer " + reader}, person{}, 200, ""},
	} {
		a := w.do(request{method: "GET", path: path, as: c.as, header: c.header}).is(c.status)
		if c.code == "" {
			continue
		}
		a.problem(c.status, c.code)
		if a.Header().Get("WWW-Authenticate") != `Bearer realm="muster"` {
			t.Errorf("%s: WWW-Authenticate is %q", name, a.Header().Get("WWW-Authenticate"))
		}
	}
	var id string
	must(t, w.deps.DB.Get(&id, `SELECT id FROM tokens LIMIT 1`))
	w.do(request{method: "DELETE", path: "/api/v1/api-tokens/" + id, as: w.ours.member}).is(204)
	w.do(request{method: "GET", path: path, token: reader}).problem(401, "token_revoked")
}
