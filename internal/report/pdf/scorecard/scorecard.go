package scorecard

import (
	"slices"
	"strconv"
	"strings"

	"muster/internal/engine"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/sections"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

func subjectName(b *blocks.Builder) string {
	if in := sections.Subject(b); in != nil {
		return blocks.Shorten(in.Name, 80)
	}
	return "the instance"
}

func subjectScore(b *blocks.Builder) analysis.Score {
	if in := sections.Subject(b); in != nil {
		return analysis.HealthScore(b.Doc, in)
	}
	return analysis.Score{}
}

// Front is page 1 of a report with a score.
func Front(b *blocks.Builder) blocks.Front {
	s := subjectScore(b)
	checks, failed := 0, 0
	for _, d := range s.Domains {
		checks += d.Checks
		failed += d.Failed
	}
	figures := []blocks.Figure{
		{Value: "–", Label: "HEALTH SCORE", Note: "nothing to score", Color: blocks.Muted},
		{Value: blocks.Number(failed), Label: blocks.Verb(failed, "FAILED CHECK", "FAILED CHECKS"), Note: "of " + blocks.Count(checks, "check", "checks") + " with an answer", Color: blocks.Accent},
		{Value: blocks.Number(s.NotAssessed), Label: "NOT ASSESSED", Note: "not part of the score", Color: blocks.Accent},
		alertsFigure(b), volumeFigure(b),
	}
	if in := sections.Subject(b); in == nil || analysis.WhyNotChecked(in) != "" {
		figures[1] = blocks.Figure{Value: "–", Label: "FAILED CHECKS", Note: "no check could be run", Color: blocks.Muted}
		figures[2] = blocks.Figure{Value: "all", Label: "NOT ASSESSED", Note: "no check could be run", Color: blocks.Accent}
	}
	if s.Known {
		figures[0] = blocks.Figure{Value: blocks.Dagger(blocks.Number(s.Overall)+" "+s.Grade, s.NotAssessed > 0), Label: "SCORE AND GRADE", Note: "of 100", Color: overallColor(b, s)}
	}
	f := blocks.Front{Gaps: "Detailed results", Figures: figures}
	toAssess := sections.ToAssess(b)
	if sections.Subject(b) != nil {
		f.Dense = true
		f.Below = func() {
			b.Paper.Y += blocks.GapAfter
			if b.FactsAbove = factsFit(b, s, toAssess); b.FactsAbove {
				factBox(b)
			}
			capTable(b, s)
			beforeSteps(b, toAssess)
			if len(b.Plan) > 0 {
				sections.FirstSteps(b, b.Plan[:min(len(b.Plan), blocks.FirstActions)])
			}
			b.Paper.Y += blocks.GapAfter
		}
	}
	return f
}

// overallColor is that of a score: green only where the whole verdict may be.
func overallColor(b *blocks.Builder, s analysis.Score) typeset.Color {
	color := blocks.ScoreColor(float64(s.Overall))
	if color == blocks.Good && b.Verdict.State != analysis.Clean {
		return blocks.Accent
	}
	return color
}

// unscored says why there is no score.
func unscored(b *blocks.Builder) string {
	if in := sections.Subject(b); in != nil {
		return analysis.Unscored(b.Doc, in)
	}
	return "No instance is in scope, so there is no score."
}

// Health writes the score, and what lowered it.
func Health(b *blocks.Builder) {
	s := subjectScore(b)
	if sections.Subject(b) != nil && !b.FactsAbove {
		factBox(b)
	}
	if !s.Known {
		b.State(blocks.StateNotAssessed, "Not assessed: "+unscored(b))
		knownAnyway(b)
		scoreLine(b)
		return
	}
	words := subjectName(b) + " scores " + analysis.ScoreWords(s) + "."
	if b.Doc.Database != nil {
		words += " The report is scoped to database " + blocks.Shorten(b.Doc.Database.Name, 80) + "; instance-wide findings count in the score and carry the label “instance-wide”."
	}
	b.Para(words)
	for _, d := range s.Domains {
		note := "nothing to score"
		if d.Known {
			note = blocks.Number(d.Failed) + " of " + blocks.Count(d.Checks, "check fails", "checks fail") + ", weight " + strconv.Itoa(int(d.Weight))
		}
		if d.Gaps > 0 {
			note += ", " + blocks.Number(d.Gaps) + " not assessed"
		}
		color := blocks.ScoreColor(d.Score)
		if color == blocks.Good && d.Gaps > 0 {
			color = blocks.Accent
		}
		b.Gauge(d.Name, d.Score, d.Known, color, note)
	}
	b.Paper.Y += 4
	b.Small("Not in the score: " + blocks.Count(s.NotAssessed, "result", "results") + " not assessed, " + blocks.Number(s.NotApplicable) + " not applicable, " + blocks.Number(s.Accepted) +
		" accepted. Domains without an answer are left out and the weights of the others add up to the whole.")
	b.Small(scale())
	b.Small("The score is as of " + blocks.Instant(b.Doc.AsOf) + ". " + scoreBefore(b, s))
	scoreLine(b)
	deductions(b, s)
}

// scoreBefore says what the score was as the window began, where that is kept.
func scoreBefore(b *blocks.Builder, s analysis.Score) string {
	before, letter, kept := analysis.ScoreBefore(b.Doc)
	switch {
	case !kept && b.Doc.Database != nil:
		return "Scores are kept for whole instances, so there is no earlier score of a database to compare with."
	case !kept:
		return "No score is kept for the start of the window or a day before it, so there is nothing to compare with."
	}
	moved := "the same as now"
	switch points := s.Overall - before; {
	case points > 0:
		moved = blocks.Count(points, "point", "points") + " less than now"
	case points < 0:
		moved = blocks.Count(-points, "point", "points") + " more than now"
	}
	return "At the start of the window it was " + blocks.Number(before) + " " + letter + ", " + moved +
		", by the assessment of " + blocks.Instant(b.Doc.ScoreAtStart.AssessedAt) + " and the exceptions in force then."
}

// deductions prints what costs most.
func deductions(b *blocks.Builder, s analysis.Score) {
	b.Sub("Points lost by check")
	if len(s.Lost) == 0 {
		b.Clean(b.Whole(), "No points lost: every check with an answer passes"+sections.Beside(b)+b.Unlooked()+".")
		return
	}
	const top = 5
	shown := s.Lost[:min(top, len(s.Lost))]
	blocks.Table(b, []typeset.Column{
		{Title: "Severity"}, {Title: "Check"}, {Title: "Title", Flex: 1}, {Title: "Domain"}, {Title: "Domain share", Align: typeset.Right}, {Title: "Points lost", Align: typeset.Right},
	}, shown, func(_ int, l analysis.Deduction) []typeset.Cell {
		return []typeset.Cell{blocks.Severity(l.Check.Severity), blocks.Code(l.Check.ID), blocks.Text(l.Check.Title), blocks.Text(l.Check.Domain), blocks.Text(blocks.Decimal(l.Domain)), blocks.Strong(blocks.Decimal(l.Points))}
	})
	if len(s.Lost) > top {
		b.Small("The 5 gravest of " + blocks.Number(len(s.Lost)) + " failed checks, by severity, then by points; “Detailed results” has the points of each domain.")
	}
}

func windowWords(b *blocks.Builder) string {
	if b.Doc.Window == nil {
		return ""
	}
	return " between " + blocks.Minute(b.Doc.Window.From) + " and " + blocks.Minute(b.Doc.Window.To)
}

// Recommendations are hints that no failed check stands for.
func Recommendations(b *blocks.Builder) {
	in := sections.Subject(b)
	if in == nil {
		b.State(blocks.StateNotAssessed, "Not assessed: "+unscored(b))
		return
	}
	hints := hints(b, *in)
	switch {
	case analysis.WhyNotChecked(in) != "":
		b.State(blocks.StateNotAssessed, "Not assessed: "+unscored(b)+" What follows stands on its version and on what was measured.")
	case len(hints) == 0:
		b.State(blocks.StateClean, "No recommendation beyond the remediation plan.")
	}
	b.Numbered(hints)
	recommendTuning(b)
}

func hints(b *blocks.Builder, in snapshot.Instance) []string {
	var hints []string
	a := in.Assessment
	if grants := analysis.MissingGrants(b.Doc, &in); a != nil && len(grants) > 0 {
		checks := map[string]bool{}
		for _, g := range grants {
			for _, c := range g.Checks {
				checks[c] = true
			}
		}
		hints = append(hints, "Give the monitoring role"+sections.Before(" ", a.Role)+" what Annex B lists ("+blocks.Count(len(grants), "grant", "grants")+"): "+
			blocks.Count(len(checks), "further check then has", "further checks then have")+" an answer.")
	}
	if newer := sections.Untried(&in); newer != "" {
		version, _ := analysis.Version(&in)
		hints = append(hints, analysis.EngineName(in.Engine)+" "+blocks.Shorten(version, 40)+" is "+newer+". Checks and measurements may miss what the version changed.")
	}
	if r := in.Release; r != nil {
		if r.MinorsBehind > 0 {
			version, _ := analysis.Version(&in)
			words := engine.Described(in.Engine).Words
			hints = append(hints, "Install "+words.Release+" "+r.Latest+": "+blocks.OrDash(version)+" is "+
				blocks.Count(r.MinorsBehind, "release", "releases")+" behind. "+words.ReleaseNeeds)
		}
		if r.EndOfLife != nil {
			switch days := blocks.Days(b.Doc.AsOf, *r.EndOfLife); {
			case analysis.Over(b.Doc, *r.EndOfLife):
				hints = append(hints, "Leave "+r.Major+": it has been past its end of life since "+blocks.Day(*r.EndOfLife)+", and gets no more fixes"+sections.Before("; go to ", r.Target)+".")
			case days <= 365:
				hints = append(hints, "Plan the upgrade to a later major version: "+r.Major+" reaches its end of life on "+blocks.Day(*r.EndOfLife)+", in "+blocks.Count(days, "day", "days")+".")
			}
		}
	}
	if a != nil && a.TLSSessions != nil && a.ClientSessions != nil && *a.ClientSessions > *a.TLSSessions {
		hints = append(hints, blocks.Number(*a.ClientSessions-*a.TLSSessions)+" of "+blocks.Count(*a.ClientSessions, "client session", "client sessions")+
			" at the time of the assessment did not use TLS. Check which clients these are.")
	}
	return hints
}

// domains are in the order of the details.
var domains = []string{"Performance", "Security", "Configuration", "Schema", "Maintenance"}

// Details sums up the results by domain, and prints what failed and what has no answer.
func Details(b *blocks.Builder) {
	in := sections.Subject(b)
	if in == nil || analysis.WhyNotChecked(in) != "" {
		b.State(blocks.StateNotAssessed, "Not assessed: "+unscored(b))
	} else {
		domainTable(b, *in)
		unanswered(b, *in)
		if len(b.Findings) > 0 {
			b.Sub("Failed checks")
			sections.FailedChecks(b)
		}
	}
	if len(b.Doc.Exceptions) > 0 {
		sections.AcceptedExceptions(b)
	}
	sections.Identity(b)
	if in != nil && len(analysis.MissingGrants(b.Doc, in)) > 0 {
		sections.MissingGrants(b)
	}
}

// domainTable counts the results of each domain, and names the checks that passed.
func domainTable(b *blocks.Builder, in snapshot.Instance) {
	checks := map[string]snapshot.Check{}
	for _, c := range b.Doc.Checks {
		checks[c.ID] = c
	}
	lost := map[string]float64{}
	for _, l := range subjectScore(b).Lost {
		lost[l.Check.Domain] += l.Points
	}
	counts, passed := map[string]map[string]int{}, map[string][]string{}
	for _, domain := range domains {
		counts[domain] = map[string]int{}
	}
	for _, r := range statuses(b, in) {
		domain := checks[r.check].Domain
		if counts[domain] == nil {
			continue
		}
		counts[domain][r.status]++
		if r.status == snapshot.StatusPass {
			passed[domain] = append(passed[domain], r.check)
		}
	}
	right := func(title string) typeset.Column { return typeset.Column{Title: title, Align: typeset.Right} }
	blocks.Table(b, []typeset.Column{
		{Title: "Domain", Flex: 1}, right("Failed"), right("Passed"), right("Not assessed"), right("Accepted"), right("N.a."), right("Points lost"),
	}, domains, func(_ int, domain string) []typeset.Cell {
		n := counts[domain]
		cells := []typeset.Cell{blocks.Strong(domain)}
		for _, status := range []string{snapshot.StatusFail, snapshot.StatusPass, snapshot.StatusNotAssessed, snapshot.StatusAccepted, snapshot.StatusNotApplicable} {
			cells = append(cells, sections.ZeroFaint(n[status]))
		}
		return append(cells, blocks.Text(blocks.Decimal(lost[domain])))
	})
	var all []string
	for _, domain := range domains {
		if len(passed[domain]) > 0 {
			all = append(all, domain+" "+strings.Join(passed[domain], ", "))
		}
	}
	if len(all) > 0 {
		b.Small("Passed: " + strings.Join(all, "; ") + ".")
	}
	b.Small("Checks: one counts once, by its worst result on the server and its databases. Points lost: of the score, before caps. inputs.json has what each passed check measured.")
}

// checkStatus is the worst result of a check.
type checkStatus struct{ check, status string }

// statuses are the worst results of all checks, in the order of their ids.
func statuses(b *blocks.Builder, in snapshot.Instance) []checkStatus {
	order := []string{snapshot.StatusNotApplicable, snapshot.StatusPass, snapshot.StatusAccepted, snapshot.StatusNotAssessed, snapshot.StatusFail}
	var out []checkStatus
	for _, r := range analysis.Results(b.Doc, &in) {
		n := len(out) - 1
		if n < 0 || out[n].check != r.CheckID {
			out = append(out, checkStatus{r.CheckID, r.Status})
		} else if slices.Index(order, r.Status) > slices.Index(order, out[n].status) {
			out[n].status = r.Status
		}
	}
	return out
}

// unanswered lists the checks that could not be run, with the reason.
func unanswered(b *blocks.Builder, in snapshot.Instance) {
	checks := map[string]snapshot.Check{}
	for _, c := range b.Doc.Checks {
		checks[c.ID] = c
	}
	grants := analysis.MissingGrants(b.Doc, &in)
	var rows []resultRow
	for _, r := range analysis.Results(b.Doc, &in) {
		if r.Status != snapshot.StatusNotAssessed {
			continue
		}
		row := resultRow{check: checks[r.CheckID], why: sections.Unanswered(&in, grants, r), databases: []string{r.Database}}
		if n := len(rows) - 1; n >= 0 && rows[n].takes(row) {
			rows[n].databases = append(rows[n].databases, r.Database)
			continue
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return
	}
	b.Sub("Checks that could not be run")
	blocks.Table(b, []typeset.Column{
		{Title: "Severity"}, {Title: "Check"}, {Title: "Title", Flex: 1}, {Title: "Database", Max: 90}, {Title: "Reason", Flex: 1.3},
	}, rows, func(_ int, r resultRow) []typeset.Cell {
		return []typeset.Cell{blocks.Severity(r.check.Severity), blocks.Code(r.check.ID), blocks.Text(r.check.Title), blocks.Where(strings.Join(r.databases, ", ")), blocks.Text(blocks.Sentence(r.why))}
	})
}

// resultRow is a check without an answer, on databases with the same reason.
type resultRow struct {
	check     snapshot.Check
	why       string
	databases []string
}

// mostDatabases is how many databases share a row.
const mostDatabases = 10

// takes says whether another row says the same of another database.
func (r resultRow) takes(other resultRow) bool {
	return r.check.ID == other.check.ID && r.why == other.why && r.databases[0] != "" && other.databases[0] != "" && len(r.databases) < mostDatabases
}
