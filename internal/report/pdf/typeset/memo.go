package typeset

// mostBroken is how many texts a paper remembers the lines of: those of a document that may be laid out again.
const mostBroken = 10_000

// text is what lines were broken from.
type text struct {
	spans [2]Span
	n     int
	width float64
}

// broken has the lines of texts that were broken before: a document that is laid out again has the same texts.
type broken map[text][]line

// wrap is Fonts.wrap, which is asked once for the same text. The caller must not change the lines.
func (d *Paper) wrap(spans []Span, width float64) []line {
	if len(spans) > len(text{}.spans) {
		return d.Fonts.wrap(spans, width)
	}
	key := text{n: len(spans), width: width}
	copy(key.spans[:], spans)
	if lines, ok := d.broken[key]; ok {
		return lines
	}
	lines := d.Fonts.wrap(spans, width)
	if len(d.broken) < mostBroken {
		d.broken[key] = lines
	}
	return lines
}

// Again returns empty paper like this one, which remembers how texts were broken into lines.
func (d *Paper) Again(margin Margin) *Paper {
	again := NewPaper(d.Fonts, d.Paper, margin)
	again.broken = d.broken
	return again
}
