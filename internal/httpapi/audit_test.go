package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/httpapi/operations"
	"muster/internal/httpapi/wire"
)

// audited is one entry of the list as a test knows it: by what it says.
type audited struct {
	at       time.Time
	log      string
	position int64
	name     string
}

// newer is the list's order.
func newer(a, b audited) int {
	return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.log, a.log), cmp.Compare(b.position, a.position))
}

// TestAuditPagesShareOneOrder: events of three logs and entries of the security log,
// many of them at the same instants, come page by page in one order, each once,
// whatever is written in between.
func TestAuditPagesShareOneOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deps.Unlimited = true
	w.build()
	before := w.clock.Now().Add(-24 * time.Hour)
	position := int64(1 << 40)
	rapid.Check(t, func(t *rapid.T) {
		run := uuid.NewString()[:8]
		from, to := before, before.Add(time.Minute)
		before = before.Add(-time.Hour) // each run has a minute of its own
		var all []audited
		write := func(at time.Time, source int) {
			position++
			e := audited{at: at, position: position, name: fmt.Sprintf("%s-%d", run, position)}
			switch source {
			case 0:
				e.log = operations.SecurityLog
				err := w.deps.DB.Get(&e.position, `INSERT INTO security_log (at, organization_id, member_id, type, ip, request_id, detail, component)
					VALUES ($1, $2, $3, $4, '', '', $5, '') RETURNING id`, at, w.ours.organization.ID, w.ours.member.ID, "sort"+fmt.Sprint(position%3), e.name)
				if err != nil {
					t.Fatal(err)
				}
			default:
				e.log = []string{"reports", "organization", "fleet"}[source-1]
				_, err := w.deps.DB.Exec(`INSERT INTO audit_v3.entries (log, position, organization_id, at, type, actor_id, subject, data)
					VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, e.log, position, w.ours.organization.ID, at, "sort"+fmt.Sprint(position%3),
					w.ours.member.ID.String(), uuid.New(), `{"detail":"`+e.name+`"}`)
				if err != nil {
					t.Fatal(err)
				}
			}
			all = append(all, e)
		}
		instant := rapid.IntRange(0, 4)
		for range rapid.IntRange(1, 25).Draw(t, "entries") {
			write(from.Add(time.Duration(instant.Draw(t, "second"))*time.Second), rapid.IntRange(0, 3).Draw(t, "source"))
		}
		query := url.Values{"from": {from.Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)}}
		filter := rapid.SampledFrom([]string{"", "type", "actorId"}).Draw(t, "filter")
		switch filter {
		case "type":
			query["type"] = []string{"sort0", "sort2"}
		case "actorId":
			query["actorId"] = []string{w.ours.member.ID.String(), uuid.NewString()}
		}
		want := slices.DeleteFunc(slices.Clone(all), func(e audited) bool { return filter == "type" && sortOf(e) == 1 })
		slices.SortFunc(want, newer)
		var got []string
		for more := true; more; {
			query.Set("limit", fmt.Sprint(rapid.IntRange(1, 7).Draw(t, "limit")))
			page := w.get(w.ours.auditor, "/api/v1/audit-events?"+query.Encode()).is(200).object()
			for _, item := range page["items"].([]any) {
				got = append(got, item.(map[string]any)["data"].(map[string]any)["detail"].(string))
			}
			next := page["nextCursor"]
			if more = next != nil; more {
				query.Set("cursor", next.(string))
			}
			write(to.Add(-time.Second), rapid.IntRange(0, 3).Draw(t, "meanwhile")) // newer than all of them
		}
		if len(got) != len(want) {
			t.Fatalf("%d entries, want %d", len(got), len(want))
		}
		for i, e := range want {
			if got[i] != e.name {
				t.Fatalf("entry %d is %s, want %s of %s", i, got[i], e.name, e.log)
			}
		}
	})
}

// sortOf is which of three types an entry has.
func sortOf(e audited) int64 {
	var position int64
	_, _ = fmt.Sscanf(e.name[strings.Index(e.name, "-")+1:], "%d", &position)
	return position % 3
}

// trail is what the auditor sees of a type, newest first: who, and what of it.
func (w *world) trail(entryType string) []string {
	w.t.Helper()
	var seen []string
	for _, item := range w.get(w.ours.auditor, "/api/v1/audit-events?type="+entryType).is(200).object()["items"].([]any) {
		e := item.(map[string]any)
		who := "nobody"
		if actor, ok := e["actor"].(map[string]any); ok {
			who = actor["name"].(string)
		}
		detail, _ := e["data"].(map[string]any)["detail"].(string)
		seen = append(seen, strings.TrimSpace(who+" "+detail))
	}
	return seen
}

func TestSignificantActionsAreAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	us, nobody := w.ours, person{}
	expect := func(entryType string, want ...string) {
		t.Helper()
		if got := w.trail(entryType); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", entryType, got, want)
		}
	}
	invited := w.post(us.admin, "/api/v1/members", map[string]any{"email": "joe@ours.example", "name": "Joe", "role": "member"}).is(201).object()
	_, token, _ := strings.Cut(invited["inviteUrl"].(string), "#")
	joined := w.post(nobody, "/api/v1/invitations/"+token, map[string]any{"name": "Joe", "password": goodPassword}).is(201)
	joe := person{session: joined.cookie("__Host-muster_session").Value}
	w.post(nobody, "/api/v1/session", map[string]any{"email": "joe@ours.example", "password": "wrong"}).is(401)
	again := person{session: w.post(nobody, "/api/v1/session", map[string]any{"email": "joe@ours.example", "password": goodPassword}).is(200).cookie("__Host-muster_session").Value}
	signIns := w.trail(accounts.SignedIn)
	if len(signIns) < 2 || signIns[0] != "Joe password" || signIns[1] != "Joe password" {
		t.Errorf("sign-ins %q", signIns)
	}
	expect(accounts.SignInRefused, "Joe")

	w.post(joe, "/api/v1/password", map[string]any{"currentPassword": goodPassword, "newPassword": goodPassword + "!"}).is(204)
	expect(accounts.PasswordChanged, "Joe")
	w.get(again, "/api/v1/sessions").is(401)
	w.do(request{method: "DELETE", path: "/api/v1/sessions", as: joe}).is(204)
	expect(accounts.SessionsRevoked, "Joe all others")
	w.do(request{method: "DELETE", path: "/api/v1/session", as: joe}).is(204)
	expect(accounts.SignedOut, "Joe")

	// Refused once, and again, and again: one entry of a person, route and hour.
	for range 3 {
		w.get(us.viewer, "/api/v1/audit-events").problem(403, "forbidden")
	}
	w.get(us.viewer, "/api/v1/ops/jobs").problem(403, "forbidden")
	expect(accounts.Refused, "VIEWER role: GET /api/v1/ops/jobs", "VIEWER role: GET /api/v1/audit-events")
	w.clock.Advance(time.Hour)
	w.get(us.viewer, "/api/v1/ops/jobs").problem(403, "forbidden")
	w.do(request{method: "POST", path: "/api/v1/reports", as: us.member, body: "{}", header: map[string]string{"Sec-Fetch-Site": "cross-site"}}).problem(403, "cross_origin_request")
	w.do(request{method: "POST", path: "/api/v1/exports/seen", as: us.member, body: "{}", header: map[string]string{"Sec-Fetch-Site": "cross-site"}}).problem(403, "cross_origin_request")
	if got := w.trail(accounts.Refused); len(got) != 4 || got[0] != "MEMBER origin" || got[1] != "VIEWER role: GET /api/v1/ops/jobs" {
		t.Errorf("refusals %q", got)
	}

	minted := w.post(us.member, "/api/v1/api-tokens", map[string]any{"name": "ci", "scopes": []string{"reports:read"}}).is(201).object()
	expect("tokenMinted", "MEMBER")
	for range 2 {
		w.do(request{method: "GET", path: "/api/v1/reports?kind=Security", token: minted["token"].(string)}).is(200)
	}
	expect(accounts.TokenFirstUsed, "MEMBER "+minted["id"].(string))
	w.do(request{method: "GET", path: "/api/v1/members", token: minted["token"].(string)}).problem(403, "forbidden")
	if got := w.trail(accounts.Refused); got[0] != "MEMBER scope: GET /api/v1/members, token "+minted["id"].(string) {
		t.Errorf("refusals %q", got)
	}
	w.do(request{method: "DELETE", path: "/api/v1/api-tokens/" + minted["id"].(string), as: us.member}).is(204)
	expect("tokenRevoked", "MEMBER")

	w.do(request{method: "PATCH", path: "/api/v1/members/" + us.viewer.ID.String(), as: us.admin, json: map[string]any{"role": "member"}}).is(200)
	expect("memberChanged", "ADMIN")
	id := w.requested(us, us.member)
	w.ready(us, id, pdfText)
	for range 3 {
		w.get(us.member, "/api/v1/reports/"+id.String()+"/download").is(200)
	}
	expect("downloaded", "MEMBER")
	w.post(us.admin, "/api/v1/ops/projections/audit/rebuild", nil).is(202)
	expect(accounts.RebuildRequested, "ADMIN projection audit")
	if strings.Contains(fmt.Sprint(w.get(w.theirs.auditor, "/api/v1/audit-events?limit=200").is(200).object()), "VIEWER role") {
		t.Error("another organization sees ours")
	}
}

// TestANewSessionEndsTheEarlierOne: a cookie that was planted before, or left by another person, is worthless
// afterwards. A new role is a new session.
func TestANewSessionEndsTheEarlierOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ok, err := w.deps.Accounts.SetPassword(t.Context(), "member@ours.example", goodPassword)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	before := w.ours.viewer
	in := w.do(request{method: "POST", path: "/api/v1/session", as: before, json: map[string]any{"email": "member@ours.example", "password": goodPassword}}).is(200)
	now := person{session: in.cookie("__Host-muster_session").Value}
	if now.session == before.session {
		t.Error("the cookie that was there before signs in")
	}
	w.get(before, "/api/v1/sessions").problem(401, "unauthenticated")
	w.get(now, "/api/v1/sessions").is(200)
	w.do(request{method: "PATCH", path: "/api/v1/members/" + w.ours.member.ID.String(), as: w.ours.admin, json: map[string]any{"role": "auditor"}}).is(200)
	w.get(now, "/api/v1/sessions").problem(401, "unauthenticated")
}

func TestSessionsEndOnTheDot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps []time.Duration
		code  string
	}{
		"idle for less than twelve hours": {[]time.Duration{accounts.SessionIdle - time.Second}, ""},
		"idle for twelve hours":           {[]time.Duration{accounts.SessionIdle}, "session_expired"},
		"used for less than seven days":   {append(slices.Repeat([]time.Duration{8 * time.Hour}, 20), 8*time.Hour-time.Second), ""},
		"used for seven days":             {slices.Repeat([]time.Duration{8 * time.Hour}, 21), "session_expired"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i, step := range c.steps {
				w.clock.Advance(step)
				a := w.get(w.ours.member, "/api/v1/sessions")
				if i < len(c.steps)-1 || c.code == "" {
					a.is(200)
				} else {
					a.problem(401, c.code)
				}
			}
		})
	}
}

func TestCookiesFollowThePublicURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		public   string
		insecure bool
		name     string
		secure   bool
	}{
		{"https://muster.example", false, "__Host-muster_session", true},
		{"https://muster.example", true, "__Host-muster_session", true}, // the setting weakens nothing that is encrypted
		{"http://127.0.0.1:8080", false, "__Host-muster_session", true},
		{"http://localhost:8080", true, "__Host-muster_session", true},
		{"http://192.0.2.10:8080", false, "__Host-muster_session", true}, // a browser drops it, and the page says so
		{"http://192.0.2.10:8080", true, "muster_session", false},
	} {
		at := wire.Cookies{PublicURL: mustURL(t, c.public), Insecure: c.insecure}
		header := http.Header{}
		ctx := withCall(t, header)
		at.SetSession(ctx, "secret")
		at.SetSession(ctx, "")
		cookies := (&http.Response{Header: header}).Cookies()
		if len(cookies) != 2 {
			t.Fatal(cookies)
		}
		for i, cookie := range cookies {
			if cookie.Name != c.name || cookie.Secure != c.secure || !cookie.HttpOnly || cookie.Path != "/" || cookie.Domain != "" ||
				cookie.SameSite != http.SameSiteLaxMode || (i == 0) != (cookie.MaxAge == 43200) {
				t.Errorf("%s, insecure %t: %s", c.public, c.insecure, cookie.Raw)
			}
		}
	}
}

// TestRequestsOfOtherSites: what a browser says of where a request comes from
// decides, for every method that changes something.
func TestRequestsOfOtherSites(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, func(d *Dependencies) {
		d.PublicURL, d.CORSOrigins = mustURL(t, "http://muster.test"), []string{"https://wiki.example"}
	})
	token := w.token(w.ours.member, organization.ScopeReportsRead, organization.ScopeReportsCreate)
	ingest := w.ingestToken(w.ours.admin)
	body := map[string]any{"upTo": uuid.NewString()}
	for _, c := range []struct {
		name   string
		header map[string]string
		as     person
		token  string
		path   string
		status int
	}{
		{"our own page", map[string]string{"Sec-Fetch-Site": "same-origin"}, w.ours.member, "", "", 404},
		{"no browser", nil, w.ours.member, "", "", 404},
		{"typed in", map[string]string{"Sec-Fetch-Site": "none"}, w.ours.member, "", "", 404},
		{"another site", map[string]string{"Sec-Fetch-Site": "cross-site"}, w.ours.member, "", "", 403},
		{"a neighbour of our domain", map[string]string{"Sec-Fetch-Site": "same-site"}, w.ours.member, "", "", 403},
		{"an old browser, our origin", map[string]string{"Origin": "http://muster.test"}, w.ours.member, "", "", 404},
		{"an old browser, another origin", map[string]string{"Origin": "https://evil.example"}, w.ours.member, "", "", 403},
		{"no origin", map[string]string{"Origin": "null"}, w.ours.member, "", "", 403},
		{"an allowed origin with a cookie", map[string]string{"Origin": "https://wiki.example", "Sec-Fetch-Site": "cross-site"}, w.ours.member, "", "", 401},
		{"an allowed origin with a token", map[string]string{"Origin": "https://wiki.example", "Sec-Fetch-Site": "cross-site"}, person{}, token, "", 404},
		{"another site with a token", map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, person{}, token, "", 403},
		{"an agent", nil, person{}, ingest, "/ingest/v1/fleet", 400},
		{"another site at the feed", map[string]string{"Sec-Fetch-Site": "cross-site"}, person{}, ingest, "/ingest/v1/fleet", 403},
		{"a cookie at the feed", nil, w.ours.admin, "", "/ingest/v1/fleet", 401},
	} {
		path := cmp.Or(c.path, "/api/v1/exports/seen")
		a := w.do(request{method: "POST", path: path, as: c.as, token: c.token, json: body, header: c.header})
		if a.Code != c.status {
			t.Errorf("%s: %d, want %d: %s", c.name, a.Code, c.status, a.Body)
		}
	}
}

func TestTokensShrinkWithTheirOwner(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	token := w.token(w.ours.admin, organization.ScopeAdmin)
	second := w.person(w.ours.organization, organization.Admin, w.ours.address("second"))
	w.do(request{method: "GET", path: "/api/v1/audit-events", token: token}).is(200)
	w.do(request{method: "PATCH", path: "/api/v1/members/" + w.ours.admin.ID.String(), as: second, json: map[string]any{"role": "viewer"}}).is(200)
	w.do(request{method: "GET", path: "/api/v1/audit-events", token: token}).problem(403, "forbidden")
	w.do(request{method: "GET", path: "/api/v1/reports?kind=Security", token: token}).is(200)
	w.do(request{method: "POST", path: "/api/v1/api-tokens", token: token, json: map[string]any{"name": "more", "scopes": []string{"admin"}}}).problem(403, "forbidden")
	w.do(request{method: "PATCH", path: "/api/v1/members/" + w.ours.admin.ID.String(), as: second, json: map[string]any{"status": "disabled"}}).is(200)
	w.do(request{method: "GET", path: "/api/v1/reports?kind=Security", token: token}).problem(401, "token_revoked")
}

// withCall is the context of a request whose answer has the header.
func withCall(t *testing.T, header http.Header) context.Context {
	t.Helper()
	return context.WithValue(t.Context(), wire.CallKey{}, &wire.Call{Header: header})
}

// TestAuditEntriesNameTheirSubjects: events carry ids only, and the list shows the present names, to no other
// organization. The steps of builds, of which a report has more than people do, can be left out.
func TestAuditEntriesNameTheirSubjects(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	instance := w.instance(w.ours, "orders")
	w.do(request{method: "PATCH", path: "/api/v1/instances/" + instance.String(), as: w.ours.admin, json: map[string]any{"active": false}}).is(200)
	built := w.requested(w.ours, w.ours.member)
	w.building(w.ours, built)
	report := built.String()
	asked := w.do(request{
		method: "POST", path: "/api/v1/reports", as: w.ours.member,
		json: map[string]any{"kind": "DataInventory", "scope": map[string]any{}, "recipientIds": []string{}},
	}).is(202).object()
	inventory := asked["report"].(map[string]any)["id"].(string)
	exception := w.asked(w.ours.member)
	w.decide(w.ours.admin, exception, "grant").is(200)
	w.do(request{method: "DELETE", path: "/api/v1/instances/" + instance.String(), as: w.ours.admin}).is(204)
	w.do(request{method: "DELETE", path: "/api/v1/members/" + w.ours.viewer.ID.String(), as: w.ours.admin}).is(204)

	read := func(who person, query string) (types []string, names map[string]any) {
		t.Helper()
		list := w.get(who, "/api/v1/audit-events?limit=200"+query).is(200).object()
		for _, item := range list["items"].([]any) {
			types = append(types, item.(map[string]any)["type"].(string))
		}
		return types, list["names"].(map[string]any)
	}
	all, names := read(w.ours.auditor, "")
	for id, want := range map[string]any{
		instance.String(): "orders", exception: "PG-S01", w.ours.admin.ID.String(): "ADMIN", w.ours.viewer.ID.String(): "",
	} {
		if got, ok := names[id]; !ok || got != want {
			t.Errorf("%s is called %v, want %q", id, got, want)
		}
	}
	if label, _ := names[report].(string); !strings.HasPrefix(label, "Security, ") {
		t.Errorf("the report is called %q", label)
	}
	if label, _ := names[inventory].(string); !strings.HasPrefix(label, "Data inventory, ") {
		t.Errorf("the inventory is called %q", label)
	}
	if _, theirs := read(w.theirs.auditor, ""); theirs[instance.String()] != nil || theirs[report] != nil || theirs[w.ours.admin.ID.String()] != nil {
		t.Errorf("another organization reads %v", theirs)
	}
	isStep := func(name string) bool {
		return slices.Contains([]string{"buildStarted", "buildResumed", "stepCompleted"}, name)
	}
	if !slices.ContainsFunc(all, isStep) {
		t.Fatalf("there is no build step in %q", all)
	}
	want := slices.DeleteFunc(slices.Clone(all), isStep)
	for name, query := range map[string]string{"all": "", "of a type": "&type=" + strings.Join(all, "&type=")} {
		if got, _ := read(w.ours.auditor, query+"&buildSteps=exclude"); !slices.Equal(got, want) {
			t.Errorf("%s without steps: %q, want %q", name, got, want)
		}
	}
}
