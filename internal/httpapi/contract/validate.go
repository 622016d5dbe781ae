package contract

import (
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"

	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

// Validation reads the request against openapi.yaml and reports everything that is wrong with
// it at once, a body while it is read (reading). kin-openapi's schema visitor says what is
// wrong with a single value, and not its openapi3filter: for a 3.1 document the filter compiles
// the JSON schema anew for every request, it does not refuse unknown query parameters, and its
// errors name a missing parameter only in prose.

// CheckRequest returns the problem with parameters and body, or nil.
func (r *Route) CheckRequest(c *gin.Context) *wire.Problem {
	fields := r.checkParameters(c)
	body, more, err := r.checkBody(c)
	if err != nil {
		return err
	}
	fields = append(fields, more...)
	if body != nil {
		if r.Raw || !r.IsIngest() { // a large one is not kept beside what is decoded from it
			wire.CallOf(c.Request.Context()).Body = body
		}
		if r.Raw { // the handler has it from the call, and nothing is to be decoded before
			body = []byte("null")
		}
		c.Request.Body = &Held{text: body}
		c.Request.ContentLength = int64(len(body))
	}
	return wire.Unreadable(fields)
}

// checkParameters looks at path, query and the idempotency key.
func (r *Route) checkParameters(c *gin.Context) []api.FieldError {
	var fields []api.FieldError
	refuse := func(in api.FieldErrorIn, name, code, detail string) {
		fields = append(fields, api.FieldError{In: in, Parameter: &name, Code: code, Detail: detail})
	}
	query, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		refuse(api.Query, "", "invalid_parameter", "the query is not well encoded")
	}
	known := map[string]bool{}
	for _, reference := range r.Operation.Parameters {
		p := reference.Value
		switch p.In {
		case openapi3.ParameterInPath:
			for _, e := range CheckText(p.Schema.Value, c.Param(p.Name)) {
				refuse(api.Path, p.Name, "invalid_parameter", e)
			}
		case openapi3.ParameterInQuery:
			known[p.Name] = true
			values, given := query[p.Name]
			if p.Required && !given {
				refuse(api.Query, p.Name, "missing_parameter", "is required")
			}
			for _, e := range checkQuery(p, values) {
				refuse(api.Query, p.Name, unreadableCode(p), e)
			}
		case openapi3.ParameterInHeader:
			values := c.Request.Header.Values(p.Name)
			if p.Required && len(values) == 0 {
				refuse(api.Header, p.Name, "missing_parameter", "is required")
			}
			if len(values) > 0 {
				for _, e := range CheckText(p.Schema.Value, values[0]) {
					refuse(api.Header, p.Name, "invalid_parameter", e)
				}
			}
		}
	}
	if both := slices.DeleteFunc(slices.Clone(r.exclusive), func(name string) bool { return !query.Has(name) }); len(both) > 1 {
		for _, name := range both {
			refuse(api.Query, name, "conflicting_parameters", "is given together with another of "+strings.Join(r.exclusive, ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !known[name] && !r.tolerant {
			refuse(api.Query, name, "unknown_parameter", "is not a parameter of this operation")
		}
	}
	return fields
}

// unreadableCode is what a parameter that cannot be read is refused with.
func unreadableCode(p *openapi3.Parameter) string {
	if code, ok := p.Extensions["x-problem-code"].(string); ok {
		return code
	}
	return "invalid_parameter"
}

func checkQuery(p *openapi3.Parameter, values []string) []string {
	schema := p.Schema.Value
	if schema.Type.Is("array") {
		var out []string
		for _, v := range values {
			out = append(out, CheckText(schema.Items.Value, v)...)
		}
		return slices.Compact(out)
	}
	if len(values) > 1 {
		return []string{"is given more than once"}
	}
	if len(values) == 0 {
		return nil
	}
	return CheckText(schema, values[0])
}

// CheckText reads a parameter by its schema's type and says what is wrong.
func CheckText(schema *openapi3.Schema, text string) []string {
	if !wire.Storable(text) {
		return []string{"must be text without U+0000"}
	}
	var value any = text
	switch {
	case schema.Type.Is("integer"):
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return []string{"must be a whole number"}
		}
		value = float64(n)
	case schema.Type.Is("boolean") && (text == "true" || text == "false"):
		value = text == "true"
	}
	var out []string
	for _, e := range Visit(schema, value) {
		out = append(out, e.detail)
	}
	return out
}

// checkBody reads the body and looks at it. The problem is one that leaves
// nothing to look at; field errors come as such.
func (r *Route) checkBody(c *gin.Context) (body []byte, fields []api.FieldError, p *wire.Problem) {
	declared := r.Body()
	if c.Request.Method == http.MethodGet {
		return nil, nil, nil
	}
	if declared != nil {
		if r.Raw {
			body, p = r.rawBody(c.Request)
			return body, nil, p
		}
		if declared.Content["application/json"] == nil {
			return nil, nil, nil // a file; the handler reads it
		}
	}
	in, p := r.unpacked(c.Request)
	if p != nil {
		return nil, nil, p
	}
	defer func() { wire.CallOf(c.Request.Context()).Unpacked = int64(len(in.text)) }()
	if r.IsIngest() {
		in.rules, in.values = true, int(r.BodyLimit/bytesOfValue)
	}
	if _, p := in.peek(); p == atEnd && (declared == nil || !declared.Required) {
		return nil, nil, nil
	}
	fields, p = in.check(r.shape)
	return in.text, fields, p
}

// check is what is wrong with a body, in the order of its places.
func (r *reading) check(s *shape) (fields []api.FieldError, p *wire.Problem) {
	if p := r.read(s); p != nil && p != enough {
		return nil, p
	}
	for _, e := range r.found.sorted() {
		fields = append(fields, api.FieldError{In: api.Body, Pointer: &e.Pointer, Code: e.code, Detail: e.detail})
	}
	if len(fields) == 0 && len(r.nuls) > 0 {
		return nil, &wire.Problem{Code: "out_of_range", Detail: "Text must not contain U+0000.", Fields: r.nuls}
	}
	return fields, nil
}

// CheckJSON is what is wrong with a JSON text that has a schema.
func CheckJSON(schema *openapi3.Schema, text []byte) ([]api.FieldError, *wire.Problem) {
	in := reading{text: text, values: math.MaxInt, limit: math.MaxInt64}
	return in.check(shapes{}.of(schema))
}

// rawBody is a body whose form its handler knows. JSON it is, where that is said.
func (r *Route) rawBody(req *http.Request) ([]byte, *wire.Problem) {
	in, p := r.unpacked(req)
	for p == nil {
		p = in.fill()
	}
	if in != nil {
		wire.CallOf(req.Context()).Unpacked = int64(len(in.text))
	}
	if p != atEnd {
		return nil, p
	}
	if wire.IsJSON(req) && !json.Valid(in.text) {
		return nil, &wire.Problem{Code: "malformed_json", Detail: "The body is not JSON, or has more content after it."}
	}
	return in.text, nil
}

// escapedNUL is the only way to write U+0000 in JSON.
var escapedNUL = []byte(`\u0000`)

func nulField(pointer string) api.FieldError {
	return api.FieldError{In: api.Body, Pointer: &pointer, Code: "out_of_range", Detail: "must not contain U+0000"}
}

// nulFields finds texts with U+0000, which PostgreSQL cannot keep.
func nulFields(value any, pointer string, found []api.FieldError) []api.FieldError {
	switch v := value.(type) {
	case string:
		if strings.ContainsRune(v, 0) && len(found) < wire.MaxFaults {
			found = append(found, nulField(pointer))
		}
	case []any:
		for i, item := range v {
			found = nulFields(item, below(pointer, strconv.Itoa(i)), found)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			found = nulFields(v[name], below(pointer, name), found)
		}
	}
	return found
}
