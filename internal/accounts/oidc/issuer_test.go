package oidc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"muster/internal/accounts/oidc"
	"muster/internal/secrets"
)

const (
	clientID     = "muster"
	clientSecret = "a secret that both sides know"
	callbackURL  = "https://muster.example/auth/oidc/sso/callback"
)

// issuer is a provider that answers whatever a test wants: an honest one never
// makes a forged token. The round with a real one is in package httpapi.
type issuer struct {
	*testing.T
	*httptest.Server

	mu       sync.Mutex
	key      *rsa.PrivateKey
	kid      string
	document map[string]any // beside the usual members of discovery
	token    func(claims map[string]any) string
	userinfo map[string]any
	others   func(good map[string]any) []any // the key set around the key that signs; nil: it is alone
	away     map[string]bool                 // paths that answer 502
	asked    map[string]int
	form     url.Values // of the last exchange
	basic    bool       // it named the client in the header
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{T: t, away: map[string]bool{}, asked: map[string]int{}, document: map[string]any{}}
	i.rotate("k-1")
	i.token = func(claims map[string]any) string { return i.sign(jose.RS256, i.key, i.kid, claims) }
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("POST /token", i.exchange)
	mux.HandleFunc("/moved/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.TrimPrefix(r.URL.Path, "/moved"), http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("GET /userinfo", func(w http.ResponseWriter, _ *http.Request) { i.answer(w, i.userinfo) })
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.asked[r.URL.Path]++
		if i.away[r.URL.Path] {
			http.Error(w, "a page that names ana@example.org", http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) rotate(kid string) {
	i.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		i.Fatal(err)
	}
	i.key, i.kid = key, kid
}

func (i *issuer) answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

func (i *issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	document := map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
		"jwks_uri": i.URL + "/keys", "userinfo_endpoint": i.URL + "/userinfo",
		"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
	}
	maps.Copy(document, i.document)
	i.answer(w, document)
}

func (i *issuer) keys(w http.ResponseWriter, _ *http.Request) {
	good := map[string]any{}
	text, _ := json.Marshal(jose.JSONWebKey{Key: i.key.Public(), KeyID: i.kid, Algorithm: "RS256", Use: "sig"})
	_ = json.Unmarshal(text, &good)
	keys := []any{good}
	if i.others != nil {
		keys = i.others(good)
	}
	i.answer(w, map[string]any{"keys": keys})
}

// exchange takes every code but "used", and answers with a token that says what
// an honest provider would say, changed by the test.
func (i *issuer) exchange(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	i.form = r.PostForm
	_, _, i.basic = r.BasicAuth()
	if r.PostForm.Get("code") == "used" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant","error_description":"ana@example.org used it"}`))
		return
	}
	now := time.Now()
	i.answer(w, map[string]any{"access_token": "at-1", "token_type": "Bearer", "id_token": i.token(map[string]any{
		"iss": i.URL, "sub": "s-1", "aud": clientID, "exp": now.Add(time.Minute).Unix(), "iat": now.Unix(),
		"nonce": r.PostForm.Get("code"), "email": "ana@example.org", "email_verified": true,
	})})
}

// sign makes a token under any algorithm, even one that no provider should use.
func (i *issuer) sign(algorithm jose.SignatureAlgorithm, key any, kid string, claims map[string]any) string {
	i.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: kid}}, nil)
	if err != nil {
		i.Error(err)
		return ""
	}
	text, _ := json.Marshal(claims)
	signed, err := signer.Sign(text)
	if err != nil {
		i.Error(err)
		return ""
	}
	compact, _ := signed.CompactSerialize()
	return compact
}

// unsigned is a token of "alg":"none".
func unsigned(claims map[string]any) string {
	text, _ := json.Marshal(claims)
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none"}`)) + "." + encode(text) + "."
}

// with changes claims; a nil value takes one away.
func with(claims, changes map[string]any) map[string]any {
	changed := maps.Clone(claims)
	maps.Copy(changed, changes)
	maps.DeleteFunc(changed, func(_ string, v any) bool { return v == nil })
	return changed
}

// client is Muster's side, with a clock that moves by hand.
type client struct {
	*oidc.Provider
	mu sync.Mutex
	by time.Duration
}

func (c *client) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.by)
}

func (c *client) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by += d
}

func newKey(t *testing.T) *secrets.Ring {
	t.Helper()
	key, err := secrets.LoadOrCreate(t.TempDir() + "/secret.key")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newClient(t *testing.T, issuer string, sealer oidc.Sealer) *client {
	t.Helper()
	c := &client{}
	c.Provider = oidc.New(oidc.Settings{
		Issuer: issuer, ClientID: clientID, ClientSecret: clientSecret, RedirectURL: callbackURL, Sealer: sealer, Now: c.now,
	})
	return c
}

// started begins a flow and returns what the provider is sent, and the cookie.
func (c *client) started(t *testing.T, returnTo string) (url.Values, string) {
	t.Helper()
	location, cookie, err := c.Start(t.Context(), returnTo)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	return to.Query(), cookie
}

// round is a sign-in from its start to its end; the issuer's codes are the nonces.
func (c *client) round(t *testing.T) (*oidc.Identity, error) {
	t.Helper()
	asked, cookie := c.started(t, "/")
	who, _, err := c.Finish(t.Context(), cookie, oidc.Callback{State: asked.Get("state"), Code: asked.Get("nonce")})
	return who, err
}
