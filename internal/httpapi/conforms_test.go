package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/pages"
	"muster/internal/httpapi/wire"
)

// commonCodes are those that openapi.yaml's description grants every operation.
var commonCodes = []string{
	"unknown_parameter", "invalid_parameter", "unauthenticated", "session_expired", "token_expired", "token_revoked", "forbidden",
	"cross_origin_request", "not_found", "method_not_allowed", "not_acceptable", "uri_too_long", "idempotency_not_supported",
	"rate_limited", "internal_error", "unavailable",
	"malformed_json", "missing_parameter", "unknown_field", "repeated_field", "unsupported_media_type", "body_too_large", "request_timeout", "invalid_name", "out_of_range",
}

func TestCommonCodesAreDocumented(t *testing.T) {
	t.Parallel()
	c, err := ourContract()
	must(t, err)
	for _, code := range commonCodes {
		if code != "out_of_range" && !strings.Contains(c.Document.Info.Description, "`"+code+"`") {
			t.Errorf("openapi.yaml does not mention %s", code)
		}
	}
}

// TestEveryCodeHasATitle, and no title is of a code that no operation has.
func TestEveryCodeHasATitle(t *testing.T) {
	t.Parallel()
	c, err := ourContract()
	must(t, err)
	told := slices.Clone(commonCodes)
	for _, path := range c.Document.Paths.Map() {
		for _, operation := range path.Operations() {
			own, _ := contract.Words(operation.Extensions, "x-problem-codes")
			told = append(told, own...)
		}
	}
	for _, code := range told {
		if wire.Codes[code].Title == "" {
			t.Errorf("%s has no title", code)
		}
	}
	for code := range wire.Codes {
		if !slices.Contains(told, code) {
			t.Errorf("no operation answers %s", code)
		}
	}
}

// conforms holds an answer against openapi.yaml and the general rules of §1.2.
func (w *world) conforms(r *http.Request, a answer) {
	w.t.Helper()
	for _, fault := range w.yardstick.faults(r.Method, r.URL.Path, a.ResponseRecorder) {
		w.t.Errorf("%s %s: %s", r.Method, r.URL.Path, fault)
	}
}

// yardstick is openapi.yaml as answers are held against it.
type yardstick struct {
	forms   []pathForm
	problem *openapi3.Schema
	limited bool // requests are counted, and answers say so
}

type pathForm struct {
	form       *regexp.Regexp
	operations map[string]*openapi3.Operation
}

// ourForms are the paths of openapi.yaml, compiled once for all tests.
var ourForms = sync.OnceValues(func() ([]pathForm, error) {
	c, err := ourContract()
	if err != nil {
		return nil, err
	}
	var forms []pathForm
	paths := c.Document.Paths.Map()
	// /reports/verify before /reports/{reportId}
	for _, path := range slices.SortedFunc(maps.Keys(paths), func(a, b string) int { return strings.Count(a, "{") - strings.Count(b, "{") }) {
		forms = append(forms, pathForm{regexp.MustCompile("^" + contract.PathParameter.ReplaceAllString(strings.Replace(path, "{tile}", ".+", 1), "[^/]+") + "$"), paths[path].Operations()})
	}
	return forms, nil
})

// operation finds what address and method mean in openapi.yaml; nil: nothing.
func (y *yardstick) operation(method, path string) *openapi3.Operation {
	for _, f := range y.forms {
		if f.form.MatchString(path) {
			if o := f.operations[method]; o != nil {
				return o
			}
		}
	}
	return nil
}

// manners are headers that every answer has, and their form.
var manners = map[string]*regexp.Regexp{
	"X-Request-Id":           requestIDForm,
	"X-Content-Type-Options": regexp.MustCompile("^nosniff$"),
	"Referrer-Policy":        regexp.MustCompile("^same-origin$"),
	"Cache-Control":          regexp.MustCompile("."),
	"Vary":                   regexp.MustCompile("Accept-Encoding"),

	"Content-Security-Policy": regexp.MustCompile("object-src 'none'; base-uri 'none'; frame-ancestors 'none'|base-uri 'none'; object-src 'none'; frame-ancestors 'none'"),
}

