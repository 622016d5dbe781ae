package sections

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/internal/assessment/quote"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// The limits of a card, so that it fits on a page: findings.csv has the rest.
const (
	mostObjects    = 6
	mostStatements = 2
	mostLines      = 5 // of a statement
)

// Columns of a card: the reasons are left, what to do is right.
const (
	cardPad  = 10.0
	cardAir  = 5.0 // above it
	reasons  = 190.0
	doLabel  = 30.0
	cardHead = 330.0
)

// The type of a card.
var (
	cardTitle  = typeset.Style{Face: typeset.Bold, Size: 11, Color: blocks.Ink}
	cardLabel  = typeset.Style{Face: typeset.Bold, Size: 8, Color: blocks.Muted}
	cardText   = typeset.Style{Face: typeset.Regular, Size: 9, Color: blocks.Ink}
	cardMuted  = typeset.Style{Face: typeset.Regular, Size: 9, Color: blocks.Muted}
	cardStrong = typeset.Style{Face: typeset.Bold, Size: 9, Color: blocks.Ink}
)

// ahead is how many cards may be printed before one that does not fit on the page, of the same severity.
const ahead = 4

// cards prints a card for each failing check. None breaks over a page: if the next one does not fit, one of those that
// follow and are as severe may fill the page.
func cards(b *blocks.Builder, groups []analysis.CheckFindings) {
	left, heights := slices.Clone(groups), map[string]float64{}
	for len(left) > 0 {
		next := 0
		if i := slices.IndexFunc(alternatives(left), func(g analysis.CheckFindings) bool { return fits(b, g, heights) }); i >= 0 {
			next = i
		} else {
			card(b, left[0])
		}
		left = slices.Delete(left, next, next+1)
	}
}

// alternatives are the next card, and those that may be printed before it.
func alternatives(left []analysis.CheckFindings) []analysis.CheckFindings {
	left = left[:min(len(left), ahead)]
	for i, g := range left {
		if g.Check.Severity != left[0].Check.Severity {
			return left[:i]
		}
	}
	return left
}

// fits prints a card if it has room on the page. heights has those that had none elsewhere.
func fits(b *blocks.Builder, g analysis.CheckFindings, heights map[string]float64) bool {
	d := b.Paper
	start := d.Y
	d.Skip(cardAir)
	if height, ok := heights[g.Check.ID]; !ok || d.Y+height <= d.Bottom() {
		if height, ok = d.Try(func() { cardOn(b, g, true) }); ok {
			d.Y += 2
			return true
		}
		heights[g.Check.ID] = height
	}
	d.Y = start
	return false
}

// card prints a failing check with its findings, on one page.
func card(b *blocks.Builder, g analysis.CheckFindings) {
	d := b.Paper
	d.Skip(cardAir)
	if !d.Whole(func() { cardOn(b, g, true) }) {
		cardOn(b, g, false)
	}
	d.Y += 2
}

// cardOn draws a card, with two columns or with one.
func cardOn(b *blocks.Builder, g analysis.CheckFindings, columns bool) {
	d := b.Paper
	color := blocks.SeverityColor[g.Check.Severity]
	d.Mark(g.Check.ID+" "+g.Check.Title, 1)
	top, page, left, width := d.Y, d.Page(), d.Left(), d.TextWidth()
	d.Y += 5
	d.Within(cardPad, cardPad, func() {
		headOfCard(b, g)
		if len(g.Findings) > 1 || g.Unlisted > 0 {
			objectsOfCard(b, g)
		}
		start, first := d.Y, d.Page()
		d.Within(0, d.TextWidth()-reasons, func() { reasonsOfCard(b, g) })
		end := d.Y
		if columns {
			d.Y = start
			d.Within(reasons+14, 0, func() { toDo(b, g) })
		} else {
			toDo(b, g)
		}
		if d.Page() == first {
			d.Y = max(d.Y, end)
		}
		footOfCard(b, g)
	})
	d.Y += 2
	if d.Page() == page {
		page.Rule(left, top, width, 0, 0.5, blocks.Hairline)
		page.Rule(left, d.Y, width, 0, 0.5, blocks.Hairline)
		page.Rule(left+width, top, 0, d.Y-top, 0.5, blocks.Hairline)
		page.Fill(left, top, 3.5, d.Y-top, color)
	}
	d.Settle()
}

