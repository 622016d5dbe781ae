package httpapi

import (
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/accounts/oidc"
	"muster/internal/httpapi/signin"
)

// TestSignInAtAProvider goes the whole way with a real provider.
func TestSignInAtAProvider(t *testing.T) {
	t.Parallel()
	issuer := startProvider(t)
	w := newWorld(t, withProvider(t, issuer))
	ana := w.person(w.ours.organization, organization.Auditor, "ana@ours.example")
	disabled := w.person(w.ours.organization, organization.Viewer, "disabled@ours.example")
	off := organization.Disabled
	_, _, err := w.deps.Commands.ChangeMember(t.Context(), usecase.Actor{OrganizationID: w.ours.organization.ID, MemberID: w.ours.admin.ID}, disabled.ID, commands.ChangeMember{Status: &off})
	must(t, err)
	invited := w.post(w.ours.admin, "/api/v1/members", map[string]any{"email": "invited@ours.example", "name": "Jo", "role": "viewer"}).is(201).object()

	offered := w.get(person{}, "/api/v1/session").is(200).object()["providers"]
	if diff := cmp.Diff([]any{map[string]any{"id": "sso", "name": "127.0.0.1", "startUrl": "/auth/oidc/sso/start"}}, offered); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}

	t.Run("a member, twice", func(t *testing.T) {
		first, second := w.userAgent(t), w.userAgent(t)
		for _, u := range []*userAgent{first, second} {
			if got := u.signsIn("ana", "/exports?reportId=1"); got != "/exports?reportId=1" {
				t.Fatalf("ends at %s", got)
			}
			if email, method := u.who(); email != "ana@ours.example" || method != "oidc" {
				t.Errorf("signed in as %q by %q", email, method)
			}
			if diff := cmp.Diff([]string{"__Host-muster_session"}, u.cookies()); diff != "" {
				t.Errorf("cookies (-want +got):\n%s", diff)
			}
		}
		var links, sessions int
		must(t, w.deps.DB.Get(&links, `SELECT count(*) FROM member_identities WHERE member_id = $1`, ana.ID))
		must(t, w.deps.DB.Get(&sessions, `SELECT count(*) FROM sessions WHERE member_id = $1 AND method = 'oidc'`, ana.ID))
		if links != 1 || sessions != 2 {
			t.Errorf("%d links, %d sessions", links, sessions)
		}
		// The provider knows them still: no form comes up. The session that the
		// browser had is not gone on with, and ends.
		before := w.userAgent(t)
		home := mustURL(t, "https://muster.test/")
		before.Jar.SetCookies(home, first.Jar.Cookies(home))
		if at, _ := first.visit("https://muster.test/auth/oidc/sso/start"); at.RequestURI() != "/" {
			t.Errorf("signed in at the provider, ends at %s", at)
		}
		if email, _ := before.who(); email != "" {
			t.Errorf("the session of before is %q's still", email)
		}
		if email, _ := first.who(); email != "ana@ours.example" {
			t.Errorf("signed in again as %q", email)
		}
	})
	t.Run("other keys", func(t *testing.T) {
		rotated, err := http.Post(issuer+"/rotate", "", nil)
		must(t, err)
		must(t, rotated.Body.Close())
		if got := w.userAgent(t).signsIn("ana", "/"); got != "/" {
			t.Errorf("ends at %s", got)
		}
	})
	t.Run("somebody invited", func(t *testing.T) {
		u := w.userAgent(t)
		if got := u.signsIn("invited", "/"); got != "/" {
			t.Fatalf("ends at %s", got)
		}
		if email, _ := u.who(); email != "invited@ours.example" {
			t.Errorf("signed in as %q", email)
		}
		_, token, _ := strings.Cut(invited["inviteUrl"].(string), "#")
		w.post(person{}, "/api/v1/invitations/"+token, map[string]any{"name": "Eve", "password": goodPassword}).problem(410, "invitation_gone")
		var joined int
		must(t, w.deps.DB.Get(&joined, `SELECT count(*) FROM events WHERE type = 'member.joined' AND convert_from(data, 'UTF8')::jsonb->>'memberId' = $1`,
			invited["member"].(map[string]any)["id"]))
		if joined != 1 {
			t.Errorf("joined %d times", joined)
		}
	})
	for _, c := range []struct{ as, reason, recorded string }{
		{"unknown", "no_account", "oidc: unknown"},
		{"disabled", "no_account", "oidc: disabled"},
		{"ana-later", "no_account", "oidc: another identity"},
		{"unproven", "email_not_verified", "oidc: no verified address"},
		{"nameless", "email_not_verified", "oidc: no verified address"},
	} {
		t.Run(c.as, func(t *testing.T) {
			u := w.userAgent(t)
			if got := u.signsIn(c.as, "/"); got != "/?signIn=failed&reason="+c.reason {
				t.Errorf("ends at %s", got)
			}
			if email, _ := u.who(); email != "" || len(u.cookies()) != 0 {
				t.Errorf("signed in as %q, cookies %v", email, u.cookies())
			}
			if got := w.refusals(); !slices.Contains(got, c.recorded) {
				t.Errorf("recorded %v", got)
			}
		})
	}
	w.refusedOnTheWay(t)
}

