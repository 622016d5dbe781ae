package sqlserver

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/servers/documented"
	"muster/internal/servers/serverstest"
)

// TestQueriesReadDocumentedColumns and nothing else. No SQL Server has met them here.
func TestQueriesReadDocumentedColumns(t *testing.T) {
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

// TestBothLooksListTheSameDatabases: the assessment tells the fleet of them, too. A database
// that one of them did not list would be removed by it, and be another one for the other.
func TestBothLooksListTheSameDatabases(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"databases", "databases_azure"} {
		other, err := os.ReadFile("../../../assessment/sqlserver/sql/" + name + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		where := func(text string) string {
			_, from, _ := strings.Cut(strings.ToLower(text), "\nfrom sys.databases ")
			from, _, _ = strings.Cut(from, "\norder by")
			return strings.Join(strings.Fields(strings.TrimPrefix(from, "as ")), " ")
		}
		if ours, theirs := where(query(name)), where(string(other)); ours != theirs || !strings.Contains(ours, "where") {
			t.Errorf("%s: measured are %q, assessed %q", name, ours, theirs)
		}
	}
}
