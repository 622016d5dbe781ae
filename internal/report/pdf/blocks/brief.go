package blocks

import (
	"strings"

	"muster/internal/report/pdf/typeset"
)

// HeardTint is the ground of a time in which something was heard.
const HeardTint typeset.Color = 0xBFDCCB

// Brief heads a document that has neither a cover nor contents: its kind and title, and what stands at
// the right end.
func (b *Builder) Brief(title string, style typeset.Style, aside string) {
	d, page := b.Paper, b.Paper.Page()
	left, right := d.Left(), d.Left()+d.TextWidth()
	page.Fill(0, 0, d.Width, 6, Accent)
	page.Text(left, 44, typeset.Style{Face: typeset.Bold, Size: 11, Color: Accent}, typeset.Left, "Muster")
	at := b.pill(right, "BETA", Muted)
	if b.Doc.Organization.Demo {
		b.pill(at-6, "DEMO DATA", Caution)
	}
	d.Y = 54
	about := Shorten(b.Subject(), mostTitle)
	d.Paragraph(0, 1.3, typeset.Span{Text: strings.ToUpper(b.Kind.PaperTitle), Style: kindStyle}, typeset.Span{Text: "  " + about, Style: SubStyle})
	d.Y += 2
	page.Text(right, d.Y+22, RowMuted, typeset.Right, aside)
	d.Tagged(typeset.Title, func() {
		d.ParagraphWithin(0, d.TextWidth()-b.Width(aside, RowMuted)-12, 1.15, typeset.Span{Text: title, Style: style})
	})
	d.Y += 8
}

// Hatch fills a rectangle with lines that stay apart from every colour in grey print.
func Hatch(page *typeset.Page, x, y, w, h float64) {
	const apart, line = 3.2, 0.45
	for t := -h; t < w; t += apart {
		from, to := max(0, -t), min(h, w-t)
		if to > from {
			page.Rule(x+t+from, y+h-from, to-from, from-to, line, Muted)
		}
	}
	page.Rule(x, y, w, 0, line, Muted)
	page.Rule(x, y+h, w, 0, line, Muted)
	page.Rule(x, y, 0, h, line, Muted)
	page.Rule(x+w, y, 0, h, line, Muted)
}
