package typeset

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// MaxRows is where a printed table ends and says so; MaxCellLines is where a
// cell does.
const (
	MaxRows      = 20_000
	MaxCellLines = 12
)

// EntryLevel is that of rows in the outline: under a heading within a section.
const EntryLevel = 2

// measuredRows is how many rows decide the widths of a table's columns.
const measuredRows = 200

// Column describes one column of a table.
type Column struct {
	Title string
	Align Align
	// Flex shares what the other columns leave; 0 takes the width of the
	// contents, at most Max points.
	Flex float64
	Max  float64
}

// Cell is one cell: text in a style, with a colour mark before it if Mark is
// not zero. The zero Style is the table's own. Sub goes under it, on lines of
// its own, and may have line breaks.
type Cell struct {
	Text     string
	Style    Style
	Mark     Color
	Sub      string
	SubStyle Style
	Entry    string // of the row in the outline; empty: none
}

// Look is how tables of a document look.
type Look struct {
	Head, Body        Style
	Note              Style
	HeadRule, RowRule Color
	Zebra             Color
	Leading           float64 // line height as a multiple of the size
	PadX, PadY        float64
}

// Table is a table whose rows are asked for one by one.
type Table struct {
	Look    Look
	Columns []Column
	Rows    int
	Row     func(i int) []Cell
	// Rest says where the rows are that are not printed, for a table longer
	// than MaxRows.
	Rest string
}

// Table draws a table over the whole width. The head is repeated on every
// page; a row is never split; the head never stands alone.
func (d *Paper) Table(t Table) {
	r := tableRun{d: d, t: t, printed: min(t.Rows, MaxRows)}
	for i := range min(t.Rows, measuredRows) {
		r.measured = append(r.measured, t.Row(i))
	}
	r.widths = d.columnWidths(t, r.measured)
	r.line = t.Look.Body.Size * t.Look.Leading
	d.Grouped(Grid, GridCell, func() {
		for i := range r.printed {
			r.row(i)
		}
	})
	d.Page().Rule(d.Left(), d.Y, d.TextWidth(), 0, 0.6, t.Look.HeadRule)
	if r.printed < t.Rows {
		d.Y += 4
		d.Paragraph(0, 1.4, Span{"Rows 1–" + Thousands(r.printed) + " of " + Thousands(t.Rows) + ". " + t.Rest, t.Look.Note})
	}
}

type tableRun struct {
	d       *Paper
	t       Table
	widths  []float64
	line    float64
	printed int
	page    *Page // that has the head

	measured [][]Cell // the first rows
}

// markWidth is what a colour mark takes from its cell.
const markWidth = 9

func (r *tableRun) row(i int) {
	d, look := r.d, r.t.Look
	cells := r.cells(i)
	lines := make([][]line, len(cells))
	tallest := 1
	for c, cell := range cells {
		lines[c] = r.cell(c, cell)
		tallest = max(tallest, len(lines[c]))
	}
	height := float64(tallest)*r.line + 2*look.PadY
	need := height
	if r.page == nil {
		need += r.headHeight()
		if r.printed > 1 {
			need += r.line + 2*look.PadY // no row alone under its head
		}
	}
	d.Need(need)
	if r.page != d.Page() {
		if r.page != nil { // the head is repeated
			d.Artifact(r.head)
		} else {
			d.Grouped(GridRow, GridHead, r.head)
		}
	}
	if look.Zebra != 0 && i%2 == 1 {
		d.Page().Fill(d.Left(), d.Y, d.TextWidth(), height, look.Zebra)
	}
	x, top := d.Left(), d.Y
	d.Grouped(GridRow, GridCell, func() {
		for c, cell := range cells {
			if cell.Entry != "" {
				d.Mark(cell.Entry, EntryLevel)
			}
			d.Tagged(GridCell, func() { r.draw(x, top+look.PadY, r.widths[c], r.t.Columns[c].Align, cell, lines[c]) })
			x += r.widths[c]
		}
	})
	d.Y = top + height
	d.Settle()
	if i < r.printed-1 {
		d.Page().Rule(d.Left(), d.Y, d.TextWidth(), 0, 0.35, look.RowRule)
	}
}

// cells are those of a row.
func (r *tableRun) cells(i int) []Cell {
	if i < len(r.measured) {
		return r.measured[i]
	}
	return r.t.Row(i)
}

// cell breaks a cell's text into lines.
func (r *tableRun) cell(c int, cell Cell) []line {
	width := r.widths[c] - 2*r.t.Look.PadX
	if cell.Mark != 0 {
		width -= markWidth
	}
	spans := []Span{{r.d.Fonts.Clean(cell.Text), cmp.Or(cell.Style, r.t.Look.Body)}}
	if cell.Sub != "" {
		spans = append(spans, Span{"\n" + r.d.Fonts.CleanLines(cell.Sub), cell.SubStyle})
	}
	lines := r.d.wrap(spans, width)
	return r.d.Fonts.limit(lines, MaxCellLines, width)
}

