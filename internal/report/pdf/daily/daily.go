package daily

import (
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/day"
)

const (
	row       = 16.0 // the height of a line with what is around it
	line      = 11.0
	gap       = 9.0  // between parts
	between   = 18.0 // columns
	labelWide = 74.0 // of a row's label
	barFrom   = 152.0
	barWide   = 118.0
)

var (
	title    = typeset.Style{Face: typeset.Bold, Size: 24, Color: blocks.Ink}
	headline = typeset.Style{Face: typeset.Bold, Size: 14, Color: blocks.Ink}
	number   = typeset.Style{Face: typeset.Bold, Size: 18, Color: blocks.Ink}
)

// Write writes a digest.
func Write(b *blocks.Builder, p day.Page) {
	b.Brief(p.Title, title, p.When)
	verdict(b, p)
	for i := 0; i < len(p.Sections); i++ {
		s := p.Sections[i]
		switch {
		case s.Half && i+1 < len(p.Sections) && p.Sections[i+1].Half:
			halves(b, s, p.Sections[i+1])
			i++
		case len(s.Figures) > 0:
			balance(b, s)
		case s.ID == "trouble":
			trouble(b, s)
		default:
			b.PartTitle(s.Title, s.Aside)
			rows(b, s.Rows)
		}
		b.Paper.Y += gap
	}
}

// color is that of a level in text, where nothing stands out if nothing is wrong.
func color(l day.Level) typeset.Color {
	if l == day.Quiet || l == day.Nothing {
		return blocks.Ink
	}
	return blocks.VerdictColor(l.State())
}

func verdict(b *blocks.Builder, p day.Page) {
	const indent, pad = 18.0, 10.0
	d := b.Paper
	width := d.TextWidth() - 2*indent
	lead := typeset.Span{Text: p.Headline, Style: headline}
	rest := typeset.Span{Text: p.Rest, Style: blocks.BodyStyle}
	height := 2*pad + d.ParagraphHeight(width, 1.25, lead) + 4 + d.ParagraphHeight(width, blocks.Leading, rest)
	var first []typeset.Span
	if p.First != nil {
		first = []typeset.Span{{Text: "First: " + p.First.Text + " ", Style: blocks.StrongStyle}, {Text: p.First.Note, Style: blocks.MutedStyle}}
		height += 12 + d.ParagraphHeight(width, blocks.Leading, first...)
	}
	page, top := d.Page(), d.Y
	page.Fill(d.Left(), top, d.TextWidth(), height, blocks.Wash)
	page.Fill(d.Left(), top, 4, height, blocks.VerdictColor(p.Level.State()))
	d.Y += pad
	d.ParagraphWithin(indent, width, 1.25, lead)
	d.Y += 4
	d.ParagraphWithin(indent, width, blocks.Leading, rest)
	if first != nil {
		d.Y += 6
		page.Rule(d.Left()+indent, d.Y, width, 0, 0.5, blocks.Hairline)
		d.Y += 6
		d.ParagraphWithin(indent, width, blocks.Leading, first...)
	}
	d.Y = top + height + gap + 3
}

// label writes the label of a row at a baseline. What is not known is hatched, with the word in it.
func label(b *blocks.Builder, r day.Row, baseline float64) {
	page, left := b.Paper.Page(), b.Paper.Left()
	style := blocks.Colored(blocks.CellStrong, color(r.Level))
	text := b.Fit(r.Label, style, labelWide-6)
	if r.Level == day.Unknown && !r.Bar {
		width := b.Width(text, style)
		blocks.Hatch(page, left, baseline-9, width+8, 12)
		page.Fill(left+2.5, baseline-8, width+3, 10, blocks.White)
		page.Text(left+4, baseline, style, typeset.Left, text)
		return
	}
	page.Text(left, baseline, style, typeset.Left, text)
}

func textStyle(r day.Row) typeset.Style {
	if r.Code {
		return blocks.CodeStyle
	}
	return blocks.CellStyle
}

// rows writes facts, each with its label at the left.
func rows(b *blocks.Builder, all []day.Row) {
	d := b.Paper
	for _, r := range all {
		indent := labelWide
		if r.Bar {
			indent = barFrom + barWide + 8
		}
		width := d.TextWidth() - indent
		spans := []typeset.Span{{Text: r.Text, Style: textStyle(r)}}
		if r.Bar {
			spans[0] = typeset.Span{Text: r.Note, Style: blocks.Colored(blocks.CellStyle, color(r.Level))}
		} else if r.Note != "" {
			spans = append(spans, typeset.Span{Text: " · " + r.Note, Style: blocks.CellMuted})
		}
		if !r.Bar && d.ParagraphHeight(width, 1.22, spans...) > 2*line+2 {
			spans = []typeset.Span{{Text: twoLines(b, r.Text, textStyle(r), width), Style: textStyle(r)}}
		}
		height := max(d.ParagraphHeight(width, 1.22, spans...), line) + 4
		d.Need(height)
		top, page := d.Y, d.Page()
		d.Grouped(typeset.GridRow, typeset.GridCell, func() {
			label(b, r, top+11)
			if r.Bar {
				page.Text(d.Left()+labelWide, top+11, blocks.CellStyle, typeset.Left, b.Fit(r.Text, blocks.CellStyle, barFrom-labelWide-6))
				bar(b, top+3, r.Gaps)
			}
			d.Y = top + 2
			if spans[0].Text != "" {
				d.ParagraphWithin(indent, width, 1.22, spans...)
			}
		})
		d.Y = top + height
		page.Rule(d.Left(), d.Y, d.TextWidth(), 0, 0.4, blocks.Hairline)
	}
}

