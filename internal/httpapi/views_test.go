package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/internal/accounts"
)

const viewsPath = "/api/v1/views"

// view has somebody keep a page under a name, and returns its id.
func (w *world) view(as person, name string, shared bool) string {
	w.t.Helper()
	made := w.post(as, viewsPath, map[string]any{"name": name, "query": "/alerts?status=open", "shared": shared}).is(201)
	id, _ := made.object()["id"].(string)
	if got := made.Header().Get("Location"); got != viewsPath+"/"+id {
		w.t.Errorf("the Location of a new view is %q", got)
	}
	return id
}

// views are the names of the views that somebody sees, with their authors' names behind those of others.
func (w *world) views(as person) string {
	w.t.Helper()
	var list struct {
		Items []struct {
			Name   string
			Shared bool
			Author *struct{ ID, Name string }
		}
	}
	w.get(as, viewsPath).is(200).decode(&list)
	var names []string
	for _, v := range list.Items {
		switch {
		case v.Author == nil:
			v.Name += " of nobody"
		case v.Author.ID != as.ID.String():
			v.Name += " of " + v.Author.Name
		}
		names = append(names, v.Name)
	}
	return strings.Join(names, ", ")
}

// TestViewsAreOfTheirMember: a member sees their own views first and then the shared ones of others; a private one is
// as unknown to others as one that does not exist, also to administrators and of another organization.
func TestViewsAreOfTheirMember(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	private, shared := w.view(w.ours.viewer, "zoo", false), w.view(w.ours.viewer, "Array", true)
	w.view(w.ours.admin, "mine", false)
	w.view(w.theirs.viewer, "theirs", true)
	author := " of " + w.ours.viewer.Name
	for _, c := range []struct {
		who  string
		as   person
		want string
	}{
		{"the author", w.ours.viewer, "Array, zoo"}, {"a colleague", w.ours.member, "Array" + author},
		{"an administrator", w.ours.admin, "mine, Array" + author}, {"another organization", w.theirs.viewer, "theirs"},
	} {
		if got := w.views(c.as); got != c.want {
			t.Errorf("%s sees %q, want %q", c.who, got, c.want)
		}
	}
	rename := map[string]any{"name": "renamed"}
	change := func(as person, id string) answer { return w.patch(as, viewsPath+"/"+id, rename) }
	remove := func(as person, id string) answer {
		return w.do(request{method: "DELETE", path: viewsPath + "/" + id, as: as})
	}
	for who, as := range map[string]person{"a colleague": w.ours.member, "an administrator": w.ours.admin, "another organization": w.theirs.admin} {
		for what, act := range map[string]func(person, string) answer{"change": change, "delete": remove} {
			foreign, unknown := withoutIDs(act(as, private), private), withoutIDs(act(as, w.ours.viewer.ID.String()), w.ours.viewer.ID.String())
			if foreign != unknown || !strings.HasPrefix(foreign, "404 ") {
				t.Errorf("%s, to %s, is told %s of a private view and %s of none", who, what, foreign, unknown)
			}
		}
	}
	change(w.theirs.admin, shared).problem(404, "not_found")
	change(w.ours.member, shared).problem(403, "forbidden")
	remove(w.ours.member, shared).problem(403, "forbidden")
	change(w.ours.admin, shared).is(200)
	change(w.ours.viewer, private).problem(422, "invalid_name")
	if got := w.views(w.ours.viewer); got != "renamed, zoo" {
		t.Errorf("the author sees %q", got)
	}
	remove(w.ours.viewer, private).is(204)
	remove(w.ours.admin, shared).is(204)
	if got := w.views(w.ours.viewer); got != "" {
		t.Errorf("the author sees %q after all are deleted", got)
	}
}

func TestChangeAView(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	path := viewsPath + "/" + w.view(w.ours.viewer, "a", false)
	w.view(w.ours.viewer, "b", false)
	shown := w.patch(w.ours.viewer, path, map[string]any{"name": " c ", "query": "/findings?tag=env:prod", "shared": true}).is(200).object()
	for member, want := range map[string]any{"name": "c", "query": "/findings?tag=env:prod", "shared": true} {
		if shown[member] != want {
			t.Errorf("%s is %v, want %v", member, shown[member], want)
		}
	}
	if diff := gocmp.Diff(shown, w.patch(w.ours.viewer, path, map[string]any{}).is(200).object()); diff != "" {
		t.Errorf("nothing changes it (-before +after):\n%s", diff)
	}
	w.patch(w.ours.viewer, path, map[string]any{"name": "b"}).problem(422, "invalid_name")
	w.view(w.ours.member, "b", false) // names are unique to each member
	w.patch(w.ours.admin, path, map[string]any{"shared": false}).is(200)
	w.patch(w.ours.admin, path, map[string]any{"shared": true}).problem(404, "not_found")
}

