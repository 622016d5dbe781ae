package assistant

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"muster/internal/httpapi/contract"
)

// route is an operation that a tool reads: its row in the table of rights, and its path in
// openapi.yaml.
type route struct {
	*contract.Route
	path string
}

// parameter returns a parameter of the route by its name; nil: it has none.
func (r route) parameter(name string) *openapi3.Parameter {
	for _, p := range r.Operation.Parameters {
		if p.Value.Name == name {
			return p.Value
		}
	}
	return nil
}

// answers is the schema of the route's answer.
func (r route) answers() *openapi3.Schema {
	ok := r.Operation.Responses.Status(http.StatusOK)
	if ok == nil || ok.Value.Content["application/json"] == nil {
		return nil
	}
	return ok.Value.Content["application/json"].Schema.Value
}

// routesOf finds every operation by its id.
func routesOf(c *contract.Contract) map[string]route {
	out := map[string]route{}
	for path, item := range c.Document.Paths.Map() {
		for method, operation := range item.Operations() {
			row := c.Routes[contract.RouteKey(method, contract.GinPath(path))]
			out[operation.OperationID] = route{Route: row, path: path}
		}
	}
	return out
}

// operations are the ids of all operations that one call of the tool may be about.
func (t tool) operations() []string {
	if t.choice == "" {
		return []string{t.operation}
	}
	var out []string
	for _, c := range t.choices {
		out = append(out, c.operation)
	}
	return out
}

// chosen is the operation that the arguments choose.
func (t tool) chosen(args map[string]any) (operation string, refused *refusal) {
	if t.choice == "" {
		return t.operation, nil
	}
	var all []string
	for _, c := range t.choices {
		if args[t.choice] == c.value {
			return c.operation, nil
		}
		all = append(all, c.value)
	}
	return "", &refusal{Code: "invalid_parameter", Title: "The arguments do not fit", Detail: t.choice + " must be one of " + strings.Join(all, ", ") + "."}
}

// Defaults and limits of an assistant's calls, which are tighter than those of the API.
const (
	defaultPageSize = 20
	maxPageSize     = 50
)

// input is the JSON Schema of a tool's arguments, from the parameters of its routes.
func (t tool) input(routes map[string]route) (json.RawMessage, error) {
	properties, required := map[string]any{}, []string{}
	if t.choice != "" {
		var values []string
		for _, c := range t.choices {
			values = append(values, c.value)
		}
		properties[t.choice] = map[string]any{"type": "string", "enum": values, "description": "What to read."}
		required = append(required, t.choice)
	}
	needed := map[string]int{}
	for _, id := range t.operations() {
		r, ok := routes[id]
		if !ok || r.Method != http.MethodGet {
			return nil, fmt.Errorf("tool %s: openapi.yaml has no GET operation %q", t.name, id)
		}
		for _, reference := range r.Operation.Parameters {
			p := reference.Value
			if p.In == openapi3.ParameterInHeader || slices.Contains(t.without, p.Name) {
				continue
			}
			properties[p.Name] = merged(properties[p.Name], argument(p))
			if p.Required && !hasDefault(p.Name) {
				needed[p.Name]++
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		if needed[name] == len(t.operations()) {
			required = append(required, name)
		}
	}
	return json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

// hasDefault says that a call may leave out a parameter that the route requires.
func hasDefault(name string) bool { return name == "from" || name == "to" || name == "bucketSize" }

// argument is the schema of one argument.
func argument(p *openapi3.Parameter) map[string]any {
	out := schemaOf(p.Schema.Value)
	about := strings.TrimSpace(p.Description)
	switch p.Name {
	case "from":
		about = "The beginning, RFC 3339. If absent, a day before `to`; lists of alerts then have no window."
	case "to":
		about = "The end, RFC 3339. If absent, now."
	case "bucketSize":
		about = "The width of a bucket. If absent, it fits the window."
	case "pageSize":
		out["maximum"], out["default"] = maxPageSize, defaultPageSize
	}
	if about != "" {
		out["description"] = about
	}
	return out
}

// schemaOf is the part of a parameter's schema that assistants need.
func schemaOf(s *openapi3.Schema) map[string]any {
	out := map[string]any{}
	if types := s.Type.Slice(); len(types) > 0 {
		out["type"] = types[0]
	}
	if s.Format != "" && !s.Type.Is("integer") {
		out["format"] = s.Format
	}
	if len(s.Enum) > 0 {
		out["enum"] = s.Enum
	}
	if s.Default != nil {
		out["default"] = s.Default
	}
	if s.Min != nil {
		out["minimum"] = *s.Min
	}
	if s.Max != nil {
		out["maximum"] = *s.Max
	}
	if s.Items != nil {
		out["items"] = schemaOf(s.Items.Value)
	}
	return out
}

// merged is an argument that several routes take: what any of them takes.
func merged(before any, now map[string]any) map[string]any {
	known, ok := before.(map[string]any)
	if !ok {
		return now
	}
	a, both := known["enum"].([]any)
	b, ok := now["enum"].([]any)
	if both && ok {
		all := slices.Clone(a)
		for _, value := range b {
			if !slices.Contains(all, value) {
				all = append(all, value)
			}
		}
		known["enum"] = all
	}
	return known
}
