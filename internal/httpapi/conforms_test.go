package httpapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// commonCodes are those that openapi.yaml's description grants every operation.
var commonCodes = []string{
	"unknown_parameter", "invalid_parameter", "unauthenticated", "session_expired", "token_expired", "token_revoked", "forbidden",
	"cross_origin_request", "not_found", "method_not_allowed", "not_acceptable", "uri_too_long", "idempotency_not_supported",
	"rate_limited", "internal_error", "unavailable",
	"malformed_json", "missing_parameter", "unknown_field", "unsupported_media_type", "body_too_large", "out_of_range",
}

func TestCommonCodesAreDocumented(t *testing.T) {
	t.Parallel()
	c, err := loadContract(openapiYAML)
	must(t, err)
	for _, code := range commonCodes {
		if code != "out_of_range" && !strings.Contains(c.document.Info.Description, "`"+code+"`") {
			t.Errorf("openapi.yaml does not mention %s", code)
		}
	}
}

// conforms holds an answer against openapi.yaml and the manners of §1.2.
func (w *world) conforms(r *http.Request, a answer) {
	w.t.Helper()
	for name, form := range map[string]string{
		"X-Request-Id": `^[A-Za-z0-9._-]{1,64}$`, "X-Content-Type-Options": "^nosniff$", "Referrer-Policy": "^same-origin$",
	} {
		if !regexp.MustCompile(form).MatchString(a.Header().Get(name)) {
			w.t.Errorf("%s %s: header %s is %q", r.Method, r.URL.Path, name, a.Header().Get(name))
		}
	}
	operation := w.operation(r)
	if operation == nil {
		return
	}
	if !w.deps.Unlimited && !strings.HasPrefix(r.URL.Path, "/ingest/") && a.Header().Get("RateLimit") == "" {
		w.t.Errorf("%s %s: no RateLimit header", r.Method, r.URL.Path)
	}
	response := operation.Responses.Status(a.Code)
	if response == nil {
		response = operation.Responses.Default()
		if a.Code < 400 {
			w.t.Errorf("%s %s: status %d is not declared", r.Method, r.URL.Path, a.Code)
		}
	}
	w.declared(r, response.Value, a)
	if len(response.Value.Content) == 0 {
		if a.Body.Len() > 0 && a.Code != 416 {
			w.t.Errorf("%s %s: %d with a body", r.Method, r.URL.Path, a.Code)
		}
		return
	}
	kind, _, _ := strings.Cut(a.Header().Get("Content-Type"), ";")
	media := response.Value.Content[kind]
	if media == nil {
		w.t.Errorf("%s %s: %d answers %q, declared are %v", r.Method, r.URL.Path, a.Code, kind, slices.Collect(maps.Keys(response.Value.Content)))
		return
	}
	if media.Schema == nil || !strings.HasSuffix(kind, "json") || a.Header().Get("Content-Encoding") != "" {
		return
	}
	w.holds(r, operation, media.Schema.Value, a)
}

// undocumented are headers that openapi.yaml need not name: those of HTTP itself,
// and of the layers that every site has.
var undocumented = []string{
	"Content-Type", "Content-Length", "Content-Encoding", "Vary", "Cache-Control", "Date",
	"X-Content-Type-Options", "Referrer-Policy", "Strict-Transport-Security",
	"Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Deprecation", "Sunset",
}

// declared holds the answer's headers against those of openapi.yaml: what is
// required is there, what is there is declared and has its form.
func (w *world) declared(r *http.Request, response *openapi3.Response, a answer) {
	w.t.Helper()
	for name, header := range response.Headers {
		if header.Value.Required && a.Header().Get(name) == "" {
			w.t.Errorf("%s %s: %d without %s", r.Method, r.URL.Path, a.Code, name)
		}
	}
	for name, values := range a.Header() {
		header := response.Headers[declaredName(response.Headers, name)]
		if header == nil {
			if !slices.Contains(undocumented, name) && (name != "Link" || !strings.Contains(values[0], "deprecation")) {
				w.t.Errorf("%s %s: %d has %s: %s, which openapi.yaml does not name", r.Method, r.URL.Path, a.Code, name, values[0])
			}
			continue
		}
		for _, e := range checkText(header.Value.Schema.Value, values[0]) {
			w.t.Errorf("%s %s: %d has %s: %s, which %s", r.Method, r.URL.Path, a.Code, name, values[0], e)
		}
	}
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

func (w *world) holds(r *http.Request, operation *openapi3.Operation, schema *openapi3.Schema, a answer) {
	w.t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(a.Body.Bytes()))
	decoder.UseNumber()
	var value any
	must(w.t, decoder.Decode(&value))
	err := schema.VisitJSON(value, openapi3.MultiErrors(), openapi3.VisitAsResponse(), openapi3.EnableJSONSchema2020(),
		openapi3.WithStringFormatValidator("uuid", openapi3.NewCallbackValidator(isUUID)),
		openapi3.WithStringFormatValidator("date-time", openapi3.NewCallbackValidator(isTime)))
	if err != nil {
		w.t.Errorf("%s %s: %d does not fit openapi.yaml: %v\n%s", r.Method, r.URL.Path, a.Code, err, a.Body.String())
	}
	if extra := undeclared(schema, value, "#"); len(extra) > 0 {
		w.t.Errorf("%s %s: members that openapi.yaml does not have: %v", r.Method, r.URL.Path, extra)
	}
	if p, ok := value.(map[string]any); ok && a.Code >= 400 && p["code"] != nil {
		own, _ := words(operation, "x-problem-codes")
		if code := p["code"].(string); !slices.Contains(own, code) && !slices.Contains(commonCodes, code) {
			w.t.Errorf("%s %s: code %s is not in x-problem-codes", r.Method, r.URL.Path, code)
		}
	}
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
		if len(s.Properties) == 0 {
			return out
		}
		for name, member := range v {
			if p := s.Properties[name]; p != nil {
				out = append(out, undeclared(p.Value, member, at+"/"+name)...)
			} else {
				out = append(out, at+"/"+name)
			}
		}
	}
	return out
}

// operation finds what the request's address and method mean in openapi.yaml.
func (w *world) operation(r *http.Request) *openapi3.Operation {
	paths := w.server.contract.document.Paths
	for _, path := range slices.SortedFunc(maps.Keys(paths.Map()), func(a, b string) int { return strings.Count(a, "{") - strings.Count(b, "{") }) {
		form := "^" + pathParameter.ReplaceAllString(path, "[^/]+") + "$"
		if regexp.MustCompile(form).MatchString(r.URL.Path) {
			if o := paths.Value(path).Operations()[r.Method]; o != nil {
				return o
			}
		}
	}
	return nil
}