// TestBoundsOfViews: an address of a view leads to a page of ours and nowhere else.
func TestBoundsOfViews(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, unlimited)
	long := "/alerts?q=" + strings.Repeat("x", 1990)
	path := viewsPath + "/" + w.view(w.ours.viewer, "there", false)
	for name, c := range map[string]struct {
		body map[string]any
		code string // empty: it is kept
	}{
		"the longest":      {map[string]any{"name": strings.Repeat("ü", 100), "query": long}, ""},
		"a longer name":    {map[string]any{"name": strings.Repeat("ü", 101)}, "invalid_parameter"},
		"no name":          {map[string]any{"name": "  "}, "out_of_range"},
		"a longer address": {map[string]any{"query": long + "x"}, "invalid_parameter"},
		"another site":     {map[string]any{"query": "https://evil.example/alerts"}, "url_not_allowed"},
		"another host":     {map[string]any{"query": "//evil.example/alerts"}, "url_not_allowed"},
		"a script":         {map[string]any{"query": "javascript:alert(1)"}, "url_not_allowed"},
		"no page of ours":  {map[string]any{"query": "/api/v1/members"}, "url_not_allowed"},
		"a fragment":       {map[string]any{"query": "/invitation#token"}, "url_not_allowed"},
		"a hidden turn":    {map[string]any{"query": "/alerts?q=\u202ex"}, "url_not_allowed"},
	} {
		body := map[string]any{"name": name, "query": "/alerts"}
		for member, value := range c.body {
			body[member] = value
		}
		if c.code == "" {
			w.post(w.ours.viewer, viewsPath, body).is(201)
			continue
		}
		for what, a := range map[string]answer{"made": w.post(w.ours.viewer, viewsPath, body), "changed": w.patch(w.ours.viewer, path, c.body)} {
			if a.Code/100 != 4 || !strings.Contains(a.Body.String(), `"`+c.code+`"`) {
				t.Errorf("%s, %s: %d %s", name, what, a.Code, a.Body)
			}
		}
	}
	w.post(w.ours.viewer, viewsPath, map[string]any{"name": "there", "query": "/"}).problem(422, "invalid_name")
	for n := range accounts.MaxViews - 2 {
		w.view(w.ours.viewer, fmt.Sprint(n), false)
	}
	w.post(w.ours.viewer, viewsPath, map[string]any{"name": "one more", "query": "/"}).problem(422, "too_many_views")
	w.view(w.ours.member, "another member's", false)
}

// TestViewsOfAnErasedMember: what they shared stays without their name, and administrators delete it.
func TestViewsOfAnErasedMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	zoe, _, err := w.deps.Commands.AddMember(t.Context(), usecase.Actor{OrganizationID: w.ours.organization.ID, Component: "cli"},
		commands.NewMember{Email: "zoe@ours.example", Name: "Zoe Quine", Role: organization.Member, Password: goodPassword})
	must(t, err)
	her := w.again(person{Member: zoe})
	shared := viewsPath + "/" + w.view(her, "shared", true)
	w.view(her, "private", false)
	w.do(request{method: "DELETE", path: memberPath(her), as: w.ours.admin}).is(http.StatusNoContent)
	if got := w.views(w.ours.viewer); got != "shared of nobody" {
		t.Errorf("there are %q", got)
	}
	if n := w.count(`SELECT count(*) FROM views`); n != 1 {
		t.Errorf("%d views are kept", n)
	}
	w.patch(w.ours.member, shared, map[string]any{"name": "x"}).problem(403, "forbidden")
	w.patch(w.ours.admin, shared, map[string]any{"shared": false}).problem(409, "invalid_state")
	w.do(request{method: "DELETE", path: shared, as: w.ours.admin}).is(http.StatusNoContent)
}

// TestViewsByToken: a token that reads the dashboard reads views, and one that administers itself writes them.
func TestViewsByToken(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	reads, writes := w.token(w.ours.admin, organization.ScopeMetricsRead), w.token(w.ours.admin, organization.ScopeAdmin)
	body := map[string]any{"name": "x", "query": "/"}
	w.do(request{method: "POST", path: viewsPath, token: reads, json: body}).problem(403, "forbidden")
	w.do(request{method: "POST", path: viewsPath, token: writes, json: body}).is(201)
	if a := w.do(request{method: "GET", path: viewsPath, token: reads}).is(200); !strings.Contains(a.Body.String(), `"name":"x"`) {
		t.Errorf("the token reads %s", a.Body)
	}
}
