package pdf

import (
	"iter"
	"strings"

	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// adviceIndent is where what stands beside a label begins.
const adviceIndent = 62

// mostFixes is how many statements are printed of one check. What is left over is
// printed by the report after they were run.
const mostFixes = 500

// remedy prints the fix of a check's findings.
func (b *builder) remedy(label string, g analysis.CheckFindings) {
	b.advice(label, g.Check.Remediation)
	b.advice("Impact", g.Check.Impact)
	b.fixes(g)
}

// fixes prints the statements that mend a check's findings, and where each is run.
func (b *builder) fixes(g analysis.CheckFindings) {
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
		b.advice("Run", runWhere(g.Check.Engine, f))
		for _, s := range statements {
			b.d.Need(12)
			b.d.Paragraph(adviceIndent, 1.4, typeset.Span{Text: b.breakStatement(s), Style: codeStyle})
		}
		b.d.Y += 2
		printed += len(statements)
	}
	if printed < all {
		b.advice("", "These are the first "+number(printed)+" of "+number(all)+" statements. A report that is made after they were run prints the next.")
	}
	if missing > 0 {
		b.advice("", "For "+count(missing, "finding", "findings")+" no statement can be given: see the action above.")
	}
	if g.Check.NeedsRestart {
		b.advice("", "Then restart the server.")
	}
}

// runWhere says by whom and where statements are run.
func runWhere(engine string, f analysis.Fix) string {
	names := make([]string, len(f.Instances))
	for i, name := range f.Instances {
		names[i] = shorten(name, 80)
	}
	words := "as a " + analysis.Superuser(engine) + ", line by line, on " + strings.Join(names, ", ")
	if f.Database != "" {
		words += " in database " + f.Database
	}
	return words + ":"
}

// breakStatement breaks a statement's lines where SQL allows it, so that the page does not
// break within a name: a reader who copies it would copy another name.
func (b *builder) breakStatement(statement string) string {
	width := b.d.TextWidth() - adviceIndent
	var out strings.Builder
	line := ""
	for token := range tokens(statement) {
		fits := b.d.Fonts.Width(codeStyle.Face, codeStyle.Size, line+token) <= width
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
