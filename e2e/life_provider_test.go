package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// grumpyProvider is an identity provider that lets nobody in and says why.
func grumpyProvider(t *testing.T) (issuer string) {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/.well-known/openid-configuration" {
			fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"jwks_uri":%q}`,
				server.URL, server.URL+"/authorize", server.URL+"/token", server.URL+"/keys")
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":%q,"error_description":%q}`, planted["an error of the provider"], planted["what the provider says"])
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// provider comes back from the identity provider, with a code that it refuses and
// with an error that somebody made up.
func (l *life) provider(t *testing.T) {
	t.Helper()
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(path, cookie string) http.Header {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.server.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Cookie", cookie)
		response, err := stay.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusFound {
			t.Fatalf("GET %s answers %d", path, response.StatusCode)
		}
		return response.Header
	}
	for what, brings := range map[string]string{
		"a code":   "code=" + planted["a code of the provider"],
		"an error": "error=" + planted["an error of the provider"] + "&error_description=" + planted["a query"],
	} {
		started := get("/auth/oidc/sso/start?returnTo=/"+planted["a query"], "")
		state := started.Get("Location")
		_, state, _ = strings.Cut(state, "state=")
		state, _, _ = strings.Cut(state, "&")
		cookie, _, _ := strings.Cut(started.Get("Set-Cookie"), ";")
		l.secret(t, "the state of "+what, state)
		l.secret(t, "the flow of "+what, cookie)
		get("/auth/oidc/sso/callback?"+brings+"&state="+state, cookie)
	}
}