// refusedOnTheWay is what a real provider does with browsers that do not do what
// they are told.
func (w *world) refusedOnTheWay(t *testing.T) {
	t.Run("the callback again", func(t *testing.T) {
		u := w.userAgent(t)
		u.signsIn("ana", "/")
		if at, _ := u.visit(u.callback.String()); at.RequestURI() != "/?signIn=failed&reason=flow_expired" {
			t.Errorf("without its cookie: %s", at)
		}
		if email, _ := u.who(); email != "ana@ours.example" {
			t.Error("and is signed out by it")
		}
	})
	t.Run("the callback again, with its cookie", func(t *testing.T) {
		u := w.userAgent(t)
		at, page := u.visit("https://muster.test/auth/oidc/sso/start")
		home := mustURL(t, "https://muster.test/")
		kept := u.Jar.Cookies(home)
		u.answers("ana", at, page)
		thief := w.userAgent(t)
		thief.Jar.SetCookies(home, kept)
		if at, _ := thief.visit(u.callback.String()); at.RequestURI() != "/?signIn=failed&reason=code_refused" {
			t.Errorf("ends at %s", at)
		}
	})
	t.Run("another's callback", func(t *testing.T) {
		mallory, victim := w.userAgent(t), w.userAgent(t)
		mallory.signsIn("unknown", "/")
		at, page := victim.visit("https://muster.test/auth/oidc/sso/start")
		if at, _ := victim.visit(mallory.callback.String()); at.RequestURI() != "/?signIn=failed&reason=flow_mismatch" {
			t.Errorf("ends at %s", at)
		}
		if got := victim.answers("ana", at, page).RequestURI(); got != "/" {
			t.Errorf("their own flow then ends at %s", got)
		}
	})
	t.Run("the person says no", func(t *testing.T) {
		u := w.userAgent(t)
		at, _ := u.visit("https://muster.test/auth/oidc/sso/start")
		if at, _ := u.visit(at.String() + "/abort"); at.RequestURI() != "/?signIn=failed&reason=denied" {
			t.Errorf("ends at %s", at)
		}
	})
	t.Run("without PKCE", func(t *testing.T) {
		u := w.userAgent(t)
		u.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
			if r.URL.Host == "muster.test" {
				return nil
			}
			return http.ErrUseLastResponse
		}
		sent, err := u.Get("https://muster.test/auth/oidc/sso/start")
		must(t, err)
		must(t, sent.Body.Close())
		to := mustURL(t, sent.Header.Get("Location"))
		query := to.Query()
		query.Del("code_challenge")
		query.Del("code_challenge_method")
		to.RawQuery = query.Encode()
		u.CheckRedirect = nil
		if at, _ := u.visit(to.String()); at.RequestURI() != "/?signIn=failed&reason=provider_error" {
			t.Errorf("the provider takes it, and it ends at %s", at)
		}
	})
}

