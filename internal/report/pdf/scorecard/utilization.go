package scorecard

import (
	"math"
	"time"

	"muster/internal/measurements/forecast"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/analysis/window"
)

// resourceNames are those of the analysis, with what an hour's figure is.
var resourceNames = [...]struct{ name, hour string }{
	window.CPU:    {"CPU", "mean of the hour"},
	window.Memory: {"Memory", "mean of the hour"},
	window.Disk:   {"Disk", "fullest volume at its highest"},
}

// Utilization prints how busy the hosts of the instance were in the window.
func Utilization(b *blocks.Builder) {
	s, ok := window.Utilization(b.Doc)
	switch {
	case !ok: // inputs of a version that did not ask
		b.State(blocks.StateNotAssessed, "Not yet measured: CPU, memory and disk over the window with their minimum, mean, 95th percentile and maximum, the hours above 80%, and the days until the fullest volume is full. These are reported by an agent on the host; none has reported for "+subjectName(b)+windowWords(b)+".")
		return
	case s.Hosts == 0:
		b.State(blocks.StateNotAssessed, "Not measured: no sample of a host that "+subjectName(b)+" runs on is on record"+windowWords(b)+", so there is nothing to say about CPU, memory and disk. An agent on the host reports them: Prometheus' node_exporter, an OpenTelemetry collector, or anything that sends to Muster. The health score does not depend on them.")
		return
	}
	b.Para(utilizationWords(b, s))
	b.Paper.Whole(func() { resourceTable(b, s) })
	b.Small("Hours above 80%: of the hours that were measured. Below the hours measured: their minutes with a sample. The 95th percentile is the value that 95 of 100 measured hours do not exceed.")
	resourceCharts(b, s)
	b.Sub("When the fullest volume is full")
	b.Para(forecastWords(s.Full))
	b.Small("A date is stated only if the growth is beyond doubt. After a clean-up or a replaced volume, only the days since then count. " +
		"Which volume is the fullest may change from hour to hour; /boot, /boot/efi and what is below /snap/ do not count.")
}

// utilizationWords is the section in a few sentences.
func utilizationWords(b *blocks.Builder, s window.UtilizationSummary) string {
	words := subjectName(b) + " runs on " + blocks.Count(s.Hosts, "host that was", "hosts that were") + " measured" + windowWords(b) + ". "
	if s.Hosts > 1 {
		words = subjectName(b) + " has run on " + blocks.Count(s.Hosts, "host that was", "hosts that were") + " measured" + windowWords(b) + ", each with the same weight. "
	}
	for i, name := range resourceNames {
		switch r := s.Of[i]; {
		case r.Measured == 0:
			words += name.name + " was not measured. "
		case r.Busy == 0:
			words += name.name + " was never above 80%" + fewMeasured(r) + ". "
		case r.Few():
			words += name.name + " was above 80% in " + blocks.Count(r.Busy, "hour", "hours") + fewMeasured(r) + ". "
		default:
			words += name.name + " was above 80% in " + blocks.Count(r.Busy, "hour", "hours") + " of " + blocks.Number(r.Measured) + " (" + blocks.Percent(float64(r.Busy)/float64(r.Measured)) + "). "
		}
	}
	if b.Doc.Database != nil {
		words += "A host is shared by all databases of the instance. "
	}
	return words + monitoredSince(b)
}

// fewMeasured says on how little a sentence stands.
func fewMeasured(r window.Resource) string {
	if !r.Few() {
		return ""
	}
	words := ", of only " + blocks.Number(r.Measured) + " measured"
	if r.Minutes != nil {
		words += " with samples in " + blocks.Count(*r.Minutes, "minute", "minutes")
	}
	return words
}

// sparse is the share of minutes with a sample below which the hours measured say too much.
const sparse = 0.5

