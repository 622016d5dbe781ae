package sections

import (
	"cmp"
	"slices"
	"strings"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// KeptObjects says why not every object is listed, and how the others come to be.
var KeptObjects = "Muster keeps the first " + blocks.Number(snapshot.MaxViolations) +
	" objects of a check on a database; the next assessment lists further ones once these are closed."

// SecurityFindings prints a card for each failing check of severity Critical or High, a table of the others, then what is
// accepted, then what could not be assessed.
func SecurityFindings(b *blocks.Builder) {
	switch {
	case b.Assessed.Total == 0:
		b.NoInstance()
	case b.Assessed.Assessed == 0:
		b.State(blocks.StateNotAssessed, "Not assessed: no instance could be checked.")
	case len(b.Findings) == 0:
		cleanSentence(b)
	}
	FailedChecks(b)
	AcceptedExceptions(b)
	gaps(b)
}

// mostCards is how many cards a scorecard has: with more, those of a neglected server take half of its pages.
const mostCards = 4

// FailedChecks prints a card for each failing check of severity Critical or High, in a scorecard for the first of them,
// and a table of the others.
func FailedChecks(b *blocks.Builder) {
	if len(b.Findings) == 0 {
		return
	}
	grave := 0
	for grave < len(b.Findings) && analysis.Rank(b.Findings[grave].Check.Severity) <= analysis.Rank(analysis.High) {
		grave++
	}
	carded, each := grave, "each has a card"
	if b.Kind.OneInstance && grave > mostCards {
		carded, each = mostCards, "the first "+blocks.Number(mostCards)+" have a card, the others a row in the table"
	}
	words := blocks.Count(grave, "check", "checks") + " failed with severity Critical or High: " + each + ". findings.csv has every finding with its statement, its undo and its check."
	if anyUntried(b) {
		words += " Statements for SQL Server and Oracle come from the vendors’ documentation. They have not been run on a server of yours: try them on a copy first."
	}
	b.Para(words)
	cards(b, b.Findings[:carded])
	title := "Medium and low findings"
	if carded < grave {
		title = "Further findings"
	}
	lesser(b, title, b.Findings[carded:])
}

// lesser lists the failed checks that have no card.
func lesser(b *blocks.Builder, title string, groups []analysis.CheckFindings) {
	if len(groups) == 0 {
		return
	}
	b.Sub(title)
	groups, low := withoutLow(b, groups)
	blocks.Table(b, []typeset.Column{
		{Title: "Severity"}, {Title: "Check", Max: 46}, {Title: "Finding", Flex: 1.3}, {Title: "Where", Flex: 1.2}, {Title: "First due", Max: 76}, {Title: "Findings", Align: typeset.Right},
	}, groups, func(_ int, g analysis.CheckFindings) []typeset.Cell {
		when := firstDue(b, g)
		if when.Sub != "" {
			when = typeset.Cell{Text: when.Sub, Style: when.SubStyle}
		}
		return []typeset.Cell{
			blocks.Severity(g.Check.Severity), blocks.Code(g.Check.ID), blocks.Text(blocks.Shorten(g.Check.Title, 100)), blocks.Text(whereOf(b, g)), when, blocks.Strong(blocks.Number(g.Total())),
		}
	})
	b.Small(low + "findings.csv has what closes each of them.")
}

// withoutLow leaves low findings out of a table, where there are several servers and other findings, and names their
// checks in a sentence.
func withoutLow(b *blocks.Builder, groups []analysis.CheckFindings) (rest []analysis.CheckFindings, sentence string) {
	first := slices.IndexFunc(groups, func(g analysis.CheckFindings) bool { return g.Check.Severity == analysis.Low })
	if first <= 0 || len(b.Doc.Instances) == 1 {
		return groups, ""
	}
	var named []string
	for _, g := range groups[first:] {
		named = append(named, g.Check.ID+" ("+blocks.Number(g.Total())+")")
	}
	return groups[:first], "Low, with the number of findings: " + strings.Join(named, ", ") + ". "
}

// whereOf names the server of a single finding, or the first of several; in a report over one server, the objects.
func whereOf(b *blocks.Builder, g analysis.CheckFindings) string {
	if len(b.Doc.Instances) == 1 {
		return objectsIn(g)
	}
	if g.Total() == 1 {
		f := g.Findings[0]
		return blocks.Shorten(f.InstanceName, 60) + Before(" / ", blocks.Shorten(f.Database, 40))
	}
	var names []string
	for _, f := range g.Findings {
		if n := len(names); n == 0 || names[n-1] != f.InstanceName {
			names = append(names, f.InstanceName)
		}
	}
	for i := range names {
		names[i] = blocks.Shorten(names[i], 60)
	}
	return blocks.List(names, 1)
}

// objectsIn names the first objects of findings, or their databases.
func objectsIn(g analysis.CheckFindings) string {
	var names []string
	for _, f := range g.Findings {
		name := blocks.Shorten(f.Object, 40)
		if name == "" {
			name = cmp.Or(blocks.Shorten(f.Database, 40), "instance-wide")
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return blocks.List(names, 2)
}

// firstDue is a cell with the first deadline of a group.
func firstDue(b *blocks.Builder, g analysis.CheckFindings) typeset.Cell {
	return due(b, earliest(b, g.Findings))
}

// untried ends the impact of a statement that was never run on a server.
const untried = "The statement has not been tried on a live server."

// anyUntried says whether a statement is printed that was never run on a server.
func anyUntried(b *blocks.Builder) bool {
	for _, g := range b.Findings {
		if strings.Contains(g.Check.Impact, untried) && withFix(g) {
			return true
		}
	}
	return false
}