// headOfCard says what is wrong with what, and by when it has to be closed.
func headOfCard(b *blocks.Builder, g analysis.CheckFindings) {
	d := b.Paper
	top := d.Y
	title, note := subjectOf(b, g)
	note = append(note, typeset.Span{Text: Before(" · ", ownerOfCard(b, g)), Style: cardText})
	d.Tagged(typeset.Part, func() { d.ParagraphWithin(0, cardHead, 1.25, title...) })
	d.ParagraphWithin(0, cardHead, 1.35, append([]typeset.Span{{Text: g.Check.Severity, Style: blocks.Colored(cardStrong, blocks.SeverityColor[g.Check.Severity])}}, note...)...)
	end := d.Y
	words, style, since := dueOf(b, g)
	right := d.Left() + d.TextWidth()
	d.Page().Text(right, top+10.5, style, typeset.Right, words)
	d.Page().Text(right, top+22.5, blocks.SmallStyle, typeset.Right, b.Fit(since, blocks.SmallStyle, d.TextWidth()-cardHead-4))
	d.Y = max(end, top+25) + 2
	d.Page().Rule(d.Left(), d.Y, d.TextWidth(), 0, 0.4, blocks.Hairline)
	d.Y += 3
}

// subjectOf is the lead of a card: the object and the server of a single finding, with the fault below; else the fault,
// with how many findings there are.
func subjectOf(b *blocks.Builder, g analysis.CheckFindings) (title, note []typeset.Span) {
	fault := typeset.Span{Text: " · " + g.Check.Title, Style: cardText}
	if g.Total() > 1 {
		places := blocks.Count(g.Instances, "server", "servers")
		return []typeset.Span{{Text: g.Check.Title, Style: cardTitle}},
			[]typeset.Span{{Text: " · " + blocks.Count(g.Total(), "finding", "findings") + " on " + places, Style: cardText}}
	}
	f := g.Findings[0]
	place := blocks.Shorten(f.InstanceName, 80) + Before(" / ", blocks.Shorten(f.Database, 60))
	if f.Object == "" && len(b.Doc.Instances) == 1 {
		return []typeset.Span{{Text: g.Check.Title, Style: cardTitle}}, []typeset.Span{{Text: " · " + cmp.Or(blocks.Shorten(f.Database, 60), "instance-wide"), Style: cardText}}
	}
	if f.Object == "" {
		return []typeset.Span{{Text: place, Style: cardTitle}}, []typeset.Span{fault}
	}
	object := typeset.Style{Face: typeset.Mono, Size: 10.5, Color: blocks.Ink}
	return []typeset.Span{{Text: blocks.Shorten(f.Object, 120), Style: object}, {Text: " on " + place, Style: cardTitle}}, []typeset.Span{fault}
}

// dueOf is the first deadline of a card's findings in words.
func dueOf(b *blocks.Builder, g analysis.CheckFindings) (words string, style typeset.Style, since string) {
	due := earliest(b, g.Findings)
	words, style = "Due today", cardStrong
	if days := blocks.Days(b.Doc.AsOf, due.At); days > 0 {
		words = "Due in " + blocks.Count(days, "day", "days")
	}
	if late := due.Overdue(b.Doc.AsOf); late > 0 {
		words, style = "Overdue by "+blocks.Count(late, "day", "days"), blocks.OverdueStyle
	}
	since = "due " + blocks.Day(due.At)
	if due.FirstSeen != nil {
		since += " · first seen " + blocks.Day(*due.FirstSeen)
	}
	return words, style, since
}

// ownerOfCard is the one owner of all servers of a card, if the organization has owners at all.
func ownerOfCard(b *blocks.Builder, g analysis.CheckFindings) string {
	if !owned(b) {
		return ""
	}
	owners, affected := map[string]bool{}, instancesOf(g)
	for i := range b.Doc.Instances {
		if in := &b.Doc.Instances[i]; affected[in.ID] {
			owners[cmp.Or(analysis.OwnerOf(in), "no owner")] = true
		}
	}
	if len(owners) != 1 {
		return ""
	}
	return blocks.Shorten(slices.Collect(maps.Keys(owners))[0], 40)
}

