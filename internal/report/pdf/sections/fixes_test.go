package sections

import (
	"strings"
	"testing"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
)

// Who copies a statement that is wider than the page copies the same names.
func TestAStatementIsBrokenBetweenNamesOnly(t *testing.T) {
	t.Parallel()
	b := blocks.Builder{Paper: typeset.NewPaper(typeset.LoadFonts(), "A4", blocks.PageMargin)}
	width := b.Paper.TextWidth() - adviceIndent
	name := `"one two three four five six ""seven"" eight nine ten 11 12 13"`
	statement := "ALTER TABLE " + name + "." + name + " VALIDATE CONSTRAINT " + name + ";\nSELECT pg_reload_conf();"
	broken := breakStatement(&b, statement, width)
	lines := strings.Split(broken, "\n")
	if len(lines) < 4 || strings.Count(broken, name) != 3 {
		t.Errorf("broken into\n%s", broken)
	}
	if got := strings.ReplaceAll(strings.ReplaceAll(broken, ".\n", "."), "\n", " "); got != strings.ReplaceAll(statement, "\n", " ") {
		t.Errorf("it says something else: %s", got)
	}
	if short := "REVOKE CREATE ON SCHEMA public FROM PUBLIC;"; breakStatement(&b, short, width) != short {
		t.Errorf("what fits became %q", breakStatement(&b, short, width))
	}
}
