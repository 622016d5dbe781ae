package contract_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"muster/internal/httpapi/contract"
)

const described = `openapi: 3.1.0
x-response-headers: [X-Request-Id, RateLimit]
paths:
  /a:
    get:
      responses:
        "200": {description: Bare.}
        "304":
          description: With its own.
          headers:
            ETag: {$ref: '#/components/headers/ETag'}
        default: {$ref: '#/components/responses/Problem'}
    put:
      x-without-response-headers: [RateLimit]
      responses:
        "204": {description: Done.}
components:
  headers:
    X-Request-Id: {schema: {type: string}}
    RateLimit: {schema: {type: string}}
    ETag: {schema: {type: string}}
  responses:
    Problem: {description: Refused.}
`

// TestBundle adds the headers of every response to each, but for those that an operation lacks
// and for responses that are references.
func TestBundle(t *testing.T) {
	t.Parallel()
	bundled, err := contract.Bundle([]byte(described))
	if err != nil {
		t.Fatal(err)
	}
	document, err := openapi3.NewLoader().LoadFromData(bundled)
	if err != nil {
		t.Fatal(err)
	}
	headers := func(operation *openapi3.Operation, status string) string {
		var names []string
		for name := range operation.Responses.Value(status).Value.Headers {
			names = append(names, name)
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	a := document.Paths.Value("/a")
	for want, got := range map[string]string{
		"RateLimit X-Request-Id":      headers(a.Get, "200"),
		"ETag RateLimit X-Request-Id": headers(a.Get, "304"),
		"X-Request-Id":                headers(a.Put, "204"),
		"":                            headers(a.Get, "default"),
	} {
		if got != want {
			t.Errorf("the response has the headers %q, want %q", got, want)
		}
	}
	if strings.Contains(string(bundled), "response-headers") {
		t.Error("readers of the bundled description are shown how it is written")
	}
}

// TestBundleRefusesUnknownHeaders: a name that is misspelt would add nothing.
func TestBundleRefusesUnknownHeaders(t *testing.T) {
	t.Parallel()
	for _, spelt := range []string{"[X-Request-Id, RateLimits]", "[X-Request-Id]"} {
		text := strings.Replace(described, "[X-Request-Id, RateLimit]", spelt, 1)
		if _, err := contract.Bundle([]byte(text)); err == nil {
			t.Errorf("%s is taken", spelt)
		}
	}
}

// TestTheDescriptionHasEachHeaderOnce: a header that every response has is not written at a response.
func TestTheDescriptionHasEachHeaderOnce(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	paths, _, _ := strings.Cut(string(source), "\ncomponents:\n")
	for _, name := range []string{"X-Request-Id", "X-Demo-Data", "RateLimit", "RateLimit-Policy"} {
		if strings.Contains(paths, " "+name+": {$ref:") {
			t.Errorf("a response says %s again", name)
		}
	}
	whole, err := contract.Load(source)
	if err != nil {
		t.Fatal(err)
	}
	for key, route := range whole.Routes {
		for status, response := range route.Operation.Responses.Map() {
			if response.Value.Headers["X-Request-Id"] == nil {
				t.Errorf("%s %s has no X-Request-Id", key, status)
			}
		}
	}
}

// TestBothFormsOfTheDescriptionAgree: the description as JSON, and what a reader makes of it as YAML.
func TestBothFormsOfTheDescriptionAgree(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.Load(source)
	if err != nil {
		t.Fatal(err)
	}
	written, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	read, err := openapi3.NewLoader().LoadFromData(written)
	if err != nil {
		t.Fatal(err)
	}
	fromYAML, err := json.Marshal(read)
	if err != nil {
		t.Fatal(err)
	}
	if asJSON, err := c.JSON(); err != nil || !bytes.Equal(asJSON, fromYAML) {
		t.Errorf("%d bytes of JSON, %v; as YAML it would have %d", len(asJSON), err, len(fromYAML))
	}
}
