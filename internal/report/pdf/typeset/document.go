package typeset

import "time"

// Info is the document's metadata.
type Info struct {
	Title, Author, Subject, Keywords, Creator string
	Created                                   time.Time
}

// Paper flows text down its pages. Y is where the next thing goes, in
// points from the top of the current page.
type Paper struct {
	Fonts  *Fonts
	Paper  string // A4 or Letter
	Width  float64
	Height float64
	Y      float64

	margin Margin
	pages  []*Page
	marks  []Bookmark
	kept   *kept // what a break takes along; nil: nothing
	whole  bool  // no page ends in what is being drawn
	tree   structure
	broken broken
}

// Margin is the white around the text.
type Margin struct{ Left, Right, Top, Bottom float64 }

// Bookmark is a place that links and the outline lead to.
type Bookmark struct {
	Title string
	Level int // 0, 1 or EntryLevel
	Page  int // from 1
	Y     float64
}

// NewPaper returns a document with its first page open.
func NewPaper(fonts *Fonts, paper string, margin Margin) *Paper {
	d := &Paper{Fonts: fonts, Paper: paper, Width: 595.28, Height: 841.89, margin: margin, tree: newStructure(), broken: broken{}}
	if paper == "Letter" {
		d.Width, d.Height = 612, 792
	} else {
		d.Paper = "A4"
	}
	d.NewPage()
	return d
}

// Left is the left edge of the text.
func (d *Paper) Left() float64 { return d.margin.Left }

// TextWidth is the width between the margins.
func (d *Paper) TextWidth() float64 { return d.Width - d.margin.Left - d.margin.Right }

// Bottom is the lower edge of the text.
func (d *Paper) Bottom() float64 { return d.Height - d.margin.Bottom }

// EndAbove lets text end so far above the lower edge of the paper, from here on.
func (d *Paper) EndAbove(margin float64) { d.margin.Bottom = margin }

// Page is the page that is being filled.
func (d *Paper) Page() *Page { return d.pages[len(d.pages)-1] }

// Pages are all pages so far.
func (d *Paper) Pages() []*Page { return d.pages }

// NewPage starts a page.
func (d *Paper) NewPage() {
	d.pages = append(d.pages, &Page{fonts: d.Fonts, tree: &d.tree})
	d.Y = d.margin.Top
}

// Need starts a page unless h points are left on this one.
func (d *Paper) Need(h float64) {
	if !d.whole && d.Y+h > d.Bottom() && d.Y > d.margin.Top {
		d.breakPage()
	}
}

// Skip leaves h points blank, except at the top of a page.
func (d *Paper) Skip(h float64) {
	if d.Y > d.margin.Top {
		d.Y += h
	}
}

// Mark remembers this place under a title and puts it in the outline.
func (d *Paper) Mark(title string, level int) {
	d.marks = append(d.marks, Bookmark{d.Fonts.Clean(title), level, len(d.pages), d.Y})
}

// Marks returns all marks in the order in which they were set.
func (d *Paper) Marks() []Bookmark { return d.marks }

// Paragraph flows spans over the text's width, or over a part of it that is
// indented from the left, and leaves Y below. leading is the line height as a
// multiple of the largest size.
func (d *Paper) Paragraph(indent, leading float64, spans ...Span) {
	d.ParagraphWithin(indent, d.TextWidth()-indent, leading, spans...)
}

// ParagraphWithin is Paragraph over a width of its own: the one that was passed to
// ParagraphHeight.
func (d *Paper) ParagraphWithin(indent, width, leading float64, spans ...Span) {
	d.Tagged(Text, func() { d.paragraph(indent, width, leading, spans) })
}

func (d *Paper) paragraph(indent, width, leading float64, spans []Span) {
	lines, size := d.flow(width, spans)
	height := size * leading
	for i, l := range lines {
		// No single line is left behind or carried over where two fit.
		if i == 0 && len(lines) > 1 || i == len(lines)-2 && i > 0 {
			d.Need(2 * height)
		} else {
			d.Need(height)
		}
		x := d.Left() + indent
		for _, p := range l.pieces {
			x += d.Page().clean(x, Baseline(d.Y, height, size), p.Style, Left, p.Text)
		}
		d.Y += height
	}
}

// ParagraphHeight is how tall a paragraph over that width would be.
func (d *Paper) ParagraphHeight(width, leading float64, spans ...Span) float64 {
	lines, size := d.flow(width, spans)
	return float64(len(lines)) * size * leading
}

// flow breaks spans into lines; size is the largest of theirs.
func (d *Paper) flow(width float64, spans []Span) (lines []line, size float64) {
	cleaned := make([]Span, len(spans))
	for i, s := range spans {
		cleaned[i] = Span{d.Fonts.CleanLines(s.Text), s.Style}
		size = max(size, s.Style.Size)
	}
	return d.wrap(cleaned, width), size
}