// faults are what is wrong with an answer by openapi.yaml and the general rules of §1.2.
func (y *yardstick) faults(method, path string, a *httptest.ResponseRecorder) []string {
	var out []string
	for name, form := range manners {
		if !form.MatchString(a.Header().Get(name)) {
			out = append(out, fmt.Sprintf("header %s is %q", name, a.Header().Get(name)))
		}
	}
	if contract.Beta(path) && a.Header().Get("X-Api-Stability") != "beta" {
		out = append(out, "no X-Api-Stability")
	}
	operation := y.operation(method, path)
	if operation == nil { // a page, or nothing of ours
		if a.Code >= 400 && a.Header().Get("Content-Type") != pages.HTMLType { // for a person, a page
			out = append(out, y.body(method, y.problem, nil, a)...)
		}
		return out
	}
	if y.limited && !strings.HasPrefix(path, "/ingest/") && (a.Header().Get("RateLimit") == "" || a.Header().Get("RateLimit-Policy") == "") {
		out = append(out, "no RateLimit header")
	}
	response := operation.Responses.Status(a.Code)
	if response == nil {
		response = operation.Responses.Default()
		if a.Code < 400 {
			out = append(out, fmt.Sprintf("status %d is not declared", a.Code))
		}
	}
	out = append(out, declared(response.Value, a)...)
	if len(response.Value.Content) == 0 {
		if a.Body.Len() > 0 && a.Code != 416 {
			out = append(out, fmt.Sprintf("%d with a body", a.Code))
		}
		return out
	}
	kind, _, _ := strings.Cut(a.Header().Get("Content-Type"), ";")
	media := response.Value.Content[kind]
	if media == nil {
		return append(out, fmt.Sprintf("%d answers %q, declared are %v", a.Code, kind, slices.Collect(maps.Keys(response.Value.Content))))
	}
	if media.Schema == nil || !strings.HasSuffix(kind, "json") {
		return out
	}
	return append(out, y.body(method, media.Schema.Value, operation, a)...)
}

// undocumented are headers that openapi.yaml need not name: those of HTTP itself,
// and of the layers that every site has.
var undocumented = []string{
	"Content-Type", "Content-Length", "Content-Encoding", "Vary", "Cache-Control", "Date", "Connection", "Transfer-Encoding", "Last-Modified",
	"X-Content-Type-Options", "Referrer-Policy", "Content-Security-Policy", "Strict-Transport-Security",
	"Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Deprecation", "Sunset",
}

// declared holds the answer's headers against those of openapi.yaml: what is
// required is there, what is there is declared and has its form.
func declared(response *openapi3.Response, a *httptest.ResponseRecorder) []string {
	var out []string
	for name, header := range response.Headers {
		if header.Value.Required && a.Header().Get(name) == "" {
			out = append(out, fmt.Sprintf("%d without %s", a.Code, name))
		}
	}
	for name, values := range a.Header() {
		header := response.Headers[declaredName(response.Headers, name)]
		if header == nil {
			if !slices.Contains(undocumented, name) && (name != "Link" || !strings.Contains(values[0], "deprecation")) {
				out = append(out, fmt.Sprintf("%d has %s: %s, which openapi.yaml does not name", a.Code, name, values[0]))
			}
			continue
		}
		for _, e := range contract.CheckText(header.Value.Schema.Value, values[0]) {
			out = append(out, fmt.Sprintf("%d has %s: %s, which %s", a.Code, name, values[0], e))
		}
	}
	return out
}

// declaredName is a header's name as the file spells it: ETag, net/http's Etag.
func declaredName(headers openapi3.Headers, name string) string {
	for declared := range headers {
		if strings.EqualFold(declared, name) {
			return declared
		}
	}
	return ""
}

// asAnswer is how a body is held against a schema. kin-openapi compiles a schema for
// JSON Schema 2020-12 anew with every value, and then judges one that refers to others
// and has no keyword of 2020-12 without what it compiled (useJSONSchema2020): so these
// are not given to the compiler, which took a quarter of the time of all tests here.
func asAnswer(schema *openapi3.Schema) []openapi3.SchemaValidationOption {
	options := []openapi3.SchemaValidationOption{
		openapi3.MultiErrors(), openapi3.VisitAsResponse(),
		openapi3.WithStringFormatValidator("uuid", openapi3.NewCallbackValidator(contract.IsUUID)),
		openapi3.WithStringFormatValidator("date-time", openapi3.NewCallbackValidator(contract.IsTime)),
	}
	compiled, known := compiledSchemas.Load(schema)
	if !known {
		compiled = !refersToOthers(schema) || hasKeywordsOf2020(schema)
		compiledSchemas.Store(schema, compiled)
	}
	if compiled.(bool) {
		options = append(options, openapi3.EnableJSONSchema2020())
	}
	return options
}

