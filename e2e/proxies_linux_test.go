package e2e

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"muster/internal/cli/serve"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/porttest"
)

// behindTLS is a caller from 127.0.0.2 who trusts the proxy's certificate, and the two
// files of that.
func behindTLS(t *testing.T) (caller *http.Client, certificate, key string) {
	t.Helper()
	other := httptest.NewTLSServer(nil) // for its certificate, of example.com
	t.Cleanup(other.Close)
	private, err := x509.MarshalPKCS8PrivateKey(other.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate = fileWith(t, "fullchain.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.Certificate().Raw})))
	key = fileWith(t, "privkey.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	roots := x509.NewCertPool()
	roots.AddCert(other.Certificate())
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	transport := &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "example.com", NextProtos: []string{"http/1.1"}}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, certificate, key
}

// replaced is a file of the kit in which each text is there, and is another one now.
func replaced(t *testing.T, path string, pairs ...string) string {
	t.Helper()
	text := readText(t, path)
	for n := 0; n < len(pairs); n += 2 {
		if !strings.Contains(text, pairs[n]) {
			t.Errorf("%s does not have %q", path, pairs[n])
		}
		text = strings.ReplaceAll(text, pairs[n], pairs[n+1])
	}
	return text
}

// throughProxy asks Muster through a proxy for what only holds where both agree.
func throughProxy(t *testing.T, i installed, caller *http.Client, base string) {
	t.Helper()
	ask := func(method, path, body string) answer {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Host = "example.com"
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Origin", "https://example.com")
		request.Header.Set("X-Forwarded-For", "198.51.100.7") // a caller who lies
		response, err := caller.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		said, _ := io.ReadAll(response.Body)
		return answer{status: response.StatusCode, header: response.Header, body: said}
	}
	eventually(t, "Muster is ready", func() bool { return ask(http.MethodGet, "/readyz", "").status == http.StatusOK })
	if got := ask(http.MethodGet, "/metrics", ""); got.status != http.StatusNotFound {
		t.Errorf("/metrics: %d", got.status)
	}
	if got := ask(http.MethodGet, "/api/v1/instances?q="+strings.Repeat("a", 20<<10), ""); got.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("a long request line is answered by the proxy: %d", got.status)
	}
	ask(http.MethodGet, "/api/v1/invitations/an-invitation", "") // for nginx's log
	if got := ask(http.MethodPost, "/api/v1/session", `{"email": "nobody@example.org", "password": "guessed it"}`); got.status != http.StatusUnauthorized {
		t.Errorf("a sign-in: %d %s", got.status, got.body)
	}
	var from []string
	if err := pgtest.Connect(t, i.url).Select(&from, `SELECT DISTINCT ip FROM security_log`); err != nil {
		t.Fatal(err)
	}
	if len(from) != 1 || from[0] != "127.0.0.2" {
		t.Errorf("Muster takes the caller at 127.0.0.2 for %v", from)
	}
}

// withoutTLS asks a proxy over plain HTTP: it leads people to https, and refuses programs at
// every address that is for them (ASVS 4.1.2).
func withoutTLS(t *testing.T, caller *http.Client, base string) {
	t.Helper()
	ask := func(method, path, token string) (int, string, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = "example.com"
		if token != "" {
			request.Header.Set("Authorization", token)
		}
		response, err := caller.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		return response.StatusCode, response.Header.Get("Location"), response.Header.Get("Content-Type")
	}
	for _, path := range []string{"/", "/alerts?state=Open", "/instances/1", "/docs/api", "/apis", "/auth/oidc/start"} {
		if status, to, _ := ask(http.MethodGet, path, ""); status != http.StatusPermanentRedirect || to != "https://example.com"+path {
			t.Errorf("%s over http: %d to %q", path, status, to)
		}
	}
	refused := map[string][2]string{"a page with a token": {http.MethodGet, "/alerts"}, "a form": {http.MethodPost, "/"}, "written otherwise": {http.MethodGet, "/%61pi/v1/alerts"}, "two slashes": {http.MethodGet, "//api/v1/alerts"}}
	for _, found := range regexp.MustCompile(`(?m)^  (/[^:\n]+):$`).FindAllStringSubmatch(readText(t, "internal/httpapi/openapi.yaml"), -1) {
		if !strings.HasPrefix(found[1], "/auth/") {
			refused[found[1]] = [2]string{http.MethodGet, strings.NewReplacer("{", "", "}", "").Replace(found[1])}
			refused["POST "+found[1]] = [2]string{http.MethodPost, strings.NewReplacer("{", "", "}", "").Replace(found[1])}
		}
	}
	if len(refused) < 100 {
		t.Errorf("the API has only %d addresses", len(refused))
	}
	for name, r := range refused {
		token := ""
		if name == "a page with a token" {
			token = "Bearer mst_pat_x"
		}
		if status, to, kind := ask(r[0], r[1], token); status != http.StatusForbidden || to != "" || kind != "application/problem+json" {
			t.Errorf("%s (%s %s) over http: %d to %q, %s", name, r[0], r[1], status, to, kind)
		}
	}
}

// TestTheProxiesOfTheKit puts Debian's nginx and Caddy before a Muster, over TLS, with
// the files that are shipped.
func TestTheProxiesOfTheKit(t *testing.T) {
	t.Parallel()
	start := map[string]func(t *testing.T, upstream, at, plain, certificate, key string){"nginx": startNginx, "caddy": startCaddy}
	for name, begin := range start {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(name); err != nil {
				t.Skipf("%s is not installed (Debian: apt-get install --no-install-recommends nginx-light caddy)", name)
			}
			i := install(t)
			i.organization(t, "Acme")
			upstream, at, plain := porttest.Address(t), porttest.Address(t), porttest.Address(t)
			launchHere(t, append(i.flags(), "serve", "--listen", upstream, "--roles", "api,projections", "--collect-own-host=off",
				"--public-url", "https://example.com", "--trusted-proxies", "127.0.0.1")...)
			listens(t, upstream)
			caller, certificate, key := behindTLS(t)
			begin(t, upstream, at, plain, certificate, key)
			listens(t, at)
			throughProxy(t, i, caller, "https://"+at)
			listens(t, plain)
			withoutTLS(t, caller, "http://"+plain)
			if name == "nginx" {
				nginxTakes(t, at, caller.Transport.(*http.Transport).TLSClientConfig)
			}
		})
	}
}

