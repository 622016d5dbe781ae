package pdf

import (
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"

	"muster/eventstore/witness"
	"muster/internal/pdf/typeset"
	"muster/internal/snapshot/analysis"
)

// front is what page 1 says before the contents, beside the verdict.
type front struct {
	figures []figure
	gaps    string // the section that says what is missing
}

// figure is one of the three to five numbers of page 1.
type figure struct {
	value, label, note string
	color              typeset.Color
}

// verdictColor is that of a verdict's state: green where everything was looked at and
// nothing is wrong, and nowhere else.
func verdictColor(state string) typeset.Color {
	switch state {
	case analysis.Clean:
		return good
	case analysis.Unknown:
		return caution
	case analysis.Nothing:
		return muted
	default:
		return severityColor[state]
	}
}

// cover fills page 1: what it is, of whom, as of when; the verdict; figures;
// and room for the contents, whose page numbers are known at the end.
func (b *builder) cover(f front, sections int) {
	d, page := b.d, b.d.Page()
	left, width := d.Left(), d.TextWidth()
	page.Fill(0, 0, d.Width, 6, accent)
	page.Text(left, 44, typeset.Style{Face: typeset.Bold, Size: 11, Color: accent}, typeset.Left, "Muster")
	right := left + width
	right = b.pill(right, 44, "BETA", muted)
	if b.doc.Organization.Demo {
		b.pill(right-6, 44, "DEMO DATA", caution)
	}
	d.Y = 92
	d.Paragraph(0, 1.15, typeset.Span{Text: b.title, Style: titleStyle})
	d.Y += 4
	d.Paragraph(0, 1.3, typeset.Span{Text: shorten(b.doc.Organization.Name, 160), Style: orgStyle})
	d.Y += 14
	b.particulars()
	b.sayVerdict()
	b.figures(f.figures)
	if slices.ContainsFunc(f.figures, func(f figure) bool { return strings.HasSuffix(f.value, "†") }) {
		d.Y -= 8
		b.small("† Stands on partial data: not everything could be assessed. “" + f.gaps + "” says what is missing and why.")
		d.Y += 8
	}
	d.Need(24 + contentsLine*float64(sections))
	d.Page().Text(left, d.Y+9, labelStyle, typeset.Left, "CONTENTS")
	d.Y += 18
	b.contentsPage, b.contentsAt = len(d.Pages())-1, d.Y
}

// pill draws a small framed label whose right edge is at x and returns its left.
func (b *builder) pill(x, baseline float64, label string, c typeset.Color) float64 {
	style := typeset.Style{Face: typeset.Bold, Size: 6.8, Color: white}
	width := b.r.fonts.Width(style.Face, style.Size, label) + 12
	b.d.Page().Fill(x-width, baseline-10, width, 13.5, c)
	b.d.Page().Text(x-width/2, baseline-1, style, typeset.Center, label)
	return x - width
}

// particulars lists who, what and when in two columns.
func (b *builder) particulars() {
	doc := b.doc
	rows := [][2]string{{"Scope", shorten(doc.ScopeLabel, 200)}}
	if doc.Window != nil {
		rows = append(rows, [2]string{"Window", minute(doc.Window.From) + " – " + minute(doc.Window.To)})
	}
	if doc.Database != nil {
		rows = append(rows, [2]string{"Database", shorten(doc.Database.Name, 120)})
	}
	rows = append(rows,
		[2]string{"Snapshot", instant(doc.AsOf)},
		[2]string{"Requested", instant(doc.RequestedAt) + " by " + shorten(doc.Requester.Shown(), 120)},
		[2]string{"Request", b.doc.ReportID.String()},
		[2]string{"Built by", "Muster " + b.r.build.Version + ", Beta"},
	)
	if doc.Organization.Demo {
		rows = append(rows, [2]string{"Demo", "This organization holds demonstration data, not a real fleet."})
	}
	for _, row := range rows {
		b.label(row[0], mutedStyle, bodyStyle.Size, 1.5)
		style := bodyStyle
		if row[0] == "Request" {
			style = linked(style, b.address())
		}
		b.d.Paragraph(86, 1.5, typeset.Span{Text: row[1], Style: style})
	}
	b.d.Y += 16
}

// address is that of the report's page; empty where the installation has none that
// others can reach.
func (b *builder) address() string {
	if b.doc.PublicURL == "" {
		return ""
	}
	return strings.TrimSuffix(b.doc.PublicURL, "/") + "/reports/" + b.doc.ReportID.String()
}

