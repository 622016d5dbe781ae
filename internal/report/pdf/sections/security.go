package sections

import (
	"strings"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// SecurityFront is page 1 of the Security report.
func SecurityFront(b *blocks.Builder) blocks.Front {
	counts := analysis.CountBySeverity(b.Findings)
	cves := analysis.AllCVEs(b.Doc)
	open, cveNote, gapped := cves.Open.Total(), "none open", cveGaps(b)
	switch possible := cves.Possible.Total(); {
	case possible > 0 && open > 0:
		cveNote = "to CVSS " + blocks.Decimal(cves.HighestOpen) + "; " + blocks.Number(possible) + " more not ruled out"
	case possible > 0:
		cveNote = "none open; " + blocks.Number(possible) + " not ruled out, to CVSS " + blocks.Decimal(cves.HighestPossible)
	case open > 0:
		cveNote = "to CVSS " + blocks.Decimal(cves.HighestOpen)
	}
	if gapped {
		cveNote = strings.Replace(cveNote, "none open", "none known", 1)
	}
	urgent, support := counts[0]+counts[1], analysis.SupportOf(b.Doc)
	unseen := b.Assessed.Total - b.Assessed.Assessed
	f := blocks.Front{
		Gaps: "Coverage and methodology",
		Figures: []blocks.Figure{
			{Value: blocks.Dagger(blocks.Number(urgent), b.Partial()), Label: "CRITICAL AND HIGH", Note: "of " + blocks.Count(counts.Total(), "finding", "findings") + Beside(b), Color: worst(b, counts)},
			overdueFigure(b),
			{Value: blocks.Number(unseen) + " / " + blocks.Number(b.Assessed.Total), Label: "NOT ASSESSED", Note: missingAnswers(b.Assessed.Gaps) + " elsewhere", Color: unseenColor(b, unseen)},
			{Value: blocks.Number(support.Ended), Label: "OUT OF SUPPORT", Note: supportNote(support), Color: supportColor(support)},
			{Value: blocks.Dagger(blocks.Number(open), b.Partial() || gapped), Label: blocks.Verb(open, "OPEN CVE", "OPEN CVES"), Note: cveNote, Color: cveColor(cves)},
		},
	}
	if b.Assessed.Assessed == 0 { // 0 would be a figure
		f.Figures[0] = blocks.Figure{Value: "–", Label: "CRITICAL AND HIGH", Note: "no instance was assessed", Color: blocks.Muted}
		f.Figures[1] = blocks.Figure{Value: "–", Label: "OVERDUE", Note: "no instance was assessed", Color: blocks.Muted}
		f.Figures[2].Note = "so nothing was checked"
	}
	if len(versionRows(b)) == 0 {
		f.Figures[3] = blocks.Figure{Value: "–", Label: "OUT OF SUPPORT", Note: "no version is known to the feed", Color: blocks.Muted}
		f.Figures[4] = blocks.Figure{Value: "–", Label: "OPEN CVES", Note: "no version is known to the feed", Color: blocks.Muted}
	}
	if b.Assessed.Total > 0 {
		f.Below, f.Dense = func() { decide(b) }, true
	}
	return f
}

// overdueFigure counts the critical and high findings that are overdue.
func overdueFigure(b *blocks.Builder) blocks.Figure {
	f := blocks.Figure{Value: blocks.Dagger(blocks.Number(b.Debt.Grave()), b.Debt.Undated > 0), Label: "OVERDUE", Note: "of the critical and high findings", Color: blocks.Accent}
	if b.Debt.Grave() > 0 {
		f.Note, f.Color = "by "+blocks.Count(b.Debt.Longest, "day", "days")+" at most", blocks.OverdueStyle.Color
	}
	return f
}

// unseenColor is the color of what was not assessed: no green, which only the verdict gives.
func unseenColor(b *blocks.Builder, unseen int) typeset.Color {
	if unseen+b.Assessed.Gaps > 0 {
		return blocks.Caution
	}
	return blocks.Accent
}

func supportColor(s analysis.Support) typeset.Color {
	switch {
	case s.Ended > 0:
		return blocks.SeverityColor[analysis.High]
	case s.Ending+s.Unknown > 0:
		return blocks.Caution
	default:
		return blocks.Accent
	}
}

func cveColor(c analysis.CVECounts) typeset.Color {
	if c.Open.Total() == 0 {
		return blocks.Accent
	}
	return blocks.SeverityColor[analysis.Band(c.HighestOpen)]
}

// supportNote says what else is known, or not, of the end of support.
func supportNote(s analysis.Support) string {
	if s.Ending+s.Unknown == 0 {
		return "none more within a year"
	}
	return blocks.Shares([]blocks.Share{{N: s.Ending, Words: "more within a year"}, {N: s.Unknown, Words: "not known"}})
}

// worst is the colour of the most severe finding there is; green only where the whole
// verdict is.
func worst(b *blocks.Builder, counts analysis.SeverityCounts) typeset.Color {
	for i, n := range counts {
		if n > 0 {
			return blocks.SeverityColor[analysis.Severities[i]]
		}
	}
	return ifClean(b, blocks.Muted)
}

// ifClean is green where the whole verdict is, and else another colour.
func ifClean(b *blocks.Builder, otherwise typeset.Color) typeset.Color {
	if b.Verdict.State == analysis.Clean {
		return blocks.Good
	}
	return otherwise
}

// Beside says how many findings are accepted and so not counted.
func Beside(b *blocks.Builder) string {
	return analysis.Beside(b.Accepted.Total())
}

// AssessedInstances are those in scope that were reached.
func AssessedInstances(b *blocks.Builder) []snapshot.Instance {
	var out []snapshot.Instance
	for _, in := range b.Doc.Instances {
		if in.Active && in.Assessment != nil && in.Assessment.Outcome != snapshot.OutcomeUnreachable {
			out = append(out, in)
		}
	}
	return out
}

// SecuritySummary writes the section that counts findings and instances.
func SecuritySummary(b *blocks.Builder) {
	a := b.Assessed
	words := scopeSentence(b)
	if a.Answers+a.Gaps > 0 {
		words += " " + blocks.Count(a.Checks, "Security check", "Security checks") + " of catalogue " + b.Doc.Catalogue.Version +
			" gave " + blocks.Count(a.Answers, "result", "results") + " for instances and their databases; " + missingAnswers(a.Gaps) + "."
	}
	b.Para(words)
	if a.Assessed == 0 {
		b.State(blocks.StateNotAssessed, "Not assessed: no instance could be checked, so there are no findings to count. See “Coverage and methodology”.")
		return
	}
	counts := analysis.CountBySeverity(b.Findings)
	severityTable(b, counts)
	change(b)
	backups(b)
	if counts.Total() == 0 {
		cleanSentence(b)
		return
	}
	if !b.Folded { // page 1 has them all
		return
	}
	b.Sub("Failed checks by instance")
	byInstance := analysis.CountByInstance(b.Doc)
	bars := make([]blocks.Bar, 0, len(byInstance))
	for _, c := range byInstance {
		bars = append(bars, blocks.Bar{Label: c.Name, Parts: c.Counts[:]})
	}
	if len(bars) > blocks.MostBars {
		b.Small("The 20 heaviest of " + blocks.Number(len(bars)) + " instances; the others are added up in the last bar, and all are in section 3.")
	}
	b.Stacked(blocks.SeverityLegend(), blocks.Fold(bars))
	b.Small("A bar counts failed checks, not objects. Order: weight of the severities, then name.")
}

// backups says which servers have no recent backup: the check is of another domain, and a restore is what is left after
// ransomware.
func backups(b *blocks.Builder) {
	s := analysis.BackupsOf(b.Doc)
	if !s.Told {
		return
	}
	words := "Backups: "
	if n := len(s.Missing); n > 0 {
		words += blocks.Count(n, "server has", "servers have") + " no recent one (" + blocks.List(s.Missing, 6) + "; the scorecard has the finding and its fix), "
	}
	b.Para(words + blocks.Count(s.Recent, "server has", "servers have") + " one. Of " + blocks.Count(s.Unknown, "server", "servers") + " no check tells it.")
}

// scopeSentence says how many instances there are and what became of them.
func scopeSentence(b *blocks.Builder) string {
	a := b.Assessed
	return blocks.Count(a.Total, "instance is", "instances are") + " in scope: " + blocks.Shares([]blocks.Share{
		{N: a.Assessed, Words: "assessed"}, {N: a.Never, Words: "without an assessment"}, {N: a.Unreachable, Words: "unreachable"}, {N: a.Unchecked, Words: "with an engine that Muster has no checks for"}, {N: a.Inactive, Words: "inactive"},
	}) + "."
}

func missingAnswers(n int) string {
	if n == 0 {
		return "no check was left out"
	}
	return blocks.Count(n, "check", "checks") + " not run"
}

func cleanSentence(b *blocks.Builder) {
	b.Clean(b.Whole(), "No findings"+Beside(b)+". "+blocks.Count(b.Assessed.Assessed, "instance was", "instances were")+" checked with "+
		blocks.Count(b.Assessed.Checks, "check", "checks")+" at "+blocks.Minute(b.Doc.AsOf)+b.Unlooked()+".")
}

func severityTable(b *blocks.Builder, counts analysis.SeverityCounts) {
	checks, seen := analysis.SeverityCounts{}, map[string]bool{}
	for _, g := range b.Findings { // the worst first: a check counts once, as the worst that it found
		if !seen[g.Check.ID] {
			seen[g.Check.ID] = true
			checks[analysis.Rank(g.Check.Severity)]++
		}
	}
	partial := b.Partial()
	blocks.Table(b, []typeset.Column{
		{Title: "Severity", Flex: 2}, {Title: "Findings", Align: typeset.Right, Flex: 1}, {Title: "Failed checks", Align: typeset.Right, Flex: 1},
		{Title: "Instances affected", Align: typeset.Right, Flex: 1}, {Title: "Close within", Align: typeset.Right, Flex: 1},
		{Title: "Overdue", Align: typeset.Right, Flex: 1}, {Title: "Accepted", Align: typeset.Right, Flex: 1},
	}, analysis.Severities[:], func(i int, s string) []typeset.Cell {
		return []typeset.Cell{
			blocks.Severity(s), blocks.Strong(blocks.Dagger(blocks.Number(counts[i]), partial)), blocks.Text(blocks.Number(checks[i])), blocks.Text(blocks.Number(analysis.Affected(b.Findings, s))),
			blocks.Faint(blocks.Number(analysis.DueDays(b.Doc, s)) + " days"), overdueCell(b.Debt.BySeverity[i]), blocks.Text(blocks.Number(b.Accepted[i])),
		}
	})
	if partial {
		b.Small("† Stands on partial data: not every check could be run everywhere. “Coverage and methodology” says what is missing and why.")
	}
}

// overdueCell counts what is overdue.
func overdueCell(n int) typeset.Cell {
	if n == 0 {
		return blocks.Faint("0")
	}
	return typeset.Cell{Text: blocks.Number(n), Style: blocks.OverdueStyle}
}

// change says what happened since the previous report of the same scope.
func change(b *blocks.Builder) {
	c, ok := analysis.ChangeSince(b.Doc)
	if !ok {
		b.Para("There is no earlier Security report of this scope to compare with.")
		return
	}
	s := "Since the report of " + blocks.Minute(b.Doc.Previous.AsOf) + " (request " + b.Doc.Previous.ReportID.String() + "): " +
		blocks.Count(c.New, "new finding", "new findings") + ", " + blocks.Number(c.Closed) + " closed, " + blocks.Number(c.Unchanged) + " unchanged"
	if c.Accepted > 0 {
		s += ", " + blocks.Number(c.Accepted) + " accepted since"
	}
	if c.Reopened > 0 {
		s += ", " + blocks.Number(c.Reopened) + " no longer accepted"
	}
	if c.Unknown > 0 {
		s += ", " + blocks.Number(c.Unknown) + " not assessed this time"
	}
	b.Para(s + ".")
}