func listens(t *testing.T, address string) {
	t.Helper()
	eventually(t, "somebody listens at "+address, func() bool {
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	})
}

func startNginx(t *testing.T, upstream, at, plain, certificate, key string) {
	t.Helper()
	site := replaced(t, "kit/proxy/nginx.conf", "server 127.0.0.1:8080 ", "server "+upstream+" ", "muster.example.org", "example.com",
		"/etc/ssl/muster/fullchain.pem", certificate, "/etc/ssl/muster/privkey.pem", key,
		"listen 443 ssl http2;", "listen "+at+" ssl http2;", "    listen [::]:443 ssl http2;\n", "",
		"listen 80;", "listen "+plain+";", "    listen [::]:80;\n", "")
	dir, main := nginxAround(t, fileWith(t, "muster.conf", site))
	if said, err := exec.CommandContext(t.Context(), "nginx", "-p", dir, "-e", "stderr", "-t", "-c", main).CombinedOutput(); err != nil {
		t.Fatalf("nginx -t: %v\n%s", err, said)
	}
	startTool(t, "nginx", "-p", dir, "-e", "stderr", "-c", main, "-g", "master_process off;")
	t.Cleanup(func() {
		if log, _ := os.ReadFile(filepath.Join(dir, "access")); strings.Contains(string(log), "an-invitation") || !strings.Contains(string(log), "/readyz") {
			t.Errorf("its access log has\n%s", log)
		}
	})
}

