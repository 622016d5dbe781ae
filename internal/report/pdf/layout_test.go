package pdf_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
	"muster/internal/testing/longtest"
)

// fills are the shares of a document's pages, from the top of the text to the footer,
// that have something on them.
func fills(t *testing.T, file []byte) []float64 {
	t.Helper()
	tool, err := exec.LookPath("pdftoppm")
	if err != nil {
		t.Skip("pdftoppm is missing: install poppler-utils to check how the reports look")
	}
	path := filepath.Join(t.TempDir(), "report.pdf")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), tool, "-r", "20", "-gray", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var shares []float64
	for pages := bytes.NewBuffer(out); pages.Len() > 0; {
		var width, height, most int
		if _, err := fmt.Fscanf(pages, "P5\n%d %d\n%d\n", &width, &height, &most); err != nil {
			t.Fatal(err)
		}
		pixels := pages.Next(width * height)
		first, last := 74*20/72, height-60*20/72
		end := first
		for y := first; y < last; y++ {
			for _, p := range pixels[y*width : (y+1)*width] {
				if int(p) < most*4/5 {
					end = y
				}
			}
		}
		shares = append(shares, float64(end-first)/float64(last-first))
	}
	return shares
}

// filled reports the pages of a document of so many servers less that are two thirds
// empty.
func filled(t *testing.T, kind report.Kind, paper string, less int) {
	t.Helper()
	doc := snapshottest.Rich(kind)
	doc.Organization.PaperSize = paper
	if kind != report.InstanceScorecard {
		doc.Instances = doc.Instances[less:]
	}
	file, rendered := render(t, renderer(t), doc)
	for i, share := range fills(t, file) {
		if share < 0.33 {
			t.Errorf("%s on %s, %d servers less: page %d of %d is filled by %.0f %%", kind, paper, less, i+1, rendered.Pages, 100*share)
		}
	}
}

// No page is two thirds empty. Laid out once, the first four of these end with one, by
// 6 to 26 %.
func TestNoPageIsTwoThirdsEmpty(t *testing.T) {
	t.Parallel()
	filled(t, report.Security, "A4", 3)
	filled(t, report.Security, "Letter", 5)
	filled(t, report.DataInventory, "A4", 4)
	filled(t, report.DataInventory, "Letter", 1)
	filled(t, report.InstanceScorecard, "A4", 0)
}

// Nor is any, whatever the number of findings and tables ends on.
func TestLongNoPageIsTwoThirdsEmpty(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	for _, kind := range kinds {
		for _, paper := range []string{"A4", "Letter"} {
			for less := range 10 {
				filled(t, kind, paper, less)
			}
		}
	}
}

// A document that nothing can help stays as it is.
func TestAShortDocumentStaysShort(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.DataInventory)
	doc.Instances = []snapshot.Instance{}
	if _, rendered := render(t, renderer(t), doc); rendered.Pages == 0 {
		t.Error("no page")
	}
}
