package sections

import (
	"strings"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis/framework"
)

// mostInWords is how many controls of a framework are named in a sentence. The benchmarks of CIS have more; each card
// names its own.
const mostInWords = 25

// controls says of each framework which of its controls fail, hold, or were not looked at: of the first in a table of
// two controls in a row, of the others in a sentence.
func controls(b *blocks.Builder) {
	all := framework.All(b.Doc)
	if len(all) == 0 {
		return
	}
	b.Sub("Controls by framework")
	for i, f := range all {
		b.Paper.Paragraph(0, 1.28, typeset.Span{Text: f.Name, Style: blocks.CellStrong}, typeset.Span{Text: frameworkWords(f, i > 0), Style: blocks.CellStyle})
		b.Paper.Y += 3
		if i == 0 {
			controlTable(b, f.Controls)
		}
	}
	b.Small("A control fails on a server if one of its checks fails there. It holds if all have an answer and none fails; accepted findings do not fail. findings.csv has the references of each finding.")
}

// frameworkWords counts the controls of a framework, and may name those that fail.
func frameworkWords(f framework.Framework, name bool) string {
	fail, hold, unasked := f.Total()
	words := ": " + blocks.Count(len(f.Controls), "control", "controls") + " tested. Control × server: " + blocks.Number(fail) + " fail, " + blocks.Number(hold) + " hold, " + blocks.Number(unasked) + " not looked at."
	var failed []string
	for _, c := range f.Controls {
		if n := len(c.Failing); n > 0 {
			failed = append(failed, c.ID+" ("+blocks.Number(n)+")")
		}
	}
	switch {
	case len(failed) == 0:
		return words + " None fails."
	case name && len(failed) <= mostInWords:
		return words + " Failing, with the number of servers: " + strings.Join(failed, ", ") + "."
	}
	return words + " " + blocks.Count(len(failed), "control fails", "controls fail") + " somewhere."
}

// controlTable has two controls in a row.
func controlTable(b *blocks.Builder, all []framework.Control) {
	count := func(title string) typeset.Column { return typeset.Column{Title: title, Align: typeset.Right, Max: 52} }
	half := []typeset.Column{{Title: "Control", Flex: 1}, count("Fail"), count("Hold"), count("Not seen")}
	rows := (len(all) + 1) / 2
	cells := func(i int) []typeset.Cell {
		if i >= len(all) {
			return make([]typeset.Cell, len(half))
		}
		c := all[i]
		fails := ZeroFaint(len(c.Failing))
		if len(c.Failing) > 0 {
			fails.Style = blocks.CellStrong
		}
		return []typeset.Cell{blocks.Text(c.ID + " " + c.Name), fails, ZeroFaint(c.Hold), ZeroFaint(c.Unasked)}
	}
	blocks.Table(b, append(half, half...), make([]struct{}, rows), func(i int, _ struct{}) []typeset.Cell {
		return append(cells(i), cells(rows+i)...)
	})
}
