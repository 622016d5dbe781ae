package scorecard

import (
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// scoreLine draws the score of each day of the window. A day without one is a gap, which
// no line goes across.
func scoreLine(b *blocks.Builder) {
	if b.Doc.ScoreByDay == nil {
		return
	}
	days := analysis.ScoreDays(b.Doc)
	s, ok := analysis.ScoreLine(days)
	if !ok {
		b.Small("No day of the window has a score. The score of a day is that of its last assessment.")
		return
	}
	b.Sub("Score by day")
	b.Para(scoreLineWords(s))
	const height, footHeight = 48.0, 16.0
	d := b.Paper
	d.Need(height + footHeight + 30)
	d.Settle()
	if s.Known < s.Days {
		b.Legend([]blocks.LegendEntry{{Label: "No score of the day", Color: unmonitored}})
	} else {
		d.Y += 10
	}
	c := chart{left: d.Left() + axisWidth, width: d.TextWidth() - axisWidth, top: d.Y, height: height, buckets: s.Days, start: days.Start}
	page := d.Page()
	c.missing(page, days.Scores)
	for _, at := range []int{0, 50, 100} {
		page.Rule(c.left, c.y(float64(at)), c.width, 0, 0.4, blocks.Hairline)
		page.Text(c.left-5, c.y(float64(at))+2.2, axisStyle, typeset.Right, blocks.Number(at))
	}
	c.scores(page, days.Scores)
	dayAxis(b, page, c)
	d.Y = c.top + height + footHeight
	b.Small("Days are UTC days. Each has the score of its last assessment, with the exceptions in force then; a day without an assessment has none. After the end of support, and on the day of the report, it has the caps of page 1.")
}

// scoreLineWords is the line in a sentence.
func scoreLineWords(s analysis.ScoreSummary) string {
	at := func(p analysis.ScorePoint) string { return blocks.Number(p.Score) + " on " + blocks.Day(p.Day) }
	words := blocks.Number(s.Known) + " of " + blocks.Count(s.Days, "day", "days") + " " + blocks.Verb(s.Known, "has", "have") + " a score: "
	switch {
	case s.Known == 1:
		return words + at(s.First) + "."
	case s.Lowest.Score == s.Highest.Score:
		return words + blocks.Number(s.First.Score) + " on each of them."
	}
	return words + "from " + at(s.First) + " to " + at(s.Last) + "; the lowest was " + at(s.Lowest) + ", the highest " + at(s.Highest) + "."
}

// missing shades the buckets without a value.
func (c chart) missing(page *typeset.Page, values []*int) {
	for i, v := range values {
		if v == nil {
			page.Fill(c.x(i), c.top, c.x(i+1)-c.x(i), c.height, unmonitored)
		}
	}
}

// scores draws a point a day and what joins neighbours. The figure stands at each that
// is not as the one drawn before.
func (c chart) scores(page *typeset.Page, values []*int) {
	half := (c.x(1) - c.x(0)) / 2
	var last *int
	for i, v := range values {
		if v == nil {
			continue
		}
		x, y := c.x(i)+half, c.y(float64(*v))
		if i+1 < len(values) && values[i+1] != nil {
			page.Rule(x, y, c.x(i+1)+half-x, c.y(float64(*values[i+1]))-y, 0.9, blocks.Accent)
		}
		page.Fill(x-1.6, y-1.6, 3.2, 3.2, blocks.Accent)
		if last == nil || *last != *v {
			page.Text(x, y-3.6, blocks.Colored(axisStyle, blocks.Ink), typeset.Center, blocks.Number(*v))
		}
		last = v
	}
}

// dayAxis writes the days below a plot.
func dayAxis(b *blocks.Builder, page *typeset.Page, c chart) {
	const layout = "2 Jan"
	base, step := c.top+c.height, c.x(1)-c.x(0)
	every, room := every(b, []int{1, 2, 5, 10}, step, layout)
	for i := 0; i < c.buckets; i += every {
		if x := c.x(i); x+room < b.Paper.Left()+b.Paper.TextWidth() {
			page.Rule(x, base, 0, 3, 0.4, blocks.Muted)
			page.Text(x+1.5, base+10, axisStyle, typeset.Left, c.start.AddDate(0, 0, i).UTC().Format(layout))
		}
	}
}