// measuredHours says of how much of the window a line has values.
func measuredHours(r window.Resource, hours int) typeset.Cell {
	cell := blocks.Text(blocks.Number(r.Measured) + " of " + blocks.Number(hours))
	if r.Minutes == nil || r.Measured == 0 {
		return cell
	}
	cell.Sub, cell.SubStyle = blocks.Count(*r.Minutes, "minute", "minutes")+" of "+blocks.Number(60*r.Measured), blocks.CellMuted
	if share := float64(*r.Minutes) / float64(60*r.Measured); share < sparse { // an hour with one sample counts as measured
		cell.Sub += " (" + blocks.Percent(share) + ")"
		cell.SubStyle = blocks.Colored(blocks.CellStrong, blocks.Caution)
	}
	return cell
}

func resourceTable(b *blocks.Builder, s window.UtilizationSummary) {
	right := func(title string) typeset.Column {
		return typeset.Column{Title: title, Flex: 1, Align: typeset.Right}
	}
	blocks.Table(b, []typeset.Column{
		{Title: "Resource", Flex: 1.6}, right("Minimum"), right("Mean"), right("95th percentile"), right("Maximum"), right("Hours above 80%"), {Title: "Hours measured", Flex: 1.9, Align: typeset.Right},
	}, s.Of[:], func(i int, r window.Resource) []typeset.Cell {
		name := typeset.Cell{Text: resourceNames[i].name, Style: blocks.CellStrong, Sub: resourceNames[i].hour, SubStyle: blocks.CellMuted}
		measured := measuredHours(r, s.Hours)
		if r.Measured == 0 {
			return []typeset.Cell{name, blocks.Text("–"), blocks.Text("–"), blocks.Text("–"), blocks.Text("–"), blocks.Text("–"), measured}
		}
		return []typeset.Cell{name, blocks.Text(points(r.Min)), blocks.Text(points(r.Mean)), blocks.Text(points(r.P95)), blocks.Strong(points(r.Max)), blocks.Text(blocks.Number(r.Busy)), measured}
	})
}

// points is a percentage with one decimal place.
func points(x float64) string { return blocks.Decimal(x) + "%" }

// forecastWords says when the fullest volume is full.
func forecastWords(f window.Forecast) string {
	if f.Until.IsZero() {
		return "No forecast: no volume was measured in the window."
	}
	at := "The fullest volume was at " + points(min(f.Level, 100)) + " at the end of the data, as measured. "
	none := at + "No forecast: "
	past := blocks.Decimal(f.Past) + " days of data"
	grows := "It grows by " + blocks.Decimals(f.PerDay) + " points a day"
	switch f.Reason {
	case forecast.TooShort, forecast.Stale, forecast.NotMeasured, forecast.NoLimit:
		return none + "it needs " + blocks.Count(forecast.LeastDays, "day", "days") + " of data without larger gaps, and the window has " + blocks.Decimal(f.Past) + "."
	case forecast.SawTooth:
		return none + "in " + past + ", the level rises and falls."
	case forecast.Step:
		return none + "the level jumped, and fewer than " + blocks.Count(forecast.LeastDays, "day", "days") + " have passed since."
	case forecast.Noise:
		return none + "in " + past + ", the level varies more than it grows."
	case forecast.NotGrowing:
		if f.Grows && f.PerDay < 0 {
			return at + "It does not grow: it changes by " + blocks.Decimals(f.PerDay) + " points a day."
		}
		return at + "It does not grow."
	case forecast.Far:
		return at + grows + ", and is not full within two years."
	}
	if f.Full() {
		return "The fullest volume is full."
	}
	days := wholeDays(f)
	return at + grows + ", by " + past + " (" + forecast.Method + " slope of the daily medians). If that goes on, it is full " +
		blocks.Count(days, "day", "days") + " later, around " + blocks.Day(f.Until.AddDate(0, 0, days)) + "; with " + blocks.Percent(forecast.Confidence) +
		" confidence between " + blocks.Day(f.Until.AddDate(0, 0, int(f.Soonest))) + " and " + blocks.Day(f.Until.AddDate(0, 0, int(math.Ceil(f.Latest)))) + "."
}

// wholeDays is within how many days a volume is full: a day that has begun counts, on page 1 as in the forecast.
func wholeDays(f window.Forecast) int { return int(math.Ceil(f.Days)) }

