package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/getkin/kin-openapi/openapi3"

	"muster/internal/httpapi/wire"
)

func load(t testing.TB) *Contract {
	t.Helper()
	source, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Load(source)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// endless is a body that never ends; it counts what was read of it.
type endless struct {
	begin, again string
	read         int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		from := e.begin
		at := e.read
		if at >= len(from) {
			from, at = e.again, (at-len(from))%len(e.again)
		}
		m := copy(p[n:], from[at:])
		n, e.read = n+m, e.read+m
	}
	return n, nil
}

// TestABodyIsCountedWhileItIsRead: of a body without end no more is read than decides, and
// nothing but that text is held.
func TestABodyIsCountedWhileItIsRead(t *testing.T) {
	t.Parallel()
	c := load(t)
	for name, test := range map[string]struct {
		path, begin, again string
		most               int // bytes that are read
		code, pointer      string
	}{
		"empty assessments":   {"assessments", `{"assessments":[{}`, `,{}`, 1 << 20, "missing_parameter", "#/assessments/0/at"},
		"sound assessments":   {"assessments", `{"assessments":[`, `{"instance":"x","at":"2026-11-20T10:00:00Z"},`, 1 << 20, "too_many_items", "#"},
		"items of several":    {"assessments", `{"assessments":[{"instance":"x","at":"2026-11-20T10:00:00Z","settings":[`, `{"name":"x"},`, 2 << 20, "too_many_items", "#"},
		"privileges":          {"assessments", `{"assessments":[{"instance":"x","at":"2026-11-20T10:00:00Z","accounts":[{"name":"x","canLogin":true,"superuser":true,"privileges":[`, `"",`, 13 << 20, "too_many_items", "#"},
		"members twice":       {"assessments", `{"assessments":[]`, `,"assessments":[]`, 1 << 20, "repeated_field", "#/assessments"},
		"a text":              {"assessments", `{"assessments":[{"instance":"`, `x`, 32<<20 + readAtOnce, "body_too_large", ""},
		"space":               {"assessments", ``, ` `, 32<<20 + readAtOnce, "body_too_large", ""},
		"a number":            {"assessments", ``, `1`, 32<<20 + readAtOnce, "body_too_large", ""},
		"nesting":             {"assessments", `{"assessments":`, `[`, 1 << 20, "invalid_parameter", "#"},
		"nesting in nothing":  {"assessments", `{"x":`, `[`, 1 << 20, "invalid_parameter", "#"},
		"sound instances":     {"fleet", `{"instances":[`, `{"externalId":"x","name":"x","engine":"mysql","createdAt":"2026-11-20T10:00:00Z"},`, 2 << 20, "too_many_items", "#/instances"},
		"hosts":               {"samples", `{"hosts":[`, `{"host":"x","instances":[],"at":"2026-11-20T10:00:00Z"},`, 1 << 20, "too_many_items", "#"},
		"unknown members":     {"samples", `{"x":0`, `,"y":0`, 1 << 20, "unknown_field", "#/x"},
		"waits":               {"samples", `{"sessions":[{"waits":{"x":1`, `,"x":1`, 1 << 20, "repeated_field", "#/sessions/0/waits"},
		"servers":             {"agents", `{"servers":[`, `{"instance":"x","error":null,"missingGrants":[],"signs":[]},`, 1 << 20, "too_many_items", "#"},
		"a value that is not": {"agents", `{"buffer":{"dropped":[`, `{},`, 4 << 20, "too_many_items", "#"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			route := c.Routes[RouteKey("POST", "/ingest/v1/"+test.path)]
			body := &endless{begin: test.begin, again: test.again}
			in := &reading{source: body, limit: route.BodyLimit, values: int(route.BodyLimit / bytesOfValue), rules: true}
			fields, p := in.check(route.shape)
			if p == nil {
				p = wire.Unreadable(fields)
			}
			if p == nil || p.Code != test.code {
				t.Fatalf("refused with %v, want %s", p, test.code)
			}
			if body.read > test.most {
				t.Errorf("%d bytes are read, want %d at most", body.read, test.most)
			}
			if test.pointer != "" && wire.FieldName(p.Fields[0]) != test.pointer {
				t.Errorf("refused at %s, want %s", wire.FieldName(p.Fields[0]), test.pointer)
			}
			if len(p.Fields) > wire.MaxFaults {
				t.Errorf("%d faults are told", len(p.Fields))
			}
		})
	}
}

