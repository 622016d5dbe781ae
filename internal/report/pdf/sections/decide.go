package sections

import (
	"slices"
	"strings"
	"time"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// decide draws the lower part of page 1 in the remaining room, some of which the contents need.
func decide(b *blocks.Builder) {
	first := b.Plan[:min(len(b.Plan), blocks.FirstActions)]
	room := b.Paper.Bottom() - b.Paper.Y - blocks.ContentsInline
	room -= blocks.SectionHead + 11 + blocks.GapAfter + blocks.StandingRow + blocks.GapAfter // with what is since the report before
	if len(first) > 0 {
		room -= blocks.SectionHead + blocks.ActionRow*float64(len(first)) + blocks.StandingRow + blocks.GapAfter
	} else {
		room -= blocks.SectionHead
	}
	whereTheRiskIs(b, max(blocks.LeastRows, int(room/blocks.StandingRow)))
	sinceBefore(b)
	FirstSteps(b, first)
}

// Columns of “Where the risk is”, from the left edge of the text.
const (
	barsAt    = 122.0
	supportAt = 330.0
	openRight = 452.0
)

// whereTheRiskIs draws one row for each instance: failed checks by severity and, hatched, those
// without an answer; its end of support; its open CVEs. If there are more than fit, the
// assessed ones with the least weight share one row, and so do those that were not assessed.
func whereTheRiskIs(b *blocks.Builder, most int) {
	rows, rest := foldStandings(analysis.Standings(b.Doc), most)
	b.Folded = len(rest) > 0
	b.PartTitle("Where the risk is", "")
	riskLegend(b)
	d := b.Paper
	left := d.Left()
	b.Heads([]blocks.Head{
		{At: 0, Align: typeset.Left, Words: "Instance"}, {At: barsAt, Align: typeset.Left, Words: "Failed checks"}, {At: supportAt, Align: typeset.Left, Words: "End of support"},
		{At: openRight, Align: typeset.Right, Words: "Open CVEs"}, {At: d.TextWidth(), Align: typeset.Right, Words: "worst"},
	})
	scale := 1
	for _, s := range rows {
		scale = max(scale, s.Failed.Total()+s.Unanswered)
	}
	looked := true
	for _, s := range rows {
		d.Need(blocks.StandingRow)
		color := blocks.Hairline
		if looked && s.Reason != "" {
			looked, color = false, blocks.Muted
		}
		d.Page().Rule(left, d.Y, d.TextWidth(), 0, 0.4, color)
		drawStanding(b, s, scale)
	}
	for _, words := range rest {
		d.Page().Rule(left, d.Y, d.TextWidth(), 0, 0.4, blocks.Hairline)
		d.Page().Text(left, d.Y+9, blocks.RowMuted, typeset.Left, words)
		d.Y += blocks.StandingRow
	}
	d.Page().Rule(left, d.Y, d.TextWidth(), 0, 0.4, blocks.Hairline)
	d.Page().Text(left, d.Y+9, blocks.SubStyle, typeset.Left, "A bar counts failed checks, not objects. A number with “?” counts CVEs that are not ruled out.")
	d.Y += 11 + blocks.GapAfter
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
	x -= b.Fonts.Width(blocks.SubStyle.Face, blocks.SubStyle.Size, "no answer, or not assessed")
	page.Text(x, y+10, blocks.SubStyle, typeset.Left, "no answer, or not assessed")
	hatch(page, x-14, y+4, 10, 7)
	x -= 26
	for i := len(analysis.Severities) - 1; i >= 0; i-- {
		s := analysis.Severities[i]
		x -= b.Fonts.Width(blocks.SubStyle.Face, blocks.SubStyle.Size, s)
		page.Text(x, y+10, blocks.SubStyle, typeset.Left, s)
		page.Fill(x-10, y+4, 7, 7, blocks.SeverityColor[s])
		x -= 20
	}
}

// drawStanding draws one row.
func drawStanding(b *blocks.Builder, s analysis.Standing, scale int) {
	d := b.Paper
	page, left, y := d.Page(), d.Left(), d.Y
	name := blocks.RowStrong
	if s.Failed[0] == 0 {
		name = blocks.RowStyle
	}
	if s.Reason != "" {
		name = blocks.RowMuted
	}
	page.Text(left, y+9, name, typeset.Left, b.Fit(s.Name, name, barsAt-8))
	plot := supportAt - barsAt - 12
	if s.Reason != "" {
		hatch(page, left+barsAt, y+1.8, plot, 9)
		words := b.Fit(s.Reason, blocks.SubStyle, plot-16)
		width := b.Width(words, blocks.SubStyle)
		page.Fill(left+barsAt+6, y+2.2, width+6, 8.2, blocks.White)
		page.Text(left+barsAt+9, y+8.8, blocks.Colored(blocks.SubStyle, blocks.Ink), typeset.Left, words)
	} else {
		failedBar(b, s, left+barsAt, y, plot/float64(scale))
	}
	support(b, s, left+supportAt, y+9)
	openCVEs(b, s, y+9)
	d.Y += blocks.StandingRow
}

// failedBar draws failed checks and those without an answer in one unit.
func failedBar(b *blocks.Builder, s analysis.Standing, x, y, unit float64) {
	page := b.Paper.Page()
	inside := typeset.Style{Face: typeset.Bold, Size: 6.6, Color: blocks.White}
	for i, n := range s.Failed {
		if n == 0 {
			continue
		}
		w := unit * float64(n)
		page.Fill(x, y+1.8, max(w-0.7, 0.5), 9, blocks.SeverityColor[analysis.Severities[i]])
		if words := blocks.Number(n); b.Fonts.Width(inside.Face, inside.Size, words)+2 < w {
			page.Text(x+w/2, y+8.7, inside, typeset.Center, words)
		}
		x += w
	}
	if n := s.Unanswered; n > 0 {
		w := unit * float64(n)
		hatch(page, x, y+1.8, max(w-0.7, 0.5), 9)
		words, style := blocks.Number(n), blocks.Colored(inside, blocks.Ink)
		if width := b.Fonts.Width(style.Face, style.Size, words); width+5 < w {
			page.Fill(x+w/2-width/2-1.5, y+2.6, width+3, 7.4, blocks.White)
			page.Text(x+w/2, y+8.7, style, typeset.Center, words)
		}
	} else if s.Failed.Total() == 0 {
		page.Text(x, y+9, blocks.Colored(blocks.RowStyle, ifClean(b, blocks.Muted)), typeset.Left, "all checks passed")
	}
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
			words, style = words+", in "+blocks.Months(b.Doc.AsOf, end), blocks.Colored(blocks.RowStyle, blocks.Caution)
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

// hatch fills a rectangle with lines that stay apart from every colour in grey print.
func hatch(page *typeset.Page, x, y, w, h float64) {
	const apart, line = 3.2, 0.45
	for t := -h; t < w; t += apart {
		from, to := max(0, -t), min(h, w-t)
		if to > from {
			page.Rule(x+t+from, y+h-from, to-from, from-to, line, blocks.Muted)
		}
	}
	page.Rule(x, y, w, 0, line, blocks.Muted)
	page.Rule(x, y+h, w, 0, line, blocks.Muted)
	page.Rule(x, y, 0, h, line, blocks.Muted)
	page.Rule(x+w, y, 0, h, line, blocks.Muted)
}

// sinceBefore is the line since the report before: closed, unchanged and new in one bar.
func sinceBefore(b *blocks.Builder) {
	d := b.Paper
	d.Need(blocks.StandingRow)
	page, left := d.Page(), d.Left()
	c, ok := analysis.ChangeSince(b.Doc)
	if !ok {
		page.Text(left, d.Y+9, blocks.RowMuted, typeset.Left, "There is no earlier Security report of this scope to compare with.")
		d.Y += blocks.StandingRow + blocks.GapAfter
		return
	}
	page.Text(left, d.Y+9, blocks.RowStrong, typeset.Left, "Since "+since(b, b.Doc.Previous.AsOf))
	const plot = 80.0
	counts, x := []int{c.Closed, c.Unchanged, c.New}, left+barsAt
	colors := []typeset.Color{blocks.Accent, blocks.Hairline, blocks.SeverityColor[analysis.Critical]}
	for i, n := range counts {
		if n > 0 {
			w := plot * float64(n) / float64(blocks.Sum(counts))
			page.Fill(x, d.Y+1.8, max(w-0.7, 0.5), 9, colors[i])
			x += w
		}
	}
	words := blocks.Number(c.Closed) + " closed, " + blocks.Number(c.Unchanged) + " unchanged, " + blocks.Number(c.New) + " new"
	others := blocks.Shares([]blocks.Share{{N: c.Accepted, Words: "accepted"}, {N: c.Reopened, Words: "no longer accepted"}, {N: c.Unknown, Words: "not assessed"}})
	x = left + barsAt + plot + 8
	x += page.Text(x, d.Y+9, blocks.RowStrong, typeset.Left, words)
	page.Text(x, d.Y+9, blocks.SubStyle, typeset.Left, b.Fit(Before(", ", others), blocks.SubStyle, left+d.TextWidth()-x))
	d.Y += blocks.StandingRow + blocks.GapAfter
}

// since is the day, on the day itself the time.
func since(b *blocks.Builder, at time.Time) string {
	if blocks.Day(at) == blocks.Day(b.Doc.AsOf) {
		return at.UTC().Format("15:04 UTC")
	}
	return blocks.Day(at)
}

// Columns of the first actions, from the left edge of the text.
const (
	effortAt = 296.0
	dueAt    = 326.0
	closesAt = 380.0
)

// FirstSteps lists what takes away most for its effort.
func FirstSteps(b *blocks.Builder, first []analysis.Step) {
	d := b.Paper
	title := map[int]string{1: "The action to take", 2: "Top two actions", 3: "Top three actions", 4: "Top four actions", 5: "Top five actions"}[len(first)]
	switch {
	case len(first) == 0:
		b.PartTitle("What to do", "")
		page := d.Page()
		words := "Nothing to do in what was assessed. “Coverage and methodology” says what was not assessed."
		page.Text(d.Left(), d.Y+9, blocks.RowMuted, typeset.Left, words)
		d.Y += blocks.StandingRow
		return
	case len(first) > 1:
		title += " by risk removed for their effort"
	}
	b.PartTitle(title, "of "+blocks.Number(len(b.Plan))+" in “Remediation plan”")
	left := d.Left()
	b.Heads([]blocks.Head{
		{At: 18, Align: typeset.Left, Words: "Action"}, {At: effortAt, Align: typeset.Left, Words: "Effort"}, {At: dueAt, Align: typeset.Left, Words: "Owner, due"},
		{At: closesAt, Align: typeset.Left, Words: "Closes"}, {At: d.TextWidth(), Align: typeset.Right, Words: "Risk removed"},
	})
	for i, s := range first {
		d.Need(blocks.ActionRow)
		d.Page().Rule(left, d.Y, d.TextWidth(), 0, 0.4, blocks.Hairline)
		step(b, i+1, s)
	}
	var closed analysis.SeverityCounts
	for _, s := range first {
		for i, n := range s.Closes {
			closed[i] += n
		}
	}
	counts := analysis.CountBySeverity(b.Findings)
	d.Page().Rule(left, d.Y, d.TextWidth(), 0, 0.4, blocks.Hairline)
	after := "After " + blocks.Verb(len(first), "it, ", "these, ") + blocks.Number(counts[0]-closed[0]) + " critical and " + blocks.Number(counts[1]-closed[1]) + " high findings are left. "
	if b.Assessed.Assessed == 0 { // nobody knows how many there are
		after = ""
	}
	d.Page().Text(left, d.Y+9, blocks.SubStyle, typeset.Left, after+"Effort S: under an hour, M: a day, L: more."+fillIn(first))
	d.Y += blocks.StandingRow
}

// fillIn asks for the owners that are missing.
func fillIn(steps []analysis.Step) string {
	if slices.ContainsFunc(steps, func(s analysis.Step) bool { return s.OwnersInWords() == "" }) {
		return " Fill in the owners."
	}
	return ""
}

// step draws one action: what, where, by when, and what is gone once it is done.
func step(b *blocks.Builder, n int, s analysis.Step) {
	d := b.Paper
	page, left, right, y := d.Page(), d.Left(), d.Left()+d.TextWidth(), d.Y
	page.Text(left+4, y+9.6, blocks.Colored(blocks.RowStrong, blocks.Accent), typeset.Left, blocks.Number(n))
	where := blocks.Count(len(s.Where), "instance", "instances")
	if len(s.Where) == 1 {
		where = blocks.Shorten(s.Where[0], 60)
	}
	restart := "no restart"
	if s.NeedsRestart {
		restart = "restart"
	}
	where = b.Fit(where, blocks.SubStyle, effortAt-90) + " · " + restart
	const width = effortAt - 24
	line, rest := b.FirstLine(s.Action, blocks.RowStrong, width)
	page.Text(left+18, y+9.6, blocks.RowStrong, typeset.Left, line)
	x := left + 18
	if rest != "" {
		rest = b.Fit(rest, blocks.RowStrong, width-b.Width(where, blocks.SubStyle)-6)
		page.Text(x, y+18, blocks.RowStrong, typeset.Left, rest)
		x += b.Width(rest, blocks.RowStrong) + 6
	}
	page.Text(x, y+18, blocks.SubStyle, typeset.Left, where)
	page.Text(left+effortAt+8, y+14, blocks.RowStrong, typeset.Center, blocks.OrDash(s.Effort))
	stepOwner(b, s, left+dueAt, y)
	page.Text(left+dueAt, y+18, blocks.RowStyle, typeset.Left, blocks.Day(s.Due))
	stepCloses(b, s, left+closesAt, y)
	const bar = 28.0
	page.Fill(right-bar-28, y+8, bar, 6, blocks.Hairline)
	page.Fill(right-bar-28, y+8, bar*s.Cleared, 6, blocks.Accent)
	page.Text(right, y+13.8, blocks.RowStrong, typeset.Right, blocks.Percent(s.Cleared))
	d.Y += blocks.ActionRow
}

// stepOwner writes the owner of an action, or a line to write one on.
func stepOwner(b *blocks.Builder, s analysis.Step, x, y float64) {
	const width = closesAt - dueAt - 8
	words := s.OwnersInWords()
	switch {
	case words == "":
		b.Paper.Page().Rule(x, y+11, width-2, 0, 0.4, blocks.Muted)
		return
	case len(s.Owners) > 1:
		words = blocks.Count(len(s.Owners), "owner", "owners")
		if slices.ContainsFunc(s.Owners, func(o analysis.Owned) bool { return o.Name == "" }) {
			words = "see plan" // which has room for the teams, and says that some have none
		}
	}
	b.Paper.Page().Text(x, y+9.6, blocks.RowStrong, typeset.Left, b.Fit(words, blocks.RowStrong, width))
}

// stepCloses writes the two gravest of what an action closes.
func stepCloses(b *blocks.Builder, s analysis.Step, x, y float64) {
	page, lines := b.Paper.Page(), 0
	for i, n := range s.Closes {
		if n == 0 || lines == 2 {
			continue
		}
		baseline := y + 9.6 + 9*float64(lines)
		page.Fill(x, baseline-5.6, 6, 6, blocks.SeverityColor[analysis.Severities[i]])
		page.Text(x+9, baseline, blocks.RowStyle, typeset.Left, blocks.Number(n)+" "+strings.ToLower(analysis.Severities[i]))
		lines++
	}
	if rest := s.Findings - s.Closes.Total(); rest > 0 && lines < 2 {
		words := blocks.Count(rest, "end of life", "ends of life")
		if s.CVEs > 0 {
			words = blocks.Count(s.CVEs, "open CVE", "open CVEs")
			if s.CVEs > 99 { // more does not stand beside the bar
				words = blocks.Number(s.CVEs) + " CVEs"
			}
		}
		page.Text(x, y+9.6+9*float64(lines), blocks.RowStyle, typeset.Left, words)
	}
}
