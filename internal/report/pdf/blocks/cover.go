package blocks

import (
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"

	"muster/eventstore/witness"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/text/pageaddress"
)

// Front is what page 1 says before the contents, beside the verdict.
type Front struct {
	Figures []Figure
	Gaps    string // the section that says what is missing
	// Below is what page 1 goes on with, above contents that stand in lines; nil: nothing
	// does, and the contents fill it.
	Below func()
	Dense bool // below fills the page
}

// Figure is one of the three to five numbers of page 1. Before is the sign before it where they are a sum.
type Figure struct {
	Before             string
	Value, Label, Note string
	Color              typeset.Color
}

// VerdictColor is that of a verdict's state: green where everything was looked at and
// nothing is wrong, and nowhere else.
func VerdictColor(state string) typeset.Color {
	switch state {
	case analysis.Clean:
		return Good
	case analysis.Unknown:
		return Caution
	case analysis.Nothing:
		return Muted
	default:
		return SeverityColor[state]
	}
}

// cut is the layout of page 1: roomy if the contents fill it, dense if it has to be enough for
// a decision.
type cut struct {
	top, gap, pad, contents                  float64
	lift                                     float64 // what figures and their note are closer by
	label, gutter, leading                   float64 // of the particulars
	columns                                  int     // they stand in
	title, organization, body, verdict, rest typeset.Style
}

var (
	roomy = cut{
		top: 92, gap: 14, pad: 11, label: 86, leading: 1.5, contents: 18, columns: 1,
		title: titleStyle, organization: orgStyle, body: BodyStyle, verdict: verdictStyle, rest: BodyStyle,
	}
	dense = cut{
		top: 50, gap: 6, pad: 6, lift: 4, label: 54, gutter: 4, leading: 1.4, contents: 12, columns: 2,
		title:        typeset.Style{Face: typeset.Bold, Size: 23, Color: Ink},
		organization: typeset.Style{Face: typeset.Regular, Size: 11.5, Color: Muted},
		body:         RowStyle,
		verdict:      typeset.Style{Face: typeset.Bold, Size: 13, Color: Ink},
		rest:         typeset.Style{Face: typeset.Regular, Size: 9, Color: Ink},
	}
)

// Cover fills page 1: kind, scope and time of the report; the verdict; figures; and room for
// the contents, whose page numbers are known at the end.
func (b *Builder) Cover(f Front, sections int) {
	d, page := b.Paper, b.Paper.Page()
	left, width := d.Left(), d.TextWidth()
	page.Fill(0, 0, d.Width, 6, Accent)
	page.Text(left, 44, typeset.Style{Face: typeset.Bold, Size: 11, Color: Accent}, typeset.Left, "Muster")
	right := left + width
	right = b.pill(right, "BETA", Muted)
	if b.Doc.Organization.Demo {
		b.pill(right-6, "DEMO DATA", Caution)
	}
	b.cut = roomy
	if f.Dense {
		b.cut = dense
	}
	d.Y = b.cut.top
	d.Paragraph(0, 1.3, typeset.Span{Text: strings.ToUpper(b.Kind.PaperTitle), Style: kindStyle})
	d.Tagged(typeset.Title, func() {
		d.Paragraph(0, 1.15, typeset.Span{Text: Shorten(b.Subject(), mostTitle), Style: b.cut.title})
	})
	if organization := Shorten(b.Doc.Organization.Name, 160); organization != b.Subject() {
		d.Y++
		d.Paragraph(0, 1.3, typeset.Span{Text: organization, Style: b.cut.organization})
	}
	d.Y += b.cut.gap
	b.particulars()
	b.sayVerdict()
	b.figures(f.Figures)
	if slices.ContainsFunc(f.Figures, func(f Figure) bool { return strings.HasSuffix(f.Value, "†") }) {
		d.Y -= 2
		b.Small("† Stands on partial data: not everything could be assessed. “" + f.Gaps + "” says what is missing and why.")
		d.Y += 8 - 2*b.cut.lift
	}
	b.inline = f.Below != nil
	if b.inline {
		f.Below()
		d.Need(ContentsInline)
	} else {
		d.Need(24 + contentsLine*float64(sections))
	}
	d.Page().Text(left, d.Y+9, labelStyle, typeset.Left, "CONTENTS")
	d.Y += b.cut.contents
	b.contentsPage, b.contentsAt, b.contentsIn = len(d.Pages())-1, d.Y, d.Place(typeset.Contained)
}

// pill draws a small framed label whose right edge is at x and returns its left.
func (b *Builder) pill(x float64, label string, c typeset.Color) float64 {
	const baseline = 44.0 // that of the name beside it
	style := typeset.Style{Face: typeset.Bold, Size: 8, Color: White}
	width := b.Fonts.Width(style.Face, style.Size, label) + 12
	b.Paper.Page().Fill(x-width, baseline-10, width, 13.5, c)
	b.Paper.Page().Text(x-width/2, baseline-1, style, typeset.Center, label)
	return x - width
}

