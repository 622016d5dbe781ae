package pdf_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot/snapshottest"
)

// picture draws one page of a PDF with poppler, at 50 dots an inch.
func picture(t *testing.T, file []byte, page int) image.Image {
	t.Helper()
	tool, err := exec.LookPath("pdftoppm")
	if err != nil {
		t.Skip("pdftoppm is missing: install poppler-utils to check how the reports look")
	}
	path := filepath.Join(t.TempDir(), "report.pdf")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	n := strconv.Itoa(page)
	out, err := exec.CommandContext(t.Context(), tool, "-r", "50", "-f", n, "-l", n, "-png", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// unlike is the share of pixels that clearly differ. Another version of
// poppler smooths edges differently: that stays below the tolerance, a word
// that moved does not.
func unlike(a, b image.Image) float64 {
	if a.Bounds() != b.Bounds() {
		return 1
	}
	n := 0
	box := a.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			r1, g1, b1, _ := a.At(x, y).RGBA()
			r2, g2, b2, _ := b.At(x, y).RGBA()
			if apart(r1, r2)+apart(g1, g2)+apart(b1, b2) > 3*0x5000 {
				n++
			}
		}
	}
	return float64(n) / float64(box.Dx()*box.Dy())
}

func apart(a, b uint32) uint32 { return max(a, b) - min(a, b) }

const tolerance = 0.0003

func TestPictures(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	security, _ := render(t, r, snapshottest.Rich(report.Security))
	scorecard, _ := render(t, r, snapshottest.Rich(report.InstanceScorecard))
	owned, _ := render(t, r, snapshottest.Owned(snapshottest.Rich(report.Security), "Payments", "Platform", "Analytics", ""))
	inventory, _ := render(t, r, snapshottest.Owned(snapshottest.Rich(report.DataInventory), "Payments"))
	for name, tc := range map[string]struct {
		file []byte
		page int
	}{
		"owners-first-steps": {owned, 1}, "owners-plan": {owned, 8}, "owners-cover": {inventory, 1}, "owners-risks": {inventory, 7},
		"security-cover": {security, 1}, "security-summary": {security, 2}, "security-findings": {security, 4}, "security-exceptions": {security, 6}, "scorecard-health": {scorecard, 2}, "scorecard-utilization": {scorecard, 3}, "scorecard-alerts": {scorecard, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := picture(t, tc.file, tc.page)
			path := filepath.Join("testdata", name+".png")
			if *update {
				write(t, path, got)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			want, err := png.Decode(f)
			if err != nil {
				t.Fatal(err)
			}
			if share := unlike(got, want); share > tolerance {
				seen := filepath.Join(t.ArtifactDir(), name+".png")
				write(t, seen, got)
				t.Errorf("%.2f%% of the pixels differ from %s, see %s; -update if it is meant", 100*share, path, seen)
			}
		})
	}
}

func write(t *testing.T, path string, img image.Image) {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The comparison itself must be able to fail: one changed word is enough.
func TestPictureComparisonSeesAChangedWord(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	doc := snapshottest.Rich(report.Security)
	before, _ := render(t, r, doc)
	doc.Organization.Name = "Sudlicht Energie AG"
	after, _ := render(t, r, doc)
	if share := unlike(picture(t, before, 1), picture(t, after, 1)); share <= tolerance {
		t.Errorf("only %.3f%% of the pixels differ", 100*share)
	}
}

// shaded counts the pixels of a page with the shading of unknown values.
func shaded(img image.Image) int {
	n, box := 0, img.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if r, g, b, _ := img.At(x, y).RGBA(); r>>8 == 0xED && g>>8 == 0xF0 && b>>8 == 0xF3 {
				n++
			}
		}
	}
	return n
}

// Days without a score are shaded in the score's line, and nothing is drawn across them.
func TestTheLineOfTheScoreHasGaps(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	area := func(scores ...int) int {
		file, _ := render(t, r, scored(scores...))
		return shaded(picture(t, file, 2))
	}
	one, three := area(50, 50, 0, 50, 50), area(50, 0, 0, 0, 50)
	if one == 0 || three < 5*one/2 || three > 7*one/2 {
		t.Errorf("one day takes %d pixels, three take %d", one, three)
	}
	// The sentence above both lines is as long, so that both stand at the same place.
	if n, flat := area(50, 0, 0, 0, 90), area(50, 0, 0, 0, 51); n < flat-20 { // a hairline or two less where edges are smoothed
		t.Errorf("between 50 and 90 %d pixels are shaded, between 50 and 51 %d", n, flat)
	}
	if n := area(50, 50, 50, 50, 50); n != 0 {
		t.Errorf("without a gap %d pixels are shaded", n)
	}
}
