package sheets

import (
	"math"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/sheet"
)

const (
	upTint    typeset.Color = 0xE2A17A
	downTint  typeset.Color = 0xA9CCBA
	barHeight               = 38.0 // of the larger half
)

// drawBars draws pairs of bars and the line between them, and says below what they are. The line has the bars' scale
// unless it is higher than all of them; then it has the room above the axis for itself.
func drawBars(b *blocks.Builder, bars sheet.Bars) {
	const left = 34.0
	d := b.Paper
	most := 1
	for _, day := range bars.Days {
		most = max(most, day.Up, day.Down, day.Level)
	}
	scale := barHeight / float64(most)
	d.Need(2*barHeight + 44)
	page, x0 := d.Page(), d.Left()+left
	width := (d.TextWidth() - left) / float64(len(bars.Days))
	axis := d.Y + barHeight + 2
	page.Text(d.Left(), axis-barHeight+8, blocks.Colored(blocks.SmallStyle, toneColor(sheet.Warning)), typeset.Left, "up")
	page.Text(d.Left(), axis+barHeight-2, blocks.Colored(blocks.SmallStyle, toneColor(sheet.Good)), typeset.Left, "down")
	for i, day := range bars.Days {
		x := x0 + float64(i)*width
		page.Fill(x+width*0.14, axis-scale*float64(day.Up), width*0.72, scale*float64(day.Up), upTint)
		page.Fill(x+width*0.14, axis, width*0.72, scale*float64(day.Down), downTint)
	}
	page.Fill(x0, axis-0.3, d.TextWidth()-left, 0.6, blocks.Ink)
	y := func(level int) float64 { return axis - scale*float64(level) }
	for i := 1; i < len(bars.Days); i++ {
		x, from, to := x0+(float64(i)-0.5)*width, y(bars.Days[i-1].Level), y(bars.Days[i].Level)
		page.Rule(x, from, width, to-from, 1.2, blocks.Ink)
	}
	every := int(math.Ceil(46 / width))
	for i := 0; i < len(bars.Days); i += every {
		page.Text(x0+(float64(i)+0.5)*width, axis+barHeight+11, blocks.SmallStyle, typeset.Center, bars.Days[i].Name)
	}
	d.Y = axis + barHeight + 16
	b.Legend([]blocks.LegendEntry{{Label: bars.Up + ", up", Color: upTint}, {Label: bars.Down + ", down", Color: downTint}, {Label: bars.Line + ", same scale", Color: blocks.Ink}})
	d.Y -= 4
	b.Small(bars.Note)
}

// drawBurn draws a row of bars for each server: as high as what is left of its budget at the end of a day, and hatched
// where that is not known.
func drawBurn(b *blocks.Builder, burn sheet.Burn) {
	const names, texts, rowHeight, high = 118.0, 62.0, 25.0, 20.0
	d := b.Paper
	b.PartTitle(burn.Name, "")
	d.Need(rowHeight*float64(len(burn.Rows)) + 26)
	page, left, width := d.Page(), d.Left()+names, (d.TextWidth()-names-texts)/float64(len(burn.Days))
	for _, row := range burn.Rows {
		floor := d.Y + high + 2
		page.Text(d.Left(), floor-6, blocks.CellStyle, typeset.Left, b.Fit(row.Of, blocks.CellStyle, names-8))
		page.Text(d.Left()+d.TextWidth(), floor-6, blocks.Colored(blocks.CellStrong, toneColor(row.Tone)), typeset.Right, row.Text)
		for i, day := range row.Days {
			x, least, most := left+width*float64(i), high*day.Least/100, high*day.Left/100
			page.Fill(x+width*0.1, floor-least, width*0.8, least, downTint)
			if most-least > 0.5 {
				blocks.Hatch(page, x+width*0.1, floor-most, width*0.8, most-least)
			}
		}
		page.Rule(left, floor, width*float64(len(burn.Days)), 0, 0.5, blocks.Ink)
		d.Y += rowHeight
	}
	every := int(math.Ceil(46 / width))
	for i := 0; i < len(burn.Days); i += every {
		page.Text(left+(float64(i)+0.5)*width, d.Y+8, blocks.SmallStyle, typeset.Center, burn.Days[i])
	}
	d.Y += 14
	b.Small(burn.Note)
	d.Y += 4
}

// spans draws each median as a dot and each 90th percentile as the end of a bar, from a second to 100 days.
func spans(b *blocks.Builder, s sheet.Spans) {
	const nameWidth, rowHeight, textWidth = 70.0, 21.0, 118.0
	d := b.Paper
	d.Need(rowHeight*float64(len(s.Rows)) + 30)
	d.Settle()
	left, width := d.Left()+nameWidth, d.TextWidth()-nameWidth-textWidth
	const decades = 6.94 // of 100 days
	x := func(seconds float64) float64 {
		return left + width*math.Min(math.Log10(math.Max(seconds, 1))/decades, 1)
	}
	page, top := d.Page(), d.Y
	for _, mark := range []struct {
		seconds float64
		name    string
	}{{1, "1 s"}, {60, "1 min"}, {600, "10 min"}, {3600, "1 h"}, {36000, "10 h"}, {172800, "2 d"}, {864000, "10 d"}} {
		page.Rule(x(mark.seconds), top, 0, rowHeight*float64(len(s.Rows)), 0.4, blocks.Hairline)
		page.Text(x(mark.seconds), top+rowHeight*float64(len(s.Rows))+9, blocks.SmallStyle, typeset.Center, mark.name)
	}
	for i, row := range s.Rows {
		y, color := top+rowHeight*float64(i), toneColor(row.Tone)
		page.Text(d.Left(), y+13, blocks.Colored(blocks.CellStrong, color), typeset.Left, row.Name)
		if row.Median != nil && row.Ninetieth != nil {
			page.Fill(x(*row.Median), y+9.2, x(*row.Ninetieth)-x(*row.Median), 1.6, color)
			page.Fill(x(*row.Ninetieth)-0.7, y+6, 1.4, 8, color)
		}
		if row.Median != nil {
			page.Fill(x(*row.Median)-2.6, y+7.4, 5.2, 5.2, color)
		}
		page.Text(left+width+8, y+9, blocks.CellStrong, typeset.Left, row.MedianText+" / "+row.NinetyText)
		page.Text(left+width+8, y+18, blocks.SmallStyle, typeset.Left, b.Fit(row.Note, blocks.SmallStyle, textWidth-8))
	}
	d.Y = top + rowHeight*float64(len(s.Rows)) + 18
}
