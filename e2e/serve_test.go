package e2e

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/operate/demo"
	"muster/internal/postgres/cluster"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// TestLongFreshDemo takes a demo from the first start over an orderly stop and a
// SIGKILL, with commands and a second serve beside it.
func TestLongFreshDemo(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	dir := dataDir(t)
	first := serving(t, nil, "--demo", "--data-dir", dir)
	if !lastDay.MatchString(first.logged.String()) {
		t.Error("the demo says that it is ready before its last day is measured")
	}
	nobody := client{base: first.base}
	token := setupToken(t, first)
	sign := map[string]any{
		"setupToken": token, "email": "ana@acme.example", "name": "Ana", "password": password,
		"organizationName": "ignored", "demo": true,
	}
	got := nobody.call(t, http.StatusCreated, http.MethodPost, "/api/v1/setup", sign, nil)
	if got.header.Get("Set-Cookie") == "" {
		t.Error("the first administrator gets no session")
	}
	if again, err := nobody.try(t.Context(), http.MethodPost, "/api/v1/setup", sign); err != nil || again.status != http.StatusForbidden || again.code() != "setup_closed" {
		t.Errorf("the link works twice: %d %s", again.status, again.body)
	}

	refusedBeside(t, dir)
	// Commands attach to the running server's database.
	attached := []string{"--data-dir", dir}
	minted := muster(t, append([]string{"token", "create", "--email", "ana@acme.example"}, attached...)...)
	ana := client{base: first.base, token: strings.TrimSpace(minted.out)}
	for _, command := range []string{"events verify", "projections list", "dead list", "events replay", "migrate status"} {
		if got := muster(t, append(strings.Fields(command), attached...)...); got.status != 0 {
			t.Errorf("muster %s beside serve: %d %s", command, got.status, got.errors)
		}
	}
	var open struct{ Total int }
	if ana.get(t, "/api/v1/metrics/connections", &open); open.Total < 100 {
		t.Errorf("%d connections are open in the demo", open.Total)
	}
	awaitLiveServer(t, ana)
	if got := ana.get(t, "/api/v1/session", nil); got.header.Get("X-Demo-Data") != "true" {
		t.Error("an answer from the demo does not say that it is one")
	}

	first.stop(t)
	if state, err := cluster.ReadState(filepath.Join(dir, "postgres", "data")); err == nil && state.Alive(t.Context()) {
		t.Error("PostgreSQL was not stopped with serve")
	}
	second := serving(t, nil, "--demo", "--data-dir", dir)
	if strings.Contains(second.said.String(), "setup#token") {
		t.Error("a set-up installation prints a link for its first administrator")
	}
	ana.base = second.base
	awaitLiveServer(t, ana)
	before := ana.get(t, "/api/v1/reports?kind=Security", nil)
	second.kill(t)

	third := serving(t, nil, "--demo", "--data-dir", dir)
	ana.base = third.base
	if after := ana.get(t, "/api/v1/reports?kind=Security", nil); len(after.body) < len(before.body) {
		t.Errorf("after SIGKILL the history is\n%s\nand was\n%s", after.body, before.body)
	}
	if got := muster(t, append([]string{"events", "verify"}, attached...)...); got.status != 0 {
		t.Errorf("after SIGKILL the log does not verify: %s%s", got.out, got.errors)
	}
	third.stop(t)
}

var lastDay = regexp.MustCompile(`the latest measurements" percent=100 `)

var setupLink = regexp.MustCompile(`/setup#token=([A-Za-z0-9_-]+)\n`)

func setupToken(t testing.TB, r *running) string {
	t.Helper()
	eventually(t, "a setup link", func() bool { return setupLink.MatchString(r.said.String()) })
	return setupLink.FindStringSubmatch(r.said.String())[1]
}

// refusedBeside starts a second serve on a data directory.
func refusedBeside(t *testing.T, dir string) {
	t.Helper()
	got := launchHere(t, "serve", "--listen", "127.0.0.1:0", "--data-dir", dir).outcome(t)
	if got.status != command.ExitFailed {
		t.Errorf("a second serve ends with %d", got.status)
	}
	got.says(t, "another muster serve", dir, "--data-dir")
}

