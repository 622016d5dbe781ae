package httpapi

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"

	"github.com/gin-gonic/gin"

	"muster/domain/organization"
	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/wire"
)

// The pages are the application of web/: one document at every address of a page,
// that anyone may load, filled over the API with what the caller may see. The
// description of the API alone is made here, and works without it.

//go:embed pages
var pagesFS embed.FS

// contentSecurityPolicy is the contract's, §15.
const contentSecurityPolicy = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; " +
	"base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// pageAddresses are those of web/src/routes.tsx (contract §17).
var pageAddresses = []string{
	"/",
	"/alerts", "/alerts/:alertId",
	"/reports", "/reports/view", "/reports/preview/:card", "/reports/history", "/reports/verify", "/reports/:reportId",
	"/exports",
	"/instances", "/instances/new", "/instances/connect", "/instances/:instanceId",
	"/exceptions",
	"/settings/members", "/settings/tokens", "/settings/organization", "/settings/account",
	"/audit",
	"/ops/projections", "/ops/jobs", "/ops/dead-letters", "/ops/outbox",
	"/setup", "/invitation",
}

func (s *server) registerPages(engine *gin.Engine) error {
	serve := func(address string, handler http.Handler) {
		s.routes[contract.RouteKey(http.MethodGet, address)] = &contract.Route{Method: http.MethodGet, Path: address, Roles: []organization.Role{contract.Anyone}, Page: true}
		engine.GET(address, func(c *gin.Context) {
			c.Header("Content-Security-Policy", contentSecurityPolicy)
			handler.ServeHTTP(c.Writer, c.Request)
		})
	}
	docs, err := s.docsPage()
	if err != nil {
		return fmt.Errorf("page of the API: %w", err)
	}
	serve("/docs/api", wire.Fixed(htmlType, askAgain, docs))
	if err := serveFiles(pagesFS, "pages", serve); err != nil {
		return err
	}
	application, err := s.application()
	if err != nil {
		return fmt.Errorf("the web application: %w", err)
	}
	s.page = application
	for _, address := range pageAddresses {
		serve(address, application)
	}
	if s.App == nil {
		return nil
	}
	return serveFiles(s.App, "assets", serve)
}

const htmlType = "text/html; charset=utf-8"

// application is the document that every page is; where the application was not
// built, one that says so.
func (s *server) application() (http.Handler, error) {
	if s.App == nil {
		text, err := fs.ReadFile(pagesFS, "pages/unbuilt.html")
		if err != nil {
			return nil, err
		}
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", htmlType)
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write(text) // the connection is gone; nobody is left to tell
		}), nil
	}
	text, err := fs.ReadFile(s.App, "index.html")
	if err != nil {
		return nil, err
	}
	if s.Cookies.OverPlainHTTP() { // the pages warn, and offer the sign-in all the same
		marked := bytes.Replace(text, []byte("<body>"), []byte("<body data-plain-http>"), 1)
		if len(marked) == len(text) {
			return nil, errors.New("index.html has no <body> to mark")
		}
		text = marked
	}
	return wire.Fixed(htmlType, askAgain, text), nil
}

// serveFiles serves a directory's files under /assets/.
func serveFiles(files fs.FS, dir string, serve func(string, http.Handler)) error {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return fmt.Errorf("assets: %w", err)
	}
	for _, file := range entries {
		kind, isAsset := assetTypes[path.Ext(file.Name())]
		if !isAsset {
			continue
		}
		text, err := fs.ReadFile(files, path.Join(dir, file.Name()))
		if err != nil {
			return fmt.Errorf("asset: %w", err)
		}
		caching := askAgain
		if hashed.MatchString(file.Name()) {
			caching = keepForEver
		}
		serve("/assets/"+file.Name(), wire.Fixed(kind, caching, text))
	}
	return nil
}

// assetTypes are given here and not looked up: what the machine's own table says
// of .js differs from one to the next, and with nosniff it matters.
var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".woff2": "font/woff2",
}

const (
	// askAgain makes the browser ask each time, so that a new release is never mixed
	// with an old script.
	askAgain = "no-cache"
	// keepForEver is for files whose name changes with their content.
	keepForEver = "public, max-age=31536000, immutable"
)

// hashed is how Vite names what it builds: name-hash.ext.
var hashed = regexp.MustCompile(`-[\w-]{8}\.\w+$`)

// asksForPage says that a person's browser asks for an address that could be a
// page's: it gets the application, which says that there is nothing.
func asksForPage(r *http.Request) bool {
	if r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return false
	}
	for _, other := range []string{"/api/", "/ingest/", "/auth/", "/assets/", "/docs/"} {
		if strings.HasPrefix(r.URL.Path, other) {
			return false
		}
	}
	return true
}

// docsPage renders the description of the API.
func (s *server) docsPage() ([]byte, error) {
	set, err := template.New("docs.html").Funcs(template.FuncMap{"paragraphs": paragraphs, "spans": spans}).ParseFS(pagesFS, "pages/docs.html")
	if err != nil {
		return nil, err
	}
	var html bytes.Buffer
	err = set.Execute(&html, struct {
		docs
		PlainHTTP bool
	}{docsOf(s.contract), s.Cookies.OverPlainHTTP()})
	return html.Bytes(), err
}
