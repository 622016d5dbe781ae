package pdf_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/domain/report"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
)

var kinds = []report.Kind{report.Security, report.InstanceScorecard, report.DataInventory}

func renderer(t testing.TB) *pdf.Renderer {
	t.Helper()
	r, err := pdf.New(pdf.Build{Version: "1.0.0", Commit: "0123abcd"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func render(t testing.TB, r *pdf.Renderer, doc snapshot.Document) ([]byte, pdf.Rendered) {
	t.Helper()
	var out bytes.Buffer
	rendered, err := r.Render(&out, doc)
	if err != nil {
		t.Fatal(err)
	}
	file := out.Bytes()
	if !bytes.HasPrefix(file, []byte("%PDF-")) {
		t.Fatalf("not a PDF: %.20q", file)
	}
	return file, rendered
}

// TestWriteSamples writes the samples for a person to look at, and renders the
// inputs documents, *.json, that it finds beside them:
// PDF_SAMPLES=/some/dir go test -run WriteSamples ./internal/report/pdf
func TestWriteSamples(t *testing.T) {
	dir := os.Getenv("PDF_SAMPLES")
	if dir == "" {
		t.Skip("set PDF_SAMPLES to a directory to look at the samples")
	}
	r := renderer(t)
	samples := map[string]snapshot.Document{}
	for _, kind := range kinds {
		for name, doc := range documents(kind) {
			samples[string(kind)+"-"+name] = doc
		}
	}
	stored, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stored {
		inputs, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if samples[strings.TrimSuffix(filepath.Base(path), ".json")], err = snapshot.Decode(inputs); err != nil {
			t.Fatal(err)
		}
	}
	for name, doc := range samples {
		file, _ := render(t, r, doc)
		if err := os.WriteFile(filepath.Join(dir, name+".pdf"), file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