// bar is a day in which something was heard, with its silences hatched.
func bar(b *blocks.Builder, y float64, gaps []day.Gap) {
	page, x := b.Paper.Page(), b.Paper.Left()+barFrom
	page.Fill(x, y, barWide, 9, blocks.HeardTint)
	for _, g := range gaps {
		from, width := x+barWide*g.From, max(barWide*(g.To-g.From), 2.5)
		page.Fill(from, y, width, 9, blocks.White)
		blocks.Hatch(page, from, y, width, 9)
	}
}

// halves writes two sections beside each other.
func halves(b *blocks.Builder, left, right day.Section) {
	d := b.Paper
	half := (d.TextWidth() + between) / 2
	draw := func() {
		top, lowest := d.Y, d.Y
		for _, side := range []struct {
			s        day.Section
			from, to float64
		}{{left, 0, half}, {right, half, 0}} {
			d.Y = top
			d.Within(side.from, side.to, func() {
				b.PartTitle(side.s.Title, side.s.Aside)
				rows(b, side.s.Rows)
			})
			lowest = max(lowest, d.Y)
		}
		d.Y = lowest
	}
	if !d.Whole(draw) {
		for _, s := range []day.Section{left, right} {
			b.PartTitle(s.Title, s.Aside)
			rows(b, s.Rows)
			d.Y += gap
		}
	}
}

// balance writes a sum.
func balance(b *blocks.Builder, s day.Section) {
	b.PartTitle(s.Title, s.Aside)
	d := b.Paper
	page, top := d.Page(), d.Y
	width := d.TextWidth() / float64(len(s.Figures))
	for i, f := range s.Figures {
		x := d.Left() + width*float64(i)
		style := blocks.Colored(number, color(f.Level))
		if f.Level == day.Quiet {
			style.Color = blocks.Good
		}
		d.Tagged(typeset.Text, func() {
			at := x + page.Text(x, top+22, style, typeset.Left, f.Value) + 5
			page.Text(at, top+22, blocks.CellStyle, typeset.Left, f.Label)
		})
		page.Text(x, top+34, blocks.SubStyle, typeset.Left, b.Fit(f.Note, blocks.SubStyle, width-6))
	}
	d.Y = top + 40
	rows(b, s.Rows)
}

// letters stand for levels, so that color alone says nothing.
var letters = map[day.Level]string{day.Critical: "C", day.High: "H", day.Medium: "M", day.Unknown: "?"}

const (
	serverAt = 18.0
	whatAt   = 130.0
	alertsAt = 96.0 // from the right edge
	sinceAt  = 4.0
)

// trouble lists servers.
func trouble(b *blocks.Builder, s day.Section) {
	b.PartTitle(s.Title, s.Aside)
	d := b.Paper
	wide := d.TextWidth()
	if len(s.Rows) > 0 && letters[s.Rows[0].Level] != "" && s.Rows[0].Since != "" {
		b.Heads([]blocks.Head{
			{At: serverAt, Words: "Server"}, {At: whatAt, Words: "What it needs most"},
			{At: wide - alertsAt, Align: typeset.Right, Words: "Alerts, change"}, {At: wide - sinceAt, Align: typeset.Right, Words: "Since"},
		})
	}
	for _, r := range s.Rows {
		if r.Since == "" {
			rows(b, []day.Row{r})
			continue
		}
		width := wide - whatAt - alertsAt - 44
		span := typeset.Span{Text: twoLines(b, r.Text, blocks.CellStyle, width), Style: blocks.CellStyle}
		height := max(d.ParagraphHeight(width, 1.22, span), line) + 4
		d.Need(height)
		top, page := d.Y, d.Page()
		d.Grouped(typeset.GridRow, typeset.GridCell, func() {
			mark(b, r.Level, top)
			page.Text(d.Left()+serverAt, top+11, blocks.CellStrong, typeset.Left, b.Fit(r.Label, blocks.CellStrong, whatAt-serverAt-6))
			d.Y = top + 2
			d.ParagraphWithin(whatAt, width, 1.22, span)
			page.Text(d.Left()+wide-alertsAt, top+11, blocks.CellStyle, typeset.Right, r.Alerts)
			page.Text(d.Left()+wide-sinceAt, top+11, blocks.CellStyle, typeset.Right, r.Since)
		})
		d.Y = top + height
		page.Rule(d.Left(), d.Y, wide, 0, 0.4, blocks.Hairline)
	}
}

// twoLines is what of a text fits into two lines: with more, a digest of many servers would have three pages.
func twoLines(b *blocks.Builder, text string, style typeset.Style, width float64) string {
	first, rest := b.FirstLine(text, style, width)
	if rest == "" {
		return first
	}
	return first + " " + b.Fit(rest, style, width)
}

func mark(b *blocks.Builder, l day.Level, top float64) {
	page, left := b.Paper.Page(), b.Paper.Left()
	style := typeset.Style{Face: typeset.Bold, Size: 8, Color: blocks.White}
	if l == day.Unknown {
		blocks.Hatch(page, left, top+3, 11, 11)
		page.Fill(left+2.5, top+4, 6, 9, blocks.White)
		style.Color = blocks.Caution
	} else {
		page.Fill(left, top+3, 11, 11, color(l))
	}
	page.Text(left+5.5, top+11.5, style, typeset.Center, letters[l])
}
