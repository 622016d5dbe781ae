package pdf

import (
	"fmt"
	"strings"

	"muster/domain/report"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// builder puts one document on paper.
type builder struct {
	r      *Renderer
	doc    snapshot.Document
	kind   report.Definition
	d      *typeset.Paper
	inputs string // digest of the canonical document

	assessed analysis.Assessed
	findings []analysis.CheckFindings
	accepted analysis.SeverityCounts // findings that exceptions cover
	plan     []analysis.Step
	verdict  analysis.Verdict
	risks    []analysis.TableRisk // of a verdict on data

	more         float64 // that the pages after page 1 end above their usual end
	sections     int
	contentsPage int // page 1, unless a hostile name fills it
	contentsAt   float64
	cut          cut  // of page 1
	inline       bool // the contents stand in lines
	folded       bool // page 1 has not room for every instance
}

// newBuilder returns a builder that knows what there is to say, and has no paper yet.
// Error: *report.UnknownKindError.
func newBuilder(r *Renderer, doc snapshot.Document, inputs string) (builder, error) {
	kind, err := report.Find(report.Kind(doc.Kind))
	if err != nil {
		return builder{}, err
	}
	verdict, err := analysis.Judge(doc)
	if err != nil {
		return builder{}, err
	}
	b := builder{
		r: r, doc: doc, kind: kind, inputs: inputs,
		assessed: analysis.AssessmentCoverage(doc),
		findings: analysis.Findings(doc),
		accepted: analysis.CountBySeverity(analysis.Accepted(doc)),
		plan:     analysis.Plan(doc),
		verdict:  verdict,
	}
	if kind.Verdict == report.VerdictOnData {
		b.risks = analysis.Risks(doc)
	}
	return b, nil
}

// compose lays out the whole report. The error says that the kind asks for something
// that this program cannot print.
func (b *builder) compose() error {
	sections, err := b.sectionsOf(b.kind)
	if err != nil {
		return err
	}
	front, err := b.front()
	if err != nil {
		return err
	}
	b.cover(front, len(sections))
	b.d.EndAbove(pageMargin.Bottom + b.more)
	b.d.NewPage()
	for _, s := range sections {
		b.heading(s.title)
		s.write()
	}
	b.howToCheck()
	b.contents()
	b.furniture()
	return nil
}

// info is the PDF's metadata. It repeats what identifies the report, so that a
// file in hand says which one it is even to a program that cannot read text.
func (b *builder) info() typeset.Info {
	return typeset.Info{
		Title:    b.kind.PaperTitle + " – " + b.doc.Organization.Name,
		Author:   "Muster",
		Subject:  "Report request " + b.doc.ReportID.String(),
		Keywords: fmt.Sprintf("report-request:%s inputs-sha256:%s witness:%s", b.doc.ReportID, b.inputs, b.witness()),
		Creator:  "Muster " + b.r.build.Version + " (" + b.r.build.Commit + ")",
		Created:  b.doc.AsOf,
	}
}

// heading starts a section: never at the foot of a page, and with air above.
func (b *builder) heading(title string) {
	b.sections++
	b.d.Settle()
	b.d.Need(110)
	b.d.Skip(26)
	b.d.Keep()
	b.d.Mark(title, 0)
	page, left := b.d.Page(), b.d.Left()
	number := number(b.sections)
	page.Text(left, b.d.Y+16, typeset.Style{Face: typeset.Bold, Size: 16, Color: accent}, typeset.Left, number)
	page.Text(left+22, b.d.Y+16, h1Style, typeset.Left, title)
	b.d.Y += 25
	page.Fill(left, b.d.Y, b.d.TextWidth(), 1.1, accent)
	b.d.Y += 12
}

// sub starts a subsection. It stays with the first row, paragraph or bar of
// what follows.
func (b *builder) sub(title string) {
	b.d.Need(60)
	b.d.Skip(14)
	b.d.Keep()
	b.d.Mark(title, 1)
	b.d.Paragraph(0, 1.3, typeset.Span{Text: title, Style: h2Style})
	b.d.Y += 5
}

// para writes a paragraph of body text.
func (b *builder) para(text string) {
	b.spans(typeset.Span{Text: text, Style: bodyStyle})
}

func (b *builder) spans(spans ...typeset.Span) {
	b.d.Paragraph(0, leading, spans...)
	b.d.Y += 6
}

// small writes a note under a table or a chart.
func (b *builder) small(text string) {
	b.d.Paragraph(0, 1.4, typeset.Span{Text: text, Style: smallStyle})
	b.d.Settle()
	b.d.Y += 8
}

// label writes what stands to the left of a paragraph that is about to be
// written with that size and leading, on the same baseline.
func (b *builder) label(words string, style typeset.Style, size, leading float64) {
	b.d.Page().Text(b.d.Left(), typeset.Baseline(b.d.Y, size*leading, size), style, typeset.Left, words)
}

// The three states of an empty place: the specification's three different
// sentences, never one "No data".
const (
	stateClean         = "Clean"
	stateNotAssessed   = "Not assessed"
	stateNotApplicable = "Not applicable"
)

// state writes one of the three sentences beside a coloured bar.
func (b *builder) state(state, text string) {
	color := map[string]typeset.Color{stateClean: good, stateNotAssessed: caution, stateNotApplicable: muted}[state]
	span := typeset.Span{Text: text, Style: bodyStyle}
	height := b.d.ParagraphHeight(b.d.TextWidth()-12, leading, span)
	b.d.Need(min(height, 200) + 4)
	b.d.Settle()
	top, page := b.d.Y, b.d.Page()
	b.d.Paragraph(12, leading, span)
	if b.d.Page() == page {
		page.Fill(b.d.Left(), top+1, 2.5, height-2, color)
	}
	b.d.Y += 8
}

// scoped is what is written of a report that has an instance in scope.
func (b *builder) scoped(write func()) func() {
	if b.assessed.Total == 0 {
		return b.noInstance
	}
	return write
}

func (b *builder) noInstance() {
	b.state(stateNotApplicable, "Not applicable: no instance is in scope of this report.")
}

// clean writes the first of the three sentences, in green only if it covers everything in
// scope.
func (b *builder) clean(whole bool, text string) {
	if whole {
		b.state(stateClean, text)
	} else {
		b.state(stateNotAssessed, text)
	}
}

// table draws a table with a row for each of rows, and leaves air below.
func table[T any](b *builder, columns []typeset.Column, rows []T, cells func(i int, row T) []typeset.Cell) {
	b.d.Table(typeset.Table{
		Look: tableLook, Columns: columns,
		Rows: len(rows), Row: func(i int) []typeset.Cell { return cells(i, rows[i]) },
		Rest: "A table ends here. A report over fewer instances has the rest.",
	})
	b.d.Y += 7
}

func text(s string) typeset.Cell   { return typeset.Cell{Text: s} }
func strong(s string) typeset.Cell { return typeset.Cell{Text: s, Style: cellStrong} }
func entry(s string) typeset.Cell {
	return typeset.Cell{Text: s, Style: cellStrong, Entry: shorten(s, 80)}
}
func faint(s string) typeset.Cell { return typeset.Cell{Text: s, Style: cellMuted} }
func code(s string) typeset.Cell  { return typeset.Cell{Text: s, Style: codeStyle} }

// severity is a cell with the severity's name and colour.
func severity(s string) typeset.Cell {
	return typeset.Cell{Text: s, Style: cellStrong, Mark: severityColor[s]}
}

// dagger marks a number that stands on partial data.
func dagger(s string, partial bool) string {
	if partial {
		return s + "†"
	}
	return s
}

// whole says whether every instance in scope was assessed without a gap.
func (b *builder) whole() bool {
	a := b.assessed
	return a.Assessed == a.Total && a.Gaps == 0
}

// unlooked says what a sentence about the assessed instances does not stand on.
func (b *builder) unlooked() string {
	var parts []string
	if missing := b.assessed.Total - b.assessed.Assessed; missing > 0 {
		parts = append(parts, count(missing, "instance was", "instances were")+" not assessed")
	}
	if gaps := b.assessed.Gaps; gaps > 0 {
		parts = append(parts, count(gaps, "check", "checks")+" not run")
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", ")
}

// partial says whether any active instance in scope was not fully assessed.
func (b *builder) partial() bool {
	a := b.assessed
	return a.Partial+a.Unreachable+a.Never+a.Unchecked > 0
}
