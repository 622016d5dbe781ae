package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"

	"muster/domain/organization"
	"muster/internal/httpapi/wire"
)

// Anyone marks a route that needs no sign-in, ingest one that takes the
// tokens of /ingest; every other entry of x-role is a member's role.
const (
	Anyone = organization.Role("anyone")
	Ingest = organization.Role("ingest")
)

// defaultBodyLimit is the contract's, §14.
const defaultBodyLimit = 64 << 10

// Route is one row of the table every request passes: who may call it, and
// what of the request is read.
type Route struct {
	Method, Path string // path as gin spells it
	Roles        []organization.Role
	Teams        []organization.Role  // what somebody with the role team is to their teams where they may call it: x-team, else as Roles
	Scopes       []organization.Scope // any one of them lets a token in; empty: no token needs one
	Operation    *openapi3.Operation
	BodyLimit    int64
	TokensOnly   bool     // lets no browser's session in
	Idempotent   bool     // takes an Idempotency-Key
	Page         bool     // HTML and its parts, for browsers
	redirects    bool     // answers with where to go, whatever types the caller takes
	tolerant     bool     // ignores parameters that it does not know
	Raw          bool     // takes a form that is not ours; the handler reads call.body
	Encodings    []string // what a body may be packed with
	exclusive    []string // parameters of which a request has at most one
	shape        *shape   // of a JSON body
	Deprecation  *deprecation
}

// Open says that anyone may call the route.
func (r *Route) Open() bool { return slices.Contains(r.Roles, Anyone) }

// IsIngest says that the route takes facts from other tools.
func (r *Route) IsIngest() bool { return strings.HasPrefix(r.Path, "/ingest/") }

// Writes says that the request changes something: all that do not read, and the sign-in that
// an identity provider sends a browser back to. Assistants' tools only read. Reads that record that they were made
// (Downloads) are not among them.
func (r *Route) Writes() bool {
	if r.Page {
		return false
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Operation.OperationID == "callAssistantTool"
	return !reads || r.Operation.OperationID == "finishOIDC"
}

// Slow says that the request takes as long as the caller's line does.
func (r *Route) Slow() bool {
	return r.Page || r.Downloads() || r.Operation.OperationID == "verifyReport" || r.Operation.OperationID == "makeEvidence"
}

// Downloads says that the route answers with a stored file.
func (r *Route) Downloads() bool {
	return r.Operation.OperationID == "downloadReport" || r.Operation.OperationID == "getReportFile"
}

// TakesLarge says that the request's body is megabytes where it is honest.
func (r *Route) TakesLarge() bool {
	return !r.Page && (r.IsIngest() || r.Operation.OperationID == "verifyReport")
}

// Contract is openapi.yaml, read.
type Contract struct {
	Document *openapi3.T
	Routes   map[string]*Route // by method and path

	// The whole description, as Bundle makes it. Few processes are asked for it, and writing it
	// takes longer than reading it.
	JSON, YAML func() ([]byte, error)
}

// RouteKey is the route in the table.
func RouteKey(method, path string) string { return method + " " + path }

// Load reads openapi.yaml and makes the table of it. Every operation
// must say its roles and scopes.
func Load(source []byte) (*Contract, error) {
	bundled, err := bundle(source)
	if err != nil {
		return nil, err
	}
	document, err := documentOf(bundled)
	if err != nil {
		return nil, fmt.Errorf("read openapi.yaml: %w", err)
	}
	c := &Contract{
		Document: document, Routes: map[string]*Route{},
		JSON: sync.OnceValues(func() ([]byte, error) { return json.Marshal(document) }),
		YAML: sync.OnceValues(func() ([]byte, error) { return Bundle(source) }),
	}
	all := shapes{}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			r, err := newRoute(method, GinPath(path), operation)
			if err != nil {
				return nil, fmt.Errorf("openapi.yaml: %s %s: %w", method, path, err)
			}
			r.shape = all.of(r.bodySchema())
			c.Routes[RouteKey(r.Method, r.Path)] = r
		}
	}
	return c, nil
}