// awaitLiveServer waits until the demo has looked at its own PostgreSQL, the one
// server of the demo that is alive.
func awaitLiveServer(t *testing.T, c client) {
	t.Helper()
	eventually(t, "the demo's own server is assessed", func() bool {
		var page struct {
			Items []struct {
				LastAssessedAt *string `json:"lastAssessedAt"`
			} `json:"items"`
		}
		c.get(t, "/api/v1/instances?q="+demo.OwnServerName, &page)
		return len(page.Items) == 1 && page.Items[0].LastAssessedAt != nil
	})
}

func TestServeDoesNotStart(t *testing.T) {
	t.Parallel()
	home := install(t)
	home.organization(t, "Acme")
	home.within(t, func(context.Context, *installation.Installation) error { return nil }) // with its files
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	small := pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{"max_connections": "20"}})

	for name, test := range map[string]struct {
		args []string
		want []string
	}{
		"another key": {
			[]string{"--database-url", home.url, "--data-dir", home.dir, "--secret-key-file", filepath.Join(t.TempDir(), "new.key")},
			[]string{"secret key", "start with the same"},
		},
		"another store": {
			[]string{"--database-url", home.url, "--data-dir", home.dir, "--blob-url", "file://" + t.TempDir()},
			[]string{"blob store", "start with the same"},
		},
		"another machine's data directory": {
			[]string{"--database-url", home.url, "--data-dir", t.TempDir()},
			[]string{"secret key", "start with the same"},
		},
		"no key but a directory": {
			[]string{"--database-url", home.url, "--data-dir", home.dir, "--secret-key-file", home.dir},
			[]string{home.dir},
		},
		"no key but something else": {
			[]string{"--database-url", home.url, "--data-dir", home.dir, "--secret-key-file", fileWith(t, "key", "hello")},
			[]string{"key"},
		},
		"a certificate that is none": {
			[]string{"--database-url", home.url, "--data-dir", home.dir, "--signing-cert-file", fileWith(t, "cert.pem", "hello"), "--signing-key-file", fileWith(t, "key.pem", "hello")},
			[]string{"--signing-cert-file", "cannot sign PDFs", "failed to find any PEM data"},
		},
		"witnesses without a key": {
			[]string{"--database-url", home.url, "--data-dir", home.dir, "--witnesses", fileWith(t, "witnesses", "# ours\nhttps://witness.example\n")},
			[]string{"--witnesses", "line 2", "is no verifier key"},
		},
		"a port that is taken": {
			[]string{"--database-url", home.url, "--data-dir", home.dir, "--listen", taken.Addr().String()},
			[]string{taken.Addr().String(), "--listen"},
		},
		"too few connections": {
			[]string{"--database-url", small.Superuser(), "--data-dir", t.TempDir()},
			[]string{"connections too few", "max_connections is 20"},
		},
		"nobody's password": {
			[]string{"--database-url", home.url, "--data-dir", home.dir, "--admin-email", "bo@acme.example", "--admin-password-file", "/no/such/file"},
			[]string{"/no/such/file"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := launchHere(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, test.args...)...).outcome(t)
			if got.status != command.ExitFailed || got.out != "" {
				t.Errorf("serve ended with %d and printed %q", got.status, got.out)
			}
			got.says(t, test.want...)
			if lines := strings.Count("\n"+got.errors, "\nmuster: "); lines != 1 {
				t.Errorf("%d lines say why:\n%s", lines, got.errors)
			}
		})
	}
}

// TestTokenOpensTheAPI: what the command line mints works over HTTP, no further
// than it was minted for.
func TestTokenOpensTheAPI(t *testing.T) {
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	server := servingHere(t, i.flags()...)
	for _, test := range []struct {
		scopes  string
		reports int
		ops     int
	}{
		{"", http.StatusOK, http.StatusOK},
		{"reports:read", http.StatusOK, http.StatusForbidden},
		{"ops:read", http.StatusForbidden, http.StatusOK},
	} {
		args := []string{"token", "create", "--email", ana}
		if test.scopes != "" {
			args = append(args, "--scopes", test.scopes)
		}
		minted := strings.TrimSpace(i.must(t, args...))
		c := client{base: server.base, token: minted}
		c.call(t, test.reports, http.MethodGet, "/api/v1/reports?kind=Security", nil, nil)
		c.call(t, test.ops, http.MethodGet, "/api/v1/ops/projections", nil, nil)
		c.call(t, test.ops, http.MethodGet, "/metrics", nil, nil)
	}
	client{base: server.base}.call(t, http.StatusUnauthorized, http.MethodGet, "/api/v1/reports?kind=Security", nil, nil)
	server.stop(t)
}
