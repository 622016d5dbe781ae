package sections

import (
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// KeptObjects says why not every object is listed, and how the others come to be.
var KeptObjects = "Muster keeps the first " + blocks.Number(snapshot.MaxViolations) +
	" objects of a check on a database; the next assessment lists further ones once these are closed."

// SecurityFindings prints a block for each failing check, then what is
// accepted, then what could not be assessed.
func SecurityFindings(b *blocks.Builder) {
	switch {
	case b.Assessed.Total == 0:
		b.NoInstance()
	case b.Assessed.Assessed == 0:
		b.State(blocks.StateNotAssessed, "Not assessed: no instance could be checked.")
	case len(b.Findings) == 0:
		cleanSentence(b)
	}
	for _, g := range b.Findings {
		findingBlock(b, g)
	}
	AcceptedExceptions(b)
	gaps(b)
}

func findingBlock(b *blocks.Builder, g analysis.CheckFindings) {
	d := b.Paper
	d.Need(60)
	d.Skip(10)
	d.Keep()
	c := g.Check
	d.Mark(c.ID+" "+c.Title, 1)
	color := blocks.SeverityColor[c.Severity]
	b.Striped(4, color,
		typeset.Span{Text: c.Severity, Style: typeset.Style{Face: typeset.Bold, Size: 9, Color: color}},
		typeset.Span{Text: "   " + c.ID + "   ", Style: typeset.Style{Face: typeset.Mono, Size: 8.5, Color: blocks.Muted}},
		typeset.Span{Text: c.Title, Style: blocks.H2Style})
	d.Y += 3
	if c.Rationale != "" {
		b.Spans(typeset.Span{Text: blocks.Sentence(c.Rationale), Style: blocks.BodyStyle})
	}
	findingTable(b, g.Findings)
	if g.Unlisted > 0 {
		b.Small(blocks.Count(g.Unlisted, "further finding", "further findings") + " of this check. " + KeptObjects)
	}
	b.Advice("Passes when", c.Pass)
	Remedy(b, "Fix", g)
	references(b, c.References)
	d.Y += 6
}

// references lists where a check comes from, each leading there.
func references(b *blocks.Builder, references []string) {
	var spans []typeset.Span
	for i, r := range references {
		if i > 0 {
			spans = append(spans, typeset.Span{Text: "; ", Style: blocks.AdviceStyle})
		}
		spans = append(spans, typeset.Span{Text: r, Style: blocks.Linked(blocks.AdviceStyle, analysis.Address(r))})
	}
	b.AdviceSpans("Reference", spans...)
}

func findingTable(b *blocks.Builder, findings []analysis.Finding) {
	blocks.Table(b, []typeset.Column{
		{Title: "Instance", Max: 120}, {Title: "Database", Max: 90}, {Title: "Object", Max: 170}, {Title: "Evidence", Flex: 1},
	}, findings, func(_ int, f analysis.Finding) []typeset.Cell {
		return []typeset.Cell{blocks.Strong(f.InstanceName), blocks.Where(f.Database), blocks.Code(blocks.OrDash(f.Object)), blocks.Code(blocks.OrDash(blocks.Shorten(f.Evidence, 200)))}
	})
}
