package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/internal/httpapi/pages"
)

// everyAnswer asks for every route, and for what is none, so that answers and
// refusals of every layer are seen.
func (w *world) everyAnswer(visit func(what string, page bool, a answer), header map[string]string) {
	w.t.Helper()
	token := w.anyToken(w.person(w.ours.organization, organization.Admin, uuid.NewString()+"@ours.example"), organization.ScopeAdmin)
	for _, key := range slices.Sorted(maps.Keys(w.server.routes)) {
		r := w.server.routes[key]
		if r.Page {
			visit(key, true, w.do(request{method: r.Method, path: r.Path, header: header}))
			continue
		}
		for name, token := range map[string]string{"nobody": "", "an administrator": token} {
			visit(key+" as "+name, false, w.do(request{method: r.Method, path: somePath(r.Path), token: token, body: someBody(r), header: header}))
		}
	}
	for _, r := range []request{
		{method: "GET", path: "/nowhere"}, {method: "GET", path: "/api/v1/reports/x/y"}, {method: "PUT", path: "/api/v1/exports"}, {method: "BREW", path: "/"},
		{method: "GET", path: "/api/v1/reports?kind=" + strings.Repeat("x", 33<<10)}, {method: "POST", path: "/", header: map[string]string{"Sec-Fetch-Site": "cross-site"}},
	} {
		if r.header == nil {
			r.header = header
		}
		visit(fmt.Sprintf("%s %.40s", r.method, r.path), false, w.do(r))
	}
}

// TestSecurityHeaders: the headers of §1.2 and §15 on every answer of every
// layer, over HTTP and HTTPS. What is on all of them, do and conforms hold.
func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			w := sharedWorld(t, func(d *Dependencies) { d.Unlimited, d.PublicURL = true, &url.URL{Scheme: scheme, Host: "muster.test"} })
			w.everyAnswer(func(what string, page bool, a answer) {
				strict := map[string]string{"http": "", "https": "max-age=31536000"}[scheme]
				if got := a.Header().Get("Strict-Transport-Security"); got != strict {
					t.Errorf("%s: Strict-Transport-Security is %q", what, got)
				}
				caching, policy := a.Header().Get("Cache-Control"), a.Header().Get("Content-Security-Policy")
				switch open := strings.Contains(what, "/openapi.") || strings.Contains(what, "/muster-keys.json"); {
				case page && (policy != policyOf(what) || caching != pages.AskAgain && (caching != pages.KeepForEver || !hashed.MatchString(what))):
					t.Errorf("%s: %q, Cache-Control %q", what, policy, caching)
				case open && !strings.HasPrefix(caching, "public, max-age="), !page && !open && !strings.HasPrefix(caching, "private, no-"):
					t.Errorf("%s: Cache-Control is %q", what, caching)
				}
				if a.Header().Get("Access-Control-Allow-Origin") != "" || slices.Contains(a.Header().Values("Vary"), "Origin") {
					t.Errorf("%s: CORS is on by itself: %v", what, a.Header())
				}
				for _, cookie := range a.Result().Cookies() {
					if !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteLaxMode || !strings.HasPrefix(cookie.Name, "__Host-") {
						t.Errorf("%s: %s", what, cookie.Raw)
					}
				}
			}, nil)
		})
	}
}

// policyOf is the policy of the page that was asked for: the viewer's is stricter.
func policyOf(what string) string {
	if strings.Contains(what, pages.Viewer) {
		return pages.ViewerPolicy
	}
	return pages.ContentSecurityPolicy
}

// hashed is how Vite names what it builds: name-hash.ext.
var hashed = regexp.MustCompile(`-[\w-]{8}\.\w+$`)

// inline is what the policy forbids in a page: a script without src, a handler, a
// script as an address, a style sheet or anything else from elsewhere.
var inline = regexp.MustCompile(`(?i)<script(?:[^>]*[^>a-z])?>[^<]|<script(?:\s[^>]*)?>\s*[^<\s]|\son[a-z]+\s*=\s*["']|javascript:|<base\b|<object\b|<embed\b|<iframe\b|(?:src|href|action)\s*=\s*["'](?:https?:)?//`)

