package httpapi

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
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

// pagePaths are the addresses of pages and the files that they show.
var pagePaths = map[string]string{
	"/":           "reports.html",
	"/exports":    "exports.html",
	"/instances":  "instances.html",
	"/setup":      "setup.html",
	"/invitation": "invitation.html",
}

func (s *server) registerPages(engine *gin.Engine) {
	serve := func(path string, handler http.Handler) {
		s.routes[routeKey(http.MethodGet, path)] = &route{method: http.MethodGet, path: path, roles: []organization.Role{anyone}, page: true}
		engine.GET(path, func(c *gin.Context) {
			c.Header("Content-Security-Policy", contentSecurityPolicy)
			handler.ServeHTTP(c.Writer, c.Request)
		})
	}
	files, err := fs.Sub(pagesFS, "pages")
	if err != nil {
		panic(err) // the name is checked at build time
	}
	for path, file := range pagePaths {
		serve(path, page(files, file))
	}
	for _, asset := range []string{"muster.css", "muster.js", "reports.js", "exports.js", "instances.js", "setup.js", "invitation.js", "icon.svg"} {
		serve("/assets/"+asset, page(files, asset))
	}
	serve("/docs/api", s.docsPage(files))
}

// page serves one embedded file; the browser asks again each time, so that a
// new release is never mixed with an old script.
func page(files fs.FS, name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeFileFS(w, r, files, name)
	})
}

// docsPage renders openapi.yaml as one page without scripts or foreign parts.
func (s *server) docsPage(files fs.FS) http.Handler {
	page, err := template.ParseFS(files, "docs.html")
	var body bytes.Buffer
	if err == nil {
		err = page.Execute(&body, s.contract.docs())
	}
	if err != nil {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.Log.ErrorContext(r.Context(), "docs page", "error", err)
			(&problem{Code: "internal_error", Detail: internalDetail}).write(w, r, callOf(r.Context()).requestID)
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body.Bytes()))
	})
}

// What the docs page shows.
type (
	docs struct {
		Title, Description string
		Groups             []docsGroup
		Schemas            []docsSchema
	}
	docsGroup struct {
		Name, Description string
		Operations        []docsOperation
	}
	docsOperation struct {
		ID, Method, Path, Summary, Description string
		Roles, Scopes, Codes                   []string
		Parameters                             []docsField
		Body                                   string // name of its schema, or its type
		Answers                                []docsAnswer
	}
	docsField  struct{ Name, In, Type, Note string }
	docsAnswer struct{ Status, Text, Body string }
	docsSchema struct {
		Name, Note string
		Fields     []docsField
		Example    string
	}
)

func (c *contract) docs() docs {
	d := docs{Title: c.document.Info.Title, Description: c.document.Info.Description}
	for _, tag := range c.document.Tags {
		group := docsGroup{Name: tag.Name, Description: tag.Description}
		for _, path := range c.document.Paths.InMatchingOrder() {
			for method, operation := range c.document.Paths.Value(path).Operations() {
				if slices.Contains(operation.Tags, tag.Name) {
					group.Operations = append(group.Operations, c.docsOperation(method, path, operation))
				}
			}
		}
		slices.SortFunc(group.Operations, func(a, b docsOperation) int { return strings.Compare(a.Path+a.Method, b.Path+b.Method) })
		d.Groups = append(d.Groups, group)
	}
	for _, name := range slices.Sorted(maps.Keys(c.document.Components.Schemas)) {
		d.Schemas = append(d.Schemas, docsSchemaOf(name, c.document.Components.Schemas[name].Value))
	}
	return d
}

func (c *contract) docsOperation(method, path string, o *openapi3.Operation) docsOperation {
	out := docsOperation{ID: o.OperationID, Method: method, Path: path, Summary: o.Summary, Description: o.Description}
	out.Roles, _ = words(o, "x-role")
	out.Scopes, _ = words(o, "x-scope")
	out.Codes, _ = words(o, "x-problem-codes")
	for _, p := range o.Parameters {
		note := p.Value.Description
		if p.Value.Required {
			note = strings.TrimSpace("required. " + note)
		}
		out.Parameters = append(out.Parameters, docsField{p.Value.Name, p.Value.In, docsType(p.Value.Schema), note})
	}
	if o.RequestBody != nil {
		out.Body = docsBody(o.RequestBody.Value.Content)
	}
	for _, status := range slices.Sorted(maps.Keys(o.Responses.Map())) {
		if status != "default" {
			r := o.Responses.Value(status).Value
			out.Answers = append(out.Answers, docsAnswer{status, value(r.Description), docsBody(r.Content)})
		}
	}
	return out
}

func docsBody(content openapi3.Content) string {
	for kind, media := range content {
		if media.Schema == nil {
			return kind
		}
		if media.Schema.Ref != "" {
			return docsType(media.Schema)
		}
		return kind
	}
	return ""
}

func docsSchemaOf(name string, s *openapi3.Schema) docsSchema {
	out := docsSchema{Name: name, Note: s.Description}
	if len(s.Enum) > 0 {
		out.Note = strings.TrimSpace(out.Note + " One of: " + enumText(s.Enum) + ".")
	}
	for _, property := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[property]
		note := ""
		if p.Value != nil && p.Ref == "" {
			note = p.Value.Description
		}
		if slices.Contains(s.Required, property) {
			note = strings.TrimSpace("always. " + note)
		}
		out.Fields = append(out.Fields, docsField{Name: property, Type: docsType(p), Note: note})
	}
	return out
}

// docsType names a type as a person would.
func docsType(s *openapi3.SchemaRef) string {
	switch {
	case s == nil || s.Value == nil:
		return ""
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case len(s.Value.OneOf) > 0:
		return docsType(s.Value.OneOf[0]) + " or null"
	case s.Value.Type.Includes("array"):
		return "list of " + docsType(s.Value.Items)
	case len(s.Value.Enum) > 0:
		return enumText(s.Value.Enum)
	}
	name := strings.Join(s.Value.Type.Slice(), " or ")
	if s.Value.Format != "" && s.Value.Format != "int32" && s.Value.Format != "int64" {
		name = fmt.Sprintf("%s (%s)", name, s.Value.Format)
	}
	return name
}
