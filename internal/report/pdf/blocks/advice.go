package blocks

import (
	"muster/internal/report/pdf/typeset"
)

// Linked is text that links to an address, in the color of links; unchanged if there is none.
func Linked(style typeset.Style, address string) typeset.Style {
	if address != "" {
		style.Color, style.Link = Accent, address
	}
	return style
}

// Where names a database, or says that a result is for the whole instance.
func Where(database string) typeset.Cell {
	if database == "" {
		return Faint("instance-wide")
	}
	return Text(database)
}

// Striped writes the head of a block with a stripe beside it, unless a page ends in it.
func (b *Builder) Striped(width float64, color typeset.Color, spans ...typeset.Span) {
	top, page := b.Paper.Y, b.Paper.Page()
	b.Paper.Paragraph(10, 1.32, spans...)
	if b.Paper.Page() == page {
		page.Fill(b.Paper.Left(), top+1, width, b.Paper.Y-top-2, color)
	}
}

// Advice writes a label and what belongs to it.
func (b *Builder) Advice(label, words string) {
	if words == "" {
		return
	}
	b.AdviceSpans(label, typeset.Span{Text: words, Style: AdviceStyle})
}

// AdviceStyle is the type of advice.
var AdviceStyle = typeset.Style{Face: typeset.Regular, Size: 9, Color: Ink}

// AdviceSpans writes advice of several styles beside its label.
func (b *Builder) AdviceSpans(label string, spans ...typeset.Span) {
	if len(spans) == 0 {
		return
	}
	b.Paper.Need(27)
	b.Label(label, typeset.Style{Face: typeset.Regular, Size: 8.5, Color: Muted}, 9, 1.45)
	b.Paper.Paragraph(62, 1.45, spans...)
	b.Paper.Y++
}