// particulars lists the requester, the scope and the times.
func (b *Builder) particulars() {
	doc := b.Doc
	rows := [][2]string{{"Scope", Shorten(doc.ScopeLabel, 200)}}
	if owner := analysis.OneOwner(doc); owner != nil {
		rows = append(rows, [2]string{"Owner", Shorten(owner.Name, 120)})
	}
	if doc.Window != nil {
		rows = append(rows, [2]string{"Window", Minute(doc.Window.From) + " – " + Minute(doc.Window.To)})
	}
	if doc.Database != nil {
		rows = append(rows, [2]string{"Database", Shorten(doc.Database.Name, 120)})
	}
	rows = append(rows,
		[2]string{"Snapshot", Instant(doc.AsOf)},
		[2]string{"Requested", Instant(doc.RequestedAt) + " by " + Shorten(doc.Requester.Shown(), 120)},
		[2]string{"Request", b.Doc.ReportID.String()},
		[2]string{"Built by", "Muster " + b.Version + ", Beta"},
	)
	if doc.Organization.Demo {
		rows = append(rows, [2]string{"Demo", "Demonstration data, not a real fleet."})
	}
	top, lowest := b.Paper.Y, b.Paper.Y
	width := b.Paper.TextWidth() / float64(b.cut.columns)
	each := (len(rows) + b.cut.columns - 1) / b.cut.columns
	for i, row := range rows {
		if i%each == 0 {
			b.Paper.Y = top
		}
		x := width * float64(i/each)
		baseline := typeset.Baseline(b.Paper.Y, b.cut.body.Size*b.cut.leading, b.cut.body.Size)
		b.Paper.Page().Text(b.Paper.Left()+x, baseline, Colored(b.cut.body, Muted), typeset.Left, row[0])
		style := b.cut.body
		if row[0] == "Request" {
			style = Linked(style, b.address())
		}
		b.Paper.ParagraphWithin(x+b.cut.label, width-b.cut.label-b.cut.gutter, b.cut.leading, typeset.Span{Text: row[1], Style: style})
		lowest = max(lowest, b.Paper.Y)
	}
	b.Paper.Y = lowest + b.cut.gap
}

// address is that of the report's page; empty where the installation has none that
// others can reach.
func (b *Builder) address() string {
	if b.Doc.PublicURL == "" {
		return ""
	}
	return pageaddress.Link(b.Doc.PublicURL, pageaddress.Report, b.Doc.ReportID.String())
}

// mostTitle is how many characters of a name the title has.
const mostTitle = 70

// Subject is what a report is about: its one server, else its scope, else the organization.
func (b *Builder) Subject() string {
	all := strings.HasPrefix(b.Doc.ScopeLabel, b.Kind.Everything)
	switch {
	case b.Doc.Database != nil && len(b.Doc.Instances) == 1:
		return b.Doc.Instances[0].Name + " / " + b.Doc.Database.Name
	case len(b.Doc.Instances) == 1:
		return b.Doc.Instances[0].Name
	case b.Doc.ScopeLabel != "" && !all:
		return b.Doc.ScopeLabel
	}
	return b.Doc.Organization.Name
}

// sayVerdict writes the verdict: its first sentence as a headline, then the other points.
func (b *Builder) sayVerdict() {
	d, v := b.Paper, b.Verdict
	headline, others := v.Headline()
	if v.Rest != "" && others != "" {
		others += " "
	}
	v.Rest = others + v.Rest
	lead, rest := typeset.Span{Text: headline, Style: b.cut.verdict}, typeset.Span{Text: v.Rest, Style: b.cut.rest}
	height := d.ParagraphHeight(d.TextWidth()-32, verdictLeading, lead) + 2*b.cut.pad
	if v.Rest != "" {
		height += d.ParagraphHeight(d.TextWidth()-32, Leading, rest) + 4
	}
	d.Page().Fill(d.Left(), d.Y, d.TextWidth(), height, Wash)
	d.Page().Fill(d.Left(), d.Y, 4, height, VerdictColor(v.State))
	bottom := d.Y + height
	d.Y += b.cut.pad
	d.ParagraphWithin(18, d.TextWidth()-32, verdictLeading, lead)
	if v.Rest != "" {
		d.Y += 4
		d.ParagraphWithin(18, d.TextWidth()-32, Leading, rest)
	}
	d.Y = bottom + b.cut.gap
}

const verdictLeading = 1.25

