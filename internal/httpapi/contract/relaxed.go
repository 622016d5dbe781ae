package contract

import "github.com/getkin/kin-openapi/openapi3"

// relaxed makes copies of schemas without the bounds of texts, by what they are copies of. A text
// of a body of /ingest that is too long is readable and breaks a rule: its door says so with all
// other broken rules (422), and not the reader of its form (400). That a door holds each bound of
// the description, TestEveryBoundOfAFeedIsHeld shows.
type relaxed map[*openapi3.Schema]*openapi3.Schema

func (r relaxed) of(reference *openapi3.SchemaRef) *openapi3.SchemaRef {
	if reference == nil || reference.Value == nil {
		return reference
	}
	return &openapi3.SchemaRef{Ref: reference.Ref, Value: r.schema(reference.Value)}
}

func (r relaxed) schema(s *openapi3.Schema) *openapi3.Schema {
	if known := r[s]; known != nil {
		return known
	}
	c := *s
	r[s] = &c
	if c.Format == "" { // else the bound is one of the form
		c.MaxLength = nil
	}
	c.Items, c.AdditionalProperties.Schema = r.of(s.Items), r.of(s.AdditionalProperties.Schema)
	if s.Properties != nil {
		c.Properties = make(openapi3.Schemas, len(s.Properties))
	}
	for name, property := range s.Properties {
		c.Properties[name] = r.of(property)
	}
	for _, list := range []*openapi3.SchemaRefs{&c.OneOf, &c.AnyOf, &c.AllOf} {
		if *list == nil {
			continue
		}
		copied := make(openapi3.SchemaRefs, len(*list))
		for i, one := range *list {
			copied[i] = r.of(one)
		}
		*list = copied
	}
	return &c
}
