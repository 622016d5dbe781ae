package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/mail"
	"muster/internal/mail/mailtest"
)

// signedIn is the same person in another browser.
func (w *world) signedIn(p person) person {
	w.t.Helper()
	session, _, err := w.deps.Accounts.StartSession(w.t.Context(), p.ID, accounts.MethodPassword, client0)
	must(w.t, err)
	return person{p.Member, session}
}

func memberPath(p person) string { return "/api/v1/members/" + p.ID.String() }

func (w *world) changeMember(as, who person, body map[string]any) answer {
	w.t.Helper()
	return w.do(request{method: "PATCH", path: memberPath(who), as: as, json: body})
}

func TestANewRoleAtTheNextSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ours := w.ours
	token := w.token(ours.member, organization.ScopeReportsRead, organization.ScopeReportsCreate)
	body := map[string]any{"kind": "Security"}

	if got := w.changeMember(ours.admin, ours.member, map[string]any{"role": "viewer"}).is(200).object(); got["role"] != "viewer" || got["status"] != "active" {
		t.Errorf("changed to %v", got)
	}
	w.get(ours.member, "/api/v1/reports?kind=Security").problem(401, "unauthenticated")
	again := w.signedIn(ours.member)
	if got := w.get(again, "/api/v1/session").is(200).object()["member"].(map[string]any); got["role"] != "viewer" {
		t.Errorf("signed in as %v", got)
	}
	w.post(again, "/api/v1/reports", body).problem(403, "forbidden")
	w.do(request{method: "POST", path: "/api/v1/reports", token: token, json: body}).problem(403, "forbidden")
	w.do(request{method: "GET", path: "/api/v1/reports?kind=Security", token: token}).is(200) // a token is as good as its owner

	w.changeMember(ours.admin, ours.member, map[string]any{"role": "viewer"}).is(200) // nothing changes
	w.get(again, "/api/v1/session").is(200)
	if got := w.get(again, "/api/v1/session").object()["authenticated"]; got != true {
		t.Error("a change of nothing ended the session")
	}
}

// TestADisabledMemberLosesAccessAtOnce, with the very next request, whatever it is made with.
func TestADisabledMemberLosesAccessAtOnce(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ours := w.ours
	token := w.token(ours.member, organization.ScopeReportsRead)
	w.get(ours.member, "/api/v1/reports?kind=Security").is(200)
	w.do(request{method: "GET", path: "/api/v1/reports?kind=Security", token: token}).is(200)

	w.changeMember(ours.admin, ours.member, map[string]any{"status": "disabled"}).is(200)
	w.get(ours.member, "/api/v1/reports?kind=Security").problem(401, "unauthenticated")
	w.do(request{method: "GET", path: "/api/v1/reports?kind=Security", token: token}).problem(401, "token_revoked")
	p := w.post(ours.admin, "/api/v1/reports", map[string]any{"kind": "Security", "recipientIds": []string{ours.member.ID.String()}}).problem(422, "recipient_not_member")
	if got := p.places(); len(got) != 1 || got[0] != "body #/recipientIds/0 recipient_not_member" {
		t.Errorf("places %v", got)
	}
	w.changeMember(ours.admin, ours.member, map[string]any{"status": "active"}).is(200)
	w.do(request{method: "GET", path: "/api/v1/reports?kind=Security", token: token}).problem(401, "token_revoked") // it does not come back
}

