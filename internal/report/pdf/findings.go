package pdf

import (
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// keptObjects says why not every object is listed, and how the others come to be.
var keptObjects = "Muster keeps the first " + number(snapshot.MaxViolations) +
	" objects of a check on a database; the next assessment lists further ones once these are closed."

// securityFindings prints a block for each failing check, then what is
// accepted, then what could not be assessed.
func (b *builder) securityFindings() {
	switch {
	case b.assessed.Total == 0:
		b.noInstance()
	case b.assessed.Assessed == 0:
		b.state(stateNotAssessed, "Not assessed: no instance could be checked.")
	case len(b.findings) == 0:
		b.cleanSentence()
	}
	for _, g := range b.findings {
		b.findingBlock(g)
	}
	b.acceptedExceptions()
	b.gaps()
}

func (b *builder) findingBlock(g analysis.CheckFindings) {
	d := b.d
	d.Need(60)
	d.Skip(10)
	d.Keep()
	c := g.Check
	d.Mark(c.ID+" "+c.Title, 1)
	color := severityColor[c.Severity]
	b.striped(4, color,
		typeset.Span{Text: c.Severity, Style: typeset.Style{Face: typeset.Bold, Size: 9, Color: color}},
		typeset.Span{Text: "   " + c.ID + "   ", Style: typeset.Style{Face: typeset.Mono, Size: 8.5, Color: muted}},
		typeset.Span{Text: c.Title, Style: h2Style})
	d.Y += 3
	if c.Rationale != "" {
		b.spans(typeset.Span{Text: sentence(c.Rationale), Style: bodyStyle})
	}
	b.findingTable(g.Findings)
	if g.Unlisted > 0 {
		b.small(count(g.Unlisted, "further finding", "further findings") + " of this check. " + keptObjects)
	}
	b.advice("Passes when", c.Pass)
	b.remedy("Fix", g)
	b.references(c.References)
	d.Y += 6
}

// striped writes the head of a block with a stripe beside it, unless a page ends in it.
func (b *builder) striped(width float64, color typeset.Color, spans ...typeset.Span) {
	top, page := b.d.Y, b.d.Page()
	b.d.Paragraph(10, 1.32, spans...)
	if b.d.Page() == page {
		page.Fill(b.d.Left(), top+1, width, b.d.Y-top-2, color)
	}
}

// advice writes a label and what belongs to it.
func (b *builder) advice(label, words string) {
	if words == "" {
		return
	}
	b.adviceSpans(label, typeset.Span{Text: words, Style: adviceStyle})
}

var adviceStyle = typeset.Style{Face: typeset.Regular, Size: 9, Color: ink}

func (b *builder) adviceSpans(label string, spans ...typeset.Span) {
	if len(spans) == 0 {
		return
	}
	b.d.Need(27)
	b.label(label, typeset.Style{Face: typeset.Regular, Size: 8.5, Color: muted}, 9, 1.45)
	b.d.Paragraph(62, 1.45, spans...)
	b.d.Y++
}

// references lists where a check comes from, each leading there.
func (b *builder) references(references []string) {
	var spans []typeset.Span
	for i, r := range references {
		if i > 0 {
			spans = append(spans, typeset.Span{Text: "; ", Style: adviceStyle})
		}
		spans = append(spans, typeset.Span{Text: r, Style: linked(adviceStyle, analysis.Address(r))})
	}
	b.adviceSpans("Reference", spans...)
}

// linked is text that links to an address, in the color of links; unchanged if there is none.
func linked(style typeset.Style, address string) typeset.Style {
	if address != "" {
		style.Color, style.Link = accent, address
	}
	return style
}

func (b *builder) findingTable(findings []analysis.Finding) {
	table(b, []typeset.Column{
		{Title: "Instance", Max: 120}, {Title: "Database", Max: 90}, {Title: "Object", Max: 170}, {Title: "Evidence", Flex: 1},
	}, findings, func(_ int, f analysis.Finding) []typeset.Cell {
		return []typeset.Cell{strong(f.InstanceName), where(f.Database), code(orDash(f.Object)), code(orDash(shorten(f.Evidence, 200)))}
	})
}

// where names a database, or says that a result is for the whole instance.
func where(database string) typeset.Cell {
	if database == "" {
		return faint("instance-wide")
	}
	return text(database)
}
