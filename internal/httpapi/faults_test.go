package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/wire"
)

// TestFaultsAreBounded: what is wrong with a body costs no more than the body.
// Anyone may send 64 KiB, and 4 MiB hold a million items that lack everything.
func TestFaultsAreBounded(t *testing.T) {
	t.Parallel()
	c, err := ourContract()
	if err != nil {
		t.Fatal(err)
	}
	alerts := c.Routes[contract.RouteKey("POST", nativePath)].Body().Content["application/json"].Schema.Value
	many := func(n int, name string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%s%d":0`, name, i)
		}
		return b.String()[1:]
	}
	for name, test := range map[string]struct {
		body string
		want int
	}{
		"members of the whole":  {`{"alerts":[],` + many(20_000, "m") + `}`, wire.MaxFaults},
		"members of an item":    {`{"alerts":[{` + many(20_000, "m") + `}]}`, wire.MaxFaults},
		"items that lack all":   {`{"alerts":[` + strings.Repeat(`{},`, 9_000) + `{}]}`, wire.MaxFaults},
		"items of another type": {`{"alerts":[` + strings.Repeat(`null,`, 9_000) + `null]}`, wire.MaxFaults},
		"one in each":           {`{"alerts":[` + strings.Repeat(`0,`, wire.MaxFaults-2) + `0]}`, wire.MaxFaults - 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, p := contract.CheckJSON(alerts, []byte(test.body))
			if p != nil {
				t.Fatal(p)
			}
			if len(found) != test.want {
				t.Errorf("%d faults are named, want %d", len(found), test.want)
			}
			places := make(map[string]bool)
			for _, f := range found {
				places[*f.Pointer] = true
			}
			if len(places) != len(found) {
				t.Errorf("%d faults are in %d places", len(found), len(places))
			}
		})
	}
}

// TestDuplicateMembersAreRefused in every body that the contract describes, those of the native feeds among
// them, each by its pointer and all at once with the other faults.
func TestDuplicateMembersAreRefused(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	token := w.ingestToken(w.ours.admin)
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/ingest/v1/fleet", `{"instances":[{"externalId":"a","externalId":"b","name":"x","engine":"postgresql","version":"15.1","host":"h"}],"instances":[]}`,
			"#/instances repeated_field, #/instances/0/externalId repeated_field"},
		{"POST", "/ingest/v1/alerts", `{"alerts":[{"severity":"critical","severity":"info","se\u0076erity":"info"},{"a/b":1,"a/b":2,"c":":\":{"}]}`,
			"#/alerts/0/severity repeated_field, #/alerts/1/a~1b repeated_field, #/alerts/1/a~1b unknown_field, #/alerts/1/c unknown_field"},
		{"POST", "/ingest/v1/samples", `{"hosts":[{"host":"h","at":"2026-11-20T12:00:00Z","volumes":[{"mount":"/","usedPercent":1,"usedPercent":99,"readOnly":true}]}]}`,
			"#/hosts/0/volumes/0/readOnly unknown_field, #/hosts/0/volumes/0/usedPercent repeated_field"},
		{"POST", "/ingest/v1/agents", `{"name":"a","name":"b","servers":[]}`, "#/name repeated_field"},
		{"POST", "/ingest/v1/assessments", `{"assessments":[{"instance":"a","instance":"b"}]}`, "#/assessments/0/instance repeated_field"},
		{"POST", "/api/v1/channels", `{"name":"x","kind":"chat","kind":"email"}`, "#/kind repeated_field"},
	} {
		r := request{method: c.method, path: c.path, as: w.ours.admin, body: c.body, header: map[string]string{"Content-Type": "application/json", "X-Muster-Sender": "s"}}
		if strings.HasPrefix(c.path, "/ingest/") {
			r.as, r.token = person{}, token
		}
		got := w.do(r).is(400)
		said := []string{}
		for _, e := range got.object()["errors"].([]any) {
			e := e.(map[string]any)
			if code := e["code"].(string); code == "repeated_field" || code == "unknown_field" {
				said = append(said, fmt.Sprint(e["pointer"], " ", code))
			}
		}
		for _, want := range strings.Split(c.want, ", ") {
			if !strings.Contains(strings.Join(said, ", "), want) {
				t.Errorf("%s: it says %q, want %q", c.path, said, want)
			}
		}
	}
}

// TestRepeatedMembersAreFound wherever they are, and nothing that only looks like one.
func TestRepeatedMembersAreFound(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}`: "",
		`{"a:b":":","c":"\\","d":"\":\""}`:          "",
		`[]`:                                        "", `":"`: "", `7`: "",
		`{"a":1,"a":1}`:                           "#/a",
		`{"a":1,"a":1,"a":1}`:                     "#/a",
		`{"a":{"b":1,"b":2},"a":{"b":1}}`:         "#/a #/a/b",
		`[{"a":1},{"a":1,"\u0061":2}]`:            "#/1/a",
		`{"":1,"":2,"~/":{"x":[{"y":1,"y":[]}]}}`: "# #/~0~1/x/0/y",
	} {
		found, p := contract.CheckJSON(openapi3.NewSchema(), []byte(body))
		if p != nil {
			t.Fatal(p)
		}
		var places []string
		for _, f := range found {
			places = append(places, strings.TrimSuffix(*f.Pointer, "/"))
		}
		if got := strings.Join(places, " "); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestReadOnlyPropertiesAreRefused where a schema has some; ours has none in a body.
func TestReadOnlyPropertiesAreRefused(t *testing.T) {
	t.Parallel()
	schema := openapi3.NewObjectSchema().WithProperty("id", &openapi3.Schema{ReadOnly: true, Type: &openapi3.Types{"string"}}).
		WithProperty("name", openapi3.NewStringSchema()).WithoutAdditionalProperties()
	found := contract.Visit(schema, map[string]any{"id": "x", "name": "y"})
	if len(found) != 1 || found[0].Pointer != "#/id" {
		t.Errorf("found %+v", found)
	}
}
