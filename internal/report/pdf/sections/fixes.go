package sections

import (
	"iter"
	"strings"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// adviceIndent is where what stands beside a label begins.
const adviceIndent = 62

// mostFixes is how many statements are printed of one check. What is left over is
// printed by the report after they were run.
const mostFixes = 500

// Remedy prints the fix of a check's findings.
func Remedy(b *blocks.Builder, label string, g analysis.CheckFindings) {
	b.Advice(label, g.Check.Remediation)
	b.Advice("Impact", g.Check.Impact)
	fixes(b, g)
}

// fixes prints the statements that mend a check's findings, and where each is run.
func fixes(b *blocks.Builder, g analysis.CheckFindings) {
	fixes, missing := analysis.Fixes(g)
	if len(fixes) == 0 {
		return
	}
	printed, all := 0, 0
	for _, f := range fixes {
		all += len(f.Statements)
		statements := f.Statements[:min(len(f.Statements), mostFixes-printed)]
		if len(statements) == 0 {
			continue
		}
		b.Advice("Run", runWhere(g.Check.Engine, f))
		for _, s := range statements {
			b.Paper.Need(12)
			b.Paper.Paragraph(adviceIndent, 1.4, typeset.Span{Text: breakStatement(b, s, b.Paper.TextWidth()-adviceIndent), Style: blocks.CodeStyle})
		}
		b.Paper.Y += 2
		printed += len(statements)
	}
	if printed < all {
		b.Advice("", "These are the first "+blocks.Number(printed)+" of "+blocks.Number(all)+" statements. A report that is made after they were run prints the next.")
	}
	if missing > 0 {
		b.Advice("", "For "+blocks.Count(missing, "finding", "findings")+" no statement can be given: see the action above.")
	}
	if g.Check.NeedsRestart {
		b.Advice("", "Then restart the server.")
	}
}

// runWhere says by whom and where statements are run.
func runWhere(engine string, f analysis.Fix) string {
	names := make([]string, len(f.Instances))
	for i, name := range f.Instances {
		names[i] = blocks.Shorten(name, 80)
	}
	words := "as a " + analysis.Superuser(engine) + ", line by line, on " + strings.Join(names, ", ")
	if f.Database != "" {
		words += " in database " + f.Database
	}
	return words + ":"
}

// breakStatement breaks a statement's lines where SQL allows it, so that the page does not
// break within a name: a reader who copies it would copy another name.
func breakStatement(b *blocks.Builder, statement string, width float64) string {
	var out strings.Builder
	line := ""
	for token := range tokens(statement) {
		fits := b.Paper.Fonts.Width(blocks.CodeStyle.Face, blocks.CodeStyle.Size, line+token) <= width
		if line != "" && !fits {
			out.WriteString(strings.TrimRight(line, " ") + "\n")
			line = ""
		}
		line += token
		if end := strings.LastIndexByte(line, '\n'); end >= 0 {
			out.WriteString(line[:end+1])
			line = line[end+1:]
		}
	}
	return out.String() + line
}

// tokens are the parts of a statement behind which a line may end, each with the
// space, dot or line break that ends it.
func tokens(statement string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		var quote rune
		for at, r := range statement {
			switch {
			case quote == 0 && (r == '"' || r == '\''):
				quote = r
			case r == quote:
				quote = 0
			case quote == 0 && (r == ' ' || r == '\n' || r == '.'):
				if !yield(statement[start : at+1]) {
					return
				}
				start = at + 1
			}
		}
		yield(statement[start:])
	}
}
