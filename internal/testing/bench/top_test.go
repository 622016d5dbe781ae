package bench_test

import (
	_ "embed"
	"fmt"
	"os"
	"strings"
)

//go:embed testdata/top_statements.sql
var topStatements string

// countsStatements says whether MUSTER_BENCH_TOP asks for the statements on which
// PostgreSQL spends its time. To count them costs a few percent, so that it is off.
func countsStatements() bool { return os.Getenv("MUSTER_BENCH_TOP") != "" }

// forgetTop begins to count anew.
func (m *measured) forgetTop() {
	if countsStatements() {
		m.db.MustExec(`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`)
		m.db.MustExec(`SELECT pg_stat_statements_reset()`)
	}
}

// topStatements prints them.
func (m *measured) topStatements(title string) {
	b := m.p.b
	b.Helper()
	if !countsStatements() {
		return
	}
	m.db.MustExec(`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`)
	var top []struct {
		Query            string
		Calls, Rows, WAL int64
		Ms               float64
	}
	if err := m.db.SelectContext(b.Context(), &top, topStatements); err != nil {
		b.Fatal(err)
	}
	var out strings.Builder
	out.WriteString("| ms | calls | rows | WAL, MB | statement |\n|---|---|---|---|---|\n")
	for _, t := range top {
		fmt.Fprintf(&out, "| %.0f | %d | %d | %.1f | %s |\n", t.Ms, t.Calls, t.Rows, float64(t.WAL)/1e6, strings.ReplaceAll(t.Query, "|", "\\|"))
	}
	tell(b, title, out.String())
}
