package httpapi

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster/internal/accounts/oidc"
	"muster/internal/httpapi/signin"
	"muster/internal/secrets"
)

// Who is known to the provider, by subject.
var atProvider = map[string]map[string]any{
	"ana":       {"email": "Ana@ours.example", "email_verified": true, "name": "Ana"},
	"ana-later": {"email": "ana@ours.example", "email_verified": true}, // who was given Ana's address after her
	"invited":   {"email": "invited@ours.example", "email_verified": true},
	"disabled":  {"email": "disabled@ours.example", "email_verified": true},
	"unknown":   {"email": "unknown@elsewhere.example", "email_verified": true},
	"unproven":  {"email": "admin@ours.example", "email_verified": false},
	"nameless":  {},
}

const oidcSecret = "a secret of thirty-two characters"

// startProvider runs the npm package oidc-provider. `make test` installs it and
// sets MUSTER_TEST_NPM, which makes a failure of its absence.
func startProvider(t *testing.T) (issuer string) {
	t.Helper()
	const home = "testdata/oidc-provider"
	_, err := os.Stat(home + "/node_modules/oidc-provider")
	if node, missing := exec.LookPath("node"); err != nil || missing != nil {
		if os.Getenv("MUSTER_TEST_NPM") != "" {
			t.Fatalf("node %q, %v, %v", node, missing, err)
		}
		t.Skip("needs node, and npm ci in internal/httpapi/" + home)
	}
	people, err := json.Marshal(atProvider)
	must(t, err)
	provider := exec.CommandContext(t.Context(), "node", "provider.mjs")
	provider.Dir = home
	provider.Env = append(os.Environ(), "PEOPLE="+string(people), "CLIENT_SECRET="+oidcSecret, "REDIRECT_URI=https://muster.test"+signin.OIDCCallback)
	provider.Stderr = t.Output()
	stop, err := provider.StdinPipe()
	must(t, err)
	said, err := provider.StdoutPipe()
	must(t, err)
	must(t, provider.Start())
	t.Cleanup(func() {
		_ = stop.Close()
		_ = provider.Wait()
	})
	issuer, err = bufio.NewReader(said).ReadString('\n')
	must(t, err)
	return strings.TrimSpace(issuer)
}

// withProvider lets people sign in at the issuer.
func withProvider(t *testing.T, issuer string) func(*Dependencies) {
	t.Helper()
	key, err := secrets.LoadOrCreate(t.TempDir() + "/secret.key")
	must(t, err)
	return func(d *Dependencies) {
		d.PublicURL = mustURL(t, "https://muster.test")
		d.OIDC = oidc.New(oidc.Settings{
			Issuer: issuer, ClientID: "muster", ClientSecret: oidcSecret, RedirectURL: "https://muster.test" + signin.OIDCCallback, Sealer: key, Now: d.Now,
		})
	}
}

// userAgent is a browser without its window: it keeps cookies and follows where it
// is sent, to the provider over the network and to Muster through its handler,
// whose every answer is held against openapi.yaml.
type userAgent struct {
	t *testing.T
	w *world
	http.Client
	mu       sync.Mutex
	callback *url.URL // the last one that the provider sent it to
}

func (w *world) userAgent(t *testing.T) *userAgent {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	u := &userAgent{t: t, w: w}
	u.Jar, u.Transport = jar, u
	return u
}

// RoundTrip implements http.RoundTripper.
func (u *userAgent) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != "muster.test" {
		return http.DefaultTransport.RoundTrip(r)
	}
	if r.URL.Path == signin.OIDCCallback {
		u.mu.Lock()
		u.callback = r.URL
		u.mu.Unlock()
	}
	served := r.Clone(r.Context())
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		served.Header.Set("Accept", "text/html")
	}
	served.RequestURI, served.RemoteAddr = r.URL.RequestURI(), "192.0.2.7:4711"
	if served.Body == nil {
		served.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	u.w.handler.ServeHTTP(recorder, served)
	u.w.conforms(served, answer{u.w.t, recorder})
	response := recorder.Result()
	response.Request = r
	return response, nil
}

// visit follows an address to where it ends, and returns that and the page.
func (u *userAgent) visit(address string) (*url.URL, string) {
	u.t.Helper()
	response, err := u.Get(address)
	must(u.t, err)
	return u.landed(response)
}

func (u *userAgent) landed(response *http.Response) (*url.URL, string) {
	u.t.Helper()
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	must(u.t, err)
	if response.StatusCode != http.StatusOK {
		u.t.Fatalf("%s answers %d: %s", response.Request.URL, response.StatusCode, page)
	}
	return response.Request.URL, string(page)
}

var prompts = regexp.MustCompile(`name="prompt" value="(\w+)"`)

// signsIn starts at Muster, goes through the provider's forms as somebody, and
// returns the path where it ends.
func (u *userAgent) signsIn(as, returnTo string) string {
	u.t.Helper()
	at, page := u.visit("https://muster.test/auth/oidc/sso/start?returnTo=" + url.QueryEscape(returnTo))
	return u.answers(as, at, page).RequestURI()
}

func (u *userAgent) answers(as string, at *url.URL, page string) *url.URL {
	u.t.Helper()
	for range 3 { // sign-in, consent
		prompt := prompts.FindStringSubmatch(page)
		if at.Host == "muster.test" || prompt == nil {
			return at
		}
		response, err := u.PostForm(at.String(), url.Values{"prompt": {prompt[1]}, "login": {as}, "password": {"any"}})
		must(u.t, err)
		at, page = u.landed(response)
	}
	return at
}

// who is what GET /api/v1/session says.
func (u *userAgent) who() (email, method string) {
	u.t.Helper()
	_, page := u.visit("https://muster.test/api/v1/session")
	var session struct {
		AuthMethod string
		Member     struct{ Email string }
	}
	must(u.t, json.Unmarshal([]byte(page), &session))
	return session.Member.Email, session.AuthMethod
}

func (u *userAgent) cookies() []string {
	names := []string{}
	for _, c := range u.Jar.Cookies(mustURL(u.t, "https://muster.test/")) {
		names = append(names, c.Name)
	}
	return slices.Sorted(slices.Values(names))
}

// refusals are the details of the refused sign-ins in our security log.
func (w *world) refusals() []string {
	w.t.Helper()
	details := []string{}
	must(w.t, w.deps.DB.Select(&details, `SELECT detail FROM security_log WHERE type = 'signInRefused' ORDER BY id`))
	return details
}

// upToTheCallback answers the provider's forms and returns the callback that it
// would be sent to.
func (u *userAgent) upToTheCallback(as string, at *url.URL, page string) string {
	u.t.Helper()
	for range 3 {
		prompt := prompts.FindStringSubmatch(page)
		response, err := u.PostForm(at.String(), url.Values{"prompt": {prompt[1]}, "login": {as}, "password": {"any"}})
		must(u.t, err)
		if to := response.Header.Get("Location"); to != "" {
			must(u.t, response.Body.Close())
			return to
		}
		at, page = u.landed(response)
	}
	u.t.Fatalf("the provider asks on and on: %s", page)
	return ""
}
