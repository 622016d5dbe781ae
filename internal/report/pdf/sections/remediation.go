package sections

import (
	"cmp"
	"fmt"
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
	b.Para(planLead(b.Plan))
	if b.Assessed.Assessed == 0 {
		b.State(blocks.StateNotAssessed, "No check could be run, so the plan stands on the versions alone.")
	}
	printed := b.Plan[:min(len(b.Plan), mostSteps)]
	blocks.Table(b, []typeset.Column{
		{Title: "#", Align: typeset.Right}, {Title: "Finding and objects", Flex: 1}, {Title: "Server, owner", Max: serverWidth}, {Title: "Severity"},
		{Title: "First seen"}, {Title: "Due", Max: 70}, {Title: "Effort", Align: typeset.Center}, {Title: "Risk removed", Align: typeset.Right},
	}, printed, func(i int, s analysis.Step) []typeset.Cell {
		return []typeset.Cell{
			blocks.Faint(blocks.Number(i + 1)),
			{Text: s.Subject(), Style: blocks.CellStrong, Sub: closes(s), SubStyle: blocks.CodeMuted},
			{Text: s.Where, Style: blocks.CellStrong, Sub: ownerWords(s), SubStyle: blocks.CellMuted}, blocks.Severity(s.Severity),
			firstSeen(s.Deadline), due(b, s.Deadline), effort(s), blocks.Strong(blocks.Percent(s.Cleared)),
		}
	})
	if rest := len(b.Plan) - len(printed); rest > 0 {
		b.Small(blocks.Count(rest, "further action is", "further actions are") + " less urgent: findings.csv has the findings.")
	}
	days := func(severity string) string { return fmt.Sprint(analysis.DueDays(b.Doc, severity)) }
	b.Small("Order: severity, exploited vulnerabilities first, due date, weight removed per effort (S 1, M 3, L 8). Effort S: under an hour, M: a day, L: more; R: with a restart. " +
		"Due: " + days(analysis.Critical) + " days after the first sight for Critical, " + days(analysis.High) + " for High, " +
		days(analysis.Medium) + " for Medium, " + days(analysis.Low) + " for Low" + undated(b) + ". A CVE counts from its publication, or from the registration of the server if that was later. " +
		"Risk removed: share of all weight that this step and those before it remove. “" + b.Objects + "” lists all objects, the fixes, and statements that can be run.")
}

// mostSteps is how many actions are printed: the most urgent ones.
const mostSteps = 150

// serverWidth is how wide the column of servers is at most.
const serverWidth = 108

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

// effort is a cell with the effort of a step, and whether it needs a restart.
func effort(s analysis.Step) typeset.Cell {
	if s.NeedsRestart {
		return blocks.Text(blocks.OrDash(s.Effort) + ", R")
	}
	return blocks.Text(blocks.OrDash(s.Effort))
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
