package httpapi

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"

	"github.com/gin-gonic/gin"

	"muster/domain/organization"
)

// The pages are plain HTML, CSS and JavaScript, so that Muster can be used
// before (and without) the React application: a shell that anyone may load,
// filled over the API with what the caller may see.

//go:embed pages
var pagesFS embed.FS

// contentSecurityPolicy is the contract's, §15.
const contentSecurityPolicy = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; " +
	"base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// shell is one address of the plain pages: a file laid out by layout.html. One
// without a script is all there when it is loaded.
type shell struct {
	Path, File, Title, Script string
	SignIn                    bool // for members; others see the form first
	PlainHTTP                 bool // sessions are kept over plain HTTP, and every page warns of it
	Nav                       []link
	Docs                      docs
}

type link struct{ Path, Name string }

var shells = []shell{
	{Path: "/", File: "reports.html", Title: "Reports", Script: "reports.js", SignIn: true},
	{Path: "/exports", File: "exports.html", Title: "Downloads", Script: "exports.js", SignIn: true},
	{Path: "/instances", File: "instances.html", Title: "Instances", Script: "instances.js", SignIn: true},
	{Path: "/setup", File: "setup.html", Title: "Set up", Script: "setup.js"},
	{Path: "/invitation", File: "invitation.html", Title: "Invitation", Script: "invitation.js"},
	{Path: "/docs/api", File: "docs.html", Title: "API"},
}

var navigation = []link{{"/", "Reports"}, {"/exports", "Downloads"}, {"/instances", "Instances"}, {"/docs/api", "API"}}

func (s *server) registerPages(engine *gin.Engine) error {
	serve := func(address string, handler http.Handler) {
		s.routes[routeKey(http.MethodGet, address)] = &route{method: http.MethodGet, path: address, roles: []organization.Role{anyone}, page: true}
		engine.GET(address, func(c *gin.Context) {
			c.Header("Content-Security-Policy", contentSecurityPolicy)
			handler.ServeHTTP(c.Writer, c.Request)
		})
	}
	files, err := fs.Sub(pagesFS, "pages")
	if err != nil {
		return fmt.Errorf("pages: %w", err)
	}
	for _, sh := range shells {
		sh.Nav, sh.PlainHTTP = navigation, s.insecureCookie()
		if sh.File == "docs.html" {
			sh.Docs = s.contract.docs()
		}
		html, err := sh.render(files)
		if err != nil {
			return fmt.Errorf("page %s: %w", sh.Path, err)
		}
		serve(sh.Path, fixed("text/html; charset=utf-8", askAgain, html))
	}
	assets, err := fs.ReadDir(files, ".")
	if err != nil {
		return fmt.Errorf("pages: %w", err)
	}
	for _, asset := range assets {
		kind, isAsset := assetTypes[path.Ext(asset.Name())]
		if !isAsset {
			continue
		}
		text, err := fs.ReadFile(files, asset.Name())
		if err != nil {
			return fmt.Errorf("asset: %w", err)
		}
		serve("/assets/"+asset.Name(), fixed(kind, askAgain, text))
	}
	return nil
}

// assetTypes are given here and not looked up: what the machine's own table says
// of .js differs from one to the next, and with nosniff it matters.
var assetTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// askAgain makes the browser ask each time, so that a new release is never mixed
// with an old script.
const askAgain = "no-cache"

func (sh shell) render(files fs.FS) ([]byte, error) {
	set, err := template.New("layout.html").Funcs(template.FuncMap{"paragraphs": paragraphs, "spans": spans}).ParseFS(files, "layout.html", sh.File)
	if err != nil {
		return nil, err
	}
	var html bytes.Buffer
	err = set.Execute(&html, sh)
	return html.Bytes(), err
}
