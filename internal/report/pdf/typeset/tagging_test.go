package typeset

import (
	"strings"
	"testing"
)

// onePage is the structure of a document with one page and no text.
func onePage() *marks {
	m := newMarks([]element{{kind: Document}})
	m.begin()
	return m
}

// An element on two pages has a piece on each, and one without text is left out.
func TestAnElementMayGoOverAPage(t *testing.T) {
	t.Parallel()
	d := NewPaper(fonts(t), "A4", Margin{50, 50, 50, 50})
	style := Style{Face: Regular, Size: 10}
	d.Tagged(Title, func() { d.Paragraph(0, 1.3, Span{"Heading", style}) })
	d.Grouped(Grid, GridCell, func() {}) // nothing is in it
	d.Paragraph(0, 1.3, Span{strings.Repeat("words and words ", 450), style})
	d.Artifact(func() { d.Page().Text(50, 20, style, Left, "head") })
	m := newMarks(d.tree.elements)
	for _, page := range d.pages {
		m.begin()
		open := int32(-1)
		for _, o := range page.ops {
			if o.element != open {
				open = o.element
				m.mark(int(open))
			}
		}
	}
	var all strings.Builder
	for _, o := range m.objects(10, []int{3, 5}) {
		all.Write(o.text)
	}
	for _, want := range []string{
		"10 0 obj\n<</Type /StructTreeRoot /K 11 0 R /ParentTreeNextKey 2 /ParentTree <</Nums [0 [12 0 R 13 0 R] 1 [13 0 R]]>>>>\nendobj\n",
		"11 0 obj\n<</S /Document /P 10 0 R /K [12 0 R 13 0 R]>>\nendobj\n",
		"12 0 obj\n<</S /H1 /P 11 0 R /Pg 3 0 R /K [0]>>\nendobj\n",
		"13 0 obj\n<</S /P /P 11 0 R /Pg 3 0 R /K [1 <</Type /MCR /Pg 5 0 R /MCID 0>>]>>\nendobj\n",
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %q in %s", want, all.String())
		}
	}
	if strings.Contains(all.String(), "/Table") {
		t.Error("a table without text is there")
	}
}

// What does not fit moves to the next page as a whole, with what is kept before it; what is taller than a page
// is not drawn.
func TestAWholeElementStaysOnOnePage(t *testing.T) {
	t.Parallel()
	style := Style{Face: Regular, Size: 10}
	lines := func(d *Paper, n int) func() {
		return func() {
			for range n {
				d.Paragraph(0, 1, Span{"line", style})
			}
		}
	}
	d := NewPaper(fonts(t), "A4", Margin{50, 50, 50, 50})
	lines(d, 60)()
	d.Keep()
	d.Paragraph(0, 1, Span{"heading", style})
	if height, fits := d.Try(lines(d, 20)); fits || height != 200 || len(d.Page().ops) != 61 {
		t.Errorf("20 lines of %v points fit below 61, or were drawn: %d", height, len(d.Page().ops))
	}
	if !d.Whole(lines(d, 20)) || len(d.pages) != 2 || len(d.pages[0].ops) != 60 || len(d.pages[1].ops) != 21 {
		t.Errorf("%d pages, of %d and %d lines", len(d.pages), len(d.pages[0].ops), len(d.Page().ops))
	}
	y := d.Y
	if d.Whole(lines(d, 100)) || d.Y != y || len(d.pages) != 2 || len(d.Page().ops) != 21 {
		t.Errorf("100 lines are on one page: %d pages, %d lines", len(d.pages), len(d.Page().ops))
	}
}
