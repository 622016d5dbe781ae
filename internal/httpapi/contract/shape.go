package contract

import (
	"bytes"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
)

// shape is a schema as a body is held against it while it is read: what of the schema can
// be judged of one value, or of the count of an array's items, without the rest of the body.
type shape struct {
	schema *openapi3.Schema
	null   bool // null fits, too
	whole  bool // there is a keyword that only the visitor of kin-openapi knows

	members  map[string]*shape
	places   map[string]int // of those, and of the required members
	required []string
	closed   bool   // has no other members
	rest     *shape // of other members; nil: whatever they are
	items    *shape // nil: whatever they are
	most     uint64 // items or members
	inCall   uint64 // items of all arrays of the call that have this bound, together; 0: none

	words map[string]bool // an enumeration's
}

// maxInCall bounds the items of several arrays of one body together, at any depth.
const maxInCall = "x-max-items-in-call"

// unbounded is more than a body can have of anything.
const unbounded = 1 << 40

// shapes are those of schemas, each made once: schemas may contain themselves.
type shapes map[*openapi3.Schema]*shape

func (all shapes) of(schema *openapi3.Schema) *shape {
	if known := all[schema]; known != nil {
		return known
	}
	s := &shape{}
	all[schema] = s
	for inner := orNull(schema); inner != nil; inner = orNull(inner) {
		schema, s.null = inner, true
	}
	s.schema, s.null = schema, s.null || schema.Type.Includes(openapi3.TypeNull)
	s.whole = !walked(schema)
	s.most = bound(schema.MaxItems, schema.MaxProps)
	if n, ok := schema.Extensions[maxInCall].(float64); ok {
		s.inCall, s.most = uint64(n), unbounded // which counts this list, too
	}
	if schema.Items != nil {
		s.items = all.of(schema.Items.Value)
	}
	s.members, s.places, s.required = make(map[string]*shape, len(schema.Properties)), map[string]int{}, schema.Required
	for _, name := range schema.Required {
		s.places[name] = len(s.places)
	}
	for name, property := range schema.Properties {
		s.members[name] = all.of(property.Value)
		if _, there := s.places[name]; !there {
			s.places[name] = len(s.places)
		}
	}
	s.whole = s.whole || len(s.places) > 64 // as many as object keeps in mind
	if other := schema.AdditionalProperties; other.Schema != nil {
		s.rest = all.of(other.Schema.Value)
	} else {
		s.closed = other.Has != nil && !*other.Has
	}
	if len(schema.Enum) > 0 {
		s.words = make(map[string]bool, len(schema.Enum))
		for _, v := range schema.Enum {
			if word, ok := v.(string); ok {
				s.words[word] = true
			}
		}
	}
	return s
}

func bound(of ...*uint64) uint64 {
	for _, n := range of {
		if n != nil {
			return *n
		}
	}
	return unbounded
}

// orNull is the schema that a value has where it is not null, of `oneOf: [schema, null]`;
// nil: it is another schema.
func orNull(schema *openapi3.Schema) *openapi3.Schema {
	if len(schema.OneOf) != 2 || !known(schema, func(s *openapi3.Schema) { s.OneOf = nil }) {
		return nil
	}
	for i, one := range schema.OneOf {
		if one.Value.Type.Is(openapi3.TypeNull) && known(one.Value, func(s *openapi3.Schema) { s.Type = nil }) {
			return schema.OneOf[1-i].Value
		}
	}
	return nil
}

// walked says that objects and arrays of the schema need no more than their shape.
func walked(schema *openapi3.Schema) bool {
	return known(schema, func(s *openapi3.Schema) {
		s.Type, s.Enum, s.Format, s.Pattern = nil, nil, "", ""
		s.Min, s.Max, s.MinLength, s.MaxLength = nil, nil, 0, nil
		s.MinItems, s.MaxItems, s.Items = 0, nil, nil
		s.Required, s.Properties, s.MaxProps, s.AdditionalProperties = nil, nil, nil, openapi3.AdditionalProperties{}
	})
}

// known says that a schema has no keyword that decides about a value but those that
// without takes away.
func known(schema *openapi3.Schema, without func(*openapi3.Schema)) bool {
	rest := *schema
	without(&rest)
	rest.Extensions, rest.Origin, rest.Title, rest.Description = nil, nil, "", ""
	rest.Default, rest.Example, rest.Examples, rest.ExternalDocs, rest.Deprecated = nil, nil, nil, nil, false
	return reflect.DeepEqual(rest, openapi3.Schema{})
}

// sound says of a single value that it surely fits; where it does not, the visitor of
// kin-openapi finds out whether and says why.
func (s *shape) sound(c byte, token []byte) bool {
	if s.whole {
		return false
	}
	switch c {
	case '{', '[': // whose parts are looked at
		return true
	case 'n':
		return s.null
	case 't', 'f':
		return s.schema.Type.Permits(openapi3.TypeBoolean) && len(s.schema.Enum) == 0
	case '"':
		return s.soundText(token)
	}
	return s.soundNumber(token)
}

func (s *shape) soundText(token []byte) bool {
	schema := s.schema
	if !schema.Type.Permits(openapi3.TypeString) || schema.Pattern != "" || bytes.Contains(token, escapedNUL) {
		return false
	}
	text := unquoted(token)
	if s.words != nil && !s.words[string(text)] {
		return false
	}
	if schema.MinLength > 0 || schema.MaxLength != nil {
		if n := uint64(utf8.RuneCount(text)); n < schema.MinLength || n > bound(schema.MaxLength) {
			return false
		}
	}
	switch schema.Format {
	case "":
		return true
	case "uuid":
		return IsUUID(string(text)) == nil
	case "date-time":
		return IsTime(string(text)) == nil
	}
	return false
}

// soundNumber is asked first about whole numbers that an int64 has, and about short others.
func (s *shape) soundNumber(token []byte) bool {
	schema := s.schema
	if len(schema.Enum) > 0 || len(token) > 18 || schema.Format == "int32" {
		return false
	}
	whole := !bytes.ContainsAny(token, ".eE")
	if !schema.Type.Permits(openapi3.TypeNumber) && (!whole || !schema.Type.Permits(openapi3.TypeInteger)) {
		return false
	}
	if bytes.ContainsAny(token, "eE") {
		return false
	}
	if schema.Min == nil && schema.Max == nil {
		return true
	}
	v, err := strconv.ParseFloat(string(token), 64)
	return err == nil && (schema.Min == nil || v >= *schema.Min) && (schema.Max == nil || v <= *schema.Max)
}
