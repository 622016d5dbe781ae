package pdf

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"muster/internal/engine"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// subject is the scorecard's one instance; nil if the document has none.
func (b *builder) subject() *snapshot.Instance {
	if len(b.doc.Instances) == 0 {
		return nil
	}
	return &b.doc.Instances[0]
}

func (b *builder) subjectName() string {
	if in := b.subject(); in != nil {
		return shorten(in.Name, 80)
	}
	return "the instance"
}

func (b *builder) subjectScore() analysis.Score {
	if in := b.subject(); in != nil {
		return analysis.HealthScore(b.doc, in)
	}
	return analysis.Score{}
}

func (b *builder) scorecardFront() front {
	s := b.subjectScore()
	checks, failed := 0, 0
	for _, d := range s.Domains {
		checks += d.Checks
		failed += d.Failed
	}
	figures := []figure{
		{"–", "HEALTH SCORE", "nothing to score", muted},
		{number(failed), verb(failed, "FAILED CHECK", "FAILED CHECKS"), "of " + count(checks, "check", "checks") + " with an answer", accent},
		{number(s.NotAssessed), "NOT ASSESSED", "not part of the score", accent},
		{number(len(b.plan)), verb(len(b.plan), "ACTION", "ACTIONS"), "in the remediation plan", accent},
	}
	if in := b.subject(); in == nil || analysis.WhyNotChecked(in) != "" {
		figures[1] = figure{"–", "FAILED CHECKS", "no check could be run", muted}
		figures[2] = figure{"all", "NOT ASSESSED", "no check could be run", accent}
	}
	if s.Known {
		figures[0] = figure{dagger(number(s.Overall)+" "+s.Grade, s.NotAssessed > 0), "HEALTH SCORE AND GRADE", "of 100", b.overallColor(s)}
	}
	f := front{gaps: "Detailed results", figures: figures}
	toAssess := b.toAssess()
	if b.subject() != nil && len(b.plan)+len(toAssess) > 0 {
		f.below = func() {
			b.d.Y += gapAfter
			b.beforeSteps(toAssess)
			if len(b.plan) > 0 {
				b.firstSteps(b.plan[:min(len(b.plan), firstActions)])
			}
			b.d.Y += gapAfter
		}
	}
	return f
}

// overallColor is that of a score: green only where the whole verdict may be.
func (b *builder) overallColor(s analysis.Score) typeset.Color {
	color := scoreColor(float64(s.Overall))
	if color == good && b.verdict.State != analysis.Clean {
		return accent
	}
	return color
}

// unscored says why there is no score.
func (b *builder) unscored() string {
	if in := b.subject(); in != nil {
		return analysis.Unscored(b.doc, in)
	}
	return "No instance is in scope, so there is no score."
}

func (b *builder) health() {
	s := b.subjectScore()
	if !s.Known {
		b.state(stateNotAssessed, "Not assessed: "+b.unscored())
		b.knownAnyway()
		b.scoreLine()
		return
	}
	words := b.subjectName() + " scores " + number(s.Overall) + " of 100, grade " + s.Grade + "."
	if len(s.Caps) > 0 {
		words = b.subjectName() + " scores " + number(s.Overall) + " of 100, grade " + s.Grade + ": " + number(s.Uncapped) + " from its checks, " + s.Caps[len(s.Caps)-1] + "."
	}
	if b.doc.Database != nil {
		words += " The report is scoped to database " + shorten(b.doc.Database.Name, 80) + "; instance-wide findings count in the score and carry the label “instance-wide”."
	}
	b.para(words)
	for _, d := range s.Domains {
		note := "nothing to score"
		if d.Known {
			note = number(d.Failed) + " of " + count(d.Checks, "check fails", "checks fail") + ", weight " + strconv.Itoa(int(d.Weight))
		}
		if d.Gaps > 0 {
			note += ", " + number(d.Gaps) + " not assessed"
		}
		color := scoreColor(d.Score)
		if color == good && d.Gaps > 0 {
			color = accent
		}
		b.gauge(d.Name, d.Score, d.Known, color, note)
	}
	b.d.Y += 4
	b.small("Not in the score: " + count(s.NotAssessed, "result", "results") + " not assessed, " + number(s.NotApplicable) + " not applicable, " + number(s.Accepted) +
		" accepted. Domains without an answer are left out and the weights of the others add up to the whole.")
	b.small("The score is as of " + instant(b.doc.AsOf) + ". " + b.scoreBefore(s))
	b.scoreLine()
	b.deductions(s)
}