// owned says whether any instance has an owner.
func owned(b *blocks.Builder) bool {
	return slices.ContainsFunc(b.Doc.Instances, func(in snapshot.Instance) bool { return in.Owner != nil })
}

// objectsOfCard lists the findings of a card, each with its own due day; if there are many, those of a database in one
// row.
func objectsOfCard(b *blocks.Builder, g analysis.CheckFindings) {
	rows := make([][]analysis.Finding, 0, len(g.Findings))
	for _, f := range g.Findings {
		n := len(rows) - 1
		if n >= 0 && len(g.Findings) > mostObjects && rows[n][0].InstanceID == f.InstanceID && rows[n][0].Database == f.Database {
			rows[n] = append(rows[n], f)
			continue
		}
		rows = append(rows, []analysis.Finding{f})
	}
	shown, listed := rows[:min(len(rows), mostObjects)], 0
	for _, row := range shown {
		listed += len(row)
	}
	blocks.Table(b, []typeset.Column{
		{Title: "Object", Max: 150}, {Title: "Server, database", Max: 140}, {Title: "Evidence", Flex: 1}, {Title: "Due", Max: 76},
	}, shown, func(_ int, row []analysis.Finding) []typeset.Cell {
		f := row[0]
		deadline := earliest(b, row)
		when := blocks.Text(blocks.Day(deadline.At))
		if late := deadline.Overdue(b.Doc.AsOf); late > 0 {
			when = typeset.Cell{Text: blocks.Overdue(late), Style: blocks.OverdueStyle}
		}
		where := blocks.Shorten(f.InstanceName, 60) + Before(" / ", blocks.Shorten(f.Database, 40))
		object, evidence := blocks.OrDash(blocks.Shorten(f.Object, 70)), blocks.OrDash(blocks.Shorten(f.Evidence, 60))
		if rest := len(row) - 1; rest > 0 {
			object, evidence = blocks.Shorten(f.Object, 50)+" and "+blocks.Number(rest)+" more", "–"
		}
		return []typeset.Cell{blocks.Code(object), blocks.Text(where), blocks.Code(evidence), when}
	})
	b.Paper.Y -= 3
	rest := g.Total() - listed
	if rest == 0 {
		return
	}
	words := blocks.Count(rest, "further finding", "further findings") + ": see findings.csv."
	if g.Unlisted > 0 {
		words = blocks.Count(rest, "further finding", "further findings") + ". findings.csv lists " + blocks.Number(len(g.Findings)) + ". " + KeptObjects
	}
	b.Small(words)
	b.Paper.Y -= 4
}

// earliest is the first deadline of findings.
func earliest(b *blocks.Builder, findings []analysis.Finding) analysis.Deadline {
	first := analysis.Due(b.Doc, findings[0])
	for _, f := range findings[1:] {
		if d := analysis.Due(b.Doc, f); d.At.Before(first.At) {
			first = d
		}
	}
	return first
}

// reasonsOfCard says why it matters, and what was measured.
func reasonsOfCard(b *blocks.Builder, g analysis.CheckFindings) {
	d := b.Paper
	labeled := func(label string, spans ...typeset.Span) {
		d.Paragraph(0, 1.28, append([]typeset.Span{{Text: label + "  ", Style: cardLabel}}, spans...)...)
		d.Y += 3
	}
	if g.Check.Rationale != "" {
		labeled("Why it matters", typeset.Span{Text: blocks.Sentence(blocks.Shorten(g.Check.Rationale, 400)), Style: cardText})
	}
	if g.Total() == 1 && g.Findings[0].Evidence != "" {
		labeled("Measured", typeset.Span{Text: blocks.Shorten(g.Findings[0].Evidence, 160), Style: blocks.CodeStyle})
	}
}

