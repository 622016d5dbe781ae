package httpapi

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"muster/internal/httpapi/pages"
	"muster/internal/text/pageaddress"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// builtApp stands for the built application: what the server does with it does not
// depend on what is in it.
var builtApp = fstest.MapFS{
	"index.html":                 {Data: []byte(`<!doctype html><html lang="en"><head><script type="module" src="/assets/index-Ab_1-xyz.js"></script></head><body><div id="root"></div></body></html>`)},
	"assets/index-Ab_1-xyz.js":   {Data: []byte(`export const a = 1;`)},
	"assets/docs-Ab_1-xyz.js.gz": {Data: packed("export const viewer = 1;")},
	"assets/theme.js":            {Data: []byte(`document.documentElement;`)},
	"docs.html":                  {Data: []byte(`<!doctype html><html lang="en"><head><script type="module" src="/assets/docs-Ab_1-xyz.js"></script></head><body><div id="viewer"></div></body></html>`)},
	".vite/manifest.json":        {Data: []byte(`{}`)},
}

// packed is a text as gzip packs it.
func packed(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.Bytes()
}

// TestACompressedAssetIsServedUnderItsName, uncompressed.
func TestACompressedAssetIsServedUnderItsName(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	a := w.do(request{method: "GET", path: "/assets/docs-Ab_1-xyz.js"}).is(200)
	if got := a.Body.String(); got != "export const viewer = 1;" || a.Header().Get("Cache-Control") != pages.KeepForEver || !strings.HasPrefix(a.Header().Get("Content-Type"), "text/javascript") {
		t.Errorf("%q, %v", got, a.Header())
	}
	w.do(request{method: "GET", path: "/assets/docs-Ab_1-xyz.js.gz"}).is(404)
}

func TestPagesAndTheirHeaders(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	for _, address := range append(pageaddress.All(), pages.Viewer) {
		a := w.do(request{method: "GET", path: somePath(address)}).is(200)
		policy, shows := pages.ContentSecurityPolicy, `<div id="root">`
		if address == pages.Viewer {
			policy, shows = pages.ViewerPolicy, `<div id="viewer">`
		}
		if a.Header().Get("Content-Security-Policy") != policy || a.Header().Get("Content-Type") != pages.HTMLType || a.Header().Get("Cache-Control") != pages.AskAgain {
			t.Errorf("%s: %v", address, a.Header())
		}
		if !strings.Contains(a.Body.String(), shows) {
			t.Errorf("%s has no %s", address, shows)
		}
	}
}

// TestAssets: what is named by its content is kept, the rest asked for again; and
// nothing is served that no page loads.
func TestAssets(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	for path, caching := range map[string]string{"/assets/index-Ab_1-xyz.js": pages.KeepForEver, "/assets/theme.js": pages.AskAgain, "/assets/unbuilt.css": pages.AskAgain, "/assets/icon.svg": pages.AskAgain} {
		if got := w.do(request{method: "GET", path: path}).is(200).Header().Get("Cache-Control"); got != caching {
			t.Errorf("%s: %q", path, got)
		}
	}
	for _, path := range []string{"/.vite/manifest.json", "/assets/manifest.json", "/assets/unbuilt.html", "/assets/gone-12345678.js"} {
		w.do(request{method: "GET", path: path, header: map[string]string{"Accept": "text/html"}}).is(404)
	}
}

// TestPageAddresses: the server knows the pages that the application has.
func TestPageAddresses(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("../../web/src/routes.tsx")
	must(t, err)
	var theirs []string
	for _, row := range regexp.MustCompile(`(?m)^\s+page\(\s*"([^"]+)"`).FindAllSubmatch(table, -1) {
		theirs = append(theirs, strings.ReplaceAll(string(row[1]), "$", ":"))
	}
	signIns := regexp.MustCompile(`(?m)^const signIns = \[([^\]]+)\]`).FindSubmatch(table)
	for _, one := range strings.Split(string(signIns[1]), ", ") {
		theirs = append(theirs, strings.Trim(one, `"`))
	}
	if diff := cmp.Diff(theirs, pageaddress.All()); diff != "" {
		t.Errorf("of the application (-) and of the server (+):\n%s", diff)
	}
}

// TestAnUnknownAddress: a person's browser gets the application, which says that there is nothing. A program
// gets a problem. No address of the API is a page.
func TestAnUnknownAddress(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	browser := map[string]string{"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
	a := w.do(request{method: "GET", path: "/no/such/page", header: browser}).is(404)
	if !strings.Contains(a.Body.String(), `<div id="root">`) || a.Header().Get("Content-Security-Policy") != pages.ContentSecurityPolicy {
		t.Errorf("%v %s", a.Header(), a.Body)
	}
	w.do(request{method: "GET", path: "/no/such/page"}).problem(404, "not_found")
	w.do(request{method: "POST", path: "/no/such/page", header: browser}).problem(404, "not_found")
	for _, path := range []string{"/api/v1/nothing", "/ingest/v1/nothing", "/auth/nothing", "/assets/nothing.js", "/docs/nothing"} {
		w.do(request{method: "GET", path: path, header: browser}).problem(404, "not_found")
	}
}

// TestWithoutTheApplication: a binary that was built without it says so on every
// page, and answers the API.
func TestWithoutTheApplication(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, func(d *Dependencies) { d.App = nil })
	for address, policy := range map[string]string{"/alerts": pages.ContentSecurityPolicy, pages.Viewer: pages.ViewerPolicy} {
		a := w.do(request{method: "GET", path: address}).is(503)
		if !strings.Contains(a.Body.String(), "make build") || a.Header().Get("Content-Security-Policy") != policy {
			t.Errorf("%s: %v %s", address, a.Header(), a.Body)
		}
	}
	w.do(request{method: "GET", path: "/api/v1/openapi.yaml"}).is(200)
	w.get(person{}, "/api/v1/session").is(200)
}

// TestPagesKnowOfPlainHTTP: the application warns where the server keeps sessions
// over plain HTTP, and refuses to ask for a password where it does not.
func TestPagesKnowOfPlainHTTP(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	for insecure, marked := range map[bool]bool{true: true, false: false} {
		w.deps.PublicURL, w.deps.InsecureCookies = mustURL(t, "http://muster.lan:8080"), insecure
		w.build()
		for _, path := range []string{"/", "/docs/api"} {
			if got := strings.Contains(w.do(request{method: "GET", path: path}).is(200).Body.String(), "<body data-plain-http>"); got != marked {
				t.Errorf("%s, insecure cookies %t: marked %t", path, insecure, got)
			}
		}
	}
}

// TestTheContractHasNoTornDescriptions: in {a: b, c} the comma ends b, and c
// becomes a key that says nothing.
func TestTheContractHasNoTornDescriptions(t *testing.T) {
	t.Parallel()
	var document yaml.Node
	text, err := openapiYAML()
	must(t, err)
	must(t, yaml.Unmarshal(text, &document))
	var look func(n *yaml.Node)
	look = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 && strings.Contains(child.Value, " ") {
				t.Errorf("line %d: %q is a key: quote the description before it", child.Line, child.Value)
			}
			look(child)
		}
	}
	look(&document)
}
