package oidc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"muster/internal/accounts/oidc"
)

// reason is why a flow was refused; empty: it was not.
func reason(t *testing.T, err error) string {
	t.Helper()
	var refusal *oidc.Refusal
	if err != nil && !errors.As(err, &refusal) {
		t.Fatalf("no refusal: %v", err)
	}
	if err == nil {
		return ""
	}
	if strings.Contains(err.Error(), "ana@") {
		t.Errorf("the log would name a person: %v", err)
	}
	return refusal.Reason
}

func TestStart(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	c := newClient(t, i.URL, newKey(t))
	asked, cookie := c.started(t, "/exports?reportId=1&x=2")
	for name, want := range map[string]string{
		"response_type": "code", "client_id": clientID, "redirect_uri": callbackURL, "scope": "openid email profile", "code_challenge_method": "S256",
	} {
		if asked.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, asked.Get(name), want)
		}
	}
	for _, secret := range []string{asked.Get("state"), asked.Get("nonce"), "/exports"} {
		if secret == "" || strings.Contains(cookie, secret) {
			t.Errorf("the cookie shows %q", secret)
		}
	}
	if again, _ := c.started(t, "/"); again.Get("state") == asked.Get("state") || again.Get("nonce") == asked.Get("nonce") || again.Get("code_challenge") == asked.Get("code_challenge") {
		t.Error("two flows share a secret")
	}
	_, long := c.started(t, "/?"+strings.Repeat("a&", 999))
	if n := len("__Host-muster_oidc=") + len(long); n > 4096 {
		t.Errorf("a browser does not keep a cookie of %d bytes", n)
	}
	if c.Name() != "127.0.0.1" {
		t.Errorf("called %q", c.Name())
	}
}

func TestFinish(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	key := newKey(t)
	asked, cookie := newClient(t, i.URL, key).started(t, "/exports?reportId=1&x=2")
	// Another replica, with the same key, finishes what one began.
	who, returnTo, err := newClient(t, i.URL, key).Finish(t.Context(), cookie, oidc.Callback{State: asked.Get("state"), Code: asked.Get("nonce")})
	if err != nil {
		t.Fatal(err)
	}
	if who.Issuer != i.URL || who.Subject != "s-1" || returnTo != "/exports?reportId=1&x=2" {
		t.Errorf("%s %s, to %s", who.Issuer, who.Subject, returnTo)
	}
	if email, err := who.VerifiedEmail(t.Context()); err != nil || email != "ana@example.org" || i.asked["/userinfo"] != 0 {
		t.Errorf("%q, %v, userinfo asked %d times", email, err, i.asked["/userinfo"])
	}
	challenge := sha256.Sum256([]byte(i.form.Get("code_verifier")))
	if !i.basic || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(challenge[:]) || i.form.Get("redirect_uri") != callbackURL {
		t.Errorf("exchanged with %v", i.form)
	}
}

// TestCallbackIsRefused holds what a browser brings back against its flow.
func TestCallbackIsRefused(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	i.document["authorization_response_iss_parameter_supported"] = true
	key := newKey(t)
	c := newClient(t, i.URL, key)
	asked, cookie := c.started(t, "/")
	_, others := c.started(t, "/")
	_, foreign := newClient(t, i.URL, newKey(t)).started(t, "/") // sealed under a key that is gone
	_, elsewhere := newClient(t, newIssuer(t).URL, key).started(t, "/")
	fine := oidc.Callback{State: asked.Get("state"), Code: asked.Get("nonce"), Issuer: i.URL}
	changed := func(change func(*oidc.Callback)) oidc.Callback {
		b := fine
		change(&b)
		return b
	}
	changedAt := func(text string, at int) string {
		other := "A"
		if text[at] == 'A' {
			other = "B"
		}
		return text[:at] + other + text[at+1:]
	}
	for name, test := range map[string]struct {
		cookie string
		back   oidc.Callback
		want   string
	}{
		"as it should be":        {cookie, fine, ""},
		"no cookie":              {"", fine, oidc.ReasonExpired},
		"a cookie of no form":    {"%%%", fine, oidc.ReasonExpired},
		"a changed cookie":       {changedAt(cookie, 20), fine, oidc.ReasonExpired},
		"a rotated key":          {foreign, fine, oidc.ReasonExpired},
		"other settings":         {elsewhere, fine, oidc.ReasonExpired},
		"another flow's cookie":  {others, fine, oidc.ReasonMismatch},
		"no state":               {cookie, changed(func(b *oidc.Callback) { b.State = "" }), oidc.ReasonMismatch},
		"another issuer":         {cookie, changed(func(b *oidc.Callback) { b.Issuer = "https://evil.example" }), oidc.ReasonMismatch},
		"no issuer, as promised": {cookie, changed(func(b *oidc.Callback) { b.Issuer = "" }), oidc.ReasonMismatch},
		"the person said no":     {cookie, changed(func(b *oidc.Callback) { b.Code, b.Error = "", "access_denied" }), oidc.ReasonDenied},
		"another error":          {cookie, changed(func(b *oidc.Callback) { b.Code, b.Error = "", "server_error" }), oidc.ReasonProvider},
		"an error of another's":  {cookie, changed(func(b *oidc.Callback) { b.Error, b.State = "access_denied", "x" }), oidc.ReasonMismatch},
		"nothing":                {cookie, changed(func(b *oidc.Callback) { b.Code = "" }), oidc.ReasonProvider},
		"a used code":            {cookie, changed(func(b *oidc.Callback) { b.Code = "used" }), oidc.ReasonCode},
		"a code of another flow": {cookie, changed(func(b *oidc.Callback) { b.Code = "its nonce" }), oidc.ReasonToken},
	} {
		t.Run(name, func(t *testing.T) {
			who, returnTo, err := c.Finish(t.Context(), test.cookie, test.back)
			if got := reason(t, err); got != test.want {
				t.Errorf("%q, want %q (%v)", got, test.want, err)
			}
			if err != nil && (who != nil || returnTo != "") {
				t.Errorf("refused, and yet %v to %q", who, returnTo)
			}
		})
	}
	c.advance(oidc.FlowLife + time.Second)
	if _, _, err := c.Finish(t.Context(), cookie, fine); reason(t, err) != oidc.ReasonExpired {
		t.Errorf("after ten minutes: %v", err)
	}
}