// TestIngestTokensEndWithTheirMember: at every door, with the next request, and for good.
// Those of others go on.
func TestIngestTokensEndWithTheirMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ours := w.ours
	instance := w.instance(ours, "pg-1")
	for _, gone := range []string{"disabled", "erased"} {
		leaves := w.person(ours.organization, organization.Admin, gone+"@ours.example")
		token, limited, stays := w.ingestToken(leaves), w.ingestToken(leaves, instance), w.ingestToken(ours.admin)
		each := func(token string, status int) {
			t.Helper()
			doors := 0
			for _, r := range w.server.contract.Routes {
				if !r.IsIngest() {
					continue
				}
				doors++
				got := w.do(request{method: r.Method, path: r.Path, token: token, json: map[string]any{}})
				if (got.Code == http.StatusUnauthorized) != (status == http.StatusUnauthorized) {
					t.Errorf("%s: %s %s answers %d", gone, r.Method, r.Path, got.Code)
				}
				if status == http.StatusUnauthorized {
					got.problem(status, "token_revoked")
				}
			}
			if doors < 11 {
				t.Errorf("%d doors", doors)
			}
		}
		each(token, http.StatusOK)
		if gone == "erased" {
			w.do(request{method: "DELETE", path: memberPath(leaves), as: ours.admin}).is(204)
		} else {
			w.changeMember(ours.admin, leaves, map[string]any{"status": gone}).is(200)
		}
		each(token, http.StatusUnauthorized)
		each(limited, http.StatusUnauthorized)
		each(stays, http.StatusOK)
		if gone == "disabled" {
			w.changeMember(ours.admin, leaves, map[string]any{"status": "active"}).is(200)
			each(token, http.StatusUnauthorized)
		}
		for _, item := range w.get(ours.admin, "/api/v1/ingest-tokens").is(200).object()["items"].([]any) {
			if prefix := item.(map[string]any)["prefix"].(string); strings.HasPrefix(token, prefix) || strings.HasPrefix(limited, prefix) {
				t.Errorf("%s: the list has %v", gone, item)
			}
		}
	}
}

func TestRecipientsOfReports(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	invited := w.post(w.ours.admin, "/api/v1/members", map[string]any{"email": w.ours.address("joe"), "name": "Joe", "role": "viewer"}).is(201).object()["member"].(map[string]any)
	ask := func(id any) answer {
		return w.post(w.ours.member, "/api/v1/reports", map[string]any{"kind": "Security", "recipientIds": []any{id}})
	}
	if got := ask(invited["id"]).is(202).object()["report"].(map[string]any); got["recipientCount"] != 2.0 {
		t.Errorf("an invited member is no recipient: %v", got)
	}
	joe := person{Member: accounts.Member{ID: uuid.MustParse(invited["id"].(string))}}
	w.changeMember(w.ours.admin, joe, map[string]any{"status": "disabled"}).is(200)
	ask(invited["id"]).problem(422, "recipient_not_member")
	w.changeMember(w.ours.admin, joe, map[string]any{"status": "active"}).is(200) // invited again, for lack of a password
	ask(invited["id"]).is(200)
	w.do(request{method: "DELETE", path: memberPath(joe), as: w.ours.admin}).is(204)
	ask(invited["id"]).problem(422, "recipient_not_member")
	ask(w.theirs.member.ID).problem(422, "recipient_not_member")
}

func TestAnAdministratorChangesThemselves(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	admin := w.ours.admin
	w.changeMember(admin, admin, map[string]any{"role": "auditor"}).problem(409, "last_admin")
	w.changeMember(admin, admin, map[string]any{"status": "disabled"}).problem(409, "last_admin")
	w.do(request{method: "DELETE", path: memberPath(admin), as: admin}).problem(409, "last_admin")
	w.changeMember(admin, admin, map[string]any{"role": "admin", "status": "active"}).is(200)
	w.get(admin, "/api/v1/organization").is(200)

	w.changeMember(admin, w.ours.auditor, map[string]any{"role": "admin"}).is(200)
	changed := w.changeMember(admin, admin, map[string]any{"role": "auditor"}).is(200)
	if changed.object()["role"] != "auditor" || changed.cookie("__Host-muster_session").MaxAge >= 0 {
		t.Errorf("%s with headers %v", changed.Body, changed.Header())
	}
	w.get(admin, "/api/v1/organization").problem(401, "unauthenticated")
	w.changeMember(w.signedIn(admin), w.ours.auditor, map[string]any{"role": "viewer"}).problem(403, "forbidden")
}

// TestTwoAdministratorsTakeTheRoleFromEachOther at once: one of them stays.
func TestTwoAdministratorsTakeTheRoleFromEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.changeMember(w.ours.admin, w.ours.auditor, map[string]any{"role": "admin"}).is(200)
	pair := [2]person{w.ours.admin, w.signedIn(w.ours.auditor)}
	var answers [2]answer
	var both sync.WaitGroup
	for i := range pair {
		both.Go(func() { answers[i] = w.changeMember(pair[i], pair[1-i], map[string]any{"role": "viewer"}) })
	}
	both.Wait()
	for i, a := range answers {
		// The slower one meets the rule, or has lost their session or role already.
		if a.Code == 200 && answers[1-i].Code == 200 {
			t.Error("both did")
		}
		if a.Code != 200 && a.Code != 409 && a.Code != 401 && a.Code != 403 {
			t.Errorf("got %d: %s", a.Code, a.Body)
		}
	}
	var left int
	must(t, w.deps.DB.Get(&left, `SELECT count(*) FROM members WHERE role = 'admin' AND organization_id = $1`, w.ours.organization.ID))
	if left != 1 {
		t.Errorf("%d administrators are left", left)
	}
}