// lowerWord lets a sentence continue another one, unless it begins with a name.
func lowerWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if strings.ContainsFunc(word[min(1, len(word)):], func(r rune) bool { return r < 'a' || r > 'z' }) {
		return s
	}
	return lowerFirst(s)
}

// toDo says what closes the findings, how to check that it did, and how to undo it.
func toDo(b *blocks.Builder, g analysis.CheckFindings) {
	line := func(label, words string, style typeset.Style) {
		if words == "" {
			return
		}
		b.Label(label, blocks.Colored(cardLabel, blocks.Accent), 9, 1.28)
		b.Paper.Paragraph(doLabel, 1.28, typeset.Span{Text: words, Style: style})
		b.Paper.Y += 2
	}
	line("Fix", blocks.Shorten(g.Check.Remediation, 400), cardText)
	undo := statementsOfCard(b, g)
	line("", blocks.Shorten(strings.TrimSpace(strings.ReplaceAll(g.Check.Impact, untried, "")), 300), cardMuted)
	passes := ""
	if g.Check.Pass != "" {
		passes = "Passes when " + blocks.Sentence(lowerWord(blocks.Shorten(g.Check.Pass, 300)))
	}
	switch check := checkOf(g); {
	case check == "":
		line("Check", passes, cardMuted)
	case len(linesOf(b, check)) > mostLines: // half a query is of no use
		line("Check", strings.TrimSpace(passes+" findings.csv has the query that shows it (verify)."), cardMuted)
	default:
		b.Label("Check", blocks.Colored(cardLabel, blocks.Accent), 9, 1.28)
		code(b, check)
		line("", "Returns no row once it is closed.", cardMuted)
	}
	switch {
	case len(undo) > 0:
		b.Label("Undo", blocks.Colored(cardLabel, blocks.Accent), 9, 1.28)
		for _, u := range undo {
			code(b, u)
		}
	case withFix(g):
		line("Undo", "No statement restores it: note what is set now before you run the fix.", cardMuted)
	}
}

func withFix(g analysis.CheckFindings) bool {
	return slices.ContainsFunc(g.Findings, func(f analysis.Finding) bool { return f.Fix != nil })
}

// statementsOfCard prints the first statements of a card, with where each is run. It returns the statements that undo
// them.
func statementsOfCard(b *blocks.Builder, g analysis.CheckFindings) (undo []string) {
	fixes, missing := analysis.Fixes(g)
	printed, all := 0, 0
	for _, f := range fixes {
		all += len(f.Statements)
		for _, s := range f.Statements[:min(len(f.Statements), mostStatements-printed)] {
			b.Paper.Paragraph(doLabel, 1.3, typeset.Span{Text: runWhere(g.Check.Engine, f), Style: blocks.SmallStyle})
			code(b, s)
			printed++
			if u := undoOf(g, s); u != "" && !slices.Contains(undo, u) {
				undo = append(undo, u)
			}
		}
	}
	var notes []string
	if printed < all {
		notes = append(notes, "findings.csv has "+blocks.Count(all-printed, "further statement", "further statements")+".")
	}
	if missing > 0 && len(fixes) > 0 {
		notes = append(notes, blocks.Count(missing, "finding needs", "findings need")+" a decision: no statement fits.")
	}
	if g.Check.NeedsRestart {
		notes = append(notes, "Restart the server afterwards.")
	}
	if len(notes) > 0 {
		b.Paper.Paragraph(doLabel, 1.3, typeset.Span{Text: strings.Join(notes, " "), Style: cardMuted})
		b.Paper.Y += 2
	}
	return undo
}

// undoOf is what undoes a statement.
func undoOf(g analysis.CheckFindings, statement string) string {
	for _, f := range g.Findings {
		if f.Fix != nil && f.Fix.Statement == statement {
			return f.Fix.Rollback
		}
	}
	return ""
}

// checkOf is the statement that shows whether the first finding is closed.
func checkOf(g analysis.CheckFindings) string {
	f := g.Findings[0]
	if v := g.Check.Verify; v != nil && snapshot.IsWhole(f.Object) {
		return v.Statement(quote.Literal(f.Object))
	}
	return ""
}

