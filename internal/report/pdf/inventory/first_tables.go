package inventory

import (
	"strings"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// Columns of the first tables, from the left edge of the text.
const (
	mostTables  = 10
	riskAt      = 176.0
	treatmentAt = 236.0
)

// firstTables lists the tables with sensitive data that should be treated first.
func firstTables(b *blocks.Builder) {
	d := b.Paper
	d.Y += blocks.GapAfter
	room := int((d.Bottom() - d.Y - blocks.SectionHead - blocks.StandingRow - 2*blocks.GapAfter - blocks.ContentsInline) / blocks.ActionRow)
	first := b.Risks[:min(len(b.Risks), max(room, 1), mostTables)]
	title := "The table to treat first"
	if len(first) > 1 {
		title = "The tables to treat first"
	}
	b.PartTitle(title, "of "+blocks.Number(len(b.Risks))+" in “Risk register”")
	d.Grouped(typeset.Grid, typeset.GridCell, func() { firstRows(b, first) })
	d.Page().Rule(d.Left(), d.Y, d.TextWidth(), 0, 0.4, blocks.Hairline)
	d.Page().Text(d.Left(), d.Y+9, blocks.SubStyle, typeset.Left, "Risk: likelihood × impact, of at most 25. A number with † may be higher: some of its inputs could not be read.")
	d.Y += blocks.StandingRow + blocks.GapAfter
}

// firstRows draws the rows of the first tables.
func firstRows(b *blocks.Builder, first []analysis.TableRisk) {
	d := b.Paper
	b.Heads([]blocks.Head{
		{At: 18, Align: typeset.Left, Words: "Table"}, {At: riskAt, Align: typeset.Left, Words: "Risk"}, {At: treatmentAt, Align: typeset.Left, Words: "Proposed treatment"},
		{At: d.TextWidth(), Align: typeset.Right, Words: "Due"},
	})
	for i, r := range first {
		d.Need(blocks.ActionRow)
		d.Grouped(typeset.GridRow, typeset.GridCell, func() { firstRow(b, i, r) })
	}
}

// firstRow draws one of the first tables.
func firstRow(b *blocks.Builder, i int, r analysis.TableRisk) {
	d := b.Paper
	left, right := d.Left(), d.Left()+d.TextWidth()
	page, y := d.Page(), d.Y
	page.Rule(left, y, d.TextWidth(), 0, 0.4, blocks.Hairline)
	page.Text(left+4, y+9.6, blocks.Colored(blocks.RowStrong, blocks.Accent), typeset.Left, blocks.Number(i+1))
	page.Text(left+18, y+9.6, blocks.RowStrong, typeset.Left, b.Fit(tableName(r.Table), blocks.RowStrong, riskAt-24))
	page.Text(left+18, y+18, blocks.SubStyle, typeset.Left, b.Fit(r.InstanceName+" / "+r.Database, blocks.SubStyle, riskAt-24))
	page.Fill(left+riskAt, y+4, 6, 6, blocks.SeverityColor[r.Level()])
	page.Text(left+riskAt+9, y+9.6, blocks.RowStrong, typeset.Left, blocks.Dagger(blocks.Number(r.Score), r.Partial)+" "+r.Level())
	page.Text(left+riskAt+9, y+18, blocks.SubStyle, typeset.Left, blocks.Number(r.Likelihood)+" × "+blocks.Number(r.Impact))
	for n, words := range strings.SplitN(treatment(r), "; ", proposals) {
		page.Text(left+treatmentAt, y+9.6+8.4*float64(n), blocks.RowStyle, typeset.Left, b.Fit(words, blocks.RowStyle, right-52-left-treatmentAt))
	}
	page.Text(right, y+9.6, blocks.RowStyle, typeset.Right, strings.TrimPrefix(riskDue(b, r), "due "))
	d.Y += blocks.ActionRow
}
