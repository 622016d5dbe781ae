package e2e

import (
	"net/http"
	"strings"
	"testing"

	"muster/internal/cli/command"
)

// TestProviderThatIsDown: serve starts without its identity provider, says so to
// whoever wants to sign in there, and signs others in.
func TestProviderThatIsDown(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	server := serving(t, []string{
		"MUSTER_OIDC_ISSUER=http://127.0.0.1:1", "MUSTER_OIDC_CLIENT_ID=muster",
		"MUSTER_OIDC_CLIENT_SECRET_FILE=" + fileWith(t, "client-secret", "never shown\n"),
	}, i.flags()...)

	var session struct {
		PasswordLogin bool
		Providers     []struct{ StartURL string }
	}
	client{base: server.base}.get(t, "/api/v1/session", &session)
	if len(session.Providers) != 1 || !session.PasswordLogin {
		t.Fatalf("offered %+v", session)
	}
	unfollowed := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.base+session.Providers[0].StartURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := unfollowed.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if got.StatusCode != http.StatusFound || got.Header.Get("Location") != "/?signIn=failed&reason=provider_unavailable" {
		t.Errorf("%d, to %s", got.StatusCode, got.Header.Get("Location"))
	}
	server.stop(t)
	if log := server.logged.String(); !strings.Contains(log, "connection refused") || strings.Contains(log, "never shown") {
		t.Errorf("logged %s", log)
	}
}

func TestClientSecretIsMissing(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	for name, test := range map[string]struct{ file, want string }{
		"no file": {"/no/such/file", "/no/such/file"},
		"empty":   {fileWith(t, "client-secret", "\n"), "is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := launchHere(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--oidc-issuer", "http://127.0.0.1:1",
				"--oidc-client-id", "muster", "--oidc-client-secret-file", test.file}, i.flags()...)...).outcome(t)
			if got.status != command.ExitFailed {
				t.Errorf("serve ends with %d", got.status)
			}
			got.says(t, test.want, "--oidc-client-secret-file")
		})
	}
}