// resourceCharts draws a line an hour for each resource, one above the other over the
// same time.
func resourceCharts(b *blocks.Builder, s window.UtilizationSummary) {
	b.Sub("By hour")
	const height, titleHeight, footHeight = 38.0, 16.0, 16.0
	b.Paper.Need(float64(len(resourceNames))*(height+titleHeight) + footHeight + 24)
	b.Paper.Settle()
	b.Legend([]blocks.LegendEntry{{Label: "Not measured", Color: unmonitored}, {Label: "Above 80%", Color: blocks.SeverityColor[analysis.High]}})
	c := chart{left: b.Paper.Left() + axisWidth, width: b.Paper.TextWidth() - axisWidth, height: height, buckets: s.Hours, start: s.Start}
	for i, name := range resourceNames {
		page := b.Paper.Page()
		x := b.Paper.Left() + axisWidth
		x += page.Text(x, b.Paper.Y+12.5, blocks.CellStrong, typeset.Left, name.name)
		page.Text(x+5, b.Paper.Y+12.5, blocks.CellMuted, typeset.Left, name.hour)
		c.top = b.Paper.Y + titleHeight
		line(page, c, s.Of[i].Values)
		b.Paper.Y = c.top + height
	}
	hourAxis(b, b.Paper.Page(), c)
	b.Paper.Y += footHeight
	b.Small("Hours are whole UTC hours: the first and the last may reach beyond the window.")
}

// chart is where a line goes: its plot, and the time that it covers in buckets.
type chart struct {
	left, top, width, height float64
	buckets                  int
	start                    time.Time
}

// x is where a bucket begins, y where a value of 0 to 100 is.
func (c chart) x(n int) float64         { return c.left + c.width*float64(n)/float64(max(c.buckets, 1)) }
func (c chart) y(value float64) float64 { return c.top + c.height*(1-min(max(value, 0), 100)/100) }

// busyLine is the percentage above which a line speaks up.
const busyLine = 80

// line draws the values of hours, with what is missing shaded: a line does not go
// across it.
func line(page *typeset.Page, c chart, values []*float64) {
	for from := 0; from < len(values); from++ {
		if values[from] != nil {
			continue
		}
		to := from
		for to < len(values) && values[to] == nil {
			to++
		}
		page.Fill(c.x(from), c.top, c.x(to)-c.x(from), c.height, unmonitored)
		from = to
	}
	for _, at := range []float64{0, busyLine, 100} {
		page.Rule(c.left, c.y(at), c.width, 0, 0.4, blocks.Hairline)
		page.Text(c.left-5, c.y(at)+2.2, axisStyle, typeset.Right, blocks.Number(int(at)))
	}
	half := (c.x(1) - c.x(0)) / 2
	for i, v := range values {
		if v == nil {
			continue
		}
		x, y := c.x(i)+half, c.y(*v)
		color := blocks.Accent
		if *v > busyLine {
			color = blocks.SeverityColor[analysis.High]
		}
		if i+1 < len(values) && values[i+1] != nil {
			page.Rule(x, y, c.x(i+1)+half-x, c.y(*values[i+1])-y, 0.7, color)
		} else if i == 0 || values[i-1] == nil { // alone between two gaps
			page.Rule(x-half, y, 2*half, 0, 0.7, color)
		}
	}
}

// hourAxis writes the days, or the hours of a short window, below the last line.
func hourAxis(b *blocks.Builder, page *typeset.Page, c chart) {
	layout, strides := "2 Jan", []int{24, 48, 120, 240}
	if c.buckets <= 48 {
		layout, strides = "2 Jan 15:04", []int{1, 2, 3, 6, 12}
	}
	base, step := c.top+c.height, c.x(1)-c.x(0)
	every, room := every(b, strides, step, layout)
	first := 0 // the first full day, or hour of its kind
	for first < c.buckets && c.start.Add(time.Duration(first)*time.Hour).UTC().Hour()%min(every, 24) != 0 {
		first++
	}
	for i := first; i < c.buckets; i += every {
		if x := c.x(i); x+room < b.Paper.Left()+b.Paper.TextWidth() {
			page.Rule(x, base, 0, 3, 0.4, blocks.Muted)
			page.Text(x+1.5, base+10, axisStyle, typeset.Left, c.start.Add(time.Duration(i)*time.Hour).UTC().Format(layout))
		}
	}
}
