package oidc_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/accounts/oidc"
)

func TestKeysAreRotated(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	c := newClient(t, i.URL, newKey(t))
	round := func() string {
		_, err := c.round(t)
		return reason(t, err)
	}
	for _, kid := range []string{"k-1", "k-2", "k-2"} {
		i.mu.Lock()
		if i.kid != kid {
			i.rotate(kid)
		}
		i.mu.Unlock()
		if got := round(); got != "" {
			t.Errorf("with %s: %s", kid, got)
		}
	}
	if i.asked["/keys"] != 2 {
		t.Errorf("keys asked for %d times", i.asked["/keys"])
	}
	i.mu.Lock()
	i.rotate("k-3")
	i.away["/keys"] = true
	i.mu.Unlock()
	if got := round(); got != oidc.ReasonUnavailable {
		t.Errorf("keys cannot be fetched: %q", got)
	}
}

// TestUnknownKeysAreSkipped: the key that signs is found beside them. C5.
func TestUnknownKeysAreSkipped(t *testing.T) {
	t.Parallel()
	const x, y = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
	// but is the key that signs, with one thing about it that is wrong.
	but := func(good map[string]any, name string, value any) map[string]any {
		return with(good, map[string]any{name: value})
	}
	type key = map[string]any
	for name, other := range map[string]func(good map[string]any) []any{
		"secp256k1":                  func(key) []any { return []any{key{"kty": "EC", "crv": "secp256k1", "kid": "k-0", "x": x, "y": y}} },
		"secp256k1, same kid":        func(key) []any { return []any{key{"kty": "EC", "crv": "secp256k1", "kid": "k-1", "x": x, "y": y}} },
		"brainpoolP256r1":            func(key) []any { return []any{key{"kty": "EC", "crv": "BP-256", "x": x, "y": y}} },
		"not on its curve":           func(key) []any { return []any{key{"kty": "EC", "crv": "P-256", "x": x, "y": x}} },
		"Ed448":                      func(key) []any { return []any{key{"kty": "OKP", "crv": "Ed448", "x": x}} },
		"X25519":                     func(key) []any { return []any{key{"kty": "OKP", "crv": "X25519", "x": x}} },
		"ML-DSA":                     func(key) []any { return []any{key{"kty": "AKP", "alg": "ML-DSA-44", "pub": x}} },
		"an algorithm nobody knows":  func(good map[string]any) []any { return []any{but(good, "alg", "XY512")} },
		"an algorithm that is none":  func(good map[string]any) []any { return []any{but(good, "alg", 7)} },
		"a kid that is none":         func(good map[string]any) []any { return []any{but(good, "kid", 7)} },
		"no type":                    func(good map[string]any) []any { return []any{but(good, "kty", nil)} },
		"no modulus":                 func(good map[string]any) []any { return []any{but(good, "n", nil)} },
		"not base64":                 func(good map[string]any) []any { return []any{but(good, "n", "***")} },
		"for encryption":             func(good map[string]any) []any { return []any{but(good, "use", "enc")} },
		"a secret":                   func(key) []any { return []any{key{"kty": "oct", "kid": "k-1", "k": x}} },
		"a certificate that is none": func(good map[string]any) []any { return []any{but(good, "x5c", []string{"MIIB"})} },
		"no object":                  func(key) []any { return []any{nil, "key", 7, []any{}} },
		"another of the same kid":    func(good map[string]any) []any { return []any{but(good, "n", otherModulus(good["n"].(string)))} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			i.others = func(good map[string]any) []any { return append(other(good), good) }
			if _, err := newClient(t, i.URL, newKey(t)).round(t); err != nil {
				t.Errorf("sign-in: %v", err)
			}
		})
	}
	for name, keys := range map[string]func(good map[string]any) []any{
		"its certificate is none": func(good map[string]any) []any { return []any{but(good, "x5c", []string{"MIIB"})} },
		"its thumbprint is none":  func(good map[string]any) []any { return []any{but(good, "x5t", "AQ")} },
	} {
		i := newIssuer(t)
		i.others = keys
		if _, err := newClient(t, i.URL, newKey(t)).round(t); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, keys := range map[string]func(good map[string]any) []any{
		"for encryption alone": func(good map[string]any) []any { return []any{but(good, "use", "enc")} },
		"another key":          func(good map[string]any) []any { return []any{but(good, "n", otherModulus(good["n"].(string)))} },
		"none":                 func(map[string]any) []any { return []any{} },
	} {
		i := newIssuer(t)
		i.others = keys
		if _, err := newClient(t, i.URL, newKey(t)).round(t); reason(t, err) != oidc.ReasonToken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// otherModulus is a modulus of the same length that is another. One in 32 begins with x.
func otherModulus(n string) string {
	if n[0] == 'x' {
		return "y" + n[1:]
	}
	return "x" + n[1:]
}

func TestProviderIsDown(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	i.away["/.well-known/openid-configuration"] = true
	c := newClient(t, i.URL, newKey(t))
	begin := func() string {
		_, _, err := c.Start(t.Context(), "/")
		return reason(t, err)
	}
	var group sync.WaitGroup
	for range 8 { // the first asks, the others wait or are told what it was told
		group.Go(func() {
			if got := begin(); got != oidc.ReasonUnavailable {
				t.Errorf("got %q", got)
			}
		})
	}
	group.Wait()
	const discovery = "/.well-known/openid-configuration"
	if i.asked[discovery] != 1 {
		t.Errorf("asked %d times", i.asked[discovery])
	}
	i.mu.Lock()
	i.away[discovery] = false
	i.mu.Unlock()
	c.advance(6 * time.Second)
	if got := begin(); got != "" {
		t.Errorf("it is back: %q", got)
	}

	i.mu.Lock()
	i.away[discovery] = true
	i.mu.Unlock()
	c.advance(2 * time.Hour)
	if got := begin(); got != "" || i.asked[discovery] != 3 {
		t.Errorf("down again, known of old: %q, asked %d times", got, i.asked[discovery])
	}
	if got := begin(); got != "" || i.asked[discovery] != 3 {
		t.Errorf("a moment later: %q, asked %d times", got, i.asked[discovery])
	}
	i.mu.Lock()
	i.away["/token"] = true
	i.mu.Unlock()
	_, err := c.round(t)
	if got := reason(t, err); got != oidc.ReasonUnavailable {
		t.Errorf("no exchange: %q", got)
	}
}

// TestProviderHangs: whoever waits for discovery may give up, and the others go on.
func TestProviderHangs(t *testing.T) {
	t.Parallel()
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(func() {
		hanging.CloseClientConnections()
		hanging.Close()
	})
	c := newClient(t, hanging.URL, newKey(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := c.Start(ctx, "/"); reason(t, err) != oidc.ReasonUnavailable {
		t.Errorf("gave up: %v", err)
	}
}

func TestDiscoveryIsRefused(t *testing.T) {
	t.Parallel()
	other := newIssuer(t)
	for name, change := range map[string]map[string]any{
		"another issuer":        {"issuer": "https://login.microsoftonline.com/{tenantid}/v2.0"},
		"no token endpoint":     {"token_endpoint": nil},
		"no keys":               {"jwks_uri": nil},
		"a document of no form": {"jwks_uri": 7},
	} {
		i := newIssuer(t)
		i.document = change
		if _, _, err := newClient(t, i.URL, newKey(t)).Start(t.Context(), "/"); reason(t, err) != oidc.ReasonUnavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	away := httptest.NewServer(http.RedirectHandler(other.URL+"/.well-known/openid-configuration", http.StatusFound))
	t.Cleanup(away.Close)
	if _, _, err := newClient(t, away.URL, newKey(t)).Start(t.Context(), "/"); reason(t, err) != oidc.ReasonUnavailable || other.asked["/.well-known/openid-configuration"] != 0 {
		t.Errorf("followed elsewhere: %v", err)
	}
}

// TestClientNamesItself in the way that the provider knows.
func TestClientNamesItself(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		methods []string
		secret  string
		basic   bool
		form    url.Values
	}{
		"the default":     {nil, clientSecret, true, url.Values{}},
		"in the header":   {[]string{"client_secret_post", "client_secret_basic"}, clientSecret, true, url.Values{}},
		"in the body":     {[]string{"client_secret_post"}, clientSecret, false, url.Values{"client_id": {clientID}, "client_secret": {clientSecret}}},
		"a public client": {[]string{"none"}, "", false, url.Values{"client_id": {clientID}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			if test.methods != nil {
				i.document["token_endpoint_auth_methods_supported"] = test.methods
			}
			c := newClient(t, i.URL, newKey(t))
			c.ClientSecret = test.secret
			if _, err := c.round(t); err != nil {
				t.Fatal(err)
			}
			got := url.Values{}
			for _, name := range []string{"client_id", "client_secret"} {
				if i.form.Has(name) {
					got.Set(name, i.form.Get(name))
				}
			}
			if diff := cmp.Diff(test.form, got); diff != "" || i.basic != test.basic {
				t.Errorf("in the header: %v, in the body (-want +got):\n%s", i.basic, diff)
			}
		})
	}
}
