package pdf_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"muster/domain/report"
	"muster/internal/pdf"
	"muster/internal/snapshot"
	"muster/internal/snapshot/snapshottest"
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
	file, rendered, err := r.RenderBytes(doc)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(file, []byte("%PDF-")) {
		t.Fatalf("not a PDF: %.20q", file)
	}
	return file, rendered
}

// TestWriteSamples writes the samples for a person to look at:
// PDF_SAMPLES=/some/dir go test -run WriteSamples ./internal/pdf
func TestWriteSamples(t *testing.T) {
	dir := os.Getenv("PDF_SAMPLES")
	if dir == "" {
		t.Skip("set PDF_SAMPLES to a directory to look at the samples")
	}
	r := renderer(t)
	for _, kind := range kinds {
		for name, doc := range map[string]snapshot.Document{
			"rich": snapshottest.Rich(kind), "empty": snapshottest.Empty(kind), "hostile": snapshottest.Hostile(kind),
		} {
			file, _ := render(t, r, doc)
			if err := os.WriteFile(filepath.Join(dir, string(kind)+"-"+name+".pdf"), file, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
