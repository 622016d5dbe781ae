package httpapi

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/usecase"
	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/report/control/evidence"
)

// asking is a request for an exception that breaks no rule.
func (w *world) asking(change ...func(body map[string]any)) map[string]any {
	body := map[string]any{"checkId": "PG-S01", "reason": "Behind a firewall until the move.", "until": w.clock.Now().AddDate(0, 1, 0).Format(time.RFC3339)}
	for _, c := range change {
		c(body)
	}
	return body
}

func (w *world) asked(by person, change ...func(body map[string]any)) string {
	w.t.Helper()
	return w.post(by, "/api/v1/exceptions", w.asking(change...)).is(201).object()["id"].(string)
}

// checkTitle is what the catalogue calls a check.
func (w *world) checkTitle(id string) string {
	w.t.Helper()
	check, ok := w.deps.Checks.Check(id)
	if !ok || check.Title == "" {
		w.t.Fatalf("there is no check %s", id)
	}
	return check.Title
}

func (w *world) decide(by person, id, how string) answer {
	w.t.Helper()
	return w.post(by, "/api/v1/exceptions/"+id+"/"+how, nil)
}

// listed are the checks and statuses of a list, in its order.
func (a answer) listed() string {
	a.t.Helper()
	var words []string
	for _, item := range a.is(200).object()["items"].([]any) {
		x := item.(map[string]any)
		words = append(words, x["checkId"].(string)+":"+x["status"].(string))
	}
	return strings.Join(words, " ")
}

func TestAnExceptionIsRequestedAndDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	instance := w.instance(w.ours, "orders")
	body := w.asking(func(b map[string]any) { b["instanceId"], b["objectRef"] = instance, "line 94" })
	made := w.post(w.ours.member, "/api/v1/exceptions", body).is(201)
	asked := made.object()
	path := "/api/v1/exceptions/" + asked["id"].(string)
	if made.Header().Get("Location") != path || made.Header().Get("X-Muster-Lagging") != "" {
		t.Errorf("headers %v", made.Header())
	}
	for field, want := range map[string]any{
		"status": "requested", "checkId": "PG-S01", "checkTitle": w.checkTitle("PG-S01"), "instanceId": instance.String(), "databaseId": nil, "objectRef": "line 94",
		"reason": body["reason"], "until": body["until"], "decidedBy": nil, "decidedAt": nil,
	} {
		if asked[field] != want {
			t.Errorf("%s is %v, want %v", field, asked[field], want)
		}
	}
	if who := asked["requestedBy"].(map[string]any); who["id"] != w.ours.member.ID.String() || who["name"] != "MEMBER" {
		t.Errorf("asked for by %v", who)
	}

	granted := w.post(w.ours.admin, path+"/grant", nil).is(200).object()
	if granted["status"] != "granted" || granted["decidedBy"].(map[string]any)["name"] != "ADMIN" || granted["decidedAt"] == nil {
		t.Errorf("granted: %v", granted)
	}
	w.post(w.ours.admin, path+"/grant", nil).problem(409, "invalid_state")
	w.clock.Advance(32 * 24 * time.Hour)
	session, _, err := w.deps.Accounts.StartSession(context.Background(), w.ours.admin.ID, accounts.MethodPassword, accounts.Client{})
	must(t, err)
	admin := person{w.ours.admin.Member, session}
	if seen := w.get(admin, path).is(200).object(); seen["status"] != "lapsed" || seen["decidedBy"] == nil {
		t.Errorf("a month later: %v", seen)
	}
	w.post(admin, path+"/revoke", nil).problem(409, "invalid_state")

	another := w.asked(admin)
	if refused := w.decide(admin, another, "revoke").is(200).object(); refused["status"] != "revoked" {
		t.Errorf("refused: %v", refused)
	}
	p := w.decide(admin, another, "grant").problem(409, "invalid_state")
	if p.Detail != "The exception is revoked." {
		t.Errorf("detail %q", p.Detail)
	}
}

// TestFourEyes: with the setting, nobody grants what they asked for themselves, and evidence names
// who asked and who granted.
func TestFourEyes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.change(w.ours.admin, w.get(w.ours.admin, "/api/v1/organization").Header().Get("ETag"), map[string]any{"exceptionApproval": "another"}).is(200)
	shop := w.fed(w.ours, inventory.Item{ExternalID: "shop", Name: "shop", Engine: domain.PostgreSQL, CreatedAt: w.ago(100 * day)})["shop"]
	sender{w, w.ingestToken(w.ours.admin)}.send(assessmentsPath, sentBatch(w.of("shop", time.Hour, failing("PG-S02", "/dana")))).is(202)
	on := func(b map[string]any) { b["checkId"], b["instanceId"] = "PG-S02", shop }

	own := w.asked(w.ours.admin, on)
	if p := w.decide(w.ours.admin, own, "grant").problem(409, "own_request"); !strings.Contains(p.Detail, "nother administrator") {
		t.Errorf("it is refused as %+v", p)
	}
	if still := w.get(w.ours.admin, "/api/v1/exceptions/"+own).is(200).object(); still["status"] != "requested" {
		t.Errorf("refused, it is %v", still)
	}
	w.decide(w.ours.admin, w.asked(w.ours.member, on), "grant").is(200)

	_, d, err := evidence.Parse(w.evidenceFor(w.ours.auditor, members{"check": "PG-S02", "from": w.ago(day), "to": w.ago(-day)}, "").is(200).Body.Bytes())
	must(t, err)
	if len(d.Exceptions) != 1 || d.Exceptions[0].RequestedBy != (evidence.Named{ID: w.ours.member.ID, Name: w.ours.member.Name}) ||
		d.Exceptions[0].GrantedBy != (evidence.Named{ID: w.ours.admin.ID, Name: w.ours.admin.Name}) {
		t.Errorf("evidence has %+v", d.Exceptions)
	}
}

func TestExceptionRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ours, theirs := w.instance(w.ours, "ours"), w.instance(w.theirs, "theirs")
	set := func(fields map[string]any) func(map[string]any) {
		return func(b map[string]any) {
			for name, v := range fields {
				b[name] = v
			}
		}
	}
	for name, c := range map[string]struct {
		fields map[string]any
		status int
		code   string
		places []string
	}{
		"no such check":                {map[string]any{"checkId": "CVE-2024-7348"}, 422, "unknown_check", []string{"body #/checkId unknown_check"}},
		"an unknown instance":          {map[string]any{"instanceId": uuid.New()}, 422, "instance_not_in_organization", []string{"body #/instanceId instance_not_in_organization"}},
		"a foreign instance":           {map[string]any{"instanceId": theirs}, 422, "instance_not_in_organization", []string{"body #/instanceId instance_not_in_organization"}},
		"a database alone":             {map[string]any{"databaseId": uuid.New()}, 422, "database_not_on_instance", []string{"body #/databaseId database_not_on_instance"}},
		"an unknown database":          {map[string]any{"instanceId": ours, "databaseId": uuid.New()}, 422, "database_not_on_instance", []string{"body #/databaseId database_not_on_instance"}},
		"in the past":                  {map[string]any{"until": "2020-01-01T00:00:00Z"}, 422, "out_of_range", []string{"body #/until out_of_range"}},
		"for two years":                {map[string]any{"until": w.clock.Now().AddDate(2, 0, 0)}, 422, "out_of_range", []string{"body #/until out_of_range"}},
		"a blank reason":               {map[string]any{"reason": " \n "}, 422, "out_of_range", []string{"body #/reason out_of_range"}},
		"U+0000":                       {map[string]any{"reason": "a\x00b", "objectRef": "\x00"}, 422, "out_of_range", []string{"body #/objectRef out_of_range", "body #/reason out_of_range"}},
		"everything at once":           {map[string]any{"checkId": "X", "instanceId": theirs, "reason": " ", "until": "2020-01-01T00:00:00Z"}, 422, "unknown_check", []string{"body #/checkId unknown_check", "body #/instanceId instance_not_in_organization", "body #/reason out_of_range", "body #/until out_of_range"}},
		"no time":                      {map[string]any{"until": "tomorrow"}, 400, "invalid_parameter", []string{"body #/until invalid_parameter"}},
		"a member that does not exist": {map[string]any{"acceptedBy": "me"}, 400, "unknown_field", []string{"body #/acceptedBy unknown_field"}},
	} {
		p := w.post(w.ours.member, "/api/v1/exceptions", w.asking(set(c.fields))).problem(c.status, c.code)
		got := p.places()
		slices.Sort(got)
		if !slices.Equal(got, c.places) {
			t.Errorf("%s: places %v, want %v", name, got, c.places)
		}
	}
	if left := w.get(w.ours.viewer, "/api/v1/exceptions").listed(); left != "" {
		t.Errorf("what was refused left %s", left)
	}
}

