package assistant

import (
	"slices"
	"strings"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3"
)

// foreign finds the texts of an answer that machines or people may have written, by the schema
// of the answer: every string but ids, times and the words of an enumeration. Their places are
// JSON Pointers with * for every index and every key of a map.
func foreign(schema *openapi3.Schema, data any) []string {
	found := map[string]bool{}
	walk(schema, data, "", func(place string) { found[place] = true })
	out := make([]string, 0, len(found))
	for place := range found {
		out = append(out, place)
	}
	slices.Sort(out)
	return out
}

func walk(s *openapi3.Schema, value any, place string, found func(string)) {
	switch v := value.(type) {
	case string:
		if v != "" && !isOurs(s) {
			found(place)
		}
	case []any:
		for _, item := range v {
			walk(itemsOf(s), item, place+"/*", found)
		}
	case map[string]any:
		for name, member := range v {
			known, inner := property(s, name)
			step := name
			if !known {
				step = "*" // a key is a text, too
				found(place + "/*")
			}
			walk(inner, member, place+"/"+step, found)
		}
	}
}

// isOurs says that a string has one of few forms that carry no message.
func isOurs(s *openapi3.Schema) bool {
	for _, part := range parts(s) {
		if len(part.Enum) > 0 || slices.Contains([]string{"uuid", "date-time", "date"}, part.Format) {
			return true
		}
	}
	return false
}

// itemsOf is the schema of an array's items.
func itemsOf(s *openapi3.Schema) *openapi3.Schema {
	for _, part := range parts(s) {
		if part.Items != nil {
			return part.Items.Value
		}
	}
	return nil
}

// property is the schema of an object's member. known is false for a key that the schema does
// not name, as in a map of tags.
func property(s *openapi3.Schema, name string) (known bool, inner *openapi3.Schema) {
	for _, part := range parts(s) {
		if p := part.Properties[name]; p != nil {
			return true, p.Value
		}
		if part.AdditionalProperties.Schema != nil {
			inner = part.AdditionalProperties.Schema.Value
		}
	}
	return false, inner
}

// parts are a schema and all that it is combined of.
func parts(s *openapi3.Schema) []*openapi3.Schema {
	if s == nil {
		return nil
	}
	out := []*openapi3.Schema{s}
	for _, of := range []openapi3.SchemaRefs{s.AllOf, s.OneOf, s.AnyOf} {
		for _, reference := range of {
			out = append(out, parts(reference.Value)...)
		}
	}
	return out
}

// shown is JSON in which no character is invisible: direction marks, zero-width characters, tags
// and private characters are escaped. They can only be inside strings, where an escape means the
// same.
func shown(text []byte) string {
	var out strings.Builder
	out.Grow(len(text))
	for _, r := range string(text) {
		if !unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Variation_Selector) {
			out.WriteRune(r)
			continue
		}
		escape(&out, r)
	}
	return out.String()
}

func escape(out *strings.Builder, r rune) {
	const hex = "0123456789abcdef"
	units := []rune{r}
	if r > 0xffff { // JSON escapes are UTF-16
		r -= 0x10000
		units = []rune{0xd800 + r>>10, 0xdc00 + r&0x3ff}
	}
	for _, u := range units {
		out.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			out.WriteByte(hex[u>>shift&0xf])
		}
	}
}
