package scorecard

import (
	"math"
	"slices"

	"muster/domain/timegrid"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis/window"
)

// alertChart draws the series of alerts: for each bucket a stacked column of what
// was active and a thin one of what was resolved.
func alertChart(b *blocks.Builder, s window.AlertSummary) {
	if s.Series == nil {
		return
	}
	unit, layout, strides := "day", "2 Jan", []int{1, 2, 5, 10}
	if s.Series.Size == timegrid.Hour {
		unit, layout, strides = "hour", "2 Jan 15:04", []int{1, 2, 3, 6, 12}
	}
	b.Sub("Active and resolved by " + unit)
	const height, footHeight = 66.0, 16.0
	d := b.Paper
	d.Need(height + footHeight + 30)
	d.Settle()
	b.Legend(alertLegend(s.Series.Buckets))
	buckets, top := s.Series.Buckets, scaleTop(mostIn(s.Series.Buckets))
	page, left, base := d.Page(), d.Left()+axisWidth, d.Y+height
	for _, at := range []int{0, top / 2, top} {
		y := base - height*float64(at)/float64(top)
		page.Rule(left, y, d.TextWidth()-axisWidth, 0, 0.4, blocks.Hairline)
		page.Text(left-5, y+2.5, axisStyle, typeset.Right, blocks.Number(at))
	}
	step := (d.TextWidth() - axisWidth) / float64(len(buckets))
	every, room := every(b, strides, step, layout)
	for i, bucket := range buckets {
		x := left + float64(i)*step
		if i%every == 0 && x+room < d.Left()+d.TextWidth() {
			page.Rule(x, base, 0, 3, 0.4, blocks.Muted)
			page.Text(x+1.5, base+10, axisStyle, typeset.Left, bucket.Start.Format(layout))
		}
		if !bucket.Monitored {
			page.Fill(x, d.Y, step, height, unmonitored)
			continue
		}
		column(b, page, x, base, step, height/float64(top), bucket)
	}
	d.Y = base + footHeight
	b.Small("An alert counts in every " + unit + " in which it fired, so it may be in several columns. The figure above a column is their number. " +
		"Buckets are in UTC; the window cuts the first and the last. " + monitoredSince(b))
}

// axisWidth is what stands left of a plot.
const axisWidth = 22.0

// every is the number of buckets of a width between two times on an axis, so that there is room
// for both.
func every(b *blocks.Builder, strides []int, step float64, layout string) (n int, room float64) {
	room = b.Fonts.Width(axisStyle.Face, axisStyle.Size, layout) + 8
	for _, n = range strides {
		if float64(n)*step >= room {
			break
		}
	}
	return n, room
}

// column draws one bucket; scale is the height of one alert.
func column(b *blocks.Builder, page *typeset.Page, x, base, step, scale float64, bucket window.AlertBucket) {
	width := min(step*0.5, 16)
	x += (step - width*1.5) / 2
	y, active := base, 0
	// The worst stands on the ground, where columns compare best.
	for i, severity := range window.AlertSeverities {
		n := bucket.Active[i]
		if n == 0 {
			continue
		}
		y -= scale * float64(n)
		active += n
		page.Fill(x, y, width, max(scale*float64(n)-0.4, 0.4), alertColor[severity])
	}
	if text := blocks.Number(active); active > 0 && b.Fonts.Width(axisStyle.Face, axisStyle.Size, text) <= width+3 {
		page.Text(x+width/2, y-1.8, axisStyle, typeset.Center, text)
	}
	if n := bucket.Resolved; n > 0 {
		page.Fill(x+width+0.6, base-scale*float64(n), width/2-0.6, scale*float64(n), blocks.Good)
	}
}

var axisStyle = typeset.Style{Face: typeset.Regular, Size: 8, Color: blocks.Muted}

// unmonitored shades the time before an instance was registered.
const unmonitored typeset.Color = 0xEDF0F3

func alertLegend(buckets []window.AlertBucket) []blocks.LegendEntry {
	var legend []blocks.LegendEntry
	for _, s := range window.AlertSeverities {
		legend = append(legend, blocks.LegendEntry{Label: "Active, " + s, Color: alertColor[s]})
	}
	legend = append(legend, blocks.LegendEntry{Label: "Resolved", Color: blocks.Good})
	if slices.ContainsFunc(buckets, func(bucket window.AlertBucket) bool { return !bucket.Monitored }) {
		legend = append(legend, blocks.LegendEntry{Label: "Before the instance was registered", Color: unmonitored})
	}
	return legend
}

// mostIn is the height of the highest column.
func mostIn(buckets []window.AlertBucket) int {
	most := 1
	for _, bucket := range buckets {
		most = max(most, blocks.Sum(bucket.Active[:]), bucket.Resolved)
	}
	return most
}

// scaleTop is an even number of the kind 2, 4, 6, 10, 20, 40, … that is not below
// most by itself, so that half of it is a whole number.
func scaleTop(most int) int {
	power := int(math.Pow10(int(math.Log10(float64(most)))))
	for _, of := range []int{1, 2, 4, 6, 10, 20} {
		if top := of * power; top >= most && top%2 == 0 {
			return top
		}
	}
	return 20 * power
}