// compiledSchemas says of each schema whether the compiler's judgement counts.
var compiledSchemas sync.Map

func refersToOthers(schema *openapi3.Schema) bool {
	text, err := json.Marshal(schema)
	return err == nil && bytes.Contains(text, []byte(`"$ref":"#/components/schemas/`))
}

func hasKeywordsOf2020(schema *openapi3.Schema) (has bool) {
	err := openapi3.NewSchemaRef("", schema).WalkSubtree(func(_ string, ref *openapi3.SchemaRef) error {
		s := ref.Value
		has = has || s.Const != nil || len(s.PrefixItems) > 0 || s.Contains != nil || len(s.PatternProperties) > 0 || len(s.DependentSchemas) > 0 ||
			s.PropertyNames != nil || s.UnevaluatedItems.Has != nil || s.UnevaluatedItems.Schema != nil ||
			s.UnevaluatedProperties.Has != nil || s.UnevaluatedProperties.Schema != nil ||
			s.If != nil || s.Then != nil || s.Else != nil || len(s.DependentRequired) > 0 || len(s.Defs) > 0 || s.ContentSchema != nil
		return nil
	})
	return has || err != nil
}

// body holds the answer's JSON against its schema, and a problem's code against
// those of the operation.
func (y *yardstick) body(method string, schema *openapi3.Schema, operation *openapi3.Operation, a *httptest.ResponseRecorder) []string {
	if method == http.MethodHead || a.Header().Get("Content-Encoding") != "" || a.Code == http.StatusPartialContent {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(a.Body.Bytes()))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return []string{fmt.Sprintf("%d is no JSON: %v: %.300s", a.Code, err, a.Body)}
	}
	var out []string
	if err := schema.VisitJSON(value, asAnswer(schema)...); err != nil {
		reason, _, _ := strings.Cut(err.Error(), "\nSchema:") // which would follow, whole
		out = append(out, fmt.Sprintf("%d does not fit openapi.yaml: %s\n%s", a.Code, reason, a.Body))
	}
	if extra := undeclared(schema, value, "#"); len(extra) > 0 {
		out = append(out, fmt.Sprintf("members that openapi.yaml does not have: %v", extra))
	}
	if p, ok := value.(map[string]any); ok && a.Code >= 400 && p["code"] != nil {
		var own []string
		if operation != nil {
			own, _ = contract.Words(operation.Extensions, "x-problem-codes")
		}
		if code, _ := p["code"].(string); !slices.Contains(own, code) && !slices.Contains(commonCodes, code) {
			out = append(out, fmt.Sprintf("code %s is not in x-problem-codes", code))
		}
	}
	return out
}

// undeclared lists the members of a value that its schema does not name.
func undeclared(s *openapi3.Schema, value any, at string) []string {
	var out []string
	for _, one := range s.OneOf {
		if value != nil && one.Ref != "" {
			out = append(out, undeclared(one.Value, value, at)...)
		}
	}
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			if s.Items != nil {
				out = append(out, undeclared(s.Items.Value, item, at+"/*")...)
			}
		}
	case map[string]any:
		properties := propertiesOf(s)
		if len(properties) == 0 {
			return out
		}
		for name, member := range v {
			if p := properties[name]; p != nil {
				out = append(out, undeclared(p.Value, member, at+"/"+name)...)
			} else {
				out = append(out, at+"/"+name)
			}
		}
	}
	return out
}

// propertiesOf are the members that a schema names, and what it is composed of.
func propertiesOf(s *openapi3.Schema) openapi3.Schemas {
	all := maps.Clone(s.Properties)
	for _, part := range s.AllOf {
		if all == nil {
			all = openapi3.Schemas{}
		}
		maps.Copy(all, propertiesOf(part.Value))
	}
	return all
}
