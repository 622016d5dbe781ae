package offline_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/attest"
	"muster/internal/attest/offline"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "page", "testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestVectors: what the page answers in a browser is what this answers.
func TestVectors(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		Name    string         `json:"name"`
		Verdict attest.Verdict `json:"verdict"`
		Step    string         `json:"step"`
		Proof   bool           `json:"proof"`
		Keys    string         `json:"keys"`
	}
	if err := json.Unmarshal(read(t, "vectors.json"), &vectors); err != nil || len(vectors) < 30 {
		t.Fatal(len(vectors), err)
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			dashed := func(name string) string { return strings.ReplaceAll(strings.ReplaceAll(name, ",", ""), " ", "-") }
			keys, err := attest.ParseKeys(read(t, "keys-"+dashed(v.Keys)+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var beside *attest.Proof
			if v.Proof {
				if p, err := attest.ParseProof(read(t, dashed(v.Name)+".proof.json")); err == nil {
					beside = &p
				}
			}
			a := offline.Check(read(t, dashed(v.Name)+".pdf"), beside, attest.Trust{Keys: keys})
			if a.Verdict != v.Verdict || a.Sentence == "" {
				t.Errorf("it %s, want %s: %s\n%+v", a.Verdict, v.Verdict, a.Sentence, a.Steps)
			}
			first := ""
			for _, s := range a.Steps {
				if first == "" && (s.State == attest.Broken || s.State == attest.Untold && v.Verdict == attest.CannotTell) {
					first = s.Name
				}
			}
			if first != v.Step {
				t.Errorf("step %q is the first that does not hold, want %q: %+v", first, v.Step, a.Steps)
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	file, err := os.ReadFile(filepath.Join("..", "page", "testdata", "vectors", "signed.pdf"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		offline.Check(file, nil, attest.Trust{})
	}
}
