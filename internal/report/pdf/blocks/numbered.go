package blocks

import (
	"strconv"

	"muster/internal/report/pdf/typeset"
)

// Numbered writes things to do one below the other.
func (b *Builder) Numbered(all []string) {
	for i, words := range all {
		b.Paper.Need(28)
		top := b.Paper.Y
		b.Paper.Page().Text(b.Paper.Left()+12, top+10.2, typeset.Style{Face: typeset.Bold, Size: 9.5, Color: Accent}, typeset.Right, strconv.Itoa(i+1))
		b.Paper.Paragraph(20, Leading, typeset.Span{Text: words, Style: BodyStyle})
		b.Paper.Y += 4
	}
}