// documentOf reads a bundled description as JSON, which takes a quarter less than writing it as
// YAML and reading that.
func documentOf(bundled *yaml.Node) (*openapi3.T, error) {
	var plain any
	if err := bundled.Decode(&plain); err != nil {
		return nil, err
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(text)
}

func newRoute(method, path string, operation *openapi3.Operation) (*Route, error) {
	r := &Route{Method: method, Path: path, Operation: operation, BodyLimit: defaultBodyLimit}
	roles, err := Words(operation.Extensions, "x-role")
	if err != nil {
		return nil, err
	}
	if len(roles) == 0 {
		return nil, fmt.Errorf("x-role names no role")
	}
	r.Roles = wire.Words[organization.Role](roles)
	if slices.Contains(r.Roles, organization.Team) {
		r.Teams = r.Roles
		if operation.Extensions["x-team"] != nil {
			places, err := Words(operation.Extensions, "x-team")
			if err != nil {
				return nil, err
			}
			r.Teams = wire.Words[organization.Role](places)
		}
	}
	scopes, err := Words(operation.Extensions, "x-scope")
	if err != nil {
		return nil, err
	}
	r.Scopes = wire.Words[organization.Scope](scopes)
	if len(r.Scopes) == 0 && !r.Open() {
		return nil, fmt.Errorf("x-scope is empty, so that no token could be kept out")
	}
	if limit, ok := operation.Extensions["x-body-limit"].(float64); ok {
		r.BodyLimit = int64(limit)
	}
	if r.Deprecation, err = deprecationOf(path, operation); err != nil {
		return nil, err
	}
	r.tolerant, _ = operation.Extensions["x-ignores-unknown-parameters"].(bool)
	if operation.Extensions["x-exclusive-parameters"] != nil {
		if r.exclusive, err = Words(operation.Extensions, "x-exclusive-parameters"); err != nil {
			return nil, err
		}
	}
	if r.Encodings, err = contentEncodings(path, operation); err != nil {
		return nil, err
	}
	r.Raw, r.TokensOnly = isRaw(r.Body()), tokensOnly(operation.Security)
	r.redirects = operation.Responses.Status(http.StatusFound) != nil
	r.Idempotent = operation.Parameters.GetByInAndName(openapi3.ParameterInHeader, "Idempotency-Key") != nil
	return r, nil
}

// tokensOnly says that an operation names the token as the only way in.
func tokensOnly(ways *openapi3.SecurityRequirements) bool {
	return ways != nil && len(*ways) == 1 && (*ways)[0]["token"] != nil
}

// Words is an extension of openapi.yaml that is a list of words.
func Words(extensions map[string]any, extension string) ([]string, error) {
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

// PathParameter is a parameter in a path of openapi.yaml.
var PathParameter = regexp.MustCompile(`\{([^}]+)\}`)

// GinPath is a path of openapi.yaml as gin spells it.
func GinPath(path string) string {
	return Slashed(PathParameter.ReplaceAllString(path, ":$1"))
}

// Slashed is a path of gin's whose last parameter takes slashes, too: a tile's number has
// them (C2SP tlog-tiles), and OpenAPI has no form for it.
func Slashed(path string) string { return strings.Replace(path, "/:tile", "/*tile", 1) }

// types are the media types that the operation answers with where all is well.
func (r *Route) types() []string {
	var out []string
	for status, response := range r.Operation.Responses.Map() {
		if strings.HasPrefix(status, "2") {
			for name := range response.Value.Content {
				out = append(out, name)
			}
		}
	}
	return out
}

// Body is the operation's request body, or nil.
func (r *Route) Body() *openapi3.RequestBody {
	if r.Operation == nil || r.Operation.RequestBody == nil || r.Method == http.MethodGet {
		return nil
	}
	return r.Operation.RequestBody.Value
}

// bodySchema is that of the operation's JSON body. Where it takes none, {} is let be.
func (r *Route) bodySchema() *openapi3.Schema {
	if body := r.Body(); body != nil && body.Content["application/json"] != nil {
		schema := body.Content["application/json"].Schema
		if r.IsIngest() {
			schema = relaxed{}.of(schema)
		}
		return schema.Value
	}
	return openapi3.NewObjectSchema().WithoutAdditionalProperties()
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
		return Words(operation.Extensions, "x-content-encodings")
	case strings.HasPrefix(path, "/ingest/"):
		return []string{"gzip"}, nil
	}
	return nil, nil
}

// How long an operation stays after it was called deprecated (contract, §15).
const (
	noticeStable = 365 * 24 * time.Hour // v1 stays at least 12 months
	noticeBeta   = 90 * 24 * time.Hour
)

// deprecation is what an operation that will go away says of itself in every
// answer, refusals too: since when nobody should start to use it (RFC 9745),
// when it stops working (RFC 8594), and where to read what to use instead.
type deprecation struct {
	Since, Sunset time.Time
	link          string
}

// deprecationOf reads it from an operation that is `deprecated`; nil for any
// other. A date that breaks the promise of notice is an error: the server does
// not start on it.
func deprecationOf(path string, operation *openapi3.Operation) (*deprecation, error) {
	if !operation.Deprecated {
		return nil, nil
	}
	var (
		d   deprecation
		err error
	)
	if d.Since, err = statedTime(operation, "x-deprecated-at"); err != nil {
		return nil, err
	}
	if d.Sunset, err = statedTime(operation, "x-sunset"); err != nil {
		return nil, err
	}
	if d.link, _ = operation.Extensions["x-deprecation-link"].(string); d.link == "" {
		return nil, fmt.Errorf("deprecated, and x-deprecation-link does not say what to use instead")
	}
	notice := noticeStable
	if Beta(path) {
		notice = noticeBeta
	}
	if got := d.Sunset.Sub(d.Since); got < notice {
		return nil, fmt.Errorf("x-sunset is %d days after x-deprecated-at; %d are promised", int(got.Hours()/24), int(notice.Hours()/24))
	}
	return &d, nil
}

func statedTime(operation *openapi3.Operation, extension string) (time.Time, error) {
	text, _ := operation.Extensions[extension].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("deprecated, and %s is no RFC 3339 time: %w", extension, err)
	}
	return at, nil
}

// Mark says it in an answer.
func (d *deprecation) Mark(h http.Header) {
	if d == nil {
		return
	}
	h.Set("Deprecation", "@"+strconv.FormatInt(d.Since.Unix(), 10))
	h.Set("Sunset", d.Sunset.UTC().Format(http.TimeFormat))
	h.Add("Link", "<"+d.link+`>; rel="deprecation"`)
}

// Beta says that the path belongs to the surface that may still change.
func Beta(path string) bool {
	return slices.ContainsFunc([]string{"/api/v1/reports", "/api/v1/exports"}, func(root string) bool {
		return path == root || strings.HasPrefix(path, root+"/")
	})
}
