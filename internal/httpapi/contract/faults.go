package contract

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"

	"muster/domain/rule"
	"muster/internal/httpapi/wire"
)

type fault struct{ Pointer, code, detail string }

// maxPointer bounds a pointer, in bytes. A name may be as long as the body, and a thousand faults
// may lie below it.
const maxPointer = 1 << 10

// below is the pointer of a part of what pointer leads to; where that is too long, it is pointer.
func below[T string | []byte](pointer string, name T) string {
	if len(pointer)+len(name) > maxPointer {
		return pointer
	}
	return pointer + "/" + rule.Escape(string(name))
}

// Visit holds a value against its schema.
func Visit(schema *openapi3.Schema, value any) []fault {
	var found faults
	found.look(schema, value, "#")
	return found.sorted()
}

type faults []fault

// sorted are the faults in the order of their places, each once.
func (f faults) sorted() []fault {
	slices.SortStableFunc(f, func(a, b fault) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.code, b.code))
	})
	return slices.Compact(f)
}

// look adds what is wrong with a value. The visitor of kin-openapi says whether
// anything is. It is asked for all there is of single values only: of an object it
// makes an error for each member that is too many, in prose, and of a batch as
// many as it has, so that a body of 64 KiB took gigabytes.
func (f *faults) look(schema *openapi3.Schema, value any, pointer string) {
	if len(*f) >= wire.MaxFaults || schema.VisitJSON(value, asRequest()...) == nil {
		return
	}
	own := *schema // without what its parts have to be
	switch v := value.(type) {
	case json.Number:
		if _, err := v.Float64(); err != nil && (schema.Type.Permits(openapi3.TypeNumber) || schema.Type.Permits(openapi3.TypeInteger)) {
			*f = append(*f, fault{pointer, "out_of_range", "is a number that no machine has"})
			return
		}
	case []any:
		if schema.Items != nil {
			for i, item := range v {
				f.look(schema.Items.Value, item, below(pointer, strconv.Itoa(i)))
			}
		}
		own.Items = nil
	case map[string]any:
		if schema.Type.Permits(openapi3.TypeObject) {
			f.members(schema, v, pointer)
		}
		own.Properties, own.Required, own.AdditionalProperties = nil, nil, openapi3.AdditionalProperties{}
	}
	if len(*f) < wire.MaxFaults {
		*f = flatten(own.VisitJSON(value, append(asRequest(), openapi3.MultiErrors())...), pointer, *f)
	}
}

// members adds what is wrong with an object's members, and which are missing.
func (f *faults) members(schema *openapi3.Schema, object map[string]any, pointer string) {
	add := func(name, code, detail string) {
		if len(*f) < wire.MaxFaults {
			*f = append(*f, fault{below(pointer, name), code, detail})
		}
	}
	for _, name := range schema.Required {
		if _, there := object[name]; !there {
			add(name, "missing_parameter", "is required")
		}
	}
	closed := schema.AdditionalProperties.Has != nil && !*schema.AdditionalProperties.Has
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if property := schema.Properties[name]; property != nil && property.Value.ReadOnly {
			add(name, "invalid_parameter", "is read-only: Muster sets it")
		} else if property != nil {
			f.look(property.Value, object[name], below(pointer, name))
		} else if rest := schema.AdditionalProperties.Schema; rest != nil {
			f.look(rest.Value, object[name], below(pointer, name))
		} else if closed {
			add(name, "unknown_field", "is not a member of this object")
		}
	}
}

func asRequest() []openapi3.SchemaValidationOption {
	return []openapi3.SchemaValidationOption{
		openapi3.VisitAsRequest(),
		openapi3.WithStringFormatValidator("uuid", openapi3.NewCallbackValidator(IsUUID)),
		openapi3.WithStringFormatValidator("date-time", openapi3.NewCallbackValidator(IsTime)),
	}
}

// IsUUID admits the 36-character form only: uuid.Parse also takes URNs,
// braces and bare digits, so that one id would have five spellings.
func IsUUID(text string) error {
	if len(text) != 36 {
		return errors.New("not a UUID")
	}
	_, err := uuid.Parse(text)
	return err
}

// IsTime admits RFC 3339 in years that PostgreSQL and RFC 3339 both can write.
func IsTime(text string) error {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err == nil && (t.UTC().Year() < 1 || t.UTC().Year() > 9999) {
		err = errors.New("year out of range")
	}
	return err
}

// flatten walks the visitor's own tree of errors, which wraps nothing.
func flatten(err error, pointer string, out []fault) []fault {
	switch e := err.(type) { //nolint:errorlint // see above
	case nil:
	case openapi3.MultiError:
		for _, one := range e {
			out = flatten(one, pointer, out)
		}
	case *openapi3.SchemaError:
		for _, token := range e.JSONPointer() {
			pointer = below(pointer, token)
		}
		out = append(out, fault{pointer, "invalid_parameter", detailOf(e)})
	default:
		out = append(out, fault{pointer, "invalid_parameter", "cannot be read"})
	}
	return out
}

// detailOf says a schema error in our words.
func detailOf(e *openapi3.SchemaError) string {
	switch e.SchemaField {
	case "type", "nullable":
		return "must be " + typeName(e.Schema)
	case "enum":
		return "must be one of " + enumText(e.Schema.Enum)
	case "format":
		return "must be " + formatName(e.Schema.Format)
	case "minLength":
		if e.Schema.MinLength == 1 {
			return "must not be empty"
		}
		return fmt.Sprintf("must have at least %d characters", e.Schema.MinLength)
	case "maxLength":
		return fmt.Sprintf("must have at most %d characters", *e.Schema.MaxLength)
	case "minItems":
		return fmt.Sprintf("must have at least %d entries", e.Schema.MinItems)
	case "minimum":
		return fmt.Sprintf("must be at least %v", *e.Schema.Min)
	case "maximum":
		return fmt.Sprintf("must be at most %v", *e.Schema.Max)
	}
	return "does not have the expected form"
}

func typeName(s *openapi3.Schema) string {
	var names []string
	for _, t := range s.Type.Slice() {
		names = append(names, map[string]string{"array": "an array", "object": "an object", "integer": "a whole number",
			"number": "a number", "boolean": "true or false", "string": "a string", "null": "null"}[t])
	}
	return strings.Join(names, " or ")
}

func formatName(format string) string {
	switch format {
	case "uuid":
		return "an id (UUID)"
	case "date-time":
		return "an RFC 3339 time with its offset, such as 2026-11-20T11:37:00Z"
	}
	return "well formed"
}

func enumText(values []any) string {
	return strings.Join(wire.List(values, func(v any) string { return fmt.Sprint(v) }), ", ")
}
