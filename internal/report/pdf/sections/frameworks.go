package sections

import (
	"slices"
	"strings"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis/framework"
)

// mostInWords is how many controls of a framework are named in a sentence. The benchmarks of CIS have more; each card
// names its own.
const mostInWords = 25

// mostInTable is how many controls of a framework are in a table that counts servers. Those of CIS would take pages.
const mostInTable = 40

// controls says of each framework which of its controls fail, hold, or were not looked at: by server if they are few,
// else in a table of two controls in a row, or in a sentence. With many servers, only the first framework has a table:
// the next one would be a page more.
func controls(b *blocks.Builder) {
	all := framework.All(b.Doc)
	if len(all) == 0 {
		return
	}
	b.Sub("Controls by framework")
	servers := len(b.Doc.Instances)
	columns := servers > 1 && servers <= mostColumns
	for i, f := range all {
		counted := !columns && len(f.Controls) <= mostInTable && (i == 0 || servers == 1)
		if columns {
			b.Paper.Need(matrixHead)
		}
		b.Paper.Paragraph(0, 1.28, typeset.Span{Text: f.Name, Style: blocks.CellStrong}, typeset.Span{Text: frameworkWords(f, !columns && !counted), Style: blocks.CellStyle})
		b.Paper.Y += 3
		switch {
		case columns:
			controlMatrix(b, f.Controls)
		case counted:
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

// mostColumns is up to how many servers have a column each. If there are more, they are counted.
const mostColumns = 8

// matrixHead is the height of a framework's sentence with the head of its table and a row.
const matrixHead = 90

// controlMatrix says of each control on which server it fails, holds, or was not looked at. Of a long framework, it
// leaves out the controls that hold wherever they apply.
func controlMatrix(b *blocks.Builder, all []framework.Control) {
	held := 0
	if len(all) > mostInTable {
		all = slices.DeleteFunc(slices.Clone(all), func(c framework.Control) bool {
			if len(c.Failing)+c.Unasked > 0 {
				return false
			}
			held += min(1, c.Hold)
			return true
		})
	}
	columns := []typeset.Column{{Title: "Control", Flex: 1}}
	for _, in := range b.Doc.Instances {
		columns = append(columns, typeset.Column{Title: blocks.Shorten(in.Name, 30), Align: typeset.Center, Max: 46})
	}
	blocks.Table(b, columns, all, func(_ int, c framework.Control) []typeset.Cell {
		cells := []typeset.Cell{blocks.Text(c.ID + Before(" ", c.Name))}
		for _, on := range c.On {
			switch on {
			case framework.Fails:
				cells = append(cells, blocks.Strong("fails"))
			case framework.Holds:
				cells = append(cells, blocks.Text("holds"))
			case framework.Unasked:
				cells = append(cells, blocks.Faint("–"))
			default:
				cells = append(cells, blocks.Faint("n.a."))
			}
		}
		return cells
	})
	words := "–: not looked at. n.a.: no check of the control is for the engine."
	if held > 0 {
		words += " " + blocks.Count(held, "further control holds", "further controls hold") + " wherever " + blocks.Verb(held, "it applies", "they apply") + "."
	}
	b.Small(words)
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