// TestALongNameIsReportedOnce: a name of megabytes stands in no pointer, or a thousand faults below
// it would take gigabytes.
func TestALongNameIsReportedOnce(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 64<<10)
	twice := strings.Repeat(`"a":1,`, 2000) + `"a":1`
	c := load(t)
	for name, test := range map[string]struct{ path, body, pointer string }{
		"of an unknown member": {"/ingest/v1/samples", `{"` + long + `":{` + twice + `}}`, "#"},
		"at the end":           {"/ingest/v1/samples", `{"x":{"` + long + `":{"a":{` + twice + `}}}}`, "#/x"},
		"of a map":             {"/ingest/v1/samples", `{"sessions":[{"waits":{"` + long + `":"x"}}]}`, "#/sessions/0/waits"},
		"in many parts":        {"/ingest/v1/samples", strings.Repeat(`{"`+long[:600]+`":`, 50) + `{` + twice + `}` + strings.Repeat("}", 50), "#/" + long[:600]},
		"of a form":            {"/api/v1/reports", `{"` + long[:50_000] + `":1}`, "#"},
	} {
		route := c.Routes[RouteKey("POST", test.path)]
		in := &reading{source: strings.NewReader(test.body), limit: math.MaxInt64, values: math.MaxInt}
		fields, p := in.check(route.shape)
		if p != nil {
			t.Fatal(name, p)
		}
		told := false
		for _, f := range in.found {
			if len(f.Pointer) > 2*maxPointer {
				t.Fatalf("%s: a pointer has %d bytes", name, len(f.Pointer))
			}
		}
		for _, f := range fields {
			told = told || *f.Pointer == test.pointer
		}
		if !told {
			t.Errorf("%s: nothing is told of %s", name, test.pointer)
		}
	}
}

// TestEveryIngestSchemaIsWalked: nothing under /ingest is decoded as a whole before it is
// known to be small.
func TestEveryIngestSchemaIsWalked(t *testing.T) {
	t.Parallel()
	var walk func(at string, s *shape, seen map[*shape]bool)
	walk = func(at string, s *shape, seen map[*shape]bool) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		if s.whole {
			t.Errorf("%s has a keyword that is looked at in the whole value only", at)
		}
		walk(at+"/*", s.items, seen)
		walk(at+"/*", s.rest, seen)
		for name, member := range s.members {
			walk(at+"/"+name, member, seen)
		}
	}
	for _, r := range load(t).Routes {
		if r.IsIngest() && !r.Raw {
			walk(r.Path, r.shape, map[*shape]bool{})
		}
	}
}

// outcome is what a text is refused with, places and codes.
func outcome(fields []fault, malformed bool) string {
	if malformed {
		return "malformed"
	}
	var all []string
	for _, f := range fields {
		all = append(all, f.Pointer+" "+f.code)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// readAs reads a text as it arrives, a byte at a time or at once.
func readAs(s *shape, source io.Reader) string {
	in := &reading{source: source, limit: math.MaxInt64, values: math.MaxInt}
	p := in.read(s)
	return outcome(in.found, p != nil && p != enough)
}

// decoded is what the visitor of kin-openapi says of the whole text.
func decoded(schema *openapi3.Schema, text string) string {
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return outcome(nil, true)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return outcome(nil, true)
	}
	var found faults
	found.look(schema, value, "#")
	return outcome(found, false)
}

// TestReadingAgrees with decoding first and looking at the whole, about every example of the
// contract and every way to break it in one place.
func TestReadingAgrees(t *testing.T) {
	t.Parallel()
	for _, r := range load(t).Routes {
		body := r.Body()
		if body == nil || r.Raw || body.Content["application/json"] == nil {
			continue
		}
		schema := body.Content["application/json"].Schema.Value
		example := body.Content["application/json"].Example
		if example == nil {
			example = schema.Example
		}
		if example == nil {
			continue
		}
		text, err := json.Marshal(example)
		if err != nil {
			t.Fatal(err)
		}
		if got := readAs(r.shape, strings.NewReader(string(text))); got != "" {
			t.Errorf("%s: the example is refused: %s", r.Path, got)
		}
		if slow := readAs(r.shape, iotest.OneByteReader(strings.NewReader(string(text)))); slow != "" {
			t.Errorf("%s: read a byte at a time the example is refused: %s", r.Path, slow)
		}
		if !r.IsIngest() && !strings.Contains(r.Path, "notification-rules") { // the others have nothing that these have not
			continue
		}
		for _, broken := range breakEach(string(text)) {
			want, got := decoded(schema, broken), readAs(r.shape, strings.NewReader(broken))
			if (got == "") != (want == "") || !precedes(want, got) {
				t.Errorf("%s: %s\nread: %q\ndecoded: %q", r.Path, broken, got, want)
			}
		}
	}
}

// precedes says that each place of want is one of got's or above one: of what may be null
// the visitor says no more than that it does not fit.
func precedes(want, got string) bool {
	for place := range strings.SplitSeq(want, ", ") {
		pointer, _, _ := strings.Cut(place, " ")
		if !strings.Contains(", "+got, ", "+pointer) {
			return false
		}
	}
	return true
}

// breakEach replaces every value of a text by others.
func breakEach(text string) (all []string) {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		panic(err)
	}
	write := func() {
		out, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		all = append(all, string(out))
	}
	others := []any{nil, true, -1, 1.5, json.Number("1e400"), "", "é\u2028\"\\", []any{nil}, map[string]any{"x": 1}}
	var walk func(set func(any), v any)
	walk = func(set func(any), v any) {
		for _, other := range others {
			set(other)
			write()
		}
		set(v)
		switch v := v.(type) {
		case []any:
			for i := range v {
				walk(func(o any) { v[i] = o }, v[i])
			}
		case map[string]any:
			for name := range v {
				was := v[name]
				delete(v, name)
				write()
				v[name] = was
				walk(func(o any) { v[name] = o }, was)
			}
			v["unknown"] = 1
			write()
			delete(v, "unknown")
		}
	}
	walk(func(o any) { value = o }, value)
	return all
}