// TestForgedTokens holds ID tokens that no honest provider makes.
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	c := newClient(t, i.URL, newKey(t))
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	honest := i.token
	claiming := func(changes map[string]any) func(map[string]any) string {
		return func(claims map[string]any) string { return honest(with(claims, changes)) }
	}
	in := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	type claims = map[string]any
	for name, test := range map[string]struct {
		token func(map[string]any) string
		want  string
	}{
		"honest":                 {honest, ""},
		"unsigned":               {unsigned, oidc.ReasonToken},
		"signed with the secret": {func(c claims) string { return i.sign(jose.HS256, []byte(clientSecret+"…"), i.kid, c) }, oidc.ReasonToken},
		"signed with the public key as a secret": {func(c claims) string {
			return i.sign(jose.HS256, i.key.N.Bytes(), i.kid, c)
		}, oidc.ReasonToken},
		"another's key":            {func(c claims) string { return i.sign(jose.RS256, stranger, i.kid, c) }, oidc.ReasonToken},
		"another's key, named":     {func(c claims) string { return i.sign(jose.RS256, stranger, "k-2", c) }, oidc.ReasonToken},
		"an algorithm not told of": {func(c claims) string { return i.sign(jose.PS256, i.key, i.kid, c) }, oidc.ReasonToken},
		"changed":                  {func(c claims) string { return strings.Replace(honest(c), ".e", ".f", 1) }, oidc.ReasonToken},
		"no token":                 {func(claims) string { return "" }, oidc.ReasonToken},
		"another issuer":           {claiming(claims{"iss": "https://evil.example"}), oidc.ReasonToken},
		"for another client":       {claiming(claims{"aud": "other"}), oidc.ReasonToken},
		"for two, issued to us":    {claiming(claims{"aud": []string{clientID, "other"}, "azp": clientID}), ""},
		"for two":                  {claiming(claims{"aud": []string{clientID, "other"}}), oidc.ReasonToken},
		"issued to another":        {claiming(claims{"azp": "other"}), oidc.ReasonToken},
		"expired, by the clocks":   {claiming(claims{"exp": in(-30 * time.Second)}), ""},
		"expired":                  {claiming(claims{"exp": in(-2 * time.Minute)}), oidc.ReasonToken},
		"never expires":            {claiming(claims{"exp": nil}), oidc.ReasonToken},
		"not yet, by the clocks":   {claiming(claims{"nbf": in(4*time.Minute - time.Second)}), ""},
		"not yet valid":            {claiming(claims{"nbf": in(time.Hour)}), oidc.ReasonToken},
		"no nonce":                 {claiming(claims{"nonce": nil}), oidc.ReasonToken},
		"another nonce":            {claiming(claims{"nonce": "another"}), oidc.ReasonToken},
		"nobody":                   {claiming(claims{"sub": nil}), oidc.ReasonToken},
		"too long a subject":       {claiming(claims{"sub": strings.Repeat("s", 256)}), oidc.ReasonToken},
		"a subject with U+0000":    {claiming(claims{"sub": "s\x00"}), oidc.ReasonToken},
		"another access token's":   {claiming(claims{"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}), oidc.ReasonToken},
		"an address that is none":  {claiming(claims{"email": 7}), oidc.ReasonToken},
	} {
		t.Run(name, func(t *testing.T) {
			i.mu.Lock()
			i.token = test.token
			i.mu.Unlock()
			_, err := c.round(t)
			if got := reason(t, err); got != test.want {
				t.Errorf("%q, want %q (%v)", got, test.want, err)
			}
		})
	}
}

// TestTheSecretDoesNotFollowARedirect of the token endpoint, and neither do the code and its verifier.
func TestTheSecretDoesNotFollowARedirect(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	i.document["token_endpoint"] = i.URL + "/moved/token"
	c := newClient(t, i.URL, newKey(t))
	_, err := c.round(t)
	if got := reason(t, err); got != oidc.ReasonUnavailable || i.asked["/moved/token"] != 1 || i.asked["/token"] != 0 {
		t.Errorf("%q (%v), asked %v", got, err, i.asked)
	}
}

func TestVerifiedEmail(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	c := newClient(t, i.URL, newKey(t))
	honest := i.token
	type claims = map[string]any
	for name, test := range map[string]struct {
		token    claims // changes
		userinfo claims
		email    string
		reason   string
	}{
		"in the token":         {claims{}, nil, "ana@example.org", ""},
		"not verified":         {claims{"email_verified": false}, nil, "", ""},
		"no word of it":        {claims{"email_verified": nil}, nil, "", ""},
		"a string":             {claims{"email_verified": "true"}, nil, "ana@example.org", ""},
		"a number":             {claims{"email_verified": 1}, nil, "", ""},
		"with U+0000":          {claims{"email": "ana\x00@example.org"}, nil, "", ""},
		"of userinfo":          {claims{"email": nil, "email_verified": nil}, claims{"sub": "s-1", "email": "bo@example.org", "email_verified": true}, "bo@example.org", ""},
		"nowhere":              {claims{"email": nil, "email_verified": nil}, claims{"sub": "s-1"}, "", ""},
		"of userinfo, refused": {claims{"email": nil}, claims{"sub": "s-1", "email": "bo@example.org", "email_verified": false}, "", ""},
		"half of it in each":   {claims{"email": nil}, claims{"sub": "s-1", "email": "bo@example.org"}, "", ""}, // the token's word is for no address
		"somebody else's":      {claims{"email": nil}, claims{"sub": "s-2", "email": "bo@example.org", "email_verified": true}, "", oidc.ReasonToken},
	} {
		t.Run(name, func(t *testing.T) {
			i.mu.Lock()
			i.token = func(c claims) string { return honest(with(c, test.token)) }
			i.userinfo = test.userinfo
			i.mu.Unlock()
			who, err := c.round(t)
			if err != nil {
				t.Fatal(err)
			}
			if email, err := who.VerifiedEmail(t.Context()); email != test.email || reason(t, err) != test.reason {
				t.Errorf("%q, %v", email, err)
			}
		})
	}
	i.mu.Lock()
	i.away["/userinfo"] = true
	i.token = func(c claims) string { return honest(with(c, claims{"email": nil})) }
	i.mu.Unlock()
	who, err := c.round(t)
	if err != nil {
		t.Fatal(err) // who is linked already needs no address
	}
	if _, err := who.VerifiedEmail(t.Context()); reason(t, err) != oidc.ReasonUnavailable {
		t.Errorf("userinfo is down: %v", err)
	}
}

func TestLocalPath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"/": true, "/exports?reportId=1&x=%2F#part": true, "/a//b": true, "/a:b": true, "/?next=https://evil.example": true,
		// Of this site all the same: nobody decodes these before they resolve them.
		"/%2Fevil.example": true, "/%5Cevil.example": true, "/%09/evil.example": true, "/.//evil.example": true,
		"": false, "exports": false, "//evil.example": false, `/\evil.example`: false, `/a\b`: false, "https://evil.example/": false,
		"javascript:alert(1)": false, "/a b": false, "/a\r\nSet-Cookie: x=1": false, "/a\tb": false, "/ü": false, "/%zz": false,
		"/\u2044/evil.example": false, "/\uff0fevil.example": false, "///evil.example": false, "/\x00/evil.example": false, "/\x7f/": false,
		" /": false, "\t//evil.example": false, "/" + strings.Repeat("a", 2000): false,
	} {
		if got := oidc.LocalPath(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
