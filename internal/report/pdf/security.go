package pdf

import (
	"strings"

	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

func (b *builder) securityFront() front {
	counts := analysis.CountBySeverity(b.findings)
	cves := analysis.AllCVEs(b.doc)
	open, cveNote, gapped := cves.Open.Total(), "none open", b.cveGaps()
	switch possible := cves.Possible.Total(); {
	case possible > 0 && open > 0:
		cveNote = "to CVSS " + decimal(cves.HighestOpen) + "; " + number(possible) + " more not ruled out"
	case possible > 0:
		cveNote = "none open; " + number(possible) + " not ruled out, to CVSS " + decimal(cves.HighestPossible)
	case open > 0:
		cveNote = "to CVSS " + decimal(cves.HighestOpen)
	}
	if gapped {
		cveNote = strings.Replace(cveNote, "none open", "none known", 1)
	}
	urgent, support := counts[0]+counts[1], analysis.SupportOf(b.doc)
	unseen := b.assessed.Total - b.assessed.Assessed
	f := front{
		gaps: "Coverage and methodology",
		figures: []figure{
			{dagger(number(urgent), b.partial()), verb(urgent, "CRITICAL OR HIGH FINDING", "CRITICAL AND HIGH FINDINGS"), "of " + count(counts.Total(), "finding", "findings") + b.beside(), b.worst(counts)},
			{number(unseen) + " / " + number(b.assessed.Total), "INSTANCES NOT ASSESSED", missingAnswers(b.assessed.Gaps) + " elsewhere", b.unseenColor(unseen)},
			{number(support.Ended), "OUT OF SUPPORT", supportNote(support), supportColor(support)},
			{dagger(number(open), b.partial() || gapped), verb(open, "OPEN CVE", "OPEN CVES"), cveNote, cveColor(cves)},
		},
	}
	if b.assessed.Assessed == 0 { // 0 would be a figure
		f.figures[0] = figure{"–", "CRITICAL AND HIGH FINDINGS", "no instance was assessed", muted}
		f.figures[1].note = "so nothing was checked"
	}
	if len(b.versionRows()) == 0 {
		f.figures[2] = figure{"–", "OUT OF SUPPORT", "no version is known to the feed", muted}
		f.figures[3] = figure{"–", "OPEN CVES", "no version is known to the feed", muted}
	}
	if b.assessed.Total > 0 {
		f.below, f.dense = b.decide, true
	}
	return f
}

// unseenColor is the color of what was not assessed: no green, which only the verdict gives.
func (b *builder) unseenColor(unseen int) typeset.Color {
	if unseen+b.assessed.Gaps > 0 {
		return caution
	}
	return accent
}

func supportColor(s analysis.Support) typeset.Color {
	switch {
	case s.Ended > 0:
		return severityColor[analysis.High]
	case s.Ending+s.Unknown > 0:
		return caution
	default:
		return accent
	}
}

func cveColor(c analysis.CVECounts) typeset.Color {
	if c.Open.Total() == 0 {
		return accent
	}
	return severityColor[analysis.Band(c.HighestOpen)]
}

// supportNote says what else is known, or not, of the end of support.
func supportNote(s analysis.Support) string {
	if s.Ending+s.Unknown == 0 {
		return "none more within a year"
	}
	return shares([]share{{s.Ending, "more within a year"}, {s.Unknown, "not known"}})
}

// worst is the colour of the most severe finding there is; green only where the whole
// verdict is.
func (b *builder) worst(counts analysis.SeverityCounts) typeset.Color {
	for i, n := range counts {
		if n > 0 {
			return severityColor[analysis.Severities[i]]
		}
	}
	return b.ifClean(muted)
}

// ifClean is green where the whole verdict is, and else another colour.
func (b *builder) ifClean(otherwise typeset.Color) typeset.Color {
	if b.verdict.State == analysis.Clean {
		return good
	}
	return otherwise
}

// beside says how many findings are accepted and so not counted.
func (b *builder) beside() string {
	return analysis.Beside(b.accepted.Total())
}

// assessedInstances are those in scope that were reached.
func (b *builder) assessedInstances() []snapshot.Instance {
	var out []snapshot.Instance
	for _, in := range b.doc.Instances {
		if in.Active && in.Assessment != nil && in.Assessment.Outcome != snapshot.OutcomeUnreachable {
			out = append(out, in)
		}
	}
	return out
}

func (b *builder) securitySummary() {
	a := b.assessed
	words := b.scopeSentence()
	if a.Answers+a.Gaps > 0 {
		words += " " + count(a.Checks, "Security check", "Security checks") + " of catalogue " + b.doc.Catalogue.Version +
			" gave " + count(a.Answers, "result", "results") + " for instances and their databases; " + missingAnswers(a.Gaps) + "."
	}
	b.para(words)
	if a.Assessed == 0 {
		b.state(stateNotAssessed, "Not assessed: no instance could be checked, so there are no findings to count. See “Coverage and methodology”.")
		return
	}
	counts := analysis.CountBySeverity(b.findings)
	b.severityTable(counts)
	b.change()
	if counts.Total() == 0 {
		b.cleanSentence()
		return
	}
	if !b.folded { // page 1 has them all
		return
	}
	b.sub("Failed checks by instance")
	byInstance := analysis.CountByInstance(b.doc)
	bars := make([]bar, 0, len(byInstance))
	for _, c := range byInstance {
		bars = append(bars, bar{label: c.Name, parts: c.Counts[:]})
	}
	if len(bars) > mostBars {
		b.small("The 20 heaviest of " + number(len(bars)) + " instances; the others are added up in the last bar, and all are in section 3.")
	}
	b.stacked(severityLegend(), fold(bars))
	b.small("A bar counts failed checks, not objects. Order: weight of the severities, then name.")
}

// scopeSentence says how many instances there are and what became of them.
func (b *builder) scopeSentence() string {
	a := b.assessed
	return count(a.Total, "instance is", "instances are") + " in scope: " + shares([]share{
		{a.Assessed, "assessed"}, {a.Never, "without an assessment"}, {a.Unreachable, "unreachable"}, {a.Unchecked, "with an engine that Muster has no checks for"}, {a.Inactive, "inactive"},
	}) + "."
}

func missingAnswers(n int) string {
	if n == 0 {
		return "no check was left out"
	}
	return count(n, "check", "checks") + " not run"
}

func (b *builder) cleanSentence() {
	b.clean(b.whole(), "No findings"+b.beside()+". "+count(b.assessed.Assessed, "instance was", "instances were")+" checked with "+
		count(b.assessed.Checks, "check", "checks")+" at "+minute(b.doc.AsOf)+b.unlooked()+".")
}

func (b *builder) severityTable(counts analysis.SeverityCounts) {
	checks, seen := analysis.SeverityCounts{}, map[string]bool{}
	for _, g := range b.findings { // the worst first: a check counts once, as the worst that it found
		if !seen[g.Check.ID] {
			seen[g.Check.ID] = true
			checks[analysis.Rank(g.Check.Severity)]++
		}
	}
	partial := b.partial()
	table(b, []typeset.Column{
		{Title: "Severity", Flex: 2}, {Title: "Findings", Align: typeset.Right, Flex: 1}, {Title: "Failed checks", Align: typeset.Right, Flex: 1},
		{Title: "Instances affected", Align: typeset.Right, Flex: 1}, {Title: "Close within", Align: typeset.Right, Flex: 1},
		{Title: "Accepted", Align: typeset.Right, Flex: 1},
	}, analysis.Severities[:], func(i int, s string) []typeset.Cell {
		return []typeset.Cell{
			severity(s), strong(dagger(number(counts[i]), partial)), text(number(checks[i])), text(number(analysis.Affected(b.findings, s))),
			faint(number(analysis.DueDays(s)) + " days"), text(number(b.accepted[i])),
		}
	})
	if partial {
		b.small("† Stands on partial data: not every check could be run everywhere. “Coverage and methodology” says what is missing and why.")
	}
}

// change says what happened since the previous report of the same scope.
func (b *builder) change() {
	c, ok := analysis.ChangeSince(b.doc)
	if !ok {
		b.para("There is no earlier Security report of this scope to compare with.")
		return
	}
	s := "Since the report of " + minute(b.doc.Previous.AsOf) + " (request " + b.doc.Previous.ReportID.String() + "): " +
		count(c.New, "new finding", "new findings") + ", " + number(c.Closed) + " closed, " + number(c.Unchanged) + " unchanged"
	if c.Accepted > 0 {
		s += ", " + number(c.Accepted) + " accepted since"
	}
	if c.Reopened > 0 {
		s += ", " + number(c.Reopened) + " no longer accepted"
	}
	if c.Unknown > 0 {
		s += ", " + number(c.Unknown) + " not assessed this time"
	}
	b.para(s + ".")
}
