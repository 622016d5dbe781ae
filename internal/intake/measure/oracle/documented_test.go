package oracle

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/servers/documented"
)

// TestEveryColumnIsDocumented, and none is younger than what its query serves.
func TestEveryColumnIsDocumented(t *testing.T) {
	t.Parallel()
	documented.Files(t, fleet.Oracle, os.DirFS("sql"))
}

var viewForm = regexp.MustCompile(`(?i)\b(?:g?v\$|dba_|cdb_)[a-z_]+\b`)

// queries are the texts of all files, without their comments.
func queries(t *testing.T) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	files, err := fs.Glob(os.DirFS("."), "sql/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool { return strings.HasPrefix(line, "--") })
		texts[file] = strings.ToLower(strings.Join(lines, "\n"))
	}
	return texts
}

// TestTheGrantsMatchTheQueries: every view that is read is granted, and no other.
func TestTheGrantsMatchTheQueries(t *testing.T) {
	t.Parallel()
	script, _ := Grants("")
	for version, want := range map[string]bool{"12.2": true, "12.2.0.1.0": true, "19": true, "19c": true, "23ai": true, "21.3": true, "12": false, "12.1": false, "11.2": false, "x": false, "ai": false} {
		if text, ok := Grants(version); ok != want || ok && text != script {
			t.Errorf("%s: %t", version, ok)
		}
	}
	read := make(map[string]bool)
	for _, text := range queries(t) {
		for _, view := range viewForm.FindAllString(strings.ReplaceAll(text, "'cdb_name'", ""), -1) {
			read[strings.ToUpper(view)] = true
		}
	}
	granted := make(map[string]int)
	for _, m := range regexp.MustCompile(`GRANT (\S+) ON SYS\.(\S+) TO (\S+);`).FindAllStringSubmatch(script, -1) {
		if m[1] != "SELECT" {
			t.Errorf("%s", m[0])
		}
		granted[strings.Replace(m[2], "V_$", "V$", 1)]++
	}
	for view := range read {
		want := 2                                                           // to a local and to a common user
		if strings.HasPrefix(view, "GV$") || view == "V$ACTIVE_INSTANCES" { // in a cluster only
			want = 1
		}
		if granted[view] != want {
			t.Errorf("%s is read and granted %d times", view, granted[view])
		}
		if grant := grantOn(view, "MUSTER").Statement; !strings.Contains(strings.ToUpper(strings.ReplaceAll(script, " muster;", ` "MUSTER";`)), strings.ToUpper(grant)) {
			t.Errorf("the script has no %s", grant)
		}
	}
	for view := range granted {
		if !read[view] {
			t.Errorf("%s is granted and nobody reads it", view)
		}
	}
	for _, forbidden := range []string{"DBA", "SELECT_CATALOG_ROLE", "SELECT ANY", "SYSDBA;", "WITH ADMIN", "WITH GRANT"} {
		if strings.Contains(script, " "+forbidden) {
			t.Errorf("the script grants %s", forbidden)
		}
	}
}