func (r *tableRun) draw(x, y, width float64, align Align, cell Cell, lines []line) {
	left, right := x+r.t.Look.PadX, x+width-r.t.Look.PadX
	if cell.Mark != 0 {
		r.d.Page().Fill(left, y+(r.line-5.5)/2, 5.5, 5.5, cell.Mark)
		left += markWidth
	}
	r.put(left, right, y, r.line, align, lines)
}

// put draws lines of one height between two edges.
func (r *tableRun) put(left, right, y, height float64, align Align, lines []line) {
	for i, l := range lines {
		at := left
		switch align {
		case Right:
			at = right - l.width
		case Center:
			at = (left + right - l.width) / 2
		}
		for _, p := range l.pieces {
			at += r.d.Page().clean(at, Baseline(y+float64(i)*height, height, p.Style.Size), p.Style, Left, p.Text)
		}
	}
}

func (r *tableRun) headLines() (lines [][]line, tallest int) {
	tallest = 1
	for c, col := range r.t.Columns {
		l := r.d.wrap([]Span{{r.d.Fonts.Clean(col.Title), r.t.Look.Head}}, r.widths[c]-2*r.t.Look.PadX)
		lines = append(lines, l)
		tallest = max(tallest, len(l))
	}
	return lines, tallest
}

func (r *tableRun) headHeight() float64 {
	_, tallest := r.headLines()
	return float64(tallest)*r.t.Look.Head.Size*r.t.Look.Leading + 2*r.t.Look.PadY
}

// head draws the column titles, bottom-aligned, over a rule.
func (r *tableRun) head() {
	d, look := r.d, r.t.Look
	lines, tallest := r.headLines()
	height := look.Head.Size * look.Leading
	x := d.Left()
	for c, l := range lines {
		y := d.Y + look.PadY + float64(tallest-len(l))*height
		d.Tagged(GridHead, func() { r.put(x+look.PadX, x+r.widths[c]-look.PadX, y, height, r.t.Columns[c].Align, l) })
		x += r.widths[c]
	}
	d.Y += float64(tallest)*height + 2*look.PadY
	d.Page().Rule(d.Left(), d.Y, d.TextWidth(), 0, 0.9, look.HeadRule)
	r.page = d.Page()
}

// columnWidths gives columns without Flex the width of their contents and
// shares the rest.
func (d *Paper) columnWidths(t Table, rows [][]Cell) []float64 {
	widths := make([]float64, len(t.Columns))
	flex := 0.0
	for c, col := range t.Columns {
		flex += col.Flex
		if col.Flex == 0 {
			for word := range strings.FieldsSeq(d.Fonts.Clean(col.Title)) {
				widths[c] = max(widths[c], d.Fonts.Width(t.Look.Head.Face, t.Look.Head.Size, word))
			}
		}
	}
	for _, row := range rows {
		for c, cell := range row {
			if t.Columns[c].Flex > 0 {
				continue
			}
			style := cmp.Or(cell.Style, t.Look.Body)
			w := d.Fonts.Width(style.Face, style.Size, d.Fonts.Clean(cell.Text))
			for l := range strings.Lines(cell.Sub) {
				w = max(w, d.Fonts.Width(cell.SubStyle.Face, cell.SubStyle.Size, d.Fonts.Clean(strings.TrimSuffix(l, "\n"))))
			}
			if cell.Mark != 0 {
				w += markWidth
			}
			widths[c] = max(widths[c], w)
		}
	}
	fixed := 0.0
	for c, col := range t.Columns {
		if col.Flex == 0 {
			if col.Max > 0 {
				widths[c] = min(widths[c], col.Max)
			}
			widths[c] += 2*t.Look.PadX + 0.01 // float sums must not wrap what just fits
			fixed += widths[c]
		}
	}
	share(t.Columns, widths, fixed, flex, d.TextWidth())
	return widths
}

// share gives the flexible columns what the others leave. If those want more
// than three quarters of the width, the widest give way first: a date or a
// name of a few letters must not break because a column beside it is long.
func share(columns []Column, widths []float64, fixed, flex, total float64) {
	most := total
	if flex > 0 {
		most = total * 0.75
	}
	if fixed > most {
		level := levelOf(widths, most)
		for c := range widths {
			widths[c] = min(widths[c], level)
		}
		fixed = most
	}
	if flex == 0 {
		for c := range widths {
			widths[c] *= total / fixed
		}
	}
	for c, col := range columns {
		if col.Flex > 0 {
			widths[c] = (total - fixed) * col.Flex / flex
		}
	}
}

// levelOf is the height at which widths are cut off so that they sum up to most.
func levelOf(widths []float64, most float64) float64 {
	sorted := slices.Sorted(slices.Values(widths))
	for i, w := range sorted {
		if rest := float64(len(sorted) - i); w*rest >= most {
			return most / rest
		}
		most -= w
	}
	return math.Inf(1)
}
