package sections

import (
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
	b.Para(planLead(b.Plan))
	if b.Assessed.Assessed == 0 {
		b.State(blocks.StateNotAssessed, "No check could be run, so the plan stands on the versions alone.")
	}
	blocks.Table(b, []typeset.Column{
		{Title: "#", Align: typeset.Right}, {Title: "Action", Flex: 1}, {Title: "Closes", Align: typeset.Right}, {Title: "On", Align: typeset.Right}, {Title: "Severity"},
		{Title: "Effort", Align: typeset.Center}, {Title: "Restart", Align: typeset.Center}, {Title: "Due"}, {Title: "Risk removed", Align: typeset.Right}, {Title: "Owner", Max: ownerWidth},
	}, b.Plan, func(i int, s analysis.Step) []typeset.Cell {
		return []typeset.Cell{
			blocks.Faint(blocks.Number(i + 1)),
			{Text: s.Action, Style: blocks.CellStrong, Sub: closes(s), SubStyle: blocks.CodeMuted},
			blocks.Text(blocks.Number(s.Findings)), blocks.Text(blocks.Number(s.Instances)), blocks.Severity(s.Severity), blocks.Text(blocks.OrDash(s.Effort)), blocks.Text(blocks.YesNo(s.NeedsRestart)),
			blocks.Text(blocks.Day(s.Due)), blocks.Strong(blocks.Percent(s.Cleared)), Owner(s.OwnersInWords(), roomForName),
		}
	})
	b.Small("Order: weight removed per effort (S 1, M 3, L 8). Closes: findings" + andVulnerabilities(b) + ". On: instances. Risk removed: share of all weight that this step and those before it remove. " +
		"Due: " + fmt.Sprint(analysis.DueDays(analysis.Critical)) + " days after the snapshot for Critical, " + fmt.Sprint(analysis.DueDays(analysis.High)) + " for High, " +
		fmt.Sprint(analysis.DueDays(analysis.Medium)) + " for Medium, " + fmt.Sprint(analysis.DueDays(analysis.Low)) + " for Low. “" + b.Objects + "” lists the objects of each check. Runnable statements are listed there.")
}

// ownerWidth is how wide a column of owners is at most.
const ownerWidth = 64

// roomForName is how many spaces have room for a name that somebody writes in.
const roomForName = 14

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
	if s.Possible > 0 {
		words += After(words, "; ") + "clears " + blocks.Count(s.Possible, "CVE", "CVEs") + " not ruled out"
	}
	return words
}

// andVulnerabilities says what the plan closes besides findings.
func andVulnerabilities(b *blocks.Builder) string {
	for _, s := range b.Plan {
		if slices.Contains(s.Checks, analysis.OpenCVEs) || slices.Contains(s.Checks, analysis.EndOfLife) {
			return ", and the open CVEs and the end of life of instances that no check of their version covers"
		}
	}
	return ""
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