// scoreBefore says what the score was as the window began, where that is kept.
func (b *builder) scoreBefore(s analysis.Score) string {
	before := b.doc.ScoreAtStart
	switch {
	case before == nil && b.doc.Database != nil:
		return "Scores are kept for whole instances, so there is no earlier score of a database to compare with."
	case before == nil:
		return "No score is kept for the start of the window or a day before it, so there is nothing to compare with."
	}
	moved := "the same as now"
	switch points := s.Overall - before.Score; {
	case points > 0:
		moved = count(points, "point", "points") + " less than now"
	case points < 0:
		moved = count(-points, "point", "points") + " more than now"
	}
	return "At the start of the window it was " + number(before.Score) + " " + before.Grade + ", " + moved +
		", by the assessment of " + instant(before.AssessedAt) + " and the exceptions in force then."
}

// deductions prints what costs most.
func (b *builder) deductions(s analysis.Score) {
	b.sub("Points lost by check")
	if len(s.Lost) == 0 {
		b.clean(b.whole(), "No points lost: every check with an answer passes"+b.beside()+b.unlooked()+".")
		return
	}
	const top = 5
	shown := s.Lost[:min(top, len(s.Lost))]
	table(b, []typeset.Column{
		{Title: "Severity"}, {Title: "Check"}, {Title: "Title", Flex: 1}, {Title: "Domain"}, {Title: "Of the domain", Align: typeset.Right}, {Title: "Points lost", Align: typeset.Right},
	}, shown, func(_ int, l analysis.Deduction) []typeset.Cell {
		return []typeset.Cell{severity(l.Check.Severity), code(l.Check.ID), text(l.Check.Title), text(l.Check.Domain), text(decimal(l.Domain)), strong(decimal(l.Points))}
	})
	if len(s.Lost) > top {
		b.small("The 5 costliest of " + number(len(s.Lost)) + " failed checks; “Detailed results” has all with their points.")
	}
}

func (b *builder) windowWords() string {
	if b.doc.Window == nil {
		return ""
	}
	return " between " + minute(b.doc.Window.From) + " and " + minute(b.doc.Window.To)
}

// recommendations are hints that no failed check stands for.
func (b *builder) recommendations() {
	in := b.subject()
	if in == nil {
		b.state(stateNotAssessed, "Not assessed: "+b.unscored())
		return
	}
	hints := b.hints(*in)
	switch {
	case analysis.WhyNotChecked(in) != "":
		b.state(stateNotAssessed, "Not assessed: "+b.unscored()+" What follows stands on its version and on what was measured.")
	case len(hints) == 0:
		b.state(stateClean, "No recommendation beyond the remediation plan.")
	}
	b.numbered(hints)
	b.tuning()
}

// numbered writes things to do one below the other.
func (b *builder) numbered(all []string) {
	for i, words := range all {
		b.d.Need(28)
		top := b.d.Y
		b.d.Page().Text(b.d.Left()+12, top+10.2, typeset.Style{Face: typeset.Bold, Size: 9.5, Color: accent}, typeset.Right, strconv.Itoa(i+1))
		b.d.Paragraph(20, leading, typeset.Span{Text: words, Style: bodyStyle})
		b.d.Y += 4
	}
}

