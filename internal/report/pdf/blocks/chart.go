package blocks

import (
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// Bar is one stacked bar with its parts in the order of the legend.
type Bar struct {
	Label string
	Parts []int
}

// LegendEntry names a part of the bars.
type LegendEntry struct {
	Label string
	Color typeset.Color
}

// Stacked draws horizontal stacked bars: label left, total right, the number inside each part
// if it fits, so that color alone says nothing.
func (b *Builder) Stacked(legend []LegendEntry, bars []Bar) {
	const rowHeight, labelWidth, totalWidth = 15.0, 118.0, 30.0
	d := b.Paper
	d.Need(min(float64(len(bars)), 8)*rowHeight + 30)
	d.Settle()
	b.Legend(legend)
	most := 1
	for _, one := range bars {
		most = max(most, Sum(one.Parts))
	}
	plot := d.TextWidth() - labelWidth - totalWidth
	for _, one := range bars {
		d.Need(rowHeight)
		page, y := d.Page(), d.Y
		page.Text(d.Left(), y+10, CellStyle, typeset.Left, b.Fit(one.Label, CellStyle, labelWidth-8))
		x := d.Left() + labelWidth
		for i, n := range one.Parts {
			if n == 0 {
				continue
			}
			w := plot * float64(n) / float64(most)
			page.Fill(x, y+2, w-0.7, rowHeight-5, legend[i].Color)
			style := typeset.Style{Face: typeset.Bold, Size: 8, Color: White}
			if inside := Number(n); b.Fonts.Width(style.Face, style.Size, inside)+4 < w {
				page.Text(x+w/2, y+9.5, style, typeset.Center, inside)
			}
			x += w
		}
		page.Text(x+5, y+10, CellStrong, typeset.Left, Number(Sum(one.Parts)))
		d.Y += rowHeight
	}
	d.Y += 8
}

// Legend names the colours, in as many lines as that takes.
func (b *Builder) Legend(legend []LegendEntry) {
	const mark, gap, line = 11.0, 14.0, 13.0
	x, page := b.Paper.Left(), b.Paper.Page()
	for _, l := range legend {
		if width := mark + b.Fonts.Width(CellStyle.Face, CellStyle.Size, l.Label); x > b.Paper.Left() && x+width > b.Paper.Left()+b.Paper.TextWidth() {
			x = b.Paper.Left()
			b.Paper.Y += line
		}
		page.Fill(x, b.Paper.Y+2.5, 7, 7, l.Color)
		x += mark + page.Text(x+mark, b.Paper.Y+9, CellStyle, typeset.Left, l.Label) + gap
	}
	b.Paper.Y += 18
}

// Sum adds the parts of a bar.
func Sum(parts []int) int {
	total := 0
	for _, n := range parts {
		total += n
	}
	return total
}

// SeverityLegend is the legend of bars by severity.
func SeverityLegend() []LegendEntry {
	legend := make([]LegendEntry, 0, len(analysis.Severities))
	for _, s := range analysis.Severities {
		legend = append(legend, LegendEntry{s, SeverityColor[s]})
	}
	return legend
}

// MostBars is how many bars a chart has before the rest becomes one.
const MostBars = 20

// Fold keeps the first MostBars bars and adds the others up.
func Fold(bars []Bar) []Bar {
	if len(bars) <= MostBars {
		return bars
	}
	rest := Bar{Label: Number(len(bars)-MostBars) + " others", Parts: make([]int, len(bars[0].Parts))}
	for _, one := range bars[MostBars:] {
		for i, n := range one.Parts {
			rest.Parts[i] += n
		}
	}
	return append(bars[:MostBars:MostBars], rest)
}

// Gauge draws one labelled bar of 0 to 100.
func (b *Builder) Gauge(label string, score float64, known bool, color typeset.Color, note string) {
	const labelWidth, valueWidth, noteWidth, height = 92.0, 36.0, 184.0, 19.0
	b.Paper.Need(height)
	page, left, y := b.Paper.Page(), b.Paper.Left(), b.Paper.Y
	plot := b.Paper.TextWidth() - labelWidth - valueWidth - noteWidth
	page.Text(left, y+11, BodyStyle, typeset.Left, label)
	page.Fill(left+labelWidth, y+4, plot, 8, 0xE6EAEE)
	value := "–"
	if known {
		value = Decimal(score)
		page.Fill(left+labelWidth, y+4, plot*score/100, 8, color)
	}
	page.Text(left+labelWidth+plot+valueWidth-4, y+11, StrongStyle, typeset.Right, value)
	page.Text(left+labelWidth+plot+valueWidth+8, y+11, SmallStyle, typeset.Left, note)
	b.Paper.Y += height
}

// ScoreColor is the color of a health score.
func ScoreColor(score float64) typeset.Color {
	switch {
	case score >= 80:
		return Good
	case score >= 60:
		return SeverityColor[analysis.Medium]
	case score >= 40:
		return SeverityColor[analysis.High]
	default:
		return SeverityColor[analysis.Critical]
	}
}
