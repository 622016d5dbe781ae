package pdf

import (
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// bar is one stacked bar with its parts in the order of the legend.
type bar struct {
	label string
	parts []int
}

// legendEntry names a part of the bars.
type legendEntry struct {
	label string
	color typeset.Color
}

// stacked draws horizontal stacked bars: label left, total right, the number inside each part
// if it fits, so that color alone says nothing.
func (b *builder) stacked(legend []legendEntry, bars []bar) {
	const rowHeight, labelWidth, totalWidth = 15.0, 118.0, 30.0
	d := b.d
	d.Need(min(float64(len(bars)), 8)*rowHeight + 30)
	d.Settle()
	b.legend(legend)
	most := 1
	for _, one := range bars {
		most = max(most, sum(one.parts))
	}
	plot := d.TextWidth() - labelWidth - totalWidth
	for _, one := range bars {
		d.Need(rowHeight)
		page, y := d.Page(), d.Y
		page.Text(d.Left(), y+10, cellStyle, typeset.Left, b.fit(one.label, cellStyle, labelWidth-8))
		x := d.Left() + labelWidth
		for i, n := range one.parts {
			if n == 0 {
				continue
			}
			w := plot * float64(n) / float64(most)
			page.Fill(x, y+2, w-0.7, rowHeight-5, legend[i].color)
			style := typeset.Style{Face: typeset.Bold, Size: 6.8, Color: white}
			if inside := number(n); b.r.fonts.Width(style.Face, style.Size, inside)+4 < w {
				page.Text(x+w/2, y+9.5, style, typeset.Center, inside)
			}
			x += w
		}
		page.Text(x+5, y+10, cellStrong, typeset.Left, number(sum(one.parts)))
		d.Y += rowHeight
	}
	d.Y += 8
}

// legend names the colours, in as many lines as that takes.
func (b *builder) legend(legend []legendEntry) {
	const mark, gap, line = 11.0, 14.0, 13.0
	x, page := b.d.Left(), b.d.Page()
	for _, l := range legend {
		if width := mark + b.r.fonts.Width(cellStyle.Face, cellStyle.Size, l.label); x > b.d.Left() && x+width > b.d.Left()+b.d.TextWidth() {
			x = b.d.Left()
			b.d.Y += line
		}
		page.Fill(x, b.d.Y+2.5, 7, 7, l.color)
		x += mark + page.Text(x+mark, b.d.Y+9, cellStyle, typeset.Left, l.label) + gap
	}
	b.d.Y += 18
}

func sum(parts []int) int {
	total := 0
	for _, n := range parts {
		total += n
	}
	return total
}

func severityLegend() []legendEntry {
	legend := make([]legendEntry, 0, len(analysis.Severities))
	for _, s := range analysis.Severities {
		legend = append(legend, legendEntry{s, severityColor[s]})
	}
	return legend
}

// mostBars is how many bars a chart has before the rest becomes one.
const mostBars = 20

// fold keeps the first mostBars bars and adds the others up.
func fold(bars []bar) []bar {
	if len(bars) <= mostBars {
		return bars
	}
	rest := bar{label: number(len(bars)-mostBars) + " others", parts: make([]int, len(bars[0].parts))}
	for _, one := range bars[mostBars:] {
		for i, n := range one.parts {
			rest.parts[i] += n
		}
	}
	return append(bars[:mostBars:mostBars], rest)
}

// gauge draws one labelled bar of 0 to 100.
func (b *builder) gauge(label string, score float64, known bool, color typeset.Color, note string) {
	const labelWidth, valueWidth, noteWidth, height = 92.0, 36.0, 184.0, 19.0
	b.d.Need(height)
	page, left, y := b.d.Page(), b.d.Left(), b.d.Y
	plot := b.d.TextWidth() - labelWidth - valueWidth - noteWidth
	page.Text(left, y+11, bodyStyle, typeset.Left, label)
	page.Fill(left+labelWidth, y+4, plot, 8, 0xE6EAEE)
	value := "–"
	if known {
		value = decimal(score)
		page.Fill(left+labelWidth, y+4, plot*score/100, 8, color)
	}
	page.Text(left+labelWidth+plot+valueWidth-4, y+11, strongStyle, typeset.Right, value)
	page.Text(left+labelWidth+plot+valueWidth+8, y+11, smallStyle, typeset.Left, note)
	b.d.Y += height
}

func scoreColor(score float64) typeset.Color {
	switch {
	case score >= 80:
		return good
	case score >= 60:
		return severityColor[analysis.Medium]
	case score >= 40:
		return severityColor[analysis.High]
	default:
		return severityColor[analysis.Critical]
	}
}
