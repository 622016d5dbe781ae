package pdf

import (
	"strings"

	"muster/internal/pdf/typeset"
	"muster/internal/snapshot"
	"muster/internal/snapshot/analysis"
)

// security lists the sections of the Security report, §4.10.
func (b *builder) security() []section {
	return []section{
		{"Summary", b.securitySummary},
		{"Versions and known vulnerabilities", b.versions},
		{"Security findings", b.securityFindings},
		{"Privileged accounts", b.accounts},
		{"Remediation plan", b.remediation},
		{"Coverage and methodology", b.coverage},
		{"CVE appendix", b.vulnerabilities},
	}
}

func (b *builder) securityFront() front {
	counts := analysis.CountBySeverity(b.findings)
	verdict, color := b.securityVerdict(counts)
	open, possible, highest := b.openVulnerabilities()
	cveNote := "none open"
	switch {
	case possible > 0:
		cveNote = number(possible) + " more not ruled out, CVSS to " + decimal(highest)
	case open > 0:
		cveNote = "highest CVSS " + decimal(highest)
	}
	privileged, superusers := 0, 0
	for _, in := range b.assessedInstances() {
		privileged += len(in.Assessment.Roles)
		for _, role := range in.Assessment.Roles {
			if role.Superuser {
				superusers++
			}
		}
	}
	urgent := counts[0] + counts[1]
	return front{
		gaps: "Coverage and methodology", verdict: verdict, color: color,
		figures: []figure{
			{dagger(number(urgent), b.partial()), "CRITICAL AND HIGH FINDINGS", "of " + count(counts.Total(), "finding", "findings") + b.beside(), b.worst(counts)},
			{number(b.assessed.Assessed) + " / " + number(b.assessed.Total), "INSTANCES ASSESSED", b.notAssessedNote(), accent},
			{dagger(number(open), b.partial()), "OPEN CVES", cveNote, accent},
			{dagger(number(privileged), b.partial()), "PRIVILEGED ACCOUNTS", count(superusers, "superuser", "superusers"), accent},
		},
	}
}

// worst is the colour of the most severe finding there is.
func (b *builder) worst(counts analysis.Counts) typeset.Color {
	for i, n := range counts {
		if n > 0 {
			return severityColor[analysis.Severities[i]]
		}
	}
	if b.assessed.Assessed == 0 {
		return muted
	}
	return good
}

func (b *builder) notAssessedNote() string {
	if missing := b.assessed.Total - b.assessed.Assessed; missing > 0 {
		return number(missing) + " not assessed"
	}
	return count(b.assessed.Checks, "check", "checks") + " with an answer"
}

// securityVerdict is the one sentence of page 1.
func (b *builder) securityVerdict(counts analysis.Counts) (string, typeset.Color) {
	a := b.assessed
	tail := ""
	if missing := a.Total - a.Assessed; missing > 0 {
		tail = " " + count(missing, "instance was", "instances were") + " not assessed; section 6 says why."
	}
	switch {
	case a.Total == 0:
		return "No instance is in scope, so nothing was assessed.", muted
	case a.Assessed == 0:
		return "None of the " + count(a.Total, "instance", "instances") + " in scope could be assessed; section 6 says why.", caution
	case counts[0] > 0:
		return count(counts[0], "critical finding", "critical findings") + " on " + b.affectedOf(analysis.Critical) +
			" must be closed within 7 days." + tail, severityColor[analysis.Critical]
	case counts[1] > 0:
		return "No critical finding; " + count(counts[1], "high finding", "high findings") + " on " + b.affectedOf(analysis.High) +
			" should be closed within 30 days." + tail, severityColor[analysis.High]
	case counts.Total() > 0:
		return "Nothing critical or high; " + count(counts.Total(), "lesser finding", "lesser findings") + " on " + count(a.Assessed, "assessed instance", "assessed instances") +
			" can be planned." + tail, severityColor[analysis.Low]
	default:
		return "No findings on " + count(a.Assessed, "assessed instance", "assessed instances") + b.beside() + "." + tail, good
	}
}

// beside says how many findings are accepted and so not counted.
func (b *builder) beside() string {
	if n := b.accepted.Total(); n > 0 {
		return ", " + number(n) + " accepted apart"
	}
	return ""
}

// affected counts instances with a finding of that severity.
func (b *builder) affected(severity string) int {
	seen := map[[16]byte]bool{}
	for _, g := range b.findings {
		if g.Check.Severity != severity {
			continue
		}
		for _, f := range g.Findings {
			seen[f.InstanceID] = true
		}
	}
	return len(seen)
}

// affectedOf says how many of the assessed instances have such a finding.
func (b *builder) affectedOf(severity string) string {
	n, of := b.affected(severity), b.assessed.Assessed
	switch {
	case of == 1:
		return "the one assessed instance"
	case n == of:
		return "all " + number(of) + " assessed instances"
	default:
		return number(n) + " of " + number(of) + " assessed instances"
	}
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
	if a.Total == 0 {
		b.state(stateNotApplicable, "Not applicable: no instance is in scope of this report.")
		return
	}
	b.para(b.scopeSentence() + " " + count(a.Checks, "Security check", "Security checks") + " of catalogue " + b.doc.Catalogue.Version +
		" gave " + count(a.Answers, "answer", "answers") + " for instances and their databases; " + missingAnswers(a.Gaps) + ".")
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
	var parts []string
	for _, part := range []struct {
		n     int
		words string
	}{
		{a.Assessed, "assessed"}, {a.Never, "without an assessment"}, {a.Unreachable, "unreachable"}, {a.Inactive, "inactive"},
	} {
		if part.n > 0 {
			parts = append(parts, number(part.n)+" "+part.words)
		}
	}
	return count(a.Total, "instance is", "instances are") + " in scope: " + strings.Join(parts, ", ") + "."
}

func missingAnswers(n int) string {
	if n == 0 {
		return "none is missing"
	}
	return count(n, "answer is", "answers are") + " missing"
}

func (b *builder) cleanSentence() {
	b.state(stateClean, "No findings"+b.beside()+". "+count(b.assessed.Assessed, "instance was", "instances were")+" checked with "+
		count(b.assessed.Checks, "check", "checks")+" at "+minute(b.doc.AsOf)+".")
}

func (b *builder) severityTable(counts analysis.Counts) {
	checks := analysis.Counts{}
	for _, g := range b.findings {
		checks[analysis.Rank(g.Check.Severity)]++
	}
	partial := b.partial()
	b.table(typeset.Table{
		Columns: []typeset.Column{
			{Title: "Severity", Flex: 2}, {Title: "Findings", Align: typeset.Right, Flex: 1}, {Title: "Failed checks", Align: typeset.Right, Flex: 1},
			{Title: "Instances affected", Align: typeset.Right, Flex: 1}, {Title: "Close within", Align: typeset.Right, Flex: 1},
			{Title: "Accepted", Align: typeset.Right, Flex: 1},
		},
		Rows: len(analysis.Severities),
		Row: func(i int) []typeset.Cell {
			s := analysis.Severities[i]
			return []typeset.Cell{
				severity(s), strong(dagger(number(counts[i]), partial)), text(number(checks[i])), text(number(b.affected(s))),
				faint(number(analysis.DueDays(s)) + " days"), text(number(b.accepted[i])),
			}
		},
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
	s := "Since the report of " + minute(b.doc.Previous.AsOf) + " (" + b.doc.Previous.ReportID.String()[:8] + "): " +
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
