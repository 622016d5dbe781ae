package blocks

import (
	"fmt"
	"strings"

	"muster/domain/report"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/sheet"
	"muster/internal/report/snapshot/sheets"
)

// Builder puts one document on paper.
type Builder struct {
	Fonts           *typeset.Fonts
	Version, Commit string // of the program
	Doc             snapshot.Document
	Kind            report.Definition
	Paper           *typeset.Paper
	Inputs          string // digest of the canonical document

	Assessed analysis.Assessed
	Findings []analysis.CheckFindings
	Accepted analysis.SeverityCounts // findings that exceptions cover
	Debt     analysis.Debt
	Plan     []analysis.Step
	Verdict  analysis.Verdict
	Risks    []analysis.TableRisk // of a verdict on data
	Sheet    sheet.Sheet          // of a summary

	More         float64 // that the pages after page 1 end above their usual end
	sections     int
	contentsPage int // page 1, unless a hostile name fills it
	contentsAt   float64
	contentsIn   int    // their place in the structure
	cut          cut    // of page 1
	inline       bool   // the contents stand in lines
	Folded       bool   // page 1 has not room for every instance
	FactsAbove   bool   // page 1 has the facts of the server
	Objects      string // the title of the section that names every object of a finding
}

// New returns a builder that knows what there is to say, and has no paper yet.
// Error: *report.UnknownKindError.
func New(doc snapshot.Document, inputs string) (Builder, error) {
	kind, err := report.Find(report.Kind(doc.Kind))
	if err != nil {
		return Builder{}, err
	}
	verdict, err := analysis.Judge(doc)
	if err != nil {
		return Builder{}, err
	}
	b := Builder{
		Doc: doc, Kind: kind, Inputs: inputs,
		Assessed: analysis.AssessmentCoverage(doc),
		Findings: analysis.Findings(doc),
		Accepted: analysis.CountBySeverity(analysis.Accepted(doc)),
		Plan:     analysis.Plan(doc),
		Verdict:  verdict,
	}
	b.Debt = analysis.DebtOf(doc, b.Findings)
	if kind.Verdict == report.VerdictOnData {
		b.Risks = analysis.Risks(doc)
	}
	if sheets.Has(kind) {
		if b.Sheet, err = sheets.Of(doc); err != nil {
			return Builder{}, err
		}
	}
	return b, nil
}

// Info is the PDF's metadata. It repeats what identifies the report, so that a
// file in hand says which one it is even to a program that cannot read text.
func (b *Builder) Info() typeset.Info {
	return typeset.Info{
		Title:    b.title(),
		Author:   "Muster",
		Subject:  "Report request " + b.Doc.ReportID.String(),
		Keywords: fmt.Sprintf("report-request:%s inputs-sha256:%s witness:%s", b.Doc.ReportID, b.Inputs, b.witness()),
		Creator:  "Muster " + b.Version + " (" + b.Commit + ")",
		Created:  b.Doc.AsOf,
	}
}

// title is that of the file: kind, subject, organization and day, so that no two files of a fleet have the same.
func (b *Builder) title() string {
	words := b.Kind.PaperTitle + " of " + Day(b.Doc.AsOf) + " – "
	if b.Subject() != b.Doc.Organization.Name {
		words += Shorten(b.Subject(), 160) + " – "
	}
	return words + b.Doc.Organization.Name
}

// Heading starts a section: never at the foot of a page, and with air above.
func (b *Builder) Heading(title string) {
	b.sections++
	b.Paper.Settle()
	b.Paper.Need(110)
	b.Paper.Skip(14)
	b.Paper.Keep()
	b.Paper.Mark(title, 0)
	page, left := b.Paper.Page(), b.Paper.Left()
	number := Number(b.sections)
	b.Paper.Tagged(typeset.Section, func() {
		page.Text(left, b.Paper.Y+16, typeset.Style{Face: typeset.Bold, Size: 16, Color: Accent}, typeset.Left, number)
		page.Text(left+22, b.Paper.Y+16, h1Style, typeset.Left, title)
	})
	b.Paper.Y += 22
	page.Fill(left, b.Paper.Y, b.Paper.TextWidth(), 1.1, Accent)
	b.Paper.Y += 8
}

// Sub starts a subsection. It stays with the first row, paragraph or bar of
// what follows.
func (b *Builder) Sub(title string) {
	b.Paper.Need(60)
	b.Paper.Skip(9)
	b.Paper.Keep()
	b.Paper.Mark(title, 1)
	b.Paper.Tagged(typeset.Part, func() { b.Paper.Paragraph(0, 1.3, typeset.Span{Text: title, Style: H2Style}) })
	b.Paper.Y += 3
}

// Para writes a paragraph of body text.
func (b *Builder) Para(text string) {
	b.Spans(typeset.Span{Text: text, Style: BodyStyle})
}

