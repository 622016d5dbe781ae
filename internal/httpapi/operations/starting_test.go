package operations_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"muster/internal/httpapi/operations"
)

// TestAProcessThatStarts says at once that it lives, what it waits for, and to all else that
// it is to be sent again.
func TestAProcessThatStarts(t *testing.T) {
	t.Parallel()
	waits := "database"
	starting := operations.Starting(func() string { return waits })
	for name, tc := range map[string]struct {
		method, path string
		status       int
		says         []string
	}{
		"health":  {http.MethodGet, "/healthz", 200, []string{`"ok"`}},
		"ready":   {http.MethodGet, "/readyz", 503, []string{`"unready"`, `"database"`, `"failed"`}},
		"figures": {http.MethodGet, "/metrics", 503, []string{`"unavailable"`}},
		"page":    {http.MethodGet, "/", 503, []string{`"unavailable"`}},
		"write":   {http.MethodPost, "/ingest/v1/samples", 503, []string{`"unavailable"`, `"requestId"`}},
	} {
		answer := httptest.NewRecorder()
		starting.ServeHTTP(answer, httptest.NewRequest(tc.method, tc.path, nil))
		if answer.Code != tc.status || answer.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s: %d, %v", name, answer.Code, answer.Header())
		}
		if again := answer.Header().Get("Retry-After"); (tc.status == 503) != (again == "5") {
			t.Errorf("%s: Retry-After is %q", name, again)
		}
		for _, words := range tc.says {
			if !strings.Contains(answer.Body.String(), words) {
				t.Errorf("%s: %s lacks %s", name, answer.Body, words)
			}
		}
	}
	waits = "blobs"
	answer := httptest.NewRecorder()
	starting.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	if !strings.Contains(answer.Body.String(), `"blobs"`) {
		t.Errorf("it waits for the file store, and says %s", answer.Body)
	}
}