// nginxAround is a directory and a configuration of nginx's own that has a site in it.
func nginxAround(t *testing.T, site string) (dir, main string) {
	t.Helper()
	dir = t.TempDir()
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;"
	}
	return dir, fileWith(t, "nginx.conf", fmt.Sprintf(`%s daemon off; worker_processes 1; pid %s/pid; error_log stderr; events {} http { access_log %[2]s/access;
client_body_temp_path %[2]s/a; proxy_temp_path %[2]s/b; fastcgi_temp_path %[2]s/c; uwsgi_temp_path %[2]s/d; scgi_temp_path %[2]s/e; include %s; }`,
		user, dir, site))
}

func startCaddy(t *testing.T, upstream, at, plain, certificate, key string) {
	t.Helper()
	_, secure, _ := net.SplitHostPort(at)
	_, insecure, _ := net.SplitHostPort(plain)
	site := replaced(t, "kit/proxy/Caddyfile", "reverse_proxy 127.0.0.1:8080", "reverse_proxy "+upstream,
		"\nhttp://muster.example.org {", "\nhttp://example.com {\n\tbind 127.0.0.1",
		"\nmuster.example.org {", "\nexample.com {\n\tbind 127.0.0.1\n\ttls "+certificate+" "+key, "muster.example.org", "example.com")
	config := fileWith(t, "Caddyfile", "{\n\tadmin off\n\thttp_port "+insecure+"\n\thttps_port "+secure+"\n}\n"+site)
	startTool(t, "env", "XDG_DATA_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(), "caddy", "run", "--adapter", "caddyfile", "--config", config)
}

// nginxTakes has nginx judge bodies by their announced length: it wants to read the
// longest that Muster takes, and itself refuses what is far beyond.
func nginxTakes(t *testing.T, at string, config *tls.Config) {
	t.Helper()
	announce := func(length int) string {
		connection, err := (&tls.Dialer{Config: config}).DialContext(t.Context(), "tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = connection.Close() }()
		_, _ = fmt.Fprintf(connection, "POST /api/v1/reports/verify HTTP/1.1\r\nHost: example.com\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", length)
		line, _ := bufio.NewReader(connection).ReadString('\n')
		return strings.TrimSpace(line)
	}
	if got := announce(64<<20 + 1); got != "HTTP/1.1 100 Continue" {
		t.Errorf("a byte more than Muster takes is answered %q by nginx", got)
	}
	if got := announce(66 << 20); !strings.HasPrefix(got, "HTTP/1.1 413") {
		t.Errorf("66 MiB are answered %q", got)
	}
}

// TestTheProxiesAgreeWithMusterOnLimits reads them from both.
func TestTheProxiesAgreeWithMusterOnLimits(t *testing.T) {
	t.Parallel()
	longest := 0
	for _, limit := range regexp.MustCompile(`x-body-limit: (\d+)`).FindAllStringSubmatch(readText(t, "internal/httpapi/openapi.yaml"), -1) {
		bytes, _ := strconv.Atoi(limit[1])
		longest = max(longest, bytes)
	}
	mebibytes := longest>>20 + 1
	nginx, caddy := readText(t, "kit/proxy/nginx.conf"), readText(t, "kit/proxy/Caddyfile")
	for text, lines := range map[string][]string{
		nginx: {fmt.Sprintf("client_max_body_size %dm;", mebibytes), fmt.Sprintf("proxy_read_timeout %.0fs;", serve.WriteTimeout.Seconds()), "keepalive_timeout 60s;"},
		caddy: {fmt.Sprintf("max_size %dMiB", mebibytes), fmt.Sprintf("response_header_timeout %.0fs", serve.WriteTimeout.Seconds()), "keepalive 60s"},
	} {
		for _, line := range lines {
			if !strings.Contains(text, line) {
				t.Errorf("it does not say %q:\n%s", line, text)
			}
		}
	}
	if serve.IdleTimeout.Seconds() <= 60 {
		t.Error("a proxy keeps connections that Muster closes")
	}
}
