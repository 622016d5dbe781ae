package blocks

import (
	"cmp"
	"slices"
	"strings"

	"muster/internal/report/pdf/typeset"
)

// HowToCheck ends a report, on its last page: how to check the file, where the keys are, and
// the witness. It is the one place that says so.
func (b *Builder) HowToCheck() {
	const pad, indent = 10.0, 18.0
	d := b.Paper
	lines := b.checkingLines()
	width := d.TextWidth() - 2*indent
	height := 2*pad + 14
	for _, line := range lines {
		height += d.ParagraphHeight(width, Leading, line.spans...) + line.below
	}
	d.Settle()
	d.Need(height + 18)
	d.Skip(18)
	d.Mark("How to check this report", 1)
	top, page := d.Y, d.Page()
	page.Fill(d.Left(), top, d.TextWidth(), height, Wash)
	page.Fill(d.Left(), top, 4, height, Accent)
	d.Y += pad
	page.Text(d.Left()+indent, d.Y+7, labelStyle, typeset.Left, "HOW TO CHECK THIS REPORT")
	d.Y += 14
	for _, line := range lines {
		d.ParagraphWithin(indent, width, Leading, line.spans...)
		d.Y += line.below
	}
	d.Y = top + height
}

// checkingLine is a paragraph of the box, and the air below it.
type checkingLine struct {
	spans []typeset.Span
	below float64
}

func (b *Builder) checkingLines() []checkingLine {
	words := func(text string) typeset.Span { return typeset.Span{Text: text, Style: RowStyle} }
	command := func(text string) checkingLine {
		return checkingLine{[]typeset.Span{{Text: text, Style: CodeStyle}}, 6}
	}
	const path = "/.well-known/muster-keys.json"
	sentence, then := "The page that “muster verify --page” prints does the same in a browser. The keys are at ", ""
	if b.Doc.KeysFingerprint != "" {
		then = " and had this fingerprint when the report was built:"
	}
	keys := []typeset.Span{words(sentence + path + " of the installation that built this report" + cmp.Or(then, "."))}
	if b.Doc.PublicURL != "" {
		address := strings.TrimSuffix(b.Doc.PublicURL, "/") + path
		keys = []typeset.Span{words(sentence), {Text: address, Style: Linked(RowStyle, address)}}
		if then != "" {
			keys = append(keys, words(then))
		}
	}
	of := []checkingLine{{keys, 6}}
	if then != "" {
		of = []checkingLine{{keys, 2}, command(b.Doc.KeysFingerprint)}
	}
	return slices.Concat([]checkingLine{
		{[]typeset.Span{words("The file that Muster hands out is signed and contains its proof, proof.json. Anyone can check it with the public keys, without a database or a network:")}, 2},
		command("muster verify --offline FILE.pdf --keys muster-keys.json"),
	}, of, []checkingLine{
		{[]typeset.Span{words("On the installation, “muster verify FILE.pdf” says who requested the report, what was known, and who received it. This command says whether the log was rewritten since:")}, 2},
		command("muster events verify --witness \\\n" + b.witness()),
	})
}
