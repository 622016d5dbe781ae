package wire

import (
	"context"
	"net/http/httptest"
	"strings"
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

func TestAWeakPasswordHasATitleOfItsOwn(t *testing.T) {
	t.Parallel()
	ctx := context.WithValue(t.Context(), CallKey{}, &Call{})
	r, answer := httptest.NewRequestWithContext(ctx, "GET", "/", nil), httptest.NewRecorder()
	(&Problem{Code: "weak_password"}).Write(answer, r)
	if strings.Contains(answer.Body.String(), ruleTitle) {
		t.Errorf("a weak password has no title of its own: %s", answer.Body)
	}
}
