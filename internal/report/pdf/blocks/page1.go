package blocks

import (
	"time"

	"muster/internal/report/pdf/typeset"
)

// The lower part of a Security report's page 1, which has to be enough for a decision: where
// the risk is, the changes since the previous report, and what to do first.
const (
	StandingRow  = 12.8 // a row of “Where the risk is”
	LeastRows    = 5    // of it, however little room there is
	ActionRow    = 22.5
	FirstActions = 5
	SectionHead  = 30.0 // a heading of page 1, with the heads of its columns
	GapAfter     = 5.0
)

// The type of page 1's tables.
var (
	RowStyle  = typeset.Style{Face: typeset.Regular, Size: 8.6, Color: Ink}
	RowStrong = typeset.Style{Face: typeset.Bold, Size: 8.6, Color: Ink}
	RowMuted  = typeset.Style{Face: typeset.Regular, Size: 8.6, Color: Muted}
	SubStyle  = typeset.Style{Face: typeset.Regular, Size: 8, Color: Muted}
	headStyle = typeset.Style{Face: typeset.Bold, Size: 8, Color: Muted}
)

// Colored is the style in another color.
func Colored(s typeset.Style, c typeset.Color) typeset.Style {
	s.Color = c
	return s
}

// PartTitle starts a part of page 1, with what stands at its right end.
func (b *Builder) PartTitle(words, aside string) {
	d := b.Paper
	d.Need(SectionHead + 2*StandingRow)
	page := d.Page()
	d.Tagged(typeset.Section, func() { page.Text(d.Left(), d.Y+10, H2Style, typeset.Left, words) })
	page.Text(d.Left()+d.TextWidth(), d.Y+10, SubStyle, typeset.Right, aside)
	page.Fill(d.Left(), d.Y+15, d.TextWidth(), 0.9, Accent)
	d.Y += 18
}

// Head is what stands above a column of page 1, from the left edge of the text.
type Head struct {
	At    float64
	Align typeset.Align
	Words string
}

// Heads writes the heads of a table on page 1.
func (b *Builder) Heads(all []Head) {
	b.Paper.Grouped(typeset.GridRow, typeset.GridHead, func() {
		for _, h := range all {
			b.Paper.Page().Text(b.Paper.Left()+h.At, b.Paper.Y+9, headStyle, h.Align, h.Words)
		}
	})
	b.Paper.Y += 12
}

// Months is how long it is until then, in months that are over by then.
func Months(from, to time.Time) string {
	n := 0
	for !from.AddDate(0, n+1, 0).After(to) {
		n++
	}
	if n == 0 {
		return "under a month"
	}
	return Count(n, "month", "months")
}

// ContentsInline is the height of the contents where they stand in lines.
const ContentsInline = 34.0

// inlineContents writes the contents of page 1 in two lines.
func (b *Builder) inlineContents() {
	page, y := b.Paper.Pages()[b.contentsPage], b.contentsAt
	left, right := b.Paper.Left(), b.Paper.Left()+b.Paper.TextWidth()
	x, n := left, 0
	for i, m := range b.Paper.Marks() {
		if m.Level != 0 {
			continue
		}
		n++
		label, at := Number(n), Number(m.Page)
		width := 0.0
		for _, part := range []struct {
			text  string
			style typeset.Style
		}{{label + " ", headStyle}, {m.Title + " ", RowStyle}, {at, RowStyle}} {
			width += b.Fonts.Width(part.style.Face, part.style.Size, part.text)
		}
		if x > left && x+width > right {
			x, y = left, y+12
		}
		from := x
		x += page.Text(x, y+8, Colored(headStyle, Accent), typeset.Left, label) + 3
		x += page.Text(x, y+8, Colored(RowStyle, Accent), typeset.Left, m.Title) + 3
		x += page.Text(x, y+8, RowMuted, typeset.Left, at)
		page.Link(from, y-2, x-from, 12, i)
		x += 12
	}
}
