package sqlserver

import (
	"io/fs"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/servers/documented"
	"muster/internal/servers/serverstest"
)

// TestQueriesReadWhatIsDocumented and nothing else; no SQL Server has met them here.
func TestQueriesReadWhatIsDocumented(t *testing.T) {
	t.Parallel()
	queries, err := fs.Sub(files, "sql")
	if err != nil {
		t.Fatal(err)
	}
	documented.Files(t, fleet.SQLServer, queries)
}

// TestQueriesAreKnownByTheirFirstLines and say which pages their columns come from.
func TestQueriesAreKnownByTheirFirstLines(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(files, "sql/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	known := make(map[string]string)
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		line := serverstest.FirstLine(string(text))
		if other := known[line]; other != "" || !strings.HasPrefix(line, "-- SQL Server ") { // which scripts/sql_lint goes by, too
			t.Errorf("%s begins as %s does: %s", name, other, line)
		}
		known[line] = name
		if !strings.Contains(string(text), "-transact-sql\n") {
			t.Errorf("%s names no page of the documentation", name)
		}
	}
}
