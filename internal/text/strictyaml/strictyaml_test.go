package strictyaml_test

import (
	"strings"
	"testing"
	"time"

	"muster/internal/text/strictyaml"
)

type thing struct {
	Name  string
	Many  *int
	On    *bool
	Until time.Time
	Kind  string
	Size  string
	Tags  map[string]string
	Words *[]string
}

func read(text string) (all []thing, faults []strictyaml.Fault) {
	var r strictyaml.Reader
	top, ok := r.Document([]byte(text))
	if !ok {
		return nil, r.Faults
	}
	r.Mapping(top, "", nil, map[string]strictyaml.Member{
		"things": func(n *strictyaml.Node, field string) {
			r.Sequence(n, field, func(n *strictyaml.Node, field string) {
				var t thing
				r.Mapping(n, field, []string{"name"}, map[string]strictyaml.Member{
					"name": r.Text(&t.Name), "many": r.Number(&t.Many), "on": r.Truth(&t.On), "until": r.Instant(&t.Until),
					"kind": r.OneOf(&t.Kind, "a", "b"), "size": r.TextOrNumber(&t.Size), "tags": r.Texts(&t.Tags), "words": r.Words(&t.Words),
				})
				all = append(all, t)
			})
		},
	})
	return all, r.Faults
}

func TestValuesAreReadWithTheirTypes(t *testing.T) {
	t.Parallel()
	all, faults := read(`things:
  - {name: "0123", many: 7, on: true, until: 2027-03-01T00:00:00Z, kind: b, size: 100, tags: {team: dba}, words: [x, y]}
`)
	if len(faults) > 0 || len(all) != 1 {
		t.Fatalf("%v, %v", all, faults)
	}
	one := all[0]
	if one.Name != "0123" || *one.Many != 7 || !*one.On || one.Until.Year() != 2027 || one.Kind != "b" || one.Size != "100" ||
		one.Tags["team"] != "dba" || len(*one.Words) != 2 {
		t.Errorf("it is %+v", one)
	}
}

// TestEveryFaultHasItsFieldAndLine, and none repeats what may be a secret.
func TestEveryFaultHasItsFieldAndLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "1: the file is empty",
		"things:\n  - name: a\n    naem: planted":                      "3: things[0].naem is not known here; there are kind, many, name, on, size, tags, until, words",
		"things:\n  - name: a\n    planted-key!: x":                    "3: things[0] has a key that is not one of kind, many, name, on, size, tags, until, words",
		"things:\n  - name: a\n    name: b":                            "3: things[0].name is given twice",
		"things:\n  - kind: a":                                         "2: things[0].name is required",
		"things:\n  - name: 0123":                                      "2: things[0].name must be a text; put it into quotation marks",
		"things:\n  - name: [planted]":                                 "2: things[0].name must be a text",
		"things:\n  - name:":                                           "2: things[0].name is empty; leave the key out instead",
		"things:\n  - {name: a, many: planted}":                        "2: things[0].many must be a whole number",
		"things:\n  - {name: a, on: planted}":                          "2: things[0].on must be true or false",
		"things:\n  - {name: a, until: planted}":                       "2: things[0].until must be an RFC 3339 time (2027-03-01T00:00:00Z)",
		"things:\n  - {name: a, kind: planted}":                        "2: things[0].kind must be one of a, b",
		"things:\n  - {name: a, size: [planted]}":                      "2: things[0].size must be a text",
		"things:\n  - {name: a, tags: planted}":                        "2: things[0].tags must be a mapping; without any it is written {}",
		"things: planted":                                              "1: things must be a list; without any it is written []",
		"- planted":                                                    "1: must be a mapping",
		"things: []\n---\nthings: []":                                  "2: the file holds a second document",
		"things:\n  - &planted {name: a}":                              "2: anchors and aliases are not read: write out what is meant",
		"things: *planted":                                             "1: is not YAML: a value there cannot be read",
		"things: " + strings.Repeat("[", 20) + strings.Repeat("]", 20): "1: is nested too deep",
		"# " + strings.Repeat("x", strictyaml.MaxBytes):                "1: the file has more than 8388608 bytes",
	} {
		_, faults := read(text)
		if len(faults) == 0 || faults[0].String() != want {
			t.Errorf("%.60q: %v, want %q", text, faults, want)
		}
		for _, f := range faults {
			if strings.Contains(f.String(), "planted") {
				t.Errorf("%.60q is repeated: %s", text, f)
			}
		}
	}
}

// TestDecodeRefusesUnknownFields, with their line.
func TestDecodeRefusesUnknownFields(t *testing.T) {
	t.Parallel()
	var into []struct{ Name string }
	if err := strictyaml.Decode([]byte("- &a {name: x}\n- *a\n"), &into); err != nil || len(into) != 2 {
		t.Errorf("%v, %v", into, err)
	}
	for text, want := range map[string]string{"- name: x\n  naem: y\n": "line 2: field naem not found", "[]\n---\n[]\n": "second document"} {
		if err := strictyaml.Decode([]byte(text), &into); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
