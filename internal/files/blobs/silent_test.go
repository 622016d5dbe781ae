package blobs_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// TestTheObjectStoresLibraryPrintsNothing: a process writes only its log, in one form. C34:
// with a store without checksums, the library printed a line for each file that was read.
func TestTheObjectStoresLibraryPrintsNothing(t *testing.T) { //nolint:paralleltest // it changes standard error
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Last-Modified", "Thu, 26 Nov 2026 20:00:00 GMT")
		_, _ = io.WriteString(w, "a file")
	}))
	defer server.Close()
	said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = said.Close() }()
	stderr := os.Stderr
	os.Stderr = said
	s := open(t, "s3://bucket?region=us-east-1&use_path_style=true&endpoint="+server.URL)
	file, err := s.Open(t.Context(), "reports/a")
	os.Stderr = stderr
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(file); err != nil || string(text) != "a file" {
		t.Errorf("read %q, %v", text, err)
	}
	_ = file.Close()
	if text, err := os.ReadFile(said.Name()); err != nil || len(text) > 0 {
		t.Errorf("it printed %q, %v", text, err)
	}
}
