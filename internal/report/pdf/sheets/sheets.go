package sheets

import (
	"muster/domain/report"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/sheet"
)

// toneStates has the state of a verdict that has the color of a tone.
var toneStates = map[sheet.Tone]string{
	sheet.Good: analysis.Clean, sheet.Muted: analysis.Nothing, sheet.Critical: analysis.Critical, sheet.Warning: analysis.High,
	sheet.Info: analysis.Low, sheet.Caution: analysis.Unknown,
}

func toneColor(t sheet.Tone) typeset.Color {
	if t == sheet.Plain {
		return blocks.Ink
	}
	return blocks.VerdictColor(toneStates[t])
}

// Front is page 1 of a summary.
func Front(b *blocks.Builder) blocks.Front {
	f := blocks.Front{Dense: true}
	for _, figure := range b.Sheet.Figures {
		color := toneColor(figure.Tone)
		if figure.Tone == sheet.Plain {
			color = blocks.Accent
		}
		f.Figures = append(f.Figures, blocks.Figure{Before: figure.Before, Value: figure.Value, Label: figure.Name, Note: figure.Note, Color: color})
	}
	f.Below = func() {
		if bars := b.Sheet.Bars; bars != nil {
			drawBars(b, *bars)
		}
		if burn := b.Sheet.Burn; burn != nil {
			drawBurn(b, *burn)
		}
		if len(b.Sheet.Sections) > 0 {
			firstPart(b, b.Sheet.Sections[0])
		}
	}
	return f
}

// firstPart prints the first part of the first section on page 1, too: it is what the figures sum up.
func firstPart(b *blocks.Builder, s sheet.Section) {
	if len(s.Parts) == 0 || s.Parts[0].Table == nil {
		return
	}
	b.PartTitle(s.Title, s.Parts[0].Title)
	b.Paper.Y += 3
	table(b, *s.Parts[0].Table)
	b.Paper.Y += blocks.GapAfter
}

// Write returns what writes a section.
func Write(b *blocks.Builder, id report.Section) func() {
	return func() {
		s, ok := b.Sheet.Section(string(id))
		if !ok {
			b.State(blocks.StateNotApplicable, "Not applicable: this report has nothing to say here.")
			return
		}
		for _, p := range s.Parts {
			part(b, p)
		}
	}
}

func part(b *blocks.Builder, p sheet.Part) {
	if p.Title != "" {
		b.Sub(p.Title)
		if p.Aside != "" {
			b.Small(p.Aside)
		}
	}
	switch {
	case p.Empty:
		b.State(blocks.StateClean, p.Words)
	case p.Words != "":
		b.Para(p.Words)
	}
	if p.Table != nil {
		table(b, *p.Table)
	}
	if p.Spans != nil {
		spans(b, *p.Spans)
	}
	if p.Note != "" {
		b.Small(p.Note)
	}
}

// widest is how wide a column is at most that has no weight, in points.
const widest = 190

func table(b *blocks.Builder, t sheet.Table) {
	columns := make([]typeset.Column, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = typeset.Column{Title: c.Name, Flex: c.Weight, Max: widest}
		if c.Right {
			columns[i].Align = typeset.Right
		}
	}
	blocks.Table(b, columns, t.Rows, func(_ int, row sheet.Row) []typeset.Cell {
		cells := make([]typeset.Cell, len(columns))
		for i := range cells {
			if i < len(row.Cells) {
				cells[i] = cell(row.Cells[i], row.Total)
			}
		}
		return cells
	})
}

func cell(c sheet.Cell, total bool) typeset.Cell {
	style := blocks.CellStyle
	if c.Strong || total {
		style = blocks.CellStrong
	}
	if c.Tone != sheet.Plain {
		style = blocks.Colored(style, toneColor(c.Tone))
	}
	return typeset.Cell{Text: c.Text, Style: style, Sub: c.Note, SubStyle: blocks.SmallStyle}
}
