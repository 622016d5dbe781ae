package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/internal/watch/status"
)

// cookie is the session that an answer hands out.
func (a answer) cookie(name string) *http.Cookie {
	a.t.Helper()
	for _, c := range (&http.Response{Header: a.Header()}).Cookies() {
		if c.Name == name {
			return c
		}
	}
	a.t.Fatalf("no cookie %s in %v", name, a.Header())
	return nil
}

func TestSetupWithDemoDataFillsTheOrganization(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.deps.DB.Exec(`UPDATE members SET role = 'member' WHERE role = 'admin'`)
	must(t, err)
	link, _, err := w.deps.Accounts.NewSetupToken(t.Context(), uuid.Nil)
	must(t, err)
	made := w.post(person{}, "/api/v1/setup", map[string]any{
		"setupToken": link, "email": "ana@new.example", "name": "Ana", "password": goodPassword, "organizationName": "New", "demo": true,
	}).is(201)
	o := made.object()["organization"].(map[string]any)
	if len(w.filled) != 1 || w.filled[0].String() != o["id"] || o["demo"] != true {
		t.Errorf("filled %v, made %v", w.filled, o)
	}
}

// Under --demo the organization is there before anybody sets it up: it takes the name
// that is typed, and the page knows beforehand that it has demo data.
func TestSetupRenamesTheDemoOrganization(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deps.DB.MustExec(`UPDATE members SET role = 'member' WHERE role = 'admin'`)
	nobody := person{}
	if got := w.get(nobody, "/api/v1/setup").is(200).object(); got["organizationExists"] != true || got["demo"] != false {
		t.Errorf("setup of an organization without demo data: %v", got)
	}
	w.deps.DB.MustExec(`UPDATE organizations SET demo = true`)
	if got := w.get(nobody, "/api/v1/setup").is(200).object(); got["organizationExists"] != true || got["demo"] != true {
		t.Errorf("setup of a demo: %v", got)
	}
	link, _, err := w.deps.Accounts.NewSetupToken(t.Context(), w.ours.organization.ID)
	must(t, err)
	made := w.post(nobody, "/api/v1/setup", map[string]any{
		"setupToken": link, "email": "ana@new.example", "name": "Ana", "password": goodPassword, "organizationName": "Acme Ltd",
	}).is(201)
	if o := made.object()["organization"].(map[string]any); o["id"] != w.ours.organization.ID.String() || o["name"] != "Acme Ltd" {
		t.Errorf("made %v", o)
	}
	if len(w.filled) != 0 {
		t.Errorf("filled %v, which serve fills already", w.filled)
	}
}

func TestSetupSignInAndOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.deps.DB.Exec(`UPDATE members SET role = 'member' WHERE role = 'admin'`)
	must(t, err)
	nobody := person{}
	if got := w.get(nobody, "/api/v1/session").is(200).object(); got["authenticated"] != false || got["setupRequired"] != true || got["passwordLogin"] != true {
		t.Errorf("anonymous session %v", got)
	}
	if got := w.get(nobody, "/api/v1/setup").is(200).object(); got["required"] != true {
		t.Errorf("setup %v", got)
	}
	link, _, err := w.deps.Accounts.NewSetupToken(t.Context(), uuid.Nil)
	must(t, err)
	form := map[string]any{"setupToken": link, "email": "ana@new.example", "name": "Ana", "password": "hm", "organizationName": "New"}
	if p := w.post(nobody, "/api/v1/setup", form).problem(422, "weak_password"); !slices.Equal(p.places(), []string{"body #/password weak_password"}) {
		t.Errorf("places %v", p.places())
	}
	form["password"], form["setupToken"] = goodPassword, "another"
	w.post(nobody, "/api/v1/setup", form).is(403)
	form["setupToken"] = link
	made := w.post(nobody, "/api/v1/setup", form).is(201)
	ana := person{session: made.cookie("__Host-muster_session").Value}
	if got := w.get(ana, "/api/v1/session").is(200).object(); got["authenticated"] != true || got["authMethod"] != "password" ||
		!slices.Contains(got["permissions"].([]any), any("admin")) {
		t.Errorf("session %v", got)
	}
	w.post(nobody, "/api/v1/setup", form).problem(403, "setup_closed")
	if len(w.filled) != 0 {
		t.Error("filled with demo data that nobody asked for")
	}

	w.post(nobody, "/api/v1/session", map[string]any{"email": "ana@new.example", "password": "wrong"}).problem(401, "invalid_credentials")
	wrong := w.post(nobody, "/api/v1/session", map[string]any{"email": "nobody@new.example", "password": "wrong"}).problem(401, "invalid_credentials")
	if strings.Contains(wrong.Detail, "nobody") {
		t.Error("the answer tells which addresses exist")
	}
	in := w.post(nobody, "/api/v1/session", map[string]any{"email": "ana@new.example", "password": goodPassword}).is(200)
	c := in.cookie("__Host-muster_session")
	if !c.Secure || !c.HttpOnly || c.Path != "/" || c.Domain != "" || c.SameSite != http.SameSiteLaxMode || c.MaxAge != 43200 || len(c.Value) < 40 {
		t.Errorf("cookie %+v", c)
	}
	second := person{session: c.Value}
	sessions := w.get(second, "/api/v1/sessions").is(200).object()["items"].([]any)
	if len(sessions) != 2 {
		t.Errorf("%d sessions", len(sessions))
	}
	w.do(request{method: "DELETE", path: "/api/v1/sessions", as: second}).is(204)
	w.get(ana, "/api/v1/sessions").problem(401, "unauthenticated")

	w.post(second, "/api/v1/password", map[string]any{"currentPassword": "wrong", "newPassword": goodPassword + "!"}).problem(401, "invalid_credentials")
	w.post(second, "/api/v1/password", map[string]any{"currentPassword": goodPassword, "newPassword": goodPassword + "!"}).is(204)
	out := w.do(request{method: "DELETE", path: "/api/v1/session", as: second}).is(204)
	if out.cookie("__Host-muster_session").MaxAge >= 0 || out.Header().Get("Clear-Site-Data") != `"cache"` {
		t.Errorf("headers %v", out.Header())
	}
	w.get(second, "/api/v1/organization").is(401)
}

func TestThrottledSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, _, err := w.deps.Commands.AddMember(context.Background(), usecase.Actor{OrganizationID: w.ours.organization.ID, Component: "cli"},
		commands.NewMember{Email: "eve@ours.example", Name: "Eve", Role: organization.Viewer, Password: goodPassword})
	must(t, err)
	for range 12 {
		a := w.post(person{}, "/api/v1/session", map[string]any{"email": "eve@ours.example", "password": "wrong"})
		if a.Code == 429 {
			a.problem(429, "login_throttled")
			if a.Header().Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			return
		}
		a.problem(401, "invalid_credentials")
	}
	t.Error("twelve wrong passwords in a row were all tried")
}

func TestInvitation(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	invited := w.post(w.ours.admin, "/api/v1/members", map[string]any{"email": w.ours.address("joe"), "name": "Joe", "role": "auditor"}).is(201).object()
	w.post(w.ours.admin, "/api/v1/members", map[string]any{"email": w.ours.address("JOE"), "name": "Joe", "role": "viewer"}).problem(409, "member_exists")
	w.post(w.theirs.admin, "/api/v1/members", map[string]any{"email": w.ours.address("joe"), "name": "Joe", "role": "viewer"}).problem(409, "member_exists")
	_, token, _ := strings.Cut(invited["inviteUrl"].(string), "#")
	path := "/api/v1/invitations/" + token
	w.post(person{}, path, map[string]any{"name": "Joe", "password": "hm"}).problem(422, "weak_password")
	w.post(person{}, path, map[string]any{"name": "Joe", "password": goodPassword}).is(201).cookie("__Host-muster_session")
	w.post(person{}, path, map[string]any{"name": "Joe", "password": goodPassword}).problem(410, "invitation_gone")
	w.post(person{}, "/api/v1/invitations/nonsense", map[string]any{"name": "Joe", "password": goodPassword}).is(410)

	for as, want := range map[*person]string{&w.ours.viewer: w.ours.address("j***"), &w.ours.member: w.ours.address("joe")} {
		items := w.get(*as, "/api/v1/members?q=joe").is(200).object()["items"].([]any)
		if len(items) != 1 || items[0].(map[string]any)["email"] != want {
			t.Errorf("as %s: %v", as.Role, items)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	made := w.post(w.ours.member, "/api/v1/api-tokens", map[string]any{"name": "nightly", "scopes": []string{"reports:read"}}).is(201).object()
	secret := made["token"].(string)
	if !strings.HasPrefix(secret, "mst_pat_") || !strings.HasPrefix(secret, made["prefix"].(string)) {
		t.Errorf("made %v", made)
	}
	w.do(request{method: "GET", path: "/api/v1/reports?kind=Security", token: secret}).is(200)
	listed := w.get(w.ours.member, "/api/v1/api-tokens").is(200)
	if strings.Contains(listed.Body.String(), secret) {
		t.Error("the list shows the token again")
	}
	if items := listed.object()["items"].([]any); len(items) != 1 || items[0].(map[string]any)["lastUsedAt"] == nil {
		t.Errorf("listed %v", items)
	}
	w.post(w.ours.member, "/api/v1/api-tokens", map[string]any{"name": "x", "scopes": []string{"admin"}}).is(403)
	if items := w.get(w.ours.admin, "/api/v1/api-tokens").is(200).object()["items"].([]any); len(items) != 0 {
		t.Errorf("the administrator's own tokens: %v", items)
	}
	weak := w.token(w.ours.admin, organization.ScopeReportsRead)
	w.do(request{method: "POST", path: "/api/v1/api-tokens", token: weak, json: map[string]any{"name": "x", "scopes": []string{"reports:read"}}}).problem(403, "forbidden")

	sensor := w.post(w.ours.admin, "/api/v1/ingest-tokens", map[string]any{"name": "agent"}).is(201).object()
	if !strings.HasPrefix(sensor["token"].(string), "mst_ing_") || sensor["instanceIds"] != nil {
		t.Errorf("made %v", sensor)
	}
	empty := w.post(w.ours.admin, "/api/v1/ingest-tokens", map[string]any{"name": "agent", "instanceIds": []any{}}).problem(422, "out_of_range")
	if got := empty.places(); len(got) != 1 || got[0] != "body #/instanceIds out_of_range" {
		t.Errorf("a token of no instance is refused at %v", got)
	}
	w.do(request{method: "DELETE", path: "/api/v1/ingest-tokens/" + sensor["id"].(string), as: w.ours.admin}).is(204)
	w.do(request{method: "POST", path: "/ingest/v1/fleet", token: sensor["token"].(string), json: map[string]any{"instances": []any{}}}).problem(401, "token_revoked")
}

// TestASessionNamesServersThatAreNotUp: a page shows them before it has read any list.
func TestASessionNamesServersThatAreNotUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := w.clock.Now()
	look := func(of tenant, id uuid.UUID, ok bool, at time.Time) {
		t.Helper()
		must(t, status.Record(t.Context(), w.deps.DB, now, []status.Observation{{
			Organization: of.organization.ID, Instance: id, Source: status.Muster, Part: status.Connection, OK: ok, At: now, Since: at, Code: "refused", Sentence: "Connection refused.",
		}}))
	}
	look(w.ours, w.instance(w.ours, "up"), true, now)
	look(w.ours, w.instance(w.ours, "down longer"), false, now.Add(-time.Hour))
	w.instance(w.ours, "never heard of")
	down := w.instance(w.ours, "down")
	look(w.ours, down, false, now.Add(-time.Minute))
	look(w.theirs, w.instance(w.theirs, "theirs"), false, now)

	servers := w.get(w.ours.viewer, "/api/v1/session").is(200).object()["servers"].(map[string]any)
	if got := fmt.Sprint(servers["states"]); got != "map[down:2 inactive:0 silent:0 unknown:1 up:1]" {
		t.Errorf("states %s", got)
	}
	var names []string
	listed := map[string]map[string]any{}
	for _, i := range w.get(w.ours.viewer, "/api/v1/instances").is(200).object()["items"].([]any) {
		listed[i.(map[string]any)["name"].(string)] = i.(map[string]any)
	}
	for _, item := range servers["notUp"].([]any) {
		i := item.(map[string]any)
		names = append(names, i["name"].(string))
		for name, value := range i {
			if of := listed[i["name"].(string)][name]; !reflect.DeepEqual(of, value) {
				t.Errorf("%s of %v is %v, in the list %v", name, i["name"], value, of)
			}
		}
	}
	if !slices.Equal(names, []string{"down", "down longer", "never heard of"}) {
		t.Errorf("not up: %q", names)
	}
	if anonymous := w.get(person{}, "/api/v1/session").is(200).object(); anonymous["servers"] != nil {
		t.Errorf("nobody is told of %v", anonymous["servers"])
	}
}

// TestASessionSaysWhetherAlertsAreSent to administrators, and by rules that are enabled.
func TestASessionSaysWhetherAlertsAreSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told := func(as person) any { return w.get(as, "/api/v1/session").is(200).object()["alertsTold"] }
	if told(w.ours.viewer) != nil || told(w.ours.admin) != false {
		t.Errorf("without a rule: %v, to an administrator %v", told(w.ours.viewer), told(w.ours.admin))
	}
	_, rule := w.told(w.ours)
	if told(w.ours.admin) != true || told(w.theirs.admin) != false {
		t.Errorf("with a rule: %v, in another organization %v", told(w.ours.admin), told(w.theirs.admin))
	}
	w.patch(w.ours.admin, "/api/v1/notification-rules/"+rule, map[string]any{"match": map[string]any{"event": []string{"report.ready"}}}).is(200)
	if told(w.ours.admin) != false {
		t.Error("a rule of reports tells of alerts")
	}
}
