package pdf_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
	"muster/internal/testing/longtest"
)

// demoDocuments are the inputs of the demo's documents as a filled demo stored them, in
// testdata/demo: the second Security report and the Data Inventory over all servers, and
// a scorecard of the neglected one.
var demoDocuments = []string{"security", "scorecard", "inventory"}

func demoDocument(t testing.TB, name string) snapshot.Document {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", "demo", name+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := snapshot.Decode(inputs)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// demoFiles has a *demoRendered for each of the demo's documents that was asked for, by name.
var demoFiles sync.Map

type demoRendered struct {
	once     sync.Once
	file     []byte
	rendered pdf.Rendered
}

// demoFile is one of the demo's documents as a file. It is rendered once for all tests, and nobody changes it.
func demoFile(t testing.TB, name string) ([]byte, pdf.Rendered) {
	t.Helper()
	found, _ := demoFiles.LoadOrStore(name, new(demoRendered))
	of := found.(*demoRendered)
	of.once.Do(func() { of.file, of.rendered = render(t, renderer(t), demoDocument(t, name)) })
	if of.file == nil {
		t.Fatalf("%s could not be rendered, and the first test that asked for it says why", name)
	}
	return of.file, of.rendered
}

// demoSays is says of one of the demo's documents.
func demoSays(t *testing.T, name string, want, not []string) {
	t.Helper()
	file, _ := demoFile(t, name)
	fileSays(t, file, want, not)
}

// inCI is how many pages of each a run of CI looks at: nearly all of two of them. The
// rest takes as long again with the race detector.
const inCI = 12

// TestPagesOfTheDemo holds the first pages of the demo's documents to small pictures.
func TestPagesOfTheDemo(t *testing.T) {
	if *update {
		t.Skip("TestLongEveryPageOfTheDemo writes them")
	}
	t.Parallel()
	eachDemoDocument(t, inCI)
}

// TestLongEveryPageOfTheDemo holds each page to one.
func TestLongEveryPageOfTheDemo(t *testing.T) {
	if !*update {
		longtest.Only(t)
	}
	t.Parallel()
	eachDemoDocument(t, 0)
}

// eachDemoDocument compares the first pages of each, or all of them (0).
func eachDemoDocument(t *testing.T, first int) {
	t.Helper()
	for _, name := range demoDocuments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, rendered := demoFile(t, name)
			golden := func(page int) string {
				return filepath.Join("testdata", "demo", fmt.Sprintf("%s-%02d.png", name, page))
			}
			pages := smallPictures(t, file, first)
			if *update && first == 0 {
				updatePages(t, pages, golden)
			}
			if len(pages) != rendered.Pages && len(pages) != first {
				t.Fatalf("%d pictures of %d pages", len(pages), rendered.Pages)
			}
			for i, got := range pages {
				want, err := readPicture(golden(i + 1))
				if err != nil {
					t.Errorf("page %d: %v; -update if it is meant", i+1, err)
				} else if share := unlikeLevels(got, want); share > tolerance {
					seen := filepath.Join(t.ArtifactDir(), filepath.Base(golden(i+1)))
					write(t, seen, got)
					t.Errorf("page %d: %.2f%% of the pixels differ from %s, see %s; -update if it is meant", i+1, 100*share, golden(i+1), seen)
				}
			}
			if _, err := os.Stat(golden(rendered.Pages)); err != nil {
				t.Errorf("page %d is new: %v", rendered.Pages, err)
			}
			if _, err := os.Stat(golden(rendered.Pages + 1)); err == nil {
				t.Errorf("the document ends before %s", golden(rendered.Pages+1))
			}
		})
	}
}

// One line of a table that moved by two points is seen.
func TestSmallPicturesSeeALineThatMoved(t *testing.T) {
	t.Parallel()
	page, err := readPicture(filepath.Join("testdata", "demo", "scorecard-05.png"))
	if err != nil {
		t.Fatal(err)
	}
	moved := image.NewPaletted(page.Rect, page.Palette)
	copy(moved.Pix, page.Pix)
	const line, tall = 200, 6 // where one is, and how tall
	for y := line; y < line+tall; y++ {
		copy(moved.Pix[(y+1)*moved.Stride:(y+2)*moved.Stride], page.Pix[y*page.Stride:(y+1)*page.Stride])
	}
	if share := unlikeLevels(page, moved); share <= tolerance {
		t.Errorf("only %.3f%% of the pixels differ", 100*share)
	}
}

// greys are the levels that pictures are kept in: a third of the bytes of 256.
var greys = func() (all color.Palette) {
	for level := range 16 {
		all = append(all, color.Gray{Y: uint8(17 * level)})
	}
	return all
}()

// smallPictures draws the first pages, or all (0), with poppler in grey, at 40 dots an
// inch.
func smallPictures(t *testing.T, file []byte, first int) []*image.Paletted {
	t.Helper()
	tool, err := exec.LookPath("pdftoppm")
	if err != nil {
		t.Skip("pdftoppm is missing: install poppler-utils to check how the reports look")
	}
	cmd := exec.CommandContext(t.Context(), tool, "-r", "40", "-gray", "-l", strconv.Itoa(first), "-")
	cmd.Stdin = bytes.NewReader(file)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var levels [256]uint8
	for level := range levels {
		levels[level] = uint8((level + 8) / 17)
	}
	var pages []*image.Paletted
	for len(out) > 0 { // one PGM after the other
		var width, height int
		const head = "P5\n%d %d\n255\n"
		if _, err := fmt.Sscanf(string(out[:min(len(out), 40)]), head, &width, &height); err != nil {
			t.Fatal(err)
		}
		out = out[len(fmt.Sprintf(head, width, height)):]
		page := image.NewPaletted(image.Rect(0, 0, width, height), greys)
		for i, level := range out[:len(page.Pix)] {
			page.Pix[i] = levels[level]
		}
		out = out[len(page.Pix):]
		pages = append(pages, page)
	}
	return pages
}

// updatePages writes the pictures of a document, and takes away those of pages that it
// has no more.
func updatePages(t *testing.T, pages []*image.Paletted, golden func(page int) string) {
	t.Helper()
	for i, page := range pages {
		write(t, golden(i+1), page)
	}
	for page := len(pages) + 1; os.Remove(golden(page)) == nil; page++ {
	}
}

func readPicture(path string) (*image.Paletted, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		return nil, err
	}
	page, ok := img.(*image.Paletted)
	if !ok || len(page.Palette) != len(greys) {
		return nil, fmt.Errorf("%s is not in %d greys", path, len(greys))
	}
	return page, nil
}

// unlikeLevels is unlike for pictures in these greys.
func unlikeLevels(a, b *image.Paletted) float64 {
	if a.Rect != b.Rect {
		return 1
	}
	n := 0
	if !bytes.Equal(a.Pix, b.Pix) {
		for i, level := range a.Pix {
			if max(level, b.Pix[i])-min(level, b.Pix[i]) > 4 {
				n++
			}
		}
	}
	return float64(n) / float64(len(a.Pix))
}
