package snapshot_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func encode(t interface {
	Helper()
	Fatalf(string, ...any)
}, doc snapshot.Document) []byte {
	t.Helper()
	data, err := snapshot.Encode(doc)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return data
}

// Whatever is in a document, reading it back and writing it again changes no
// byte: else a rebuild could not match the digest of the stored inputs.
func TestEncodeDecodeEncodeIsIdentical(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var doc snapshot.Document
		fill(t, reflect.ValueOf(&doc).Elem())
		first := encode(t, doc)
		decoded, err := snapshot.Decode(first)
		if err != nil {
			t.Fatalf("decode: %v", err)
		}
		if second := encode(t, decoded); !bytes.Equal(first, second) {
			t.Fatalf("second encoding differs:\n%s\n%s", first, second)
		}
	})
}

// fill sets every field of a value, known to this test or not.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.String(), rapid.SampledFrom(snapshottest.Nasty()[:15]),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) })).Draw(t, "s"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "b"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "i"))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, "f"))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Slice:
		n := rapid.IntRange(-1, 2).Draw(t, "n")
		if n < 0 {
			return // nil
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			zone := time.FixedZone("", rapid.IntRange(-12, 14).Draw(t, "zone")*3600)
			v.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "sec"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).In(zone)))
			return
		}
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Array:
		v.Set(reflect.ValueOf(uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))))
	default:
		t.Fatalf("no generator for %s", v.Type())
	}
}

// The order in which collectors found things must not show.
func TestEncodeIgnoresTheOrderOfFacts(t *testing.T) {
	t.Parallel()
	for _, kind := range []report.Kind{report.Security, report.InstanceScorecard, report.DataInventory} {
		want := encode(t, snapshottest.Rich(kind))
		random := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			doc := snapshottest.Rich(kind)
			shuffle(random, reflect.ValueOf(&doc).Elem())
			if got := encode(t, doc); !bytes.Equal(got, want) {
				t.Fatalf("%s: a shuffled document encodes differently:\n%s", kind, cmp.Diff(string(want), string(got)))
			}
		}
	}
}

// ordered are the slices whose order is part of the facts.
var ordered = map[string]bool{"References": true, "FixedIn": true, "CPUPercent": true, "MemoryPercent": true, "DiskPercent": true, "Scores": true}

func shuffle(random *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			shuffle(random, v.Elem())
		}
	case reflect.Slice:
		random.Shuffle(v.Len(), reflect.Swapper(v.Interface()))
		for i := range v.Len() {
			shuffle(random, v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if !ordered[v.Type().Field(i).Name] {
				shuffle(random, v.Field(i))
			}
		}
	}
}

func TestEncodeMakesTimesAndTextCanonical(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Empty(report.Security)
	doc.AsOf = time.Date(2026, 11, 20, 13, 0, 0, 123456789, time.FixedZone("CET", 3600))
	doc.ScopeLabel = "a\xffb <&> \u2028"
	data := string(encode(t, doc))
	for _, want := range []string{`"asOf":"2026-11-20T12:00:00.123456Z"`, `"scopeLabel":"a‹0xFF›b <&> \u2028"`, `"instances":[]`, `"window":null`} {
		if !strings.Contains(data, want) {
			t.Errorf("no %s in\n%s", want, data)
		}
	}
	if doc.AsOf.Nanosecond() != 123456789 || doc.Instances != nil {
		t.Error("Encode changed the caller's document")
	}
}

func TestEncodeRefusesValuesWithoutJSON(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*snapshot.Document){
		"not a number": func(d *snapshot.Document) { d.Vulnerabilities = []snapshot.Vulnerability{{CVSS: math.NaN()}} },
		"infinity":     func(d *snapshot.Document) { d.Vulnerabilities = []snapshot.Vulnerability{{CVSS: math.Inf(1)}} },
		"year 10000":   func(d *snapshot.Document) { d.AsOf = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		doc := snapshottest.Empty(report.Security)
		spoil(&doc)
		if data, err := snapshot.Encode(doc); err == nil {
			t.Errorf("%s: encoded as %s", name, data)
		}
	}
}