// TestCallbacksTogether: two replicas finish flows of one new identity at once.
func TestCallbacksTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withProvider(t, startProvider(t)))
	w.person(w.ours.organization, organization.Auditor, "ana@ours.example")
	const tabs = 4
	agents, waiting := make([]*userAgent, tabs), make([]string, tabs)
	for i := range agents {
		u := w.userAgent(t)
		u.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
			if r.URL.Path == signin.OIDCCallback {
				return http.ErrUseLastResponse
			}
			return nil
		}
		at, page := u.visit("https://muster.test/auth/oidc/sso/start")
		waiting[i] = u.upToTheCallback("ana", at, page)
		u.CheckRedirect = nil
		agents[i] = u
	}
	var group sync.WaitGroup
	for i, u := range agents {
		group.Go(func() {
			response, err := u.Get(waiting[i])
			if err != nil {
				t.Error(err)
				return
			}
			_ = response.Body.Close()
			if response.Request.URL.RequestURI() != "/" {
				t.Errorf("ends at %s", response.Request.URL)
			}
		})
	}
	group.Wait()
	for _, u := range agents {
		if email, _ := u.who(); email != "ana@ours.example" {
			t.Errorf("signed in as %q", email)
		}
	}
	var links int
	must(t, w.deps.DB.Get(&links, `SELECT count(*) FROM member_identities`))
	if links != 1 {
		t.Errorf("%d links", links)
	}
}

func TestProviderThatIsDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withProvider(t, "http://127.0.0.1:1"))
	u := w.userAgent(t)
	if at, _ := u.visit("https://muster.test/auth/oidc/sso/start"); at.RequestURI() != "/?signIn=failed&reason=provider_unavailable" {
		t.Errorf("ends at %s", at)
	}
	if len(u.cookies()) != 0 || len(w.refusals()) != 0 {
		t.Errorf("cookies %v, recorded %v", u.cookies(), w.refusals())
	}
}

func TestOIDCRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withProvider(t, "http://127.0.0.1:1"))
	for _, path := range []string{"/auth/oidc/corp/start", "/auth/oidc/corp/callback?code=x&state=y"} {
		w.get(person{}, path).problem(404, "not_found")
	}
	for _, returnTo := range []string{"//evil.example", `/\evil.example`, "https://evil.example", "javascript:alert(1)", "exports", "/\n", ""} {
		p := w.get(person{}, "/auth/oidc/sso/start?returnTo="+url.QueryEscape(returnTo)).problem(400, "invalid_parameter")
		if diff := cmp.Diff([]string{"query returnTo invalid_parameter"}, p.places()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", returnTo, diff)
		}
	}
	// Providers send more than they were asked for; browsers take pages only.
	extra := w.do(request{method: "GET", path: signin.OIDCCallback + "?code=x&state=y&authuser=0&hd=example.org", header: map[string]string{"Accept": "text/html"}}).is(302)
	if got := extra.Header().Get("Location"); got != "/?signIn=failed&reason=flow_expired" {
		t.Errorf("leads to %s", got)
	}
	if c := extra.cookie("__Host-muster_oidc"); c.MaxAge >= 0 || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
		t.Errorf("cookie %+v", c)
	}
	w.deps.OIDC = nil
	w.build()
	w.get(person{}, "/auth/oidc/sso/start").problem(404, "not_found")
	if offered := w.get(person{}, "/api/v1/session").is(200).object()["providers"].([]any); len(offered) != 0 {
		t.Errorf("offered %v", offered)
	}
}

// TestCallbacksAreThrottled: an address whose sign-ins come to nothing waits here
// as it does with passwords.
func TestCallbacksAreThrottled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withProvider(t, "http://127.0.0.1:1"))
	for range 20 {
		must(t, w.deps.Accounts.RefuseIdentity(t.Context(), accounts.Member{}, "unknown", accounts.Client{IP: "192.0.2.1"}))
	}
	if got := w.get(person{}, signin.OIDCCallback+"?code=x&state=y").is(302).Header().Get("Location"); got != "/?signIn=failed&reason=throttled" {
		t.Errorf("leads to %s", got)
	}
}

// TestEveryReasonHasASentence: the sign-in page knows what the API may send it.
func TestEveryReasonHasASentence(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../../web/src/access/refusal.ts")
	must(t, err)
	reasons := map[string]bool{signin.ReasonNoAccount: true, signin.ReasonUnverified: true, signin.ReasonThrottled: true}
	for _, r := range []string{
		oidc.ReasonUnavailable, oidc.ReasonExpired, oidc.ReasonMismatch, oidc.ReasonDenied, oidc.ReasonProvider, oidc.ReasonCode, oidc.ReasonToken,
	} {
		reasons[r] = true
	}
	for reason := range maps.Keys(reasons) {
		if !regexp.MustCompile(`(?m)^  ` + reason + `:\s+"`).Match(script) {
			t.Errorf("no sentence for %s", reason)
		}
	}
}
