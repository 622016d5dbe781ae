package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/oapi-codegen/runtime"
)

// Operation is a row of the table: the address that a request is routed by, and how the
// request is read and answered.
type Operation struct {
	Method, Path string // path as gin spells it

	// Read makes a request of the operation's type. param is a parameter of the path, by name.
	// An error means that the request does not fit the type.
	Read func(r *http.Request, param func(string) string) (request any, err error)

	// Answer calls the operation's handler with what Read made, and writes the answer.
	Answer func(ctx context.Context, w http.ResponseWriter, request any) error
}

// operation makes a row. All reflection on types is done here, once.
func operation[Q, A any](method, path string, call func(context.Context, Q) (A, error), write func(A, http.ResponseWriter) error) Operation {
	fields := fieldsOf(reflect.TypeFor[Q]())
	return Operation{
		Method: method, Path: path,
		Read: func(r *http.Request, param func(string) string) (any, error) {
			request := new(Q)
			return request, read(fields, reflect.ValueOf(request).Elem(), &message{Request: r, param: param})
		},
		Answer: func(ctx context.Context, w http.ResponseWriter, request any) error {
			answer, err := call(ctx, *request.(*Q))
			if err != nil {
				return err
			}
			return write(answer, w)
		},
	}
}

// message is an HTTP request while it is read.
type message struct {
	*http.Request
	param func(string) string
	query url.Values
}

// parameters parses the query once for all parameters.
func (m *message) parameters() url.Values {
	if m.query == nil {
		m.query = m.URL.Query()
	}
	return m.query
}

// field is one value of a request: its place in the request's type, and how it is read.
type field struct {
	name  string
	index []int
	read  func(m *message, to reflect.Value) error
}

func read(fields []field, request reflect.Value, m *message) error {
	for _, f := range fields {
		if err := f.read(m, request.FieldByIndex(f.index)); err != nil {
			return fmt.Errorf("read %s: %w", f.name, err)
		}
	}
	return nil
}

// fieldsOf finds by its tag where each field of a request comes from. The tags path and body
// are those of oapi-codegen/messages.tmpl. In the struct Params, which oapi-codegen makes, a
// parameter of the query has the tag form, and a header has the tag json alone.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		path, isPath := f.Tag.Lookup("path")
		body, isBody := f.Tag.Lookup("body")
		query, _, _ := strings.Cut(f.Tag.Get("form"), ",")
		header, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case isPath:
			out = append(out, field{path, f.Index, fromPath(path)})
		case isBody:
			out = append(out, field{f.Name, f.Index, fromBody(body, f.Type)})
		case query != "":
			out = append(out, field{query, f.Index, fromQuery(query, f.Type)})
		case header != "":
			out = append(out, field{header, f.Index, fromHeader(header, f.Type)})
		default:
			for _, inner := range fieldsOf(f.Type) {
				inner.index = slices.Concat(f.Index, inner.index)
				out = append(out, inner)
			}
		}
	}
	return out
}

func fromPath(name string) func(*message, reflect.Value) error {
	return func(m *message, to reflect.Value) error {
		return runtime.BindStyledParameterWithOptions("simple", name, m.param(name), to.Addr().Interface(),
			runtime.BindStyledParameterOptions{ParamLocation: runtime.ParamLocationPath, Required: true, ValueIsUnescaped: true})
	}
}

// An optional parameter is a pointer.
func isOptional(t reflect.Type) bool { return t.Kind() == reflect.Pointer }

func fromQuery(name string, t reflect.Type) func(*message, reflect.Value) error {
	return func(m *message, to reflect.Value) error {
		return runtime.BindQueryParameterWithOptions("form", true, !isOptional(t), name, m.parameters(), to.Addr().Interface(), runtime.BindQueryParameterOptions{})
	}
}

func fromHeader(name string, t reflect.Type) func(*message, reflect.Value) error {
	return func(m *message, to reflect.Value) error {
		values := m.Header.Values(name)
		if len(values) == 0 && isOptional(t) {
			return nil
		}
		if len(values) != 1 {
			return fmt.Errorf("expected one value, got %d", len(values))
		}
		if isOptional(t) {
			to.Set(reflect.New(t.Elem()))
			to = to.Elem()
		}
		return runtime.BindStyledParameterWithOptions("simple", name, values[0], to.Addr().Interface(),
			runtime.BindStyledParameterOptions{ParamLocation: runtime.ParamLocationHeader, Required: !isOptional(t)})
	}
}

// fromBody reads a body of JSON into a pointer, and hands on any other as it comes. The tag is
// the media type, where an operation takes several, and says whether there may be no body.
func fromBody(tag string, t reflect.Type) func(*message, reflect.Value) error {
	media, optional := strings.CutSuffix(tag, ",optional")
	return func(m *message, to reflect.Value) error {
		if !strings.HasPrefix(m.Header.Get("Content-Type"), media) {
			return nil
		}
		if t.Kind() != reflect.Pointer {
			to.Set(reflect.ValueOf(m.Body))
			return nil
		}
		body := reflect.New(t.Elem())
		if err := decode(m.Body, body.Interface()); err != nil {
			if optional && errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		to.Set(body)
		return nil
	}
}

// decode reads JSON, out of memory where it is there: a decoder takes twice the body to begin with.
func decode(body io.Reader, to any) error {
	if held, ok := body.(interface{ Bytes() []byte }); ok {
		return json.Unmarshal(held.Bytes(), to)
	}
	return json.NewDecoder(body).Decode(to)
}