// TestMembersAreNotFoundByAddressesThatAreMasked: else a viewer could guess them,
// letter by letter.
func TestMembersAreNotFoundByAddressesThatAreMasked(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	for as, want := range map[*person]float64{&w.ours.viewer: 0, &w.ours.member: 4, &w.ours.auditor: 4, &w.ours.admin: 4} {
		found := w.get(*as, "/api/v1/members?q=.example").is(200).object()["page"].(map[string]any)["totalItems"]
		if found != want {
			t.Errorf("a %s finds %v", as.Role, found)
		}
	}
}

func TestUnknownMembers(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	stranger := person{Member: accounts.Member{ID: uuid.New()}}
	for name, who := range map[string]person{"foreign": w.theirs.member, "unknown": stranger} {
		w.changeMember(w.ours.admin, who, map[string]any{"role": "viewer"}).problem(404, "not_found")
		w.do(request{method: "DELETE", path: memberPath(who), as: w.ours.admin}).problem(404, "not_found")
		p := w.do(request{method: "POST", path: memberPath(who) + "/invitation", as: w.ours.admin}).problem(404, "not_found")
		if strings.Contains(p.Detail, who.ID.String()) {
			t.Errorf("%s: %s", name, p.Detail)
		}
	}
	w.get(w.theirs.member, "/api/v1/organization").is(200)
	for _, body := range []map[string]any{{}, {"role": "owner"}, {"status": "invited"}, {"status": "erased"}, {"name": "x"}} {
		if got := w.changeMember(w.ours.admin, w.ours.member, body); got.Code != 400 {
			t.Errorf("%v: %d", body, got.Code)
		}
	}
}

func TestRenewedInvitation(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	link := func(a answer) string {
		_, token, _ := strings.Cut(a.is(201).object()["inviteUrl"].(string), "#")
		return "/api/v1/invitations/" + token
	}
	made := w.post(w.ours.admin, "/api/v1/members", map[string]any{"email": w.ours.address("joe"), "name": "Joe", "role": "auditor"})
	first, at := link(made), made.Header().Get("Location")
	renewed := w.post(w.ours.admin, at+"/invitation", nil)
	second := link(renewed)
	if renewed.Header().Get("Location") != at || renewed.object()["member"].(map[string]any)["status"] != "invited" {
		t.Errorf("renewed: %s %v", renewed.Body, renewed.Header())
	}
	w.post(person{}, first, map[string]any{"name": "Joe", "password": goodPassword}).problem(410, "invitation_gone")
	w.post(person{}, second, map[string]any{"name": "Joe", "password": goodPassword}).is(201)
	w.post(w.ours.admin, at+"/invitation", nil).problem(409, "invalid_state")
	if facts := w.get(w.ours.auditor, "/api/v1/audit-events?type=memberInvited&actorId="+w.ours.admin.ID.String()).is(200).object()["items"].([]any); len(facts) != 2 {
		t.Errorf("the audit lists %v", facts)
	}
}

// TestAnInvitationIsMailed where a mail server is set, and its link is shown all the same.
func TestAnInvitationIsMailed(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.Options{})
	w := newWorld(t, func(d *Dependencies) {
		config, err := mail.ParseSMTPURL("smtp://" + server.Addr)
		must(t, err)
		d.Mail, err = mail.NewSMTP(config)
		must(t, err)
	})
	if got := w.get(w.ours.admin, "/api/v1/session").is(200).object()["mail"]; got != "server" {
		t.Errorf("mail goes to %v", got)
	}
	invite := func(email string) map[string]any {
		return w.post(w.ours.admin, "/api/v1/members", map[string]any{"email": email, "name": "Joe <b>", "role": "auditor"}).is(201).object()
	}
	invited := invite("joe@ours.example")
	mails := server.To("joe@ours.example")
	if invited["mailed"] != true || invited["mailError"] != nil || len(mails) != 1 {
		t.Fatalf("invited %v, %d mails", invited, len(mails))
	}
	link := strings.ReplaceAll(mails[0].Data, "=\r\n", "")
	if !strings.Contains(link, strings.ReplaceAll(invited["inviteUrl"].(string), "=", "=3D")) || strings.Contains(link, "theirs") {
		t.Errorf("the mail: %s", link)
	}
	server.Answer("away@ours.example", 550, [3]int{5, 1, 1}, "no such user")
	if refused := invite("away@ours.example"); refused["mailed"] != false || refused["mailError"] != "The mail server refused the recipient (550 5.1.1)." || refused["inviteUrl"] == "" {
		t.Errorf("refused: %v", refused)
	}
}

