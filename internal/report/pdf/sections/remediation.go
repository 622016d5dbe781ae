package sections

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// Remediation prints the plan, the same in Security report and scorecard.
func Remediation(b *blocks.Builder) {
	if toAssess := ToAssess(b); len(toAssess) > 0 {
		b.Para("First, have the instance assessed:")
		b.Numbered(toAssess)
		b.Paper.Y += 4
	}
	switch {
	case b.Assessed.Assessed == 0 && len(b.Plan) == 0:
		b.State(blocks.StateNotAssessed, "Not assessed: without an assessment there is nothing to plan.")
		return
	case len(b.Plan) == 0:
		b.Clean(b.Whole(), "Nothing to do: no check fails on "+blocks.Count(b.Assessed.Assessed, "assessed instance", "assessed instances")+Beside(b)+b.Unlooked()+".")
		return
	}
	b.Para(planLead(b.Plan) + ownersLead(b))
	if b.Assessed.Assessed == 0 {
		b.State(blocks.StateNotAssessed, "No check could be run, so the plan stands on the versions alone.")
	}
	printed := printedSteps(b)
	columns := []typeset.Column{
		{Title: "#", Align: typeset.Right}, {Title: "Finding and objects", Flex: 1}, {Title: "First seen", Max: 58}, {Title: "Due", Max: 78},
	}
	many := len(b.Doc.Instances) != 1
	if many {
		columns = slices.Insert(columns, 2, typeset.Column{Title: "Server, owner", Max: serverWidth})
	}
	blocks.Table(b, columns, printed, func(_, n int) []typeset.Cell {
		s := b.Plan[n]
		cells := []typeset.Cell{
			blocks.Faint(blocks.Number(n + 1)),
			{Text: s.Subject(), Style: blocks.CellStrong, Mark: blocks.SeverityColor[s.Severity], Sub: s.Severity + Before(" · ", closes(s)) + " · effort " + effort(s), SubStyle: blocks.CellMuted},
			firstSeen(s.Deadline), due(b, s.Deadline),
		}
		if many {
			cells = slices.Insert(cells, 2, typeset.Cell{Text: s.Where, Style: blocks.CellStyle, Sub: ownerIf(b, s), SubStyle: blocks.CellMuted})
		}
		return cells
	})
	if rest := len(b.Plan) - len(printed); rest > 0 {
		b.Small(blocks.Count(rest, "further action is", "further actions are") + " less urgent. The column step of findings.csv and cves.csv has the number of the action for each finding and CVE.")
	}
	days := func(severity string) string { return fmt.Sprint(analysis.DueDays(b.Doc, severity)) }
	b.Small("Order: severity, exploited vulnerabilities first, due date, weight removed per effort (S 1, M 3, L 8). Effort S: under an hour, M: a day, L: more. " +
		"Due: " + days(analysis.Critical) + " days after the first sight for Critical, " + days(analysis.High) + " for High, " +
		days(analysis.Medium) + " for Medium, " + days(analysis.Low) + " for Low" + undated(b) + ". A CVE counts from its publication, or from the registration of the server if that was later. " +
		"“" + b.Objects + "” has the fixes, findings.csv all objects and statements.")
}

// How many actions are printed at most, in a document about one server, and of small plans at least.
const (
	mostSteps   = 15
	mostStepsOf = 12
	fewestRows  = 10
)

// printedSteps are the places of the actions that are printed: those that close something critical or high, the others
// of small plans, and those that are no finding of a CSV: they leave a version out of support, or are planned for a
// later date.
func printedSteps(b *blocks.Builder) (places []int) {
	most := mostSteps
	if b.Kind.OneInstance {
		most = mostStepsOf
	}
	var versions []int
	for n, s := range b.Plan {
		switch {
		case s.Ended || s.Planned && analysis.Rank(s.Severity) > analysis.Rank(analysis.High):
			versions = append(versions, n)
		case n < fewestRows || analysis.Rank(s.Severity) <= analysis.Rank(analysis.High):
			places = append(places, n)
		}
	}
	versions = versions[:min(len(versions), most/2)]
	places = append(places[:min(len(places), most-len(versions))], versions...)
	slices.Sort(places)
	return places
}

// serverWidth is how wide the column of servers is at most.
const serverWidth = 106

// ownersLead says who owns the one server, or that no server has an owner.
func ownersLead(b *blocks.Builder) string {
	switch {
	case len(b.Doc.Instances) == 1:
		return " Owner of " + blocks.Shorten(b.Doc.Instances[0].Name, 80) + ": " + cmp.Or(analysis.OwnerOf(&b.Doc.Instances[0]), "no owner") + "."
	case !owned(b):
		return " No server has an owner."
	}
	return ""
}

// ownerIf names the owner of a step, where the organization has owners: the introduction says if it has none.
func ownerIf(b *blocks.Builder, s analysis.Step) string {
	if !owned(b) {
		return ""
	}
	return ownerWords(s)
}

// ownerWords names the owner of a step, or says that nobody is.
func ownerWords(s analysis.Step) string { return cmp.Or(s.Owner, "no owner") }

// firstSeen is a cell with the day on which something was first seen.
func firstSeen(d analysis.Deadline) typeset.Cell {
	if d.FirstSeen == nil {
		return blocks.Faint("–")
	}
	return blocks.Text(blocks.Day(*d.FirstSeen))
}

// due is a cell with a deadline, and by how much it is over.
func due(b *blocks.Builder, d analysis.Deadline) typeset.Cell {
	cell := blocks.Text(blocks.Day(d.At))
	if late := d.Overdue(b.Doc.AsOf); late > 0 {
		cell.Sub, cell.SubStyle = blocks.Overdue(late), blocks.OverdueStyle
	}
	return cell
}

// undated says how many findings have no known first sight.
func undated(b *blocks.Builder) string {
	if b.Debt.Undated == 0 {
		return ""
	}
	return "; " + blocks.Count(b.Debt.Undated, "finding has", "findings have") + " no known first sight and " + blocks.Verb(b.Debt.Undated, "is", "are") + " due that long after the snapshot"
}

// effort is the effort of a step, and whether it needs a restart.
func effort(s analysis.Step) string {
	if s.NeedsRestart {
		return blocks.OrDash(s.Effort) + ", restart"
	}
	return blocks.OrDash(s.Effort)
}

// Owner is a cell with the owner, or with room to write one in.
func Owner(name string, room int) typeset.Cell {
	if name == "" {
		return blocks.Faint(strings.Repeat(" ", room))
	}
	return blocks.Text(name)
}

// closes names the checks of a step, and what it would close besides.
func closes(s analysis.Step) string {
	words := strings.Join(s.Checks, ", ")
	if n := s.Findings; n > 1 {
		words += " (" + blocks.Number(n) + ")"
	}
	if s.Possible > 0 {
		words += After(words, "; ") + "clears " + blocks.Count(s.Possible, "CVE", "CVEs") + " not ruled out"
	}
	return words
}

// planLead says how far the first steps go.
func planLead(plan []analysis.Step) string {
	words := blocks.Count(len(plan), "action closes", "actions close") + " everything that was found open."
	for i, s := range plan {
		if s.Cleared >= 0.8 && i < len(plan)-1 {
			return words + " After step " + blocks.Number(i+1) + ", " + blocks.Percent(s.Cleared) + " of the weight is removed."
		}
	}
	return words
}
