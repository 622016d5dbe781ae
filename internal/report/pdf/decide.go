package pdf

import (
	"slices"
	"strings"
	"time"

	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// The lower part of a Security report's page 1, which has to be enough for a decision: where
// the risk is, the changes since the previous report, and what to do first.
const (
	standingRow  = 12.5 // a row of “Where the risk is”
	leastRows    = 5    // of it, however little room there is
	actionRow    = 21.5
	firstActions = 5
	sectionHead  = 30.0 // a heading of page 1, with the heads of its columns
	gapAfter     = 7.0
)

// decide draws the lower part of page 1 in the remaining room, some of which the contents need.
func (b *builder) decide() {
	first := b.plan[:min(len(b.plan), firstActions)]
	room := b.d.Bottom() - b.d.Y - contentsInline
	room -= sectionHead + 11 + gapAfter + standingRow + gapAfter // with what is since the report before
	if len(first) > 0 {
		room -= sectionHead + actionRow*float64(len(first)) + standingRow + gapAfter
	} else {
		room -= sectionHead
	}
	b.whereTheRiskIs(max(leastRows, int(room/standingRow)))
	b.sinceBefore()
	b.firstSteps(first)
}

// The type of page 1's tables.
var (
	rowStyle  = typeset.Style{Face: typeset.Regular, Size: 7.6, Color: ink}
	rowStrong = typeset.Style{Face: typeset.Bold, Size: 7.6, Color: ink}
	rowMuted  = typeset.Style{Face: typeset.Regular, Size: 7.6, Color: muted}
	subStyle  = typeset.Style{Face: typeset.Regular, Size: 7, Color: muted}
	headStyle = typeset.Style{Face: typeset.Bold, Size: 7, Color: muted}
)

func colored(s typeset.Style, c typeset.Color) typeset.Style {
	s.Color = c
	return s
}

// partTitle starts a part of page 1, with what stands at its right end.
func (b *builder) partTitle(words, aside string) {
	d := b.d
	d.Need(sectionHead + 2*standingRow)
	page := d.Page()
	page.Text(d.Left(), d.Y+10, h2Style, typeset.Left, words)
	page.Text(d.Left()+d.TextWidth(), d.Y+10, subStyle, typeset.Right, aside)
	page.Fill(d.Left(), d.Y+15, d.TextWidth(), 0.9, accent)
	d.Y += 18
}

// head is what stands above a column of page 1, from the left edge of the text.
type head struct {
	at    float64
	align typeset.Align
	words string
}

func (b *builder) heads(all []head) {
	for _, h := range all {
		b.d.Page().Text(b.d.Left()+h.at, b.d.Y+9, headStyle, h.align, h.words)
	}
	b.d.Y += 12
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
func (b *builder) whereTheRiskIs(most int) {
	rows, rest := foldStandings(analysis.Standings(b.doc), most)
	b.folded = len(rest) > 0
	b.partTitle("Where the risk is", "")
	b.riskLegend()
	d := b.d
	left := d.Left()
	b.heads([]head{
		{0, typeset.Left, "Instance"}, {barsAt, typeset.Left, "Failed checks"}, {supportAt, typeset.Left, "End of support"},
		{openRight, typeset.Right, "Open CVEs"}, {d.TextWidth(), typeset.Right, "worst"},
	})
	scale := 1
	for _, s := range rows {
		scale = max(scale, s.Failed.Total()+s.Unanswered)
	}
	looked := true
	for _, s := range rows {
		d.Need(standingRow)
		color := hairline
		if looked && s.Reason != "" {
			looked, color = false, muted
		}
		d.Page().Rule(left, d.Y, d.TextWidth(), 0, 0.4, color)
		b.standing(s, scale)
	}
	for _, words := range rest {
		d.Page().Rule(left, d.Y, d.TextWidth(), 0, 0.4, hairline)
		d.Page().Text(left, d.Y+9, rowMuted, typeset.Left, words)
		d.Y += standingRow
	}
	d.Page().Rule(left, d.Y, d.TextWidth(), 0, 0.4, hairline)
	d.Page().Text(left, d.Y+9, subStyle, typeset.Left, "A bar counts failed checks, not objects. A number with “?” counts CVEs that are not ruled out.")
	d.Y += 11 + gapAfter
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
	notAssessed := count(unseen, "instance", "instances") + " not assessed: “Coverage and methodology” says why"
	most = max(0, most-1-min(unseen, 1))
	if most >= assessed { // those that nobody looked at are what is too much
		return all[:assessed], []string{notAssessed}
	}
	failed := 0
	for _, s := range all[most:assessed] {
		failed += s.Failed.Total()
	}
	rest = []string{count(assessed-most, "instance more", "instances more") + ", with " + count(failed, "failed check", "failed checks") + ": see “Security findings”"}
	if unseen > 0 {
		rest = append(rest, notAssessed)
	}
	return all[:most], rest
}

func (b *builder) riskLegend() {
	d := b.d
	page, y := d.Page(), d.Y-18
	x := d.Left() + d.TextWidth()
	x -= b.r.fonts.Width(subStyle.Face, subStyle.Size, "no answer, or not assessed")
	page.Text(x, y+10, subStyle, typeset.Left, "no answer, or not assessed")
	hatch(page, x-14, y+4, 10, 7)
	x -= 26
	for i := len(analysis.Severities) - 1; i >= 0; i-- {
		s := analysis.Severities[i]
		x -= b.r.fonts.Width(subStyle.Face, subStyle.Size, s)
		page.Text(x, y+10, subStyle, typeset.Left, s)
		page.Fill(x-10, y+4, 7, 7, severityColor[s])
		x -= 20
	}
}

// standing draws one row.
func (b *builder) standing(s analysis.Standing, scale int) {
	d := b.d
	page, left, y := d.Page(), d.Left(), d.Y
	name := rowStrong
	if s.Failed[0] == 0 {
		name = rowStyle
	}
	if s.Reason != "" {
		name = rowMuted
	}
	page.Text(left, y+9, name, typeset.Left, b.fit(s.Name, name, barsAt-8))
	plot := supportAt - barsAt - 12
	if s.Reason != "" {
		hatch(page, left+barsAt, y+1.8, plot, 9)
		words := b.fit(s.Reason, subStyle, plot-16)
		width := b.width(words, subStyle)
		page.Fill(left+barsAt+6, y+2.2, width+6, 8.2, white)
		page.Text(left+barsAt+9, y+8.8, colored(subStyle, ink), typeset.Left, words)
	} else {
		b.failedBar(s, left+barsAt, y, plot/float64(scale))
	}
	b.support(s, left+supportAt, y+9)
	b.openCVEs(s, y+9)
	d.Y += standingRow
}

// failedBar draws failed checks and those without an answer in one unit.
func (b *builder) failedBar(s analysis.Standing, x, y, unit float64) {
	page := b.d.Page()
	inside := typeset.Style{Face: typeset.Bold, Size: 6.6, Color: white}
	for i, n := range s.Failed {
		if n == 0 {
			continue
		}
		w := unit * float64(n)
		page.Fill(x, y+1.8, max(w-0.7, 0.5), 9, severityColor[analysis.Severities[i]])
		if words := number(n); b.r.fonts.Width(inside.Face, inside.Size, words)+2 < w {
			page.Text(x+w/2, y+8.7, inside, typeset.Center, words)
		}
		x += w
	}
	if n := s.Unanswered; n > 0 {
		w := unit * float64(n)
		hatch(page, x, y+1.8, max(w-0.7, 0.5), 9)
		words, style := number(n), colored(inside, ink)
		if width := b.r.fonts.Width(style.Face, style.Size, words); width+5 < w {
			page.Fill(x+w/2-width/2-1.5, y+2.6, width+3, 7.4, white)
			page.Text(x+w/2, y+8.7, style, typeset.Center, words)
		}
	} else if s.Failed.Total() == 0 {
		page.Text(x, y+9, colored(rowStyle, b.ifClean(muted)), typeset.Left, "all checks passed")
	}
}

// support says until when the major version is supported.
func (b *builder) support(s analysis.Standing, x, baseline float64) {
	words, style := "–", rowMuted
	if s.EndOfLife != nil {
		end := s.EndOfLife.UTC()
		words, style = end.Format("Jan 2006"), rowStyle
		switch {
		case analysis.Over(b.doc, end):
			words, style = words+", over", colored(rowStrong, severityColor[analysis.Critical])
		case analysis.Ending(b.doc, end):
			words, style = words+", in "+months(b.doc.AsOf, end), colored(rowStyle, caution)
		}
	}
	b.d.Page().Text(x, baseline, style, typeset.Left, words)
}

// months is how long it is until then, in months that are over by then.
func months(from, to time.Time) string {
	n := 0
	for !from.AddDate(0, n+1, 0).After(to) {
		n++
	}
	if n == 0 {
		return "under a month"
	}
	return count(n, "month", "months")
}

// openCVEs writes how many CVEs are open and the score of the worst; what is not ruled
// out is no open one, and stands beside it.
func (b *builder) openCVEs(s analysis.Standing, baseline float64) {
	page, right := b.d.Page(), b.d.Left()+b.d.TextWidth()
	open, worst, style := "–", "–", rowMuted
	switch {
	case !s.Versioned:
	case s.CVEs.Open.Total() > 0:
		open, worst, style = number(s.CVEs.Open.Total()), decimal(s.CVEs.HighestOpen), rowStyle
		if s.CVEs.HighestOpen >= 9 {
			style = colored(rowStrong, severityColor[analysis.Critical])
		}
	case s.Gapped && s.CVEs.Possible.Total() > 0:
		open = ""
	case s.Gapped:
		open = "none known"
	default:
		open = "0"
	}
	if n := s.CVEs.Possible.Total(); s.Versioned && n > 0 {
		open += after(open, " + ") + number(n) + "?"
		if s.CVEs.Open.Total() == 0 {
			worst = decimal(s.CVEs.HighestPossible) + "?"
		}
	}
	page.Text(b.d.Left()+openRight, baseline, rowStyle, typeset.Right, open)
	page.Text(right, baseline, style, typeset.Right, worst)
}

// hatch fills a rectangle with lines that stay apart from every colour in grey print.
func hatch(page *typeset.Page, x, y, w, h float64) {
	const apart, line = 3.2, 0.45
	for t := -h; t < w; t += apart {
		from, to := max(0, -t), min(h, w-t)
		if to > from {
			page.Rule(x+t+from, y+h-from, to-from, from-to, line, muted)
		}
	}
	page.Rule(x, y, w, 0, line, muted)
	page.Rule(x, y+h, w, 0, line, muted)
	page.Rule(x, y, 0, h, line, muted)
	page.Rule(x+w, y, 0, h, line, muted)
}

// sinceBefore is the line since the report before: closed, unchanged and new in one bar.
func (b *builder) sinceBefore() {
	d := b.d
	d.Need(standingRow)
	page, left := d.Page(), d.Left()
	c, ok := analysis.ChangeSince(b.doc)
	if !ok {
		page.Text(left, d.Y+9, rowMuted, typeset.Left, "There is no earlier Security report of this scope to compare with.")
		d.Y += standingRow + gapAfter
		return
	}
	page.Text(left, d.Y+9, rowStrong, typeset.Left, "Since "+b.since(b.doc.Previous.AsOf))
	const plot = 80.0
	counts, x := []int{c.Closed, c.Unchanged, c.New}, left+barsAt
	colors := []typeset.Color{accent, hairline, severityColor[analysis.Critical]}
	for i, n := range counts {
		if n > 0 {
			w := plot * float64(n) / float64(sum(counts))
			page.Fill(x, d.Y+1.8, max(w-0.7, 0.5), 9, colors[i])
			x += w
		}
	}
	words := number(c.Closed) + " closed, " + number(c.Unchanged) + " unchanged, " + number(c.New) + " new"
	others := shares([]share{{c.Accepted, "accepted"}, {c.Reopened, "no longer accepted"}, {c.Unknown, "not assessed"}})
	x = left + barsAt + plot + 8
	x += page.Text(x, d.Y+9, rowStrong, typeset.Left, words)
	page.Text(x, d.Y+9, subStyle, typeset.Left, b.fit(before(", ", others), subStyle, left+d.TextWidth()-x))
	d.Y += standingRow + gapAfter
}

// since is the day, on the day itself the time.
func (b *builder) since(at time.Time) string {
	if day(at) == day(b.doc.AsOf) {
		return at.UTC().Format("15:04 UTC")
	}
	return day(at)
}

// Columns of the first actions, from the left edge of the text.
const (
	effortAt = 296.0
	dueAt    = 326.0
	closesAt = 380.0
)

// firstSteps lists what takes away most for its effort.
func (b *builder) firstSteps(first []analysis.Step) {
	d := b.d
	title := map[int]string{1: "The action to take", 2: "Top two actions", 3: "Top three actions", 4: "Top four actions", 5: "Top five actions"}[len(first)]
	switch {
	case len(first) == 0:
		b.partTitle("What to do", "")
		page := d.Page()
		words := "Nothing to do in what was assessed. “Coverage and methodology” says what was not assessed."
		page.Text(d.Left(), d.Y+9, rowMuted, typeset.Left, words)
		d.Y += standingRow
		return
	case len(first) > 1:
		title += " by risk removed for their effort"
	}
	b.partTitle(title, "of "+number(len(b.plan))+" in “Remediation plan”")
	left := d.Left()
	b.heads([]head{
		{18, typeset.Left, "Action"}, {effortAt, typeset.Left, "Effort"}, {dueAt, typeset.Left, "Owner, due"},
		{closesAt, typeset.Left, "Closes"}, {d.TextWidth(), typeset.Right, "Risk removed"},
	})
	for i, s := range first {
		d.Need(actionRow)
		d.Page().Rule(left, d.Y, d.TextWidth(), 0, 0.4, hairline)
		b.step(i+1, s)
	}
	var closed analysis.SeverityCounts
	for _, s := range first {
		for i, n := range s.Closes {
			closed[i] += n
		}
	}
	counts := analysis.CountBySeverity(b.findings)
	d.Page().Rule(left, d.Y, d.TextWidth(), 0, 0.4, hairline)
	after := "After " + verb(len(first), "it, ", "these, ") + number(counts[0]-closed[0]) + " critical and " + number(counts[1]-closed[1]) + " high findings are left. "
	if b.assessed.Assessed == 0 { // nobody knows how many there are
		after = ""
	}
	d.Page().Text(left, d.Y+9, subStyle, typeset.Left, after+"Effort S: under an hour, M: a day, L: more. Fill in the owners.")
	d.Y += standingRow
}

// step draws one action: what, where, by when, and what is gone once it is done.
func (b *builder) step(n int, s analysis.Step) {
	d := b.d
	page, left, right, y := d.Page(), d.Left(), d.Left()+d.TextWidth(), d.Y
	page.Text(left+4, y+9.6, colored(rowStrong, accent), typeset.Left, number(n))
	where := count(len(s.Where), "instance", "instances")
	if len(s.Where) == 1 {
		where = shorten(s.Where[0], 60)
	}
	restart := "no restart"
	if s.NeedsRestart {
		restart = "restart"
	}
	where = b.fit(where, subStyle, effortAt-90) + " · " + restart
	const width = effortAt - 24
	line, rest := b.firstLine(s.Action, rowStrong, width)
	page.Text(left+18, y+9.6, rowStrong, typeset.Left, line)
	x := left + 18
	if rest != "" {
		rest = b.fit(rest, rowStrong, width-b.width(where, subStyle)-6)
		page.Text(x, y+18, rowStrong, typeset.Left, rest)
		x += b.width(rest, rowStrong) + 6
	}
	page.Text(x, y+18, subStyle, typeset.Left, where)
	page.Text(left+effortAt+8, y+14, rowStrong, typeset.Center, orDash(s.Effort))
	page.Rule(left+dueAt, y+11, closesAt-dueAt-10, 0, 0.4, muted)
	page.Text(left+dueAt, y+18, rowStyle, typeset.Left, day(s.Due))
	b.stepCloses(s, left+closesAt, y)
	const bar = 28.0
	page.Fill(right-bar-28, y+8, bar, 6, hairline)
	page.Fill(right-bar-28, y+8, bar*s.Cleared, 6, accent)
	page.Text(right, y+13.8, rowStrong, typeset.Right, percent(s.Cleared))
	d.Y += actionRow
}

// stepCloses writes the two gravest of what an action closes.
func (b *builder) stepCloses(s analysis.Step, x, y float64) {
	page, lines := b.d.Page(), 0
	for i, n := range s.Closes {
		if n == 0 || lines == 2 {
			continue
		}
		baseline := y + 9.6 + 9*float64(lines)
		page.Fill(x, baseline-5.6, 6, 6, severityColor[analysis.Severities[i]])
		page.Text(x+9, baseline, rowStyle, typeset.Left, number(n)+" "+strings.ToLower(analysis.Severities[i]))
		lines++
	}
	if rest := s.Findings - s.Closes.Total(); rest > 0 && lines < 2 {
		words := count(rest, "end of life", "ends of life")
		if s.CVEs > 0 {
			words = count(s.CVEs, "open CVE", "open CVEs")
			if s.CVEs > 99 { // more does not stand beside the bar
				words = number(s.CVEs) + " CVEs"
			}
		}
		page.Text(x, y+9.6+9*float64(lines), rowStyle, typeset.Left, words)
	}
}

// Columns of the first tables, from the left edge of the text.
const (
	mostTables  = 10
	riskAt      = 176.0
	treatmentAt = 236.0
)

// firstTables lists the tables with sensitive data that should be treated first.
func (b *builder) firstTables() {
	d := b.d
	d.Y += gapAfter
	room := int((d.Bottom() - d.Y - sectionHead - standingRow - 2*gapAfter - contentsInline) / actionRow)
	first := b.risks[:min(len(b.risks), max(room, 1), mostTables)]
	title := "The table to treat first"
	if len(first) > 1 {
		title = "The tables to treat first"
	}
	b.partTitle(title, "of "+number(len(b.risks))+" in “Risk register”")
	left, right := d.Left(), d.Left()+d.TextWidth()
	b.heads([]head{
		{18, typeset.Left, "Table"}, {riskAt, typeset.Left, "Risk"}, {treatmentAt, typeset.Left, "Proposed treatment"},
		{d.TextWidth(), typeset.Right, "Due"},
	})
	for i, r := range first {
		d.Need(actionRow)
		page, y := d.Page(), d.Y
		page.Rule(left, y, d.TextWidth(), 0, 0.4, hairline)
		page.Text(left+4, y+9.6, colored(rowStrong, accent), typeset.Left, number(i+1))
		page.Text(left+18, y+9.6, rowStrong, typeset.Left, b.fit(tableName(r.Table), rowStrong, riskAt-24))
		page.Text(left+18, y+18, subStyle, typeset.Left, b.fit(r.InstanceName+" / "+r.Database, subStyle, riskAt-24))
		page.Fill(left+riskAt, y+4, 6, 6, severityColor[r.Level()])
		page.Text(left+riskAt+9, y+9.6, rowStrong, typeset.Left, dagger(number(r.Score), r.Partial)+" "+r.Level())
		page.Text(left+riskAt+9, y+18, subStyle, typeset.Left, number(r.Likelihood)+" × "+number(r.Impact))
		for n, words := range strings.SplitN(treatment(r), "; ", proposals) {
			page.Text(left+treatmentAt, y+9.6+8.4*float64(n), rowStyle, typeset.Left, b.fit(words, rowStyle, right-52-left-treatmentAt))
		}
		page.Text(right, y+9.6, rowStyle, typeset.Right, b.riskDue(r))
		d.Y += actionRow
	}
	d.Page().Rule(left, d.Y, d.TextWidth(), 0, 0.4, hairline)
	d.Page().Text(left, d.Y+9, subStyle, typeset.Left, "Risk: likelihood × impact, of at most 25. A number with † may be higher: some of its inputs could not be read.")
	d.Y += standingRow + gapAfter
}

// contentsInline is the height of the contents where they stand in lines.
const contentsInline = 34.0

// inlineContents writes the contents of page 1 in two lines.
func (b *builder) inlineContents() {
	page, y := b.d.Pages()[b.contentsPage], b.contentsAt
	left, right := b.d.Left(), b.d.Left()+b.d.TextWidth()
	x, n := left, 0
	for i, m := range b.d.Marks() {
		if m.Level != 0 {
			continue
		}
		n++
		label, at := number(n), number(m.Page)
		width := 0.0
		for _, part := range []struct {
			text  string
			style typeset.Style
		}{{label + " ", headStyle}, {m.Title + " ", rowStyle}, {at, rowStyle}} {
			width += b.r.fonts.Width(part.style.Face, part.style.Size, part.text)
		}
		if x > left && x+width > right {
			x, y = left, y+12
		}
		from := x
		x += page.Text(x, y+8, colored(headStyle, accent), typeset.Left, label) + 3
		x += page.Text(x, y+8, colored(rowStyle, accent), typeset.Left, m.Title) + 3
		x += page.Text(x, y+8, rowMuted, typeset.Left, at)
		page.Link(from, y-2, x-from, 12, i)
		x += 12
	}
}
