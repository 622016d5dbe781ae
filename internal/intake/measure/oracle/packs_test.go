package oracle

import (
	"encoding/csv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// packs are the patterns of names that need the Diagnostics or the Tuning Pack.
func packs(t *testing.T) []string {
	t.Helper()
	f, err := os.Open("testdata/packs.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatal(rows, err)
	}
	var patterns []string
	for _, row := range rows[1:] {
		patterns = append(patterns, row[0])
	}
	return patterns
}

var nameForm = regexp.MustCompile(`[a-z][a-z0-9_$#]*\.?`)

// licensed are the names in a text that need a pack. A package name counts if it is called: a
// check may look for execute rights on one.
func licensed(text string, patterns []string) (names []string) {
	for _, name := range nameForm.FindAllString(strings.ToLower(text), -1) {
		if !strings.HasSuffix(name, ".") && strings.HasPrefix(name, "dbms_") {
			continue
		}
		plain := strings.Replace(strings.Replace(name, "v_$", "v$", 1), "gv$", "v$", 1)
		for _, own := range []string{"cdb_", "all_", "user_"} {
			if rest, ok := strings.CutPrefix(plain, own); ok {
				plain = "dba_" + rest
			}
		}
		for _, pattern := range patterns {
			if strings.HasPrefix(plain, pattern) {
				names = append(names, name)
			}
		}
	}
	return names
}

// TestNothingNeedsAPack: no query that Muster sends to an Oracle, nor what a check tells
// people to look at, reads what is licensed apart.
func TestNothingNeedsAPack(t *testing.T) {
	t.Parallel()
	patterns := packs(t)
	for _, planted := range []string{
		"select 1 from gv$active_session_history", "SELECT 1 FROM sys.GV_$SQL_MONITOR", "from dba_hist_sqlstat", "from CDB_HIST_SNAPSHOT",
		"from user_advisor_findings", "dbms_sqltune.report_sql_monitor()", "from v$sql_plan_monitor m", "from AWR_PDB_SQLSTAT",
	} {
		if len(licensed(planted, patterns)) != 1 {
			t.Errorf("nobody minds %s", planted)
		}
	}
	queries, checks := 0, 0
	root := filepath.Join("..", "..", "..", "..")
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		inCatalogue := strings.HasSuffix(filepath.ToSlash(filepath.Dir(path)), "engine/oracle/checks")
		if filepath.Ext(path) != ".sql" && !inCatalogue {
			return nil
		}
		text, err := os.ReadFile(path)
		switch {
		case err != nil:
			return err
		case inCatalogue:
			checks++
		case strings.HasPrefix(string(text), "-- Oracle") || strings.Contains(filepath.ToSlash(path), "/oracle/"):
			queries++
		default:
			return nil
		}
		for _, name := range licensed(string(text), patterns) {
			t.Errorf("%s: %s", path, name)
		}
		return nil
	})
	if err != nil || queries < 20 || checks < 4 {
		t.Fatalf("%d queries and %d files of checks were read: %v", queries, checks, err)
	}
}