func (b *builder) hints(in snapshot.Instance) []string {
	var hints []string
	a := in.Assessment
	if grants := analysis.MissingGrants(b.doc, &in); a != nil && len(grants) > 0 {
		checks := map[string]bool{}
		for _, g := range grants {
			for _, c := range g.Checks {
				checks[c] = true
			}
		}
		hints = append(hints, "Give the monitoring role"+before(" ", a.Role)+" what Annex B lists ("+count(len(grants), "grant", "grants")+"): "+
			count(len(checks), "further check then has", "further checks then have")+" an answer.")
	}
	if newer := untried(&in); newer != "" {
		version, _ := analysis.Version(&in)
		hints = append(hints, analysis.EngineName(in.Engine)+" "+shorten(version, 40)+" is "+newer+". Checks and measurements may miss what the version changed.")
	}
	if r := in.Release; r != nil {
		if r.MinorsBehind > 0 {
			version, _ := analysis.Version(&in)
			words := engine.Described(in.Engine).Words
			hints = append(hints, "Install "+words.Release+" "+r.Latest+": "+orDash(version)+" is "+
				count(r.MinorsBehind, "release", "releases")+" behind. "+words.ReleaseNeeds)
		}
		if r.EndOfLife != nil {
			switch days := int(math.Floor(r.EndOfLife.Sub(b.doc.AsOf).Hours() / 24)); {
			case days < 0:
				hints = append(hints, "Leave "+r.Major+": it has been past its end of life since "+day(*r.EndOfLife)+", and gets no more fixes"+before("; go to ", r.Target)+".")
			case days <= 365:
				hints = append(hints, "Plan the upgrade to a later major version: "+r.Major+" reaches its end of life on "+day(*r.EndOfLife)+", in "+count(days, "day", "days")+".")
			}
		}
	}
	if a != nil && a.TLSSessions != nil && a.ClientSessions != nil && *a.ClientSessions > *a.TLSSessions {
		hints = append(hints, number(*a.ClientSessions-*a.TLSSessions)+" of "+count(*a.ClientSessions, "client session", "client sessions")+
			" at the time of the assessment did not use TLS. Check which clients these are.")
	}
	return hints
}

// details prints every result by domain.
func (b *builder) details() {
	in := b.subject()
	score := b.subjectScore()
	lost := map[string]float64{}
	for _, l := range score.Lost {
		lost[l.Check.ID] = l.Points
	}
	for _, domain := range []string{"Performance", "Security", "Configuration", "Schema", "Maintenance"} {
		b.sub(domain)
		if in == nil || analysis.WhyNotChecked(in) != "" {
			b.state(stateNotAssessed, "Not assessed: "+b.unscored())
			continue
		}
		b.domainResults(*in, domain, lost)
		b.domainFindings(domain)
	}
	b.acceptedExceptions()
	b.identity()
	if in != nil {
		b.missingGrants()
	}
}

// resultRow is one result with its check, or that of several databases with the same text.
type resultRow struct {
	check                               snapshot.Check
	status, measured, threshold, points string
	databases                           []string
}

// mostDatabases is how many databases share a row.
const mostDatabases = 10

// takes says whether another row says the same of another database.
func (r resultRow) takes(other resultRow) bool {
	return r.check.ID == other.check.ID && r.databases[0] != "" && other.databases[0] != "" && len(r.databases) < mostDatabases &&
		r.status == other.status && r.measured == other.measured && r.threshold == other.threshold && other.points == ""
}

// rowOf is the text about one result.
func rowOf(in *snapshot.Instance, grants []analysis.Grant, check snapshot.Check, r snapshot.CheckResult) resultRow {
	row := resultRow{check: check, status: r.Status, measured: r.Measured, threshold: cmp.Or(r.Threshold, check.Pass), databases: []string{r.Database}}
	switch r.Status {
	case snapshot.StatusNotAssessed:
		row.measured = unanswered(in, grants, r)
	case snapshot.StatusNotApplicable:
		row.measured = r.Reason
	}
	return row
}