// TestASchemaMayContainItself, or null in its place.
func TestASchemaMayContainItself(t *testing.T) {
	t.Parallel()
	node := openapi3.NewObjectSchema().WithoutAdditionalProperties()
	null := &openapi3.Schema{Type: &openapi3.Types{openapi3.TypeNull}}
	node.Properties = openapi3.Schemas{"next": {Value: openapi3.NewOneOfSchema(node, null)}}
	for text, want := range map[string]string{
		`{"next":{"next":null}}`:        "",
		`{"next":{"next":{"other":1}}}`: "#/next/next/other unknown_field",
	} {
		if got := readAs(shapes{}.of(node), strings.NewReader(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// FuzzReading: what is JSON to encoding/json is to us, and nothing else; and whatever is
// wrong with it by the visitor of kin-openapi is by us.
func FuzzReading(f *testing.F) {
	c := load(f)
	route := c.Routes[RouteKey("POST", "/ingest/v1/samples")]
	schema := route.Body().Content["application/json"].Schema.Value
	for _, text := range []string{`{}`, ` [1, -0.5e+3 , "\u00e9\n", null, true,false,{"a":[]}] `, `01`, `1.`, `-`, `"\x"`, `"\`, `"\u00`, `"\"\\"`, `{"\u0061":"\ud800"}`, `{"a" 1}`, `[1,]`, `{,}`, `{"a":1,}`, "\"\x01\"", `nul`, `1 2`, "\"\xff\"",
		`{"hosts":[{"host":"x","instances":[],"at":"2026-11-20T10:00:00Z","cpuPercent":null}]}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, got := decoded(schema, text), readAs(route.shape, strings.NewReader(text))
		if want == "malformed" && strings.Count(text, "[")+strings.Count(text, "{") > maxDepth {
			return
		}
		if (want == "malformed") != (got == "malformed") && strings.ToValidUTF8(text, "") == text && strings.Count(text, "[")+strings.Count(text, "{") <= maxDepth {
			t.Fatalf("%q: read: %s, decoded: %s", text, got, want)
		}
		if slow := readAs(route.shape, iotest.OneByteReader(strings.NewReader(text))); slow != got {
			t.Fatalf("%q: read: %s, a byte at a time: %s", text, got, slow)
		}
	})
}

// BenchmarkReading is of a batch as an agent sends it: 800 deltas of statements.
func BenchmarkReading(b *testing.B) {
	route := load(b).Routes[RouteKey("POST", "/ingest/v1/samples")]
	schema := route.Body().Content["application/json"].Schema.Value
	deltas := make([]string, 800)
	for i := range deltas {
		deltas[i] = fmt.Sprintf(`{"key":"%016x","calls":%d,"totalMs":%d.25,"maxMs":1.5}`, i*7919, i+1, i*3)
	}
	text := `{"statements":[{"instance":"pg-1","database":"orders","at":"2026-11-20T10:00:00Z","intervalSeconds":60,"statements":[` + strings.Join(deltas, ",") + `]}]}`
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if got := readAs(route.shape, strings.NewReader(text)); got != "" {
				b.Fatal(got)
			}
		}
	})
	b.Run("decoded", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if got := decoded(schema, text); got != "" {
				b.Fatal(got)
			}
		}
	})
}
