package wire

import (
	"errors"
	"testing"
)

func TestRefusalsAreSentences(t *testing.T) {
	t.Parallel()
	for clause, want := range map[string]string{"unknown token": "Unknown token.", "": "", "Already one.": "Already one.", "über": "Über."} {
		if got := Sentence(clause); got != want {
			t.Errorf("%q became %q", clause, got)
		}
	}
}

// TestAFailedLookupIsNot404: with the database away nobody knows whether there is one.
func TestAFailedLookupIsNot404(t *testing.T) {
	t.Parallel()
	away := errors.New("the database is away")
	if err := Found(false, away, "report"); err != away { //nolint:errorlint // this very one
		t.Errorf("a lookup that failed: %v", err)
	}
	if p, ok := AsProblem(Found(false, nil, "report")); !ok || p.Code != "not_found" {
		t.Errorf("nothing there: %v", p)
	}
	if err := Found(true, nil, "report"); err != nil {
		t.Errorf("there: %v", err)
	}
}