// Spans writes a paragraph of several styles.
func (b *Builder) Spans(spans ...typeset.Span) {
	b.Paper.Paragraph(0, Leading, spans...)
	b.Paper.Y += 5
}

// Small writes a note under a table or a chart.
func (b *Builder) Small(text string) {
	b.Paper.Paragraph(0, 1.28, typeset.Span{Text: text, Style: SmallStyle})
	b.Paper.Settle()
	b.Paper.Y += 6
}

// Label writes what stands to the left of a paragraph that is about to be
// written with that size and leading, on the same baseline.
func (b *Builder) Label(words string, style typeset.Style, size, leading float64) {
	b.Paper.Page().Text(b.Paper.Left(), typeset.Baseline(b.Paper.Y, size*leading, size), style, typeset.Left, words)
}

// The three states of an empty place: the specification's three different
// sentences, never one "No data".
const (
	StateClean         = "Clean"
	StateNotAssessed   = "Not assessed"
	StateNotApplicable = "Not applicable"
)

// State writes one of the three sentences beside a coloured bar.
func (b *Builder) State(state, text string) {
	color := map[string]typeset.Color{StateClean: Good, StateNotAssessed: Caution, StateNotApplicable: Muted}[state]
	span := typeset.Span{Text: text, Style: BodyStyle}
	height := b.Paper.ParagraphHeight(b.Paper.TextWidth()-12, Leading, span)
	b.Paper.Need(min(height, 200) + 4)
	b.Paper.Settle()
	top, page := b.Paper.Y, b.Paper.Page()
	b.Paper.Paragraph(12, Leading, span)
	if b.Paper.Page() == page {
		page.Fill(b.Paper.Left(), top+1, 2.5, height-2, color)
	}
	b.Paper.Y += 5
}

// Scoped is what is written of a report that has an instance in scope.
func (b *Builder) Scoped(write func()) func() {
	if b.Assessed.Total == 0 {
		return b.NoInstance
	}
	return write
}

// NoInstance writes that no instance is in scope.
func (b *Builder) NoInstance() {
	b.State(StateNotApplicable, "Not applicable: no instance is in scope of this report.")
}

// Clean writes the first of the three sentences, in green only if it covers everything in
// scope.
func (b *Builder) Clean(whole bool, text string) {
	if whole {
		b.State(StateClean, text)
	} else {
		b.State(StateNotAssessed, text)
	}
}

// Table draws a table with a row for each of rows, and leaves air below.
func Table[T any](b *Builder, columns []typeset.Column, rows []T, cells func(i int, row T) []typeset.Cell) {
	b.Paper.Table(typeset.Table{
		Look: tableLook, Columns: columns,
		Rows: len(rows), Row: func(i int) []typeset.Cell { return cells(i, rows[i]) },
		Rest: "A table ends here. A report over fewer instances has the rest.",
	})
	b.Paper.Y += 5
}

// Text is a plain cell.
func Text(s string) typeset.Cell { return typeset.Cell{Text: s} }

// Strong is a cell in bold.
func Strong(s string) typeset.Cell { return typeset.Cell{Text: s, Style: CellStrong} }

// Entry is a cell in bold that has an entry in the outline.
func Entry(s string) typeset.Cell {
	return typeset.Cell{Text: s, Style: CellStrong, Entry: Shorten(s, 80)}
}

// Faint is a cell in gray.
func Faint(s string) typeset.Cell { return typeset.Cell{Text: s, Style: CellMuted} }

// Code is a cell in the type of code.
func Code(s string) typeset.Cell { return typeset.Cell{Text: s, Style: CodeStyle} }

// Severity is a cell with the severity's name and colour.
func Severity(s string) typeset.Cell {
	return typeset.Cell{Text: s, Style: CellStrong, Mark: SeverityColor[s]}
}

// Dagger marks a number that stands on partial data.
func Dagger(s string, partial bool) string {
	if partial {
		return s + "†"
	}
	return s
}

// Whole says whether every instance in scope was assessed without a gap.
func (b *Builder) Whole() bool {
	a := b.Assessed
	return a.Assessed == a.Total && a.Gaps == 0
}

// Unlooked says what a sentence about the assessed instances does not stand on.
func (b *Builder) Unlooked() string {
	var parts []string
	if missing := b.Assessed.Total - b.Assessed.Assessed; missing > 0 {
		parts = append(parts, Count(missing, "instance was", "instances were")+" not assessed")
	}
	if gaps := b.Assessed.Gaps; gaps > 0 {
		parts = append(parts, Count(gaps, "check", "checks")+" not run")
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", ")
}

// Partial says whether any active instance in scope was not fully assessed.
func (b *Builder) Partial() bool {
	a := b.Assessed
	return a.Partial+a.Unreachable+a.Never+a.Unchecked > 0
}