func TestDecodeRefusesInvalidDocuments(t *testing.T) {
	t.Parallel()
	good := string(encode(t, snapshottest.Empty(report.Security)))
	for name, data := range map[string]string{
		"nothing":        "",
		"not JSON":       "%PDF-1.3",
		"unknown field":  strings.Replace(good, `"kind"`, `"sort"`, 1),
		"bytes after it": good + "{}",
		"cut short":      good[:len(good)/2],
	} {
		if _, err := snapshot.Decode([]byte(data)); err == nil {
			t.Errorf("%s: decoded", name)
		}
	}
	for _, version := range []string{"0", "4", "-1"} {
		_, err := snapshot.Decode([]byte(strings.Replace(good, `"schema":3`, `"schema":`+version, 1)))
		var wrong *snapshot.VersionError
		if !errors.As(err, &wrong) || wrong.Supported != snapshot.SchemaVersion {
			t.Errorf("schema %s: %v", version, err)
		}
	}
}

// The stored example of the present form must stay readable, and be written again unchanged.
func TestGoldenForm(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "form-3.json")
	doc := snapshottest.Undated(report.Security)
	if *update {
		if err := os.WriteFile(path, encode(t, doc), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := snapshot.Decode(stored)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(doc, decoded); diff != "" {
		t.Errorf("decoded document differs (-want +got):\n%s", diff)
	}
	if got := encode(t, doc); !bytes.Equal(got, stored) {
		t.Error("the encoding of form 3 has changed: raise SchemaVersion and add an upcaster, or run with -update before the first release")
	}
	if !json.Valid(stored) || snapshot.Digest(stored) != snapshot.Digest(encode(t, decoded)) {
		t.Error("the digest of the stored bytes does not survive")
	}
}

// The stored example of an older form is read as what it says and no more: a
// report of that time is rendered again from nothing else.
func TestOlderFormsAreStillRead(t *testing.T) {
	t.Parallel()
	for form, since := range map[string]func(doc map[string]any){
		"form-1.json": func(doc map[string]any) {
			doc["exceptions"], doc["alerts"] = []any{}, nil
			doc["previous"].(map[string]any)["accepted"] = []any{}
		},
		"form-2.json": func(map[string]any) {},
	} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			stored, err := os.ReadFile(filepath.Join("testdata", form))
			if err != nil {
				t.Fatal(err)
			}
			decoded, err := snapshot.Decode(stored)
			if err != nil {
				t.Fatal(err)
			}
			want, got := fields(t, stored), fields(t, encode(t, decoded))
			since(want)
			want["schema"] = 3.0
			for _, check := range want["checks"].([]any) {
				c := check.(map[string]any)
				c["passed"], c["impact"] = "", ""
				delete(c, "statement")
			}
			for _, violation := range violations(want) {
				violation["fix"] = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("lifted (-stored +read):\n%s", diff)
			}
			if _, err := snapshot.Decode(bytes.Replace(stored, []byte(`"kind"`), []byte(`"sort"`), 1)); err == nil {
				t.Error("a field that the form never had is read")
			}
		})
	}
}

// violations are those of a document's assessments.
func violations(doc map[string]any) (out []map[string]any) {
	for _, instance := range doc["instances"].([]any) {
		a, _ := instance.(map[string]any)["assessment"].(map[string]any)
		results, _ := a["results"].([]any)
		for _, result := range results {
			for _, v := range result.(map[string]any)["violations"].([]any) {
				out = append(out, v.(map[string]any))
			}
		}
	}
	return out
}

func fields(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// An erased person must be erased from every document that names them.
func TestPeople(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Empty(report.Security)
	ana, ben, eva := snapshottest.ID(3), snapshottest.ID(9), snapshottest.ID(1)
	doc.Exceptions = []snapshot.Exception{
		{RequestedBy: snapshot.Person{ID: ana, Name: "Ana"}, GrantedBy: snapshot.Person{ID: ben, Name: "Ben"}},
		{RequestedBy: snapshot.Person{ID: eva, Name: "Eva"}, GrantedBy: snapshot.Person{ID: snapshottest.ID(7)}}, // erased before
	}
	if diff := cmp.Diff([]uuid.UUID{eva, ana, ben}, doc.People()); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
}
