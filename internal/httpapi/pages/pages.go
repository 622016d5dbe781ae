package pages

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"muster/internal/httpapi/wire"
	"muster/internal/text/pageaddress"
)

//go:embed files
var files embed.FS

const (
	// ContentSecurityPolicy is the contract's, §15.
	ContentSecurityPolicy = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; " +
		"base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
	// ViewerPolicy is that of the API's viewer. It has no inline styles; its pictures
	// are data: addresses in its style sheet.
	ViewerPolicy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
)

// Viewer is the address of the API's description, as a page.
const Viewer = "/docs/api"

// Page is what anyone may load at an address.
type Page struct {
	Address string
	http.Handler
}

// Site is all pages and their parts.
type Site struct {
	Pages       []Page
	Application http.Handler // the document that every page of the application is
}

// New builds the site from the built web application; app is nil where the binary is
// without it. Over plain HTTP the pages warn, and offer the sign-in all the same.
func New(app fs.FS, plainHTTP bool) (*Site, error) {
	s := &Site{}
	if err := s.addFiles(files, "files"); err != nil {
		return nil, err
	}
	viewer := unbuilt()
	s.Application = viewer
	if app != nil {
		var err error
		if s.Application, err = document(app, "index.html", plainHTTP); err != nil {
			return nil, err
		}
		if viewer, err = document(app, "docs.html", plainHTTP); err != nil {
			return nil, err
		}
		if err := s.addFiles(app, "assets"); err != nil {
			return nil, err
		}
	}
	s.addPage(Viewer, ViewerPolicy, viewer)
	for _, address := range pageaddress.All() {
		s.addPage(address, ContentSecurityPolicy, s.Application)
	}
	return s, nil
}

func (s *Site) addPage(address, policy string, handler http.Handler) {
	s.Pages = append(s.Pages, Page{address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		handler.ServeHTTP(w, r)
	})})
}

// HTMLType is the media type of every page.
const HTMLType = "text/html; charset=utf-8"

// document is a page of the built application.
func document(app fs.FS, name string, plainHTTP bool) (http.Handler, error) {
	text, err := fs.ReadFile(app, name)
	if err != nil {
		return nil, fmt.Errorf("the web application: %w", err)
	}
	if plainHTTP {
		marked := bytes.Replace(text, []byte("<body>"), []byte("<body data-plain-http>"), 1)
		if len(marked) == len(text) {
			return nil, errors.New(name + " has no <body> to mark")
		}
		text = marked
	}
	return wire.Fixed(HTMLType, AskAgain, text), nil
}

// unbuilt says that the application was not built.
func unbuilt() http.Handler {
	text, _ := files.ReadFile("files/unbuilt.html") // embedded above
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", HTMLType)
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write(text) // the connection is gone; nobody is left to tell
	})
}

// addFiles serves a directory's files under /assets/.
func (s *Site) addFiles(from fs.FS, dir string) error {
	entries, err := fs.ReadDir(from, dir)
	if err != nil {
		return fmt.Errorf("assets: %w", err)
	}
	for _, file := range entries {
		name, packed := strings.CutSuffix(file.Name(), ".gz") // the program is smaller so (Makefile)
		kind, isAsset := assetTypes[path.Ext(name)]
		if !isAsset {
			continue
		}
		text, err := fs.ReadFile(from, path.Join(dir, file.Name()))
		if err != nil {
			return fmt.Errorf("asset: %w", err)
		}
		caching := AskAgain
		if hashed.MatchString(name) {
			caching = KeepForEver
		}
		if packed {
			s.addPage("/assets/"+name, ContentSecurityPolicy, whenAsked(func() http.Handler { return wire.Fixed(kind, caching, unpack(text)) }))
		} else {
			s.addPage("/assets/"+name, ContentSecurityPolicy, wire.Fixed(kind, caching, text))
		}
	}
	return nil
}

// whenAsked makes a handler at its first request: to unpack all assets takes 20 ms, which each
// start of a process would pay.
func whenAsked(of func() http.Handler) http.Handler {
	once := sync.OnceValue(of)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { once().ServeHTTP(w, r) })
}

// unpack reads what gzip packed when the program was built.
func unpack(packed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(fmt.Errorf("asset: %w", err)) // the build made it
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(fmt.Errorf("asset: %w", err))
	}
	return text
}

// assetTypes are given here and not looked up: what the machine's own table says
// of .js differs from one to the next, and with nosniff it matters.
var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".woff2": "font/woff2",
}

const (
	// AskAgain makes the browser ask each time, so that a new release is never mixed
	// with an old script.
	AskAgain = "no-cache"
	// KeepForEver is for files whose name changes with their content.
	KeepForEver = "public, max-age=31536000, immutable"
)

// hashed is how Vite names what it builds: name-hash.ext.
var hashed = regexp.MustCompile(`-[\w-]{8}\.\w+$`)

// AsksForPage says that a person's browser asks for an address that could be a
// page's: it gets the application, which says that there is nothing.
func AsksForPage(r *http.Request) bool {
	if r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return false
	}
	others := []string{"/api/", "/ingest/", "/auth/", "/assets/", "/docs/"}
	return !slices.ContainsFunc(others, func(other string) bool { return strings.HasPrefix(r.URL.Path, other) })
}
