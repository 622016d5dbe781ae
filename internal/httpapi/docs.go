package httpapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/wire"
)

// What the docs page shows.
type (
	docs struct {
		Title, Description string
		Groups             []docsGroup
		Schemas            []docsSchema
	}
	docsGroup struct {
		Name, Description string
		Operations        []docsOperation
	}
	docsOperation struct {
		ID, Method, Path, Summary, Description string
		Deprecated                             string // since when and until when
		Roles, Scopes, Codes                   []string
		Parameters                             []docsField
		Body                                   string // name of its schema, or its type
		Answers                                []docsAnswer
	}
	docsField  struct{ Name, In, Type, Note string }
	docsAnswer struct{ Status, Text, Body string }
	docsSchema struct {
		Name, Note string
		Fields     []docsField
	}
	docsSpan struct {
		Text string
		Code bool
	}
)

// paragraphs are a description's, which openapi.yaml separates by empty lines
// and breaks where its own lines end.
func paragraphs(text string) []string {
	var out []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
			out = append(out, paragraph)
		}
	}
	return out
}

// spans tells inline code from text: the only Markdown that openapi.yaml uses.
func spans(text string) []docsSpan {
	var out []docsSpan
	for {
		before, rest, opened := strings.Cut(text, "`")
		code, after, closed := strings.Cut(rest, "`")
		if !opened || !closed {
			return append(out, docsSpan{Text: text})
		}
		out, text = append(out, docsSpan{Text: before}, docsSpan{Text: code, Code: true}), after
	}
}

func docsOf(c *contract.Contract) docs {
	d := docs{Title: c.Document.Info.Title, Description: c.Document.Info.Description}
	for _, tag := range c.Document.Tags {
		group := docsGroup{Name: tag.Name, Description: tag.Description}
		for _, path := range c.Document.Paths.InMatchingOrder() {
			for method, operation := range c.Document.Paths.Value(path).Operations() {
				if slices.Contains(operation.Tags, tag.Name) {
					group.Operations = append(group.Operations, docsOperationOf(c, method, path, operation))
				}
			}
		}
		slices.SortFunc(group.Operations, func(a, b docsOperation) int { return strings.Compare(a.Path+a.Method, b.Path+b.Method) })
		d.Groups = append(d.Groups, group)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Document.Components.Schemas)) {
		d.Schemas = append(d.Schemas, docsSchemaOf(name, c.Document.Components.Schemas[name].Value))
	}
	return d
}

func docsOperationOf(c *contract.Contract, method, path string, o *openapi3.Operation) docsOperation {
	out := docsOperation{ID: o.OperationID, Method: method, Path: path, Summary: o.Summary, Description: o.Description}
	if d := c.Routes[contract.RouteKey(method, contract.GinPath(path))].Deprecation; d != nil {
		out.Deprecated = "Deprecated since " + d.Since.Format(time.DateOnly) + ", works until " + d.Sunset.Format(time.DateOnly) + "."
	}
	out.Roles, _ = contract.Words(o.Extensions, "x-role")
	out.Scopes, _ = contract.Words(o.Extensions, "x-scope")
	out.Codes, _ = contract.Words(o.Extensions, "x-problem-codes")
	for _, p := range o.Parameters {
		note := p.Value.Description
		if p.Value.Required {
			note = strings.TrimSpace("required. " + note)
		}
		out.Parameters = append(out.Parameters, docsField{p.Value.Name, p.Value.In, docsType(p.Value.Schema), note})
	}
	if o.RequestBody != nil {
		out.Body = docsBody(o.RequestBody.Value.Content)
	}
	for _, status := range slices.Sorted(maps.Keys(o.Responses.Map())) {
		if status != "default" {
			r := o.Responses.Value(status).Value
			out.Answers = append(out.Answers, docsAnswer{status, wire.Value(r.Description), docsBody(r.Content)})
		}
	}
	return out
}

func docsBody(content openapi3.Content) string {
	for kind, media := range content {
		if media.Schema == nil {
			return kind
		}
		if media.Schema.Ref != "" {
			return docsType(media.Schema)
		}
		return kind
	}
	return ""
}

func docsSchemaOf(name string, s *openapi3.Schema) docsSchema {
	out := docsSchema{Name: name, Note: s.Description}
	if len(s.Enum) > 0 {
		out.Note = strings.TrimSpace(out.Note + " One of: " + contract.EnumText(s.Enum) + ".")
	}
	for _, property := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[property]
		note := ""
		if p.Value != nil && p.Ref == "" {
			note = p.Value.Description
		}
		if slices.Contains(s.Required, property) {
			note = strings.TrimSpace("always. " + note)
		}
		out.Fields = append(out.Fields, docsField{Name: property, Type: docsType(p), Note: note})
	}
	return out
}

// docsType names a type as a person would.
func docsType(s *openapi3.SchemaRef) string {
	switch {
	case s == nil || s.Value == nil:
		return ""
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case len(s.Value.OneOf) > 0:
		return docsType(s.Value.OneOf[0]) + " or null"
	case s.Value.Type.Includes("array"):
		return "list of " + docsType(s.Value.Items)
	case len(s.Value.Enum) > 0:
		return contract.EnumText(s.Value.Enum)
	}
	name := strings.Join(s.Value.Type.Slice(), " or ")
	if s.Value.Format != "" && s.Value.Format != "int32" && s.Value.Format != "int64" {
		name = fmt.Sprintf("%s (%s)", name, s.Value.Format)
	}
	return name
}