// sayVerdict writes the verdict: what to act upon, and smaller what else is grave.
func (b *builder) sayVerdict() {
	d, v := b.d, b.verdict
	lead, rest := typeset.Span{Text: v.Lead, Style: verdictStyle}, typeset.Span{Text: v.Rest, Style: bodyStyle}
	height := d.ParagraphHeight(d.TextWidth()-32, verdictLeading, lead) + 22
	if v.Rest != "" {
		height += d.ParagraphHeight(d.TextWidth()-32, leading, rest) + 5
	}
	d.Page().Fill(d.Left(), d.Y, d.TextWidth(), height, wash)
	d.Page().Fill(d.Left(), d.Y, 4, height, verdictColor(v.State))
	bottom := d.Y + height
	d.Y += 11
	d.ParagraphWithin(18, d.TextWidth()-32, verdictLeading, lead)
	if v.Rest != "" {
		d.Y += 5
		d.ParagraphWithin(18, d.TextWidth()-32, leading, rest)
	}
	d.Y = bottom + 14
}

const verdictLeading = 1.4

// figures draws the tiles side by side.
func (b *builder) figures(figures []figure) {
	d := b.d
	gap := 10.0
	width := (d.TextWidth() - gap*float64(len(figures)-1)) / float64(len(figures))
	height := 66.0
	d.Need(height)
	for i, f := range figures {
		x := d.Left() + float64(i)*(width+gap)
		d.Page().Fill(x, d.Y, width, 1.6, f.color)
		d.Page().Text(x, d.Y+17, labelStyle, typeset.Left, f.label)
		style := figureStyle
		for b.r.fonts.Width(style.Face, style.Size, f.value) > width && style.Size > 9 {
			style.Size--
		}
		d.Page().Text(x, d.Y+41, style, typeset.Left, f.value)
		d.Page().Text(x, d.Y+55, typeset.Style{Face: typeset.Regular, Size: 7.4, Color: muted}, typeset.Left, f.note)
	}
	d.Y += height + 14
}

// contentsLine is the height of a line of the contents.
const contentsLine = 21.0

// contents writes the list of sections on page 1, now that pages are known.
func (b *builder) contents() {
	page, y := b.d.Pages()[b.contentsPage], b.contentsAt
	left, right := b.d.Left(), b.d.Left()+b.d.TextWidth()
	n := 0
	for i, m := range b.d.Marks() {
		if m.Level != 0 {
			continue
		}
		n++
		page.Text(left, y+10, typeset.Style{Face: typeset.Bold, Size: 9.5, Color: accent}, typeset.Left, strconv.Itoa(n))
		page.Text(left+20, y+10, bodyStyle, typeset.Left, m.Title)
		page.Text(right, y+10, bodyStyle, typeset.Right, strconv.Itoa(m.Page))
		page.Rule(left, y+16, right-left, 0, 0.4, hairline)
		page.Link(left, y-3, right-left, 19, i)
		y += contentsLine
	}
}

// furniture puts the header on every page but the first and the footer on all.
func (b *builder) furniture() {
	pages := b.d.Pages()
	left, right := b.d.Left(), b.d.Left()+b.d.TextWidth()
	style := typeset.Style{Face: typeset.Regular, Size: 7.4, Color: muted}
	organization := b.fit(b.doc.Organization.Name, style, 200)
	for i, page := range pages {
		if i > 0 {
			page.Text(left, 44, style, typeset.Left, b.title+" · "+organization)
			page.Text(right, 44, style, typeset.Right, "Snapshot "+instant(b.doc.AsOf))
			page.Rule(left, 51, right-left, 0, 0.5, hairline)
		}
		y := b.d.Height - 42
		page.Rule(left, y-12, right-left, 0, 0.5, hairline)
		page.Text(left, y, style, typeset.Left, "Confidential – "+organization+" · request "+b.doc.ReportID.String())
		page.Text(right, y, style, typeset.Right, "Page "+strconv.Itoa(i+1)+" of "+strconv.Itoa(len(pages)))
		page.Text(left, y+10.5, style, typeset.Left, "Witness "+b.witness())
	}
}

// witness is the log's head when the inputs were gathered, whole and in the form
// that `muster events verify --witness` takes.
func (b *builder) witness() string {
	w := b.doc.Witness
	return witness.Format(shorten(w.Log, 20), w.Position, shorten(w.Hash, 2*sha256.Size))
}

func shorten(s string, n int) string { return analysis.Shorten(s, n) }

// fit shortens text to a width.
func (b *builder) fit(s string, style typeset.Style, width float64) string {
	for n := 60; n > 4; n -= 4 {
		short := shorten(s, n)
		if b.r.fonts.Width(style.Face, style.Size, b.r.fonts.Clean(short)) <= width {
			return short
		}
	}
	return shorten(s, 4)
}
