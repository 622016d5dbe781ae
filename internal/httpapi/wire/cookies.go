package wire

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"muster/internal/accounts/oidc"
)

// sessionAge is the cookie's Max-Age: a session idles for as long.
const sessionAge = 12 * time.Hour

// Cookies are the two that Muster gives a browser: of a session, and of a sign-in at
// an identity provider that is under way.
type Cookies struct {
	PublicURL *url.URL
	Insecure  bool // the operator insists on plain HTTP
}

// Session is the name of a session's cookie. A browser keeps a __Host- cookie only
// where it is Secure, and a Secure one over plain HTTP only from its own machine.
// Chromium drops it silently from http://<address in the network>, and the sign-in
// loops; so an operator who insists on plain HTTP there gets another name, and a banner.
func (c Cookies) Session() string { return c.prefix() + "muster_session" }

// Flow is the name of the cookie of a sign-in under way, under the same rule.
func (c Cookies) Flow() string { return c.prefix() + "muster_oidc" }

func (c Cookies) prefix() string {
	if c.OverPlainHTTP() {
		return ""
	}
	return "__Host-"
}

// OverPlainHTTP says that cookies cross the network readable.
func (c Cookies) OverPlainHTTP() bool {
	if !c.Insecure || c.PublicURL.Scheme == "https" {
		return false
	}
	switch c.PublicURL.Hostname() {
	case "localhost", "127.0.0.1", "::1":
		return false
	}
	return true
}

// SetSession hands a session out, or (empty) takes it back.
func (c Cookies) SetSession(ctx context.Context, token string) {
	c.set(ctx, c.Session(), token, sessionAge)
}

// SetFlow has the browser keep a sealed flow, or (empty) forget it.
func (c Cookies) SetFlow(ctx context.Context, sealed string) {
	c.set(ctx, c.Flow(), sealed, oidc.FlowLife)
}

// set is SameSite=Lax, which admits the browser that an identity provider sends back
// from another site.
func (c Cookies) set(ctx context.Context, name, value string, life time.Duration) {
	cookie := http.Cookie{
		Name: name, Value: value, Path: "/", Secure: !c.OverPlainHTTP(), HttpOnly: true,
		SameSite: http.SameSiteLaxMode, MaxAge: int(life.Seconds()),
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	CallOf(ctx).Header.Add("Set-Cookie", cookie.String())
}