// figures draws the tiles side by side.
func (b *Builder) figures(figures []Figure) {
	d := b.Paper
	gap := 10.0
	width := (d.TextWidth() - gap*float64(len(figures)-1)) / float64(len(figures))
	height := 64.0
	d.Need(height)
	for i, f := range figures {
		x := d.Left() + float64(i)*(width+gap)
		if f.Before != "" {
			d.Page().Text(x-gap-7, d.Y+37, typeset.Style{Face: typeset.Regular, Size: 16, Color: Muted}, typeset.Right, f.Before)
		}
		d.Page().Fill(x, d.Y, width, 1.6, f.Color)
		d.Page().Text(x, d.Y+17, labelStyle, typeset.Left, f.Label)
		style := figureStyle
		for b.Fonts.Width(style.Face, style.Size, f.Value) > width && style.Size > 9 {
			style.Size--
		}
		d.Page().Text(x, d.Y+41, style, typeset.Left, f.Value)
		note := typeset.Style{Face: typeset.Regular, Size: 8, Color: Muted}
		line, rest := b.FirstLine(f.Note, note, width)
		d.Page().Text(x, d.Y+53, note, typeset.Left, line)
		d.Page().Text(x, d.Y+62, note, typeset.Left, b.Fit(rest, note, width))
	}
	d.Y += height + b.cut.gap - b.cut.lift
}

// contentsLine is the height of a line of the contents.
const contentsLine = 21.0

// Contents writes the list of sections on page 1, now that pages are known.
func (b *Builder) Contents() { b.Paper.Under(b.contentsIn, typeset.Text, b.contents) }

func (b *Builder) contents() {
	if b.inline {
		b.inlineContents()
		return
	}
	page, y := b.Paper.Pages()[b.contentsPage], b.contentsAt
	left, right := b.Paper.Left(), b.Paper.Left()+b.Paper.TextWidth()
	n := 0
	for i, m := range b.Paper.Marks() {
		if m.Level != 0 {
			continue
		}
		n++
		page.Text(left, y+10, typeset.Style{Face: typeset.Bold, Size: 9.5, Color: Accent}, typeset.Left, strconv.Itoa(n))
		page.Text(left+20, y+10, BodyStyle, typeset.Left, m.Title)
		page.Text(right, y+10, BodyStyle, typeset.Right, strconv.Itoa(m.Page))
		page.Rule(left, y+16, right-left, 0, 0.4, Hairline)
		page.Link(left, y-3, right-left, 19, i)
		y += contentsLine
	}
}

// Furniture puts the header on every page but the first and the footer on all.
func (b *Builder) Furniture() { b.Paper.Artifact(b.furniture) }

func (b *Builder) furniture() {
	pages := b.Paper.Pages()
	left, right := b.Paper.Left(), b.Paper.Left()+b.Paper.TextWidth()
	style := typeset.Style{Face: typeset.Regular, Size: 8, Color: Muted}
	organization := b.Fit(b.Doc.Organization.Name, style, 150)
	about := organization
	if b.Subject() != b.Doc.Organization.Name {
		about = b.Fit(b.Subject(), style, 150) + " · " + organization
	}
	for i, page := range pages {
		if i > 0 {
			page.Text(left, 40, style, typeset.Left, b.Kind.PaperTitle+" · "+about)
			page.Text(right, 40, style, typeset.Right, "Snapshot "+Instant(b.Doc.AsOf))
			page.Rule(left, 46, right-left, 0, 0.5, Hairline)
		}
		y := b.Paper.Height - 27
		page.Rule(left, y-10, right-left, 0, 0.5, Hairline)
		page.Text(left, y, style, typeset.Left, "Confidential · "+organization+" · request "+b.Doc.ReportID.String())
		page.Text(right, y, style, typeset.Right, "Page "+strconv.Itoa(i+1)+" of "+strconv.Itoa(len(pages)))
	}
}

// witness is the log's head when the inputs were gathered, whole and in the form
// that `muster events verify --witness` takes.
func (b *Builder) witness() string {
	w := b.Doc.Witness
	return witness.Format(Shorten(w.Log, 20), w.Position, Shorten(w.Hash, 2*sha256.Size))
}

// Shorten shortens text to n characters.
func Shorten(s string, n int) string { return analysis.Shorten(s, n) }

// Fit shortens text to a width.
func (b *Builder) Fit(s string, style typeset.Style, width float64) string {
	for n := 120; n > 1; n -= min(4, max(n-4, 1)) {
		if short := Shorten(s, n); b.Width(short, style) <= width {
			return short
		}
	}
	return Shorten(s, 1)
}

// FirstLine is what of a sentence fits into a line, by whole words, and the rest of it.
func (b *Builder) FirstLine(s string, style typeset.Style, width float64) (line, rest string) {
	line = s
	for b.Width(line, style) > width {
		i := strings.LastIndexByte(line, ' ')
		if i < 0 {
			return b.Fit(s, style, width), ""
		}
		line = line[:i]
	}
	return line, strings.TrimPrefix(s[len(line):], " ")
}

// Width is how wide text is in a style, in points.
func (b *Builder) Width(s string, style typeset.Style) float64 {
	return b.Fonts.Width(style.Face, style.Size, b.Fonts.Clean(s))
}