// linesOf are the lines of a statement in a card.
func linesOf(b *blocks.Builder, statement string) []string {
	return strings.Split(breakStatement(b, statement, b.Paper.TextWidth()-doLabel-8), "\n")
}

// code prints a statement on a ground of its own, at most mostLines of it.
func code(b *blocks.Builder, statement string) {
	d := b.Paper
	width := d.TextWidth() - doLabel - 8
	lines := linesOf(b, statement)
	cut := len(lines) > mostLines
	if cut {
		lines = lines[:mostLines]
	}
	span := typeset.Span{Text: strings.Join(lines, "\n"), Style: blocks.CodeStyle}
	height := d.ParagraphHeight(width, 1.3, span) + 4
	d.Need(height)
	d.Page().Fill(d.Left()+doLabel, d.Y, d.TextWidth()-doLabel, height, blocks.Wash)
	top := d.Y
	d.Y += 2
	d.ParagraphWithin(doLabel+4, width, 1.3, span)
	d.Y = top + height + 2
	if cut {
		d.Paragraph(doLabel, 1.3, typeset.Span{Text: "The statement goes on: copy it from findings.csv.", Style: cardMuted})
	}
}

// footOfCard has the references, the check, and the action in the plan.
func footOfCard(b *blocks.Builder, g analysis.CheckFindings) {
	d := b.Paper
	d.Y += 1
	d.Page().Rule(d.Left(), d.Y, d.TextWidth(), 0, 0.4, blocks.Hairline)
	d.Y += 2
	right := g.Check.ID + Before(" · ", stepWords(b, g))
	baseline := typeset.Baseline(d.Y, 8*1.3, 8)
	d.Page().Text(d.Left()+d.TextWidth(), baseline, blocks.SmallStyle, typeset.Right, right)
	room := d.TextWidth() - b.Width(right, blocks.SmallStyle) - 12
	spans := referenceSpans(b, g)
	for len(spans) > 2 && widthOf(b, spans) > room { // findings.csv has all
		spans = spans[:len(spans)-2]
	}
	d.ParagraphWithin(0, room, 1.3, spans...)
	d.Y = max(d.Y, baseline+3)
}

func widthOf(b *blocks.Builder, spans []typeset.Span) (width float64) {
	for _, s := range spans {
		width += b.Width(s.Text, s.Style)
	}
	return width
}

// stepWords names the actions of the plan that close the findings of a card.
func stepWords(b *blocks.Builder, g analysis.CheckFindings) string {
	var steps []string
	on := instancesOf(g)
	for i, s := range b.Plan {
		if on[s.Instance] && slices.Contains(s.Checks, g.Check.ID) {
			steps = append(steps, blocks.Number(i+1))
		}
	}
	if len(steps) == 0 {
		return ""
	}
	return blocks.Verb(len(steps), "step ", "steps ") + blocks.List(steps, 4)
}

// referenceSpans lists where a check comes from, each leading there.
func referenceSpans(b *blocks.Builder, g analysis.CheckFindings) []typeset.Span {
	var spans []typeset.Span
	for _, r := range g.Check.References {
		if len(spans) > 0 {
			spans = append(spans, typeset.Span{Text: " · ", Style: blocks.SmallStyle})
		}
		style := blocks.SmallStyle
		style.Link = analysis.AddressFor(r, majorOf(b, g))
		spans = append(spans, typeset.Span{Text: analysis.ShortReference(r), Style: style})
	}
	return spans
}

// majorOf is the major version of a card's servers; empty if they have several, or if it is not known.
func majorOf(b *blocks.Builder, g analysis.CheckFindings) string {
	major, affected := "", instancesOf(g)
	for i := range b.Doc.Instances {
		in := &b.Doc.Instances[i]
		switch {
		case !affected[in.ID]:
		case in.Release == nil, major != "" && in.Release.Major != major:
			return ""
		default:
			major = in.Release.Major
		}
	}
	return major
}

// instancesOf are the instances that have a finding.
func instancesOf(g analysis.CheckFindings) map[uuid.UUID]bool {
	on := make(map[uuid.UUID]bool, g.Instances)
	for _, f := range g.Findings {
		on[f.InstanceID] = true
	}
	return on
}