func TestExceptionList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	instance := w.instance(w.ours, "orders")
	first := w.asked(w.ours.member, func(b map[string]any) { b["instanceId"] = instance })
	w.clock.Advance(time.Minute)
	second := w.asked(w.ours.admin, func(b map[string]any) {
		b["checkId"], b["until"] = "PG-S02", w.clock.Now().Add(time.Hour).Format(time.RFC3339)
	})
	w.asked(w.ours.admin, func(b map[string]any) { b["checkId"] = "PG-S04" }) // at the same moment: the later id
	w.decide(w.ours.admin, first, "revoke").is(200)
	w.decide(w.ours.admin, second, "grant").is(200)
	w.asked(w.theirs.member)
	for path, want := range map[string]string{
		"":                                      "PG-S04:requested PG-S02:granted PG-S01:revoked",
		"?status=granted&status=requested":      "PG-S04:requested PG-S02:granted",
		"?status=lapsed":                        "",
		"?instanceId=" + instance.String():      "PG-S01:revoked",
		"?instanceId=" + uuid.NewString():       "",
		"?checkId=PG-S01&checkId=PG-S02":        "PG-S02:granted PG-S01:revoked",
		"?page=2&pageSize=2":                    "PG-S01:revoked",
		"?page=9&pageSize=2":                    "",
		"?checkId=PG-S01&status=requested":      "",
		"?checkId=PG-S01&status=revoked&page=1": "PG-S01:revoked",
	} {
		if got := w.get(w.ours.viewer, "/api/v1/exceptions"+path).listed(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	page := w.get(w.ours.auditor, "/api/v1/exceptions?page=2&pageSize=2").is(200)
	if p := page.object()["page"].(map[string]any); p["totalItems"] != 3.0 || p["totalPages"] != 2.0 || page.Header().Get("Link") == "" {
		t.Errorf("page %v, %s", p, page.Header().Get("Link"))
	}
	w.clock.Advance(time.Hour)
	if got := w.get(w.ours.viewer, "/api/v1/exceptions?status=lapsed").listed(); got != "PG-S02:lapsed" {
		t.Errorf("an hour later: %q", got)
	}
	for _, bad := range []string{"?status=maybe", "?instanceId=", "?instanceId=x", "?checkId=", "?sort=id"} {
		w.get(w.ours.viewer, "/api/v1/exceptions"+bad).is(400)
	}
	w.get(w.ours.viewer, "/api/v1/exceptions?"+strings.Repeat("instanceId="+uuid.NewString()+"&", 501)).problem(422, "too_many_instances")
}

// Who asks, who decides, and who only looks; with a session and with a token.
func TestExceptionRoles(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	id := w.asked(w.ours.member)
	for _, p := range []person{w.ours.viewer, w.ours.auditor} {
		w.post(p, "/api/v1/exceptions", w.asking()).problem(403, "forbidden")
		w.get(p, "/api/v1/exceptions/"+id).is(200)
	}
	for _, p := range []person{w.ours.viewer, w.ours.auditor, w.ours.member} {
		w.decide(p, id, "grant").problem(403, "forbidden")
		w.decide(p, id, "revoke").problem(403, "forbidden")
	}
	creating := w.token(w.ours.admin, organization.ScopeReportsCreate)
	made := w.do(request{method: "POST", path: "/api/v1/exceptions", token: creating, json: w.asking()}).is(201).object()
	if who := made["requestedBy"].(map[string]any); who["id"] != w.ours.admin.ID.String() {
		t.Errorf("by token asked for by %v", who)
	}
	w.do(request{method: "POST", path: "/api/v1/exceptions/" + id + "/grant", token: creating}).problem(403, "forbidden")
	w.do(request{method: "POST", path: "/api/v1/exceptions/" + id + "/grant", token: w.token(w.ours.admin, organization.ScopeAdmin)}).is(200)
}

// A foreign exception is an unknown one, in every action.
func TestForeignExceptions(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	foreign := w.asked(w.theirs.member)
	report := w.requested(w.ours, w.ours.member).String()
	for _, id := range []string{foreign, uuid.NewString(), report, w.ours.organization.ID.String()} {
		w.get(w.ours.admin, "/api/v1/exceptions/"+id).problem(404, "not_found")
		w.decide(w.ours.admin, id, "grant").problem(404, "not_found")
		w.decide(w.ours.admin, id, "revoke").problem(404, "not_found")
	}
	if seen := w.get(w.theirs.admin, "/api/v1/exceptions/"+foreign).is(200).object(); seen["status"] != "requested" {
		t.Errorf("a stranger left %v", seen)
	}
}

// The read model stands still: the answer is what the caller did, and says so.
func TestExceptionsWhileTheReadModelLags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known := w.asked(w.ours.member)
	w.stopProjections()
	made := w.post(w.ours.member, "/api/v1/exceptions", w.asking()).is(201)
	if made.Header().Get("X-Muster-Lagging") != "true" || made.object()["status"] != "requested" {
		t.Errorf("asked for: %v %v", made.Header(), made.object())
	}
	if granted := w.decide(w.ours.admin, known, "grant").is(200); granted.object()["status"] != "granted" || granted.object()["decidedBy"] == nil {
		t.Errorf("granted: %v", granted.object())
	}
	if revoked := w.decide(w.ours.admin, known, "revoke").is(200); revoked.object()["status"] != "revoked" {
		t.Errorf("revoked: %v", revoked.object())
	}
	w.decide(w.ours.admin, made.object()["id"].(string), "grant").problem(503, "unavailable")
}

// Names are those of today; who was erased is an id.
func TestExceptionsOfAnErasedMember(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	id := w.asked(w.ours.member)
	_, err := w.deps.Commands.EraseMember(context.Background(), usecase.Actor{OrganizationID: w.ours.organization.ID, MemberID: w.ours.admin.ID}, w.ours.member.ID, nil)
	must(t, err)
	who := w.get(w.ours.viewer, "/api/v1/exceptions/"+id).is(200).object()["requestedBy"].(map[string]any)
	if who["id"] != w.ours.member.ID.String() || who["name"] != "" {
		t.Errorf("asked for by %v", who)
	}
}
