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

	"muster/internal/oidc"
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
// sets MUSTER_TEST_OIDC, which makes a failure of its absence.
func startProvider(t *testing.T) (issuer string) {
	t.Helper()
	const home = "testdata/oidc-provider"
	_, err := os.Stat(home + "/node_modules/oidc-provider")
	if node, missing := exec.LookPath("node"); err != nil || missing != nil {
		if os.Getenv("MUSTER_TEST_OIDC") != "" {
			t.Fatalf("node %q, %v, %v", node, missing, err)
		}
		t.Skip("needs node, and npm ci in internal/httpapi/" + home)
	}
	people, err := json.Marshal(atProvider)
	must(t, err)
	provider := exec.CommandContext(t.Context(), "node", "provider.mjs")
	provider.Dir = home
	provider.Env = append(os.Environ(), "PEOPLE="+string(people), "CLIENT_SECRET="+oidcSecret, "REDIRECT_URI=https://muster.test"+OIDCCallback)
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
			Issuer: issuer, ClientID: "muster", ClientSecret: oidcSecret, RedirectURL: "https://muster.test" + OIDCCallback, Sealer: key, Now: d.Now,
		})
	}
}

// visitor is a browser without its window: it keeps cookies and follows where it
// is sent, to the provider over the network and to Muster through its handler,
// whose every answer is held against openapi.yaml.
type visitor struct {
	t *testing.T
	w *world
	http.Client
	mu       sync.Mutex
	callback *url.URL // the last one that the provider sent it to
}

func (w *world) visitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	v := &visitor{t: t, w: w}
	v.Jar, v.Transport = jar, v
	return v
}

// RoundTrip implements http.RoundTripper.
func (v *visitor) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != "muster.test" {
		return http.DefaultTransport.RoundTrip(r)
	}
	if r.URL.Path == OIDCCallback {
		v.mu.Lock()
		v.callback = r.URL
		v.mu.Unlock()
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
	v.w.handler.ServeHTTP(recorder, served)
	v.w.conforms(served, answer{v.w.t, recorder})
	response := recorder.Result()
	response.Request = r
	return response, nil
}

// visit follows an address to where it ends, and returns that and the page.
func (v *visitor) visit(address string) (*url.URL, string) {
	v.t.Helper()
	response, err := v.Get(address)
	must(v.t, err)
	return v.landed(response)
}

func (v *visitor) landed(response *http.Response) (*url.URL, string) {
	v.t.Helper()
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	must(v.t, err)
	if response.StatusCode != http.StatusOK {
		v.t.Fatalf("%s answers %d: %s", response.Request.URL, response.StatusCode, page)
	}
	return response.Request.URL, string(page)
}

var prompts = regexp.MustCompile(`name="prompt" value="(\w+)"`)

// signsIn starts at Muster, goes through the provider's forms as somebody, and
// returns the path where it ends.
func (v *visitor) signsIn(as, returnTo string) string {
	v.t.Helper()
	at, page := v.visit("https://muster.test/auth/oidc/sso/start?returnTo=" + url.QueryEscape(returnTo))
	return v.answers(as, at, page).RequestURI()
}

func (v *visitor) answers(as string, at *url.URL, page string) *url.URL {
	v.t.Helper()
	for range 3 { // sign-in, consent
		prompt := prompts.FindStringSubmatch(page)
		if at.Host == "muster.test" || prompt == nil {
			return at
		}
		response, err := v.PostForm(at.String(), url.Values{"prompt": {prompt[1]}, "login": {as}, "password": {"any"}})
		must(v.t, err)
		at, page = v.landed(response)
	}
	return at
}

// who is what GET /api/v1/session says.
func (v *visitor) who() (email, method string) {
	v.t.Helper()
	_, page := v.visit("https://muster.test/api/v1/session")
	var session struct {
		AuthMethod string
		Member     struct{ Email string }
	}
	must(v.t, json.Unmarshal([]byte(page), &session))
	return session.Member.Email, session.AuthMethod
}

func (v *visitor) cookies() []string {
	names := []string{}
	for _, c := range v.Jar.Cookies(mustURL(v.t, "https://muster.test/")) {
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
func (v *visitor) upToTheCallback(as string, at *url.URL, page string) string {
	v.t.Helper()
	for range 3 {
		prompt := prompts.FindStringSubmatch(page)
		response, err := v.PostForm(at.String(), url.Values{"prompt": {prompt[1]}, "login": {as}, "password": {"any"}})
		must(v.t, err)
		if to := response.Header.Get("Location"); to != "" {
			must(v.t, response.Body.Close())
			return to
		}
		at, page = v.landed(response)
	}
	v.t.Fatalf("the provider asks on and on: %s", page)
	return ""
}
