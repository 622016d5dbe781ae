package pdf

import (
	"fmt"
	"slices"
	"strings"

	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// remediation prints the plan, the same in Security report and scorecard.
func (b *builder) remediation() {
	if toAssess := b.toAssess(); len(toAssess) > 0 {
		b.para("First, have the instance assessed:")
		b.numbered(toAssess)
		b.d.Y += 4
	}
	switch {
	case b.assessed.Assessed == 0 && len(b.plan) == 0:
		b.state(stateNotAssessed, "Not assessed: without an assessment there is nothing to plan.")
		return
	case len(b.plan) == 0:
		b.clean(b.whole(), "Nothing to do: no check fails on "+count(b.assessed.Assessed, "assessed instance", "assessed instances")+b.beside()+b.unlooked()+".")
		return
	}
	b.para(planLead(b.plan))
	if b.assessed.Assessed == 0 {
		b.state(stateNotAssessed, "No check could be run, so the plan stands on the versions alone.")
	}
	table(b, []typeset.Column{
		{Title: "#", Align: typeset.Right}, {Title: "Action", Flex: 1}, {Title: "Closes", Align: typeset.Right}, {Title: "On", Align: typeset.Right}, {Title: "Severity"},
		{Title: "Effort", Align: typeset.Center}, {Title: "Restart", Align: typeset.Center}, {Title: "Due"}, {Title: "Risk removed", Align: typeset.Right}, {Title: "Owner", Align: typeset.Left},
	}, b.plan, func(i int, s analysis.Step) []typeset.Cell {
		return []typeset.Cell{
			faint(number(i + 1)),
			{Text: s.Action, Style: cellStrong, Sub: closes(s), SubStyle: codeMuted},
			text(number(s.Findings)), text(number(s.Instances)), severity(s.Severity), text(orDash(s.Effort)), text(yesNo(s.NeedsRestart)),
			text(day(s.Due)), strong(percent(s.Cleared)), faint("              "),
		}
	})
	b.small("Order: weight removed per effort (S 1, M 3, L 8). Closes: findings" + b.andVulnerabilities() + ". On: instances. Risk removed: share of all weight that this step and those before it remove. " +
		"Due: " + fmt.Sprint(analysis.DueDays(analysis.Critical)) + " days after the snapshot for Critical, " + fmt.Sprint(analysis.DueDays(analysis.High)) + " for High, " +
		fmt.Sprint(analysis.DueDays(analysis.Medium)) + " for Medium, " + fmt.Sprint(analysis.DueDays(analysis.Low)) + " for Low. “" + b.objectsIn() + "” lists the objects of each check. Runnable statements are listed there.")
}

// closes names the checks of a step, and what it would close besides.
func closes(s analysis.Step) string {
	words := strings.Join(s.Checks, ", ")
	if s.Possible > 0 {
		words += after(words, "; ") + "clears " + count(s.Possible, "CVE", "CVEs") + " not ruled out"
	}
	return words
}

// andVulnerabilities says what the plan closes besides findings.
func (b *builder) andVulnerabilities() string {
	for _, s := range b.plan {
		if slices.Contains(s.Checks, analysis.OpenCVEs) || slices.Contains(s.Checks, analysis.EndOfLife) {
			return ", and the open CVEs and the end of life of instances that no check of their version covers"
		}
	}
	return ""
}

// planLead says how far the first steps go.
func planLead(plan []analysis.Step) string {
	words := count(len(plan), "action closes", "actions close") + " everything that was found open."
	for i, s := range plan {
		if s.Cleared >= 0.8 && i < len(plan)-1 {
			return words + " After step " + number(i+1) + ", " + percent(s.Cleared) + " of the weight is removed."
		}
	}
	return words
}