func TestPagesHaveNoInlineScripts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`<script>alert(1)</script>`: true, `<script type="module"> x</script>`: true, `<a onclick="x">`: true, `<a href="javascript:x">`: true,
		`<img src="//evil.example/x">`: true, `<script src="/assets/a.js" defer></script>`: false, `<a href="/docs/api">`: false,
	} {
		if inline.MatchString(text) != want {
			t.Errorf("%s is taken for the contrary", text)
		}
	}
	w := sharedWorld(t)
	for _, page := range []string{"/", "/docs/api"} {
		if found := inline.FindString(w.do(request{method: "GET", path: page}).is(200).Body.String()); found != "" {
			t.Errorf("%s has %q", page, found)
		}
	}
}

// TestCORSOnEveryRoute: only the listed origin, only the API, never with
// credentials; and a page of that origin cannot use the cookie.
func TestCORSOnEveryRoute(t *testing.T) {
	t.Parallel()
	const friend = "https://friend.example"
	w := sharedWorld(t, func(d *Dependencies) { d.Unlimited, d.CORSOrigins = true, []string{friend} })
	api := func(what string) bool { return strings.Contains(what, " /api/") || strings.Contains(what, " /ingest/") }
	for origin, listed := range map[string]bool{friend: true, "https://evil.example": false, "null": false, friend + ".evil.example": false, "http://friend.example": false, "": false} {
		w.everyAnswer(func(what string, _ bool, a answer) {
			want := ""
			if listed && api(what) {
				want = friend
			}
			if got := a.Header().Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("%s from %q: allowed is %q", what, origin, got)
			}
			if exposed := a.Header().Get("Access-Control-Expose-Headers"); (exposed == exposedHeaders) != (want != "") {
				t.Errorf("%s from %q: exposed is %q", what, origin, exposed)
			}
			if a.Header().Get("Access-Control-Allow-Credentials") != "" || !slices.Contains(a.Header().Values("Vary"), "Origin") {
				t.Errorf("%s from %q: %v", what, origin, a.Header())
			}
		}, map[string]string{"Origin": origin})
	}
	for _, key := range slices.Sorted(maps.Keys(w.server.routes)) {
		r := w.server.routes[key]
		preflight := func(origin string) answer {
			return w.do(request{method: "OPTIONS", path: somePath(r.Path), header: map[string]string{
				"Origin": origin, "Access-Control-Request-Method": r.Method, "Access-Control-Request-Headers": "authorization"}})
		}
		if a := preflight("https://evil.example"); a.Code < 400 || a.Header().Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("a stranger's preflight of %s: %d %v", key, a.Code, a.Header())
		}
		if !api(key) {
			continue
		}
		a := preflight(friend).is(204)
		for name, want := range map[string]string{
			"Access-Control-Allow-Origin": friend, "Access-Control-Allow-Methods": "GET, POST, PATCH, DELETE", "Access-Control-Allow-Credentials": "",
			"Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match",
		} {
			if got := a.Header().Get(name); got != want {
				t.Errorf("preflight of %s: %s is %q", key, name, got)
			}
		}
		if !r.Open() { // not even an administrator's cookie
			as := w.do(request{method: r.Method, path: somePath(r.Path), as: w.ours.admin, body: someBody(r), header: map[string]string{"Origin": friend}})
			as.problem(401, "unauthenticated")
		}
	}
}

// TestConditionsAndRanges: what http.ServeContent would answer in its own words,
// or with a type that openapi.yaml does not have.
func TestConditionsAndRanges(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	id := w.requested(w.ours, w.ours.member)
	w.ready(w.ours, id, pdfText)
	get := func(path, name, value string) answer {
		return w.do(request{method: "GET", path: path, as: w.ours.member, header: map[string]string{name: value}})
	}
	download := "/api/v1/reports/" + id.String() + "/download"
	tag := get(download, "Accept", "application/pdf").is(200).Header().Get("ETag")
	get(download, "If-Match", `"another"`).problem(412, "precondition_failed")
	get(download, "If-Match", tag).is(200)
	get(download, "If-None-Match", tag).is(304)
	get(download, "If-Unmodified-Since", "Thu, 01 Jan 1970 00:00:00 GMT").problem(412, "precondition_failed")
	if several := get(download, "Range", "bytes=0-0,2-3").is(200); several.Body.String() != pdfText {
		t.Errorf("several ranges: %s", several.Body)
	}
	for _, path := range []string{"/api/v1/openapi.json", "/api/v1/openapi.yaml", "/docs/api", "/assets/unbuilt.css"} {
		whole := get(path, "Range", "bytes=999999999-").is(200)
		get(path, "If-Match", `"another"`).is(200)
		if same := get(path, "If-None-Match", whole.Header().Get("ETag")).is(304); same.Body.Len() > 0 {
			t.Errorf("%s: 304 with a body", path)
		}
	}
}
