package pdf

import (
	"strings"

	"muster/internal/pdf/typeset"
	"muster/internal/snapshot/analysis"
)

// mostFixes is how many statements are printed of one check. What is left over is
// printed by the report after they were run.
const mostFixes = 500

// fixes prints the statements that mend a check's findings, and where each is run.
func (b *builder) fixes(g analysis.Group) {
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
		b.advice("Run", runWhere(f))
		for _, s := range statements {
			b.d.Need(12)
			b.d.Paragraph(62, 1.4, typeset.Span{Text: s, Style: codeStyle})
		}
		b.d.Y += 2
		printed += len(statements)
	}
	if printed < all {
		b.advice("", "These are the first "+number(printed)+" of "+number(all)+" statements. A report that is made after they were run prints the next.")
	}
	if missing > 0 {
		b.advice("", "For "+count(missing, "finding", "findings")+" no statement can be given: do what stands under Fix.")
	}
	if g.Check.NeedsRestart {
		b.advice("", "Then restart the server.")
	}
}

// runWhere says by whom and where statements are run.
func runWhere(f analysis.Fix) string {
	names := make([]string, len(f.Instances))
	for i, name := range f.Instances {
		names[i] = shorten(name, 80)
	}
	words := "as a superuser, line by line, on " + strings.Join(names, ", ")
	if f.Database != "" {
		words += " in database " + f.Database
	}
	return words + ":"
}