func (b *builder) domainResults(in snapshot.Instance, domain string, lost map[string]float64) {
	checks := map[string]snapshot.Check{}
	for _, c := range b.doc.Checks {
		checks[c.ID] = c
	}
	grants := analysis.MissingGrants(b.doc, &in)
	var rows []resultRow
	printed := map[string]bool{}
	accepted := analysis.AcceptedCounts(b.doc, &in)
	for i, r := range analysis.Results(b.doc, &in) {
		c := checks[r.CheckID]
		if c.Domain != domain {
			continue
		}
		row := rowOf(&in, grants, c, r)
		if n := accepted[i]; n > 0 {
			row.measured += after(row.measured, "; ") + count(n, "finding accepted", "findings accepted")
		}
		if r.Status == snapshot.StatusFail && !printed[c.ID] {
			// A check costs its points once, however many databases fail it.
			row.points, printed[c.ID] = decimal(lost[c.ID]), true
		}
		if n := len(rows) - 1; n >= 0 && rows[n].takes(row) {
			rows[n].databases = append(rows[n].databases, r.Database)
			continue
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		b.state(stateNotApplicable, "Not applicable: catalogue "+orDash(b.doc.Catalogue.Version)+" has no "+domain+" check for "+analysis.EngineName(in.Engine)+" that was run here.")
		return
	}
	table(b, []typeset.Column{
		{Title: "Status, check"}, {Title: "Title, and when it passes", Flex: 1.5}, {Title: "Database", Max: 80}, {Title: "Measured", Flex: 1}, {Title: "Lost", Align: typeset.Right},
	}, rows, func(_ int, r resultRow) []typeset.Cell {
		status := statusCell(r.status)
		status.Sub, status.SubStyle = r.check.ID, codeMuted
		return []typeset.Cell{status, {Text: analysis.Title(r.check, r.status), Sub: shorten(r.threshold, 200), SubStyle: cellMuted},
			where(strings.Join(r.databases, ", ")), text(orDash(shorten(r.measured, 200))), strong(orDash(r.points))}
	})
}

// domainFindings names every object that a failed check of a domain found: the subjects of the
// remediation plan.
func (b *builder) domainFindings(domain string) {
	type row struct {
		check   snapshot.Check
		finding analysis.Finding
	}
	var rows []row
	var beyond []string
	for _, g := range b.findings {
		if g.Check.Domain != domain {
			continue
		}
		for _, f := range g.Findings {
			rows = append(rows, row{g.Check, f})
		}
		if g.Unlisted > 0 {
			beyond = append(beyond, count(g.Unlisted, "further finding", "further findings")+" of "+g.Check.ID)
		}
	}
	if len(rows) == 0 {
		return
	}
	b.d.Need(60)
	b.para("What the failed checks of this domain found:")
	table(b, []typeset.Column{
		{Title: "Severity"}, {Title: "Check"}, {Title: "Database", Max: 90}, {Title: "Object", Max: 190}, {Title: "Evidence", Flex: 1},
	}, rows, func(_ int, r row) []typeset.Cell {
		return []typeset.Cell{severity(r.check.Severity), code(r.check.ID), where(r.finding.Database), code(orDash(r.finding.Object)),
			code(orDash(shorten(r.finding.Evidence, 200)))}
	})
	if len(beyond) > 0 {
		b.small("Not listed: " + strings.Join(beyond, ", ") + ". " + keptObjects)
	}
	b.d.Skip(6)
	for _, g := range b.findings {
		if g.Check.Domain == domain {
			b.remedy(g.Check.ID, g)
			b.d.Y += 4
		}
	}
}

func statusCell(status string) typeset.Cell {
	switch status {
	case snapshot.StatusPass:
		return typeset.Cell{Text: "pass", Mark: good}
	case snapshot.StatusFail:
		return typeset.Cell{Text: "fail", Style: cellStrong, Mark: severityColor[analysis.Critical]}
	case snapshot.StatusNotAssessed:
		return typeset.Cell{Text: "not assessed", Mark: caution}
	case snapshot.StatusAccepted:
		return typeset.Cell{Text: "accepted", Mark: severityColor[analysis.Low]}
	default:
		return typeset.Cell{Text: "n.a.", Style: cellMuted, Mark: hairline}
	}
}