// TestWithoutAMailServer nothing is mailed, and every answer says so. F12.
func TestWithoutAMailServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.get(w.ours.viewer, "/api/v1/session").is(200).object()["mail"]; got != "outbox" {
		t.Errorf("mail goes to %v", got)
	}
	invited := w.post(w.ours.admin, "/api/v1/members", map[string]any{"email": "joe@ours.example", "name": "Joe", "role": "auditor"}).is(201).object()
	if invited["mailed"] != false || invited["mailError"] != nil {
		t.Errorf("invited %v", invited)
	}
	channel := w.post(w.ours.admin, "/api/v1/channels", map[string]any{"name": "Us", "kind": "email", "administrators": true}).is(201)
	if got := w.post(w.ours.admin, channel.Header().Get("Location")+"/test", nil).is(200).object(); got["outbox"] != true || got["statusCode"] != nil {
		t.Errorf("a test: %v", got)
	}
	if mails, err := w.deps.Outbox.List(w.ours.organization.ID, 10); err != nil || len(mails) == 0 {
		t.Errorf("the outbox has %v, %v", mails, err)
	}
}

func TestErasedMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, _, err := w.deps.Commands.AddMember(t.Context(), usecase.Actor{OrganizationID: w.ours.organization.ID, Component: "cli"},
		commands.NewMember{Email: "zoe@ours.example", Name: "Zoe Quine", Role: organization.Member, Password: goodPassword})
	must(t, err)
	member, _, err := w.deps.Accounts.MemberByEmail(t.Context(), "zoe@ours.example")
	must(t, err)
	zoe := w.signedIn(person{Member: member})
	token := w.token(zoe, organization.ScopeReportsRead)
	id := w.requested(w.ours, zoe, w.ours.viewer.ID)
	w.ready(w.ours, id, pdfText)
	where := func(p string) string { return fmt.Sprintf("/api/v1/reports/%s%s", id, p) }
	w.get(zoe, where("/download")).is(200)

	w.do(request{method: "DELETE", path: memberPath(zoe), as: w.ours.admin}).is(204)
	w.do(request{method: "DELETE", path: memberPath(zoe), as: w.ours.admin}).problem(404, "not_found")
	w.get(zoe, where("")).problem(401, "unauthenticated")
	w.do(request{method: "GET", path: where(""), token: token}).problem(401, "unauthenticated")
	w.post(person{}, "/api/v1/session", map[string]any{"email": "zoe@ours.example", "password": goodPassword}).problem(401, "invalid_credentials")
	for _, path := range []string{where(""), where("/events"), "/api/v1/reports?kind=Security", "/api/v1/exports", "/api/v1/members", "/api/v1/audit-events"} {
		got := w.get(w.ours.admin, path).is(200).Body.String()
		if strings.Contains(got, "Quine") || strings.Contains(got, "zoe@") {
			t.Errorf("%s still names her: %s", path, got)
		}
	}
	if r := w.get(w.ours.viewer, where("")).is(200).object()["requester"].(map[string]any); r["id"] != zoe.ID.String() || r["name"] != "" {
		t.Errorf("the requester is %v", r)
	}
	again := w.post(w.ours.admin, "/api/v1/members", map[string]any{"email": "zoe@ours.example", "name": "Zoe", "role": "viewer"}).is(201).object()["member"].(map[string]any)
	if again["id"] == zoe.ID.String() {
		t.Error("who is invited after that is the same member")
	}
	if facts := w.get(w.ours.auditor, "/api/v1/audit-events?type=memberErased").is(200).object()["items"].([]any); len(facts) != 1 {
		t.Errorf("the audit lists %v", facts)
	}
}
