package sections

import (
	"slices"
	"strings"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// decide draws the lower part of page 1 in the remaining room, some of which the contents need.
func decide(b *blocks.Builder) {
	first := b.Plan[:min(len(b.Plan), blocks.FirstActions)]
	room := b.Paper.Bottom() - b.Paper.Y - blocks.ContentsInline
	room -= blocks.SectionHead + 11 + blocks.GapAfter + 2*blocks.StandingRow + blocks.GapAfter // with the trends
	if len(first) > 0 {
		room -= blocks.SectionHead + blocks.ActionRow*float64(len(first)) + 4
	} else {
		room -= blocks.SectionHead
	}
	whereTheRiskIs(b, max(blocks.LeastRows, int(room/blocks.StandingRow)))
	trends(b)
	FirstSteps(b, first)
}

// Columns of “Where the risk is”, from the left edge of the text.
const (
	cellsAt   = 114.0
	cellWidth = 42.0
	supportAt = cellsAt + cellWidth*float64(len(analysis.Areas)) + 5
	openRight = 478.0
)

// whereTheRiskIs draws the map of instances and areas: in each cell the failed checks with the worst severity and,
// hatched, those without an answer; then the end of support and the open CVEs. If there are more than fit, the
// assessed ones with the least weight share one row, and so do those that were not assessed.
func whereTheRiskIs(b *blocks.Builder, most int) {
	rows, rest := foldStandings(analysis.Standings(b.Doc), most)
	b.Folded = len(rest) > 0
	b.PartTitle("Where the risk is", "")
	riskLegend(b)
	b.Paper.Grouped(typeset.Grid, typeset.GridCell, func() { standingRows(b, rows, rest) })
	d := b.Paper
	d.Page().Rule(d.Left(), d.Y, d.TextWidth(), 0, 0.4, blocks.Hairline)
	d.Page().Text(d.Left(), d.Y+9, blocks.SubStyle, typeset.Left, "A cell counts failed checks, not objects, with the letter of the worst. A number with “?” counts CVEs that are not ruled out.")
	d.Y += 11 + blocks.GapAfter
}

// standingRows draws the rows of the map, then the lines that stand for the others.
func standingRows(b *blocks.Builder, rows []analysis.Standing, rest []string) {
	d := b.Paper
	left := d.Left()
	heads := []blocks.Head{{At: 0, Align: typeset.Left, Words: "Server"}}
	for i, area := range analysis.Areas {
		heads = append(heads, blocks.Head{At: cellsAt + cellWidth*(float64(i)+0.5), Align: typeset.Center, Words: area})
	}
	b.Heads(append(heads, []blocks.Head{
		{At: supportAt, Align: typeset.Left, Words: "Support ends"},
		{At: openRight, Align: typeset.Right, Words: "Open CVEs"}, {At: d.TextWidth(), Align: typeset.Right, Words: "worst"},
	}...))
	looked := true
	for _, s := range rows {
		d.Need(blocks.StandingRow)
		color := blocks.Hairline
		if looked && s.Reason != "" {
			looked, color = false, blocks.Muted
		}
		d.Page().Rule(left, d.Y, d.TextWidth(), 0, 0.4, color)
		d.Grouped(typeset.GridRow, typeset.GridCell, func() { drawStanding(b, s) })
	}
	for _, words := range rest {
		d.Page().Rule(left, d.Y, d.TextWidth(), 0, 0.4, blocks.Hairline)
		d.Grouped(typeset.GridRow, typeset.GridCell, func() { d.Page().Text(left, d.Y+9, blocks.RowMuted, typeset.Left, words) })
		d.Y += blocks.StandingRow
	}
}

// foldStandings keeps the heaviest where there are more than most, and says in a line
// each what became of the others that were assessed, and of those that were not.
func foldStandings(all []analysis.Standing, most int) (rows []analysis.Standing, rest []string) {
	if len(all) <= most {
		return all, nil
	}
	assessed := slices.IndexFunc(all, func(s analysis.Standing) bool { return s.Reason != "" })
	if assessed < 0 {
		assessed = len(all)
	}
	unseen := len(all) - assessed
	notAssessed := blocks.Count(unseen, "instance", "instances") + " not assessed: “Coverage and methodology” says why"
	most = max(0, most-1-min(unseen, 1))
	if most >= assessed { // those that nobody looked at are what is too much
		return all[:assessed], []string{notAssessed}
	}
	failed := 0
	for _, s := range all[most:assessed] {
		failed += s.Failed.Total()
	}
	rest = []string{blocks.Count(assessed-most, "instance more", "instances more") + ", with " + blocks.Count(failed, "failed check", "failed checks") + ": see “Security findings”"}
	if unseen > 0 {
		rest = append(rest, notAssessed)
	}
	return all[:most], rest
}

func riskLegend(b *blocks.Builder) {
	d := b.Paper
	page, y := d.Page(), d.Y-18
	x := d.Left() + d.TextWidth()
	entry := func(words string, swatch func(x float64)) {
		x -= b.Width(words, blocks.SubStyle)
		page.Text(x, y+10, blocks.SubStyle, typeset.Left, words)
		swatch(x - 13)
		x -= 22
	}
	entry("not looked at", func(x float64) { blocks.Hatch(page, x, y+4, 10, 7) })
	entry("0 looked, none", func(x float64) { page.Fill(x, y+4, 10, 7, blocks.LookedTint) })
	for i := len(analysis.Severities) - 1; i >= 0; i-- {
		s := analysis.Severities[i]
		entry(s[:1]+" "+strings.ToLower(s), func(x float64) { page.Fill(x, y+4, 10, 7, blocks.SeverityTint[s]) })
	}
}

// drawStanding draws one row.
func drawStanding(b *blocks.Builder, s analysis.Standing) {
	d := b.Paper
	page, left, y := d.Page(), d.Left(), d.Y
	name := blocks.RowStrong
	if s.Failed[0] == 0 {
		name = blocks.RowStyle
	}
	if s.Reason != "" {
		name = blocks.RowMuted
	}
	page.Text(left, y+10, name, typeset.Left, b.Fit(s.Name, name, cellsAt-5))
	if s.Reason != "" {
		plot := cellWidth*float64(len(analysis.Areas)) - 2
		blocks.Hatch(page, left+cellsAt, y+1.5, plot, blocks.StandingRow-3)
		words := b.Fit(s.Reason, blocks.SubStyle, plot-16)
		width := b.Width(words, blocks.SubStyle)
		page.Fill(left+cellsAt+6, y+1.8, width+6, blocks.StandingRow-3.6, blocks.White)
		page.Text(left+cellsAt+9, y+9.8, blocks.Colored(blocks.SubStyle, blocks.Ink), typeset.Left, words)
	} else {
		for i, area := range s.Areas {
			areaCell(b, area, left+cellsAt+cellWidth*float64(i), y)
		}
	}
	support(b, s, left+supportAt, y+10)
	openCVEs(b, s, y+10)
	d.Y += blocks.StandingRow
}

// areaCell draws one cell of the map. Its hatched strip marks checks without an answer.
func areaCell(b *blocks.Builder, a analysis.Area, x, y float64) {
	const width, height, strip = cellWidth - 2, blocks.StandingRow - 3, 7.0
	page := b.Paper.Page()
	top, room := y+1.5, width
	if a.Answered == 0 {
		words, style := "–", blocks.RowMuted
		if a.Unanswered > 0 {
			blocks.Hatch(page, x, top, width, height)
			words, style = blocks.Number(a.Unanswered), blocks.RowStyle
			page.Fill(x+width/2-8, top+0.5, 16, height-1, blocks.White)
		}
		page.Text(x+width/2, y+9.8, style, typeset.Center, words)
		return
	}
	if a.Unanswered > 0 {
		room = width - strip - 1
		blocks.Hatch(page, x+room+1, top, strip, height)
	}
	color, words, style := blocks.LookedTint, "0", blocks.RowMuted
	for i, n := range a.Failed {
		if n > 0 {
			s := analysis.Severities[i]
			color, words, style = blocks.SeverityTint[s], blocks.Number(a.Failed.Total())+" "+s[:1], blocks.RowStrong
			if s == analysis.Critical {
				style = blocks.Colored(style, blocks.White)
			}
			break
		}
	}
	page.Fill(x, top, room, height, color)
	page.Text(x+room/2, y+9.8, style, typeset.Center, words)
}

// support says until when the major version is supported.
func support(b *blocks.Builder, s analysis.Standing, x, baseline float64) {
	words, style := "–", blocks.RowMuted
	if s.EndOfLife != nil {
		end := s.EndOfLife.UTC()
		words, style = end.Format("Jan 2006"), blocks.RowStyle
		switch {
		case analysis.Over(b.Doc, end):
			words, style = words+", over", blocks.Colored(blocks.RowStrong, blocks.SeverityColor[analysis.Critical])
		case analysis.Ending(b.Doc, end):
			style = blocks.Colored(blocks.RowStyle, blocks.Caution)
		}
	}
	b.Paper.Page().Text(x, baseline, style, typeset.Left, words)
}

// openCVEs writes how many CVEs are open and the score of the worst; what is not ruled
// out is no open one, and stands beside it.
func openCVEs(b *blocks.Builder, s analysis.Standing, baseline float64) {
	page, right := b.Paper.Page(), b.Paper.Left()+b.Paper.TextWidth()
	open, worst, style := "–", "–", blocks.RowMuted
	switch {
	case !s.Versioned:
	case s.CVEs.Open.Total() > 0:
		open, worst, style = blocks.Number(s.CVEs.Open.Total()), blocks.Decimal(s.CVEs.HighestOpen), blocks.RowStyle
		if s.CVEs.HighestOpen >= 9 {
			style = blocks.Colored(blocks.RowStrong, blocks.SeverityColor[analysis.Critical])
		}
	case s.Gapped && s.CVEs.Possible.Total() > 0:
		open = ""
	case s.Gapped:
		open = "none known"
	default:
		open = "0"
	}
	if n := s.CVEs.Possible.Total(); s.Versioned && n > 0 {
		open += After(open, " + ") + blocks.Number(n) + "?"
		if s.CVEs.Open.Total() == 0 {
			worst = blocks.Decimal(s.CVEs.HighestPossible) + "?"
		}
	}
	page.Text(b.Paper.Left()+openRight, baseline, blocks.RowStyle, typeset.Right, open)
	page.Text(right, baseline, style, typeset.Right, worst)
}

// trends compares the critical and high findings with those of 30 and 90 days before, and draws the line between.
func trends(b *blocks.Builder) {
	d := b.Paper
	d.Need(2 * blocks.StandingRow)
	page, left := d.Page(), d.Left()
	all := analysis.Trends(b.Doc, b.Findings)
	if len(all) == 0 {
		page.Text(left, d.Y+9, blocks.RowMuted, typeset.Left, "This document has no history to compare with.")
		d.Y += blocks.StandingRow + blocks.GapAfter
		return
	}
	for _, t := range all {
		page.Text(left, d.Y+9, blocks.RowStrong, typeset.Left, "Since "+blocks.Day(t.At))
		style := blocks.RowStyle
		if !t.Known {
			style = blocks.RowMuted
		}
		page.Text(left+trendAt, d.Y+9, style, typeset.Left, trendWords(b, t, style, d.TextWidth()-trendAt-sparkWidth-8))
		d.Y += blocks.StandingRow
	}
	sparkline(b, analysis.TrendLine(b.Doc, b.Findings), left+d.TextWidth()-sparkWidth, d.Y-2*blocks.StandingRow+1, 2*blocks.StandingRow-3)
	d.Y += blocks.GapAfter
}

// trendWords says what became of the critical and high findings since then. No figure of it is cut off: if there are
// many digits, it has fewer words.
func trendWords(b *blocks.Builder, t analysis.Trend, style typeset.Style, width float64) string {
	switch {
	case t.Since == nil:
		return "no history: no finding is on record yet"
	case !t.Known:
		return "no history before " + blocks.Day(*t.Since)
	}
	then := blocks.Number(t.Open) + " then, " + blocks.Number(t.Overdue) + " overdue; " + blocks.Number(t.Closed) + " closed, " + blocks.Number(t.New) + " new"
	joined := ""
	if t.Joined > 0 {
		joined = " (" + blocks.Number(t.Joined) + " on new servers)"
	}
	for _, words := range []string{"Critical and high: " + then + joined, "Critical and high: " + then} {
		if b.Width(words, style) <= width {
			return words
		}
	}
	return b.Fit(then, style, width)
}

// Where the words of a trend begin, and how wide its line is.
const (
	trendAt    = 84.0
	sparkWidth = 76.0
)

// sparkline draws the number of critical and high findings and of the overdue ones among them; where there is no
// history, it is hatched.
func sparkline(b *blocks.Builder, line []analysis.TrendPoint, x, y, height float64) {
	page, most := b.Paper.Page(), 1
	if len(line) < 2 {
		return
	}
	for _, p := range line {
		most = max(most, p.Open)
	}
	step := sparkWidth / float64(len(line)-1)
	at := func(n int) float64 { return y + height*(1-float64(n)/float64(most)) }
	unknown := 0
	for unknown < len(line) && !line[unknown].Known {
		unknown++
	}
	if unknown > 0 {
		blocks.Hatch(page, x, y, step*float64(min(unknown, len(line)-1)), height)
	}
	for i := unknown + 1; i < len(line); i++ {
		from, to := x+step*float64(i-1), x+step*float64(i)
		page.Fill(from, at(line[i-1].Overdue), step, y+height-at(line[i-1].Overdue), blocks.OverdueWash)
		page.Rule(from, at(line[i-1].Open), step, 0, 0.9, blocks.Ink)
		page.Rule(to, at(line[i-1].Open), 0, at(line[i].Open)-at(line[i-1].Open), 0.9, blocks.Ink)
	}
	page.Rule(x, y+height, sparkWidth, 0, 0.4, blocks.Hairline)
}

// Columns of the first actions, from the left edge of the text.
const (
	ownerAt = 352.0
	dueAt   = 426.0
)

// FirstSteps lists the most urgent actions.
func FirstSteps(b *blocks.Builder, first []analysis.Step) {
	d := b.Paper
	title := map[int]string{1: "Do this first", 2: "Do these two first", 3: "Do these three first", 4: "Do these four first", 5: "Do these five first"}[len(first)]
	if len(first) == 0 {
		b.PartTitle("Next steps", "")
		page := d.Page()
		words := "Nothing to do in what was assessed. “Coverage and methodology” says what was not assessed."
		page.Text(d.Left(), d.Y+9, blocks.RowMuted, typeset.Left, words)
		d.Y += blocks.StandingRow
		return
	}
	b.PartTitle(title, leftAfter(b, len(first)))
	left := d.Left()
	d.Grouped(typeset.Grid, typeset.GridCell, func() { stepRows(b, first) })
	d.Page().Rule(left, d.Y, d.TextWidth(), 0, 0.4, blocks.Hairline)
	d.Y += 4
}

// stepRows draws the rows of the first actions.
func stepRows(b *blocks.Builder, first []analysis.Step) {
	d := b.Paper
	b.Heads([]blocks.Head{
		{At: 18, Align: typeset.Left, Words: "Finding, objects, severity and server"},
		{At: ownerAt, Align: typeset.Left, Words: "Owner"}, {At: dueAt, Align: typeset.Left, Words: "Due"},
	})
	for i, s := range first {
		d.Need(blocks.ActionRow)
		d.Page().Rule(d.Left(), d.Y, d.TextWidth(), 0, 0.4, blocks.Hairline)
		d.Grouped(typeset.GridRow, typeset.GridCell, func() { step(b, i+1, s) })
	}
}

// leftAfter counts the actions, and the critical and high ones after the first.
func leftAfter(b *blocks.Builder, first int) string {
	all := "of " + blocks.Number(len(b.Plan)) + " in “Remediation plan”"
	if b.Assessed.Assessed == 0 { // nobody knows how many there are
		return all
	}
	critical, high := 0, 0
	for _, s := range b.Plan[first:] {
		switch s.Severity {
		case analysis.Critical:
			critical++
		case analysis.High:
			high++
		}
	}
	return all + "; after " + blocks.Verb(first, "it", "these") + ", " + blocks.Number(critical) + " critical and " + blocks.Number(high) + " high are left"
}

// step draws one action: what, where, whose, and by when.
func step(b *blocks.Builder, n int, s analysis.Step) {
	d := b.Paper
	page, left, y := d.Page(), d.Left(), d.Y
	page.Text(left+4, y+9.6, blocks.Colored(blocks.RowStrong, blocks.Accent), typeset.Left, blocks.Number(n))
	const width = ownerAt - 26
	page.Text(left+18, y+9.6, blocks.RowStrong, typeset.Left, subject(b, s, width))
	page.Fill(left+18, y+12.8, 6, 6, blocks.SeverityColor[s.Severity])
	x := left + 27
	x += page.Text(x, y+18.4, blocks.RowStyle, typeset.Left, s.Severity+" · "+b.Fit(s.Where, blocks.RowStyle, 130))
	page.Text(x, y+18.4, blocks.SubStyle, typeset.Left, b.Fit(stepNote(s), blocks.SubStyle, left+18+width-x))
	owner, style := s.Owner, blocks.RowStyle
	if owner == "" {
		owner, style = "no owner", blocks.Colored(blocks.RowStrong, blocks.Caution)
	}
	page.Text(left+ownerAt, y+9.6, style, typeset.Left, b.Fit(owner, style, dueAt-ownerAt-8))
	page.Text(left+dueAt, y+9.6, blocks.RowStyle, typeset.Left, blocks.Day(s.Deadline.At))
	if late := s.Deadline.Overdue(b.Doc.AsOf); late > 0 {
		page.Text(left+dueAt, y+18.4, blocks.Colored(blocks.RowStrong, blocks.OverdueStyle.Color), typeset.Left, blocks.Overdue(late))
	}
	d.Y += blocks.ActionRow
}

// subject is what a step is about, in one line: if it is too long, its title is cut, or fewer objects are named.
func subject(b *blocks.Builder, s analysis.Step, width float64) string {
	title := b.Width(s.Title, blocks.RowStrong)
	for _, most := range []int{2, 1} {
		objects := s.Named(most)
		if room := width - b.Width(objects, blocks.RowStrong); room >= min(title, leastOfTitle) {
			return b.Fit(s.Title, blocks.RowStrong, room) + objects
		}
	}
	return b.Fit(s.Subject(), blocks.RowStrong, width)
}

// leastOfTitle is how much of a title is left before its objects.
const leastOfTitle = 120.0

// stepNote says behind the server what else decides: exploited vulnerabilities, the open CVEs, the effort.
func stepNote(s analysis.Step) string {
	var words []string
	switch n := len(s.Exploited); {
	case n == 1:
		words = append(words, s.Exploited[0]+" is being exploited")
	case n > 1:
		words = append(words, blocks.Number(n)+" CVEs are being exploited")
	}
	if s.CVEs > 0 {
		words = append(words, blocks.Count(s.CVEs, "open CVE", "open CVEs"))
	}
	effort := "effort " + blocks.OrDash(s.Effort)
	if s.NeedsRestart {
		effort += ", restart"
	}
	return " · " + strings.Join(append(words, effort), " · ")
}
