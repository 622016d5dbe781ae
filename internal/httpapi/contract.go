package httpapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"muster/domain/organization"
)

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml openapi.yaml

//go:embed openapi.yaml
var openapiYAML []byte

// anyone marks a route that needs no sign-in, ingest one that takes the
// tokens of /ingest; every other entry of x-role is a member's role.
const (
	anyone = organization.Role("anyone")
	ingest = organization.Role("ingest")
)

// Body limits of the contract, §14.
const (
	defaultBodyLimit = 64 << 10
)

// route is one row of the table every request passes: who may call it, and
// what of the request is read.
type route struct {
	method, path string // path as gin spells it
	roles        []organization.Role
	scopes       []organization.Scope // any one of them lets a token in; empty: no token needs one
	operation    *openapi3.Operation
	bodyLimit    int64
	idempotent   bool     // takes an Idempotency-Key
	page         bool     // HTML and its parts, for browsers
	redirects    bool     // answers with where to go, whatever types the caller takes
	tolerant     bool     // ignores parameters that it does not know
	raw          bool     // takes a form that is not ours; the handler reads call.body
	encodings    []string // what a body may be packed with
	exclusive    []string // parameters of which a request has at most one
	deprecation  *deprecation
}

func (r *route) open() bool { return slices.Contains(r.roles, anyone) }

// isIngest says that the route takes facts from other tools.
func (r *route) isIngest() bool { return strings.HasPrefix(r.path, "/ingest/") }

// contract is openapi.yaml, read.
type contract struct {
	document *openapi3.T
	json     []byte
	routes   map[string]*route // by method and path
}

func routeKey(method, path string) string { return method + " " + path }

// loadContract reads openapi.yaml and makes the table of it. Every operation
// must say its roles and scopes.
func loadContract(source []byte) (*contract, error) {
	document, err := openapi3.NewLoader().LoadFromData(source)
	if err != nil {
		return nil, fmt.Errorf("read openapi.yaml: %w", err)
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("write openapi.json: %w", err)
	}
	c := &contract{document: document, json: text, routes: map[string]*route{}}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			r, err := newRoute(method, ginPath(path), operation)
			if err != nil {
				return nil, fmt.Errorf("openapi.yaml: %s %s: %w", method, path, err)
			}
			c.routes[routeKey(r.method, r.path)] = r
		}
	}
	return c, nil
}

func newRoute(method, path string, operation *openapi3.Operation) (*route, error) {
	r := &route{method: method, path: path, operation: operation, bodyLimit: defaultBodyLimit}
	roles, err := words(operation.Extensions, "x-role")
	if err != nil {
		return nil, err
	}
	if len(roles) == 0 {
		return nil, fmt.Errorf("x-role names nobody")
	}
	for _, role := range roles {
		r.roles = append(r.roles, organization.Role(role))
	}
	scopes, err := words(operation.Extensions, "x-scope")
	if err != nil {
		return nil, err
	}
	for _, scope := range scopes {
		r.scopes = append(r.scopes, organization.Scope(scope))
	}
	if len(r.scopes) == 0 && !r.open() {
		return nil, fmt.Errorf("x-scope is empty, so that no token could be kept out")
	}
	if limit, ok := operation.Extensions["x-body-limit"].(float64); ok {
		r.bodyLimit = int64(limit)
	}
	if r.deprecation, err = deprecationOf(path, operation); err != nil {
		return nil, err
	}
	r.tolerant, _ = operation.Extensions["x-ignores-unknown-parameters"].(bool)
	if operation.Extensions["x-exclusive-parameters"] != nil {
		if r.exclusive, err = words(operation.Extensions, "x-exclusive-parameters"); err != nil {
			return nil, err
		}
	}
	if r.encodings, err = contentEncodings(path, operation); err != nil {
		return nil, err
	}
	r.raw = isRaw(r.body())
	r.redirects = operation.Responses.Status(http.StatusFound) != nil
	r.idempotent = operation.Parameters.GetByInAndName(openapi3.ParameterInHeader, "Idempotency-Key") != nil
	return r, nil
}

func words(extensions map[string]any, extension string) ([]string, error) {
	list, ok := extensions[extension].([]any)
	if !ok {
		return nil, fmt.Errorf("%s is missing or no list", extension)
	}
	out := make([]string, 0, len(list))
	for _, entry := range list {
		word, ok := entry.(string)
		if !ok {
			return nil, fmt.Errorf("%s: %v is no string", extension, entry)
		}
		out = append(out, word)
	}
	return out, nil
}

var pathParameter = regexp.MustCompile(`\{([^}]+)\}`)

func ginPath(path string) string { return pathParameter.ReplaceAllString(path, ":$1") }

// types are the media types that the operation answers with where all is well.
func (r *route) types() []string {
	var out []string
	for status, response := range r.operation.Responses.Map() {
		if strings.HasPrefix(status, "2") {
			for name := range response.Value.Content {
				out = append(out, name)
			}
		}
	}
	return out
}

// body is the operation's request body, or nil.
func (r *route) body() *openapi3.RequestBody {
	if r.operation == nil || r.operation.RequestBody == nil || r.method == http.MethodGet {
		return nil
	}
	return r.operation.RequestBody.Value
}

// isRaw says that openapi.yaml hands the body on as it came.
func isRaw(body *openapi3.RequestBody) bool {
	if body == nil {
		return false
	}
	if form := body.Content["application/json"]; form != nil {
		return form.Schema.Value.Extensions["x-go-type"] == "json.RawMessage"
	}
	return body.Content["application/x-protobuf"] != nil
}

// contentEncodings are those that an operation takes: what it names, else gzip
// under /ingest, where programs send much.
func contentEncodings(path string, operation *openapi3.Operation) ([]string, error) {
	switch {
	case operation.Extensions["x-content-encodings"] != nil:
		return words(operation.Extensions, "x-content-encodings")
	case strings.HasPrefix(path, "/ingest/"):
		return []string{"gzip"}, nil
	}
	return nil, nil
}

// limitOf is the body limit of one operation.
func (c *contract) limitOf(operation string) int64 {
	for _, r := range c.routes {
		if r.operation != nil && r.operation.OperationID == operation {
			return r.bodyLimit
		}
	}
	return defaultBodyLimit
}
