package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// commitBefore is the program from before. It has the last migration of the step contract, so that all pending ones are
// of the step expand. From an earlier one, the runbook has people upgrade at once.
const commitBefore = "b3badcf0553c8d9fd8cf9e4341b0144f13b2721d"

// buildBefore builds commitBefore from the repository's own history.
func buildBefore(t *testing.T) (program string) {
	t.Helper()
	if err := exec.CommandContext(t.Context(), "git", "-C", root, "cat-file", "-e", commitBefore+"^{commit}").Run(); err != nil {
		t.Skipf("this clone has no history back to %.12s, from which the upgrade goes: %v", commitBefore, err)
	}
	dir := t.TempDir()
	archive := filepath.Join(dir, "before.tar")
	runTool(t, root, "git", "archive", "--format=tar", "--output="+archive, commitBefore)
	source := filepath.Join(dir, "source")
	if err := os.Mkdir(source, 0o700); err != nil {
		t.Fatal(err)
	}
	runTool(t, source, "tar", "-xf", archive)
	return buildFrom(t, source, "before")
}

// buildAfter builds the program as it is here, with what the next version would change: a
// migration in two steps, and a projection of another version.
func buildAfter(t *testing.T) (program string) {
	t.Helper()
	content, err := json.Marshal(map[string]any{"Replace": overlay(t)})
	if err != nil {
		t.Fatal(err)
	}
	return buildFrom(t, root, "after", "-overlay="+fileWith(t, "overlay.json", string(content)))
}

func buildFrom(t *testing.T, source, version string, flags ...string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "muster")
	args := append([]string{"build", "-o", program, "-ldflags=-s -w -X main.version=" + version}, flags...)
	runTool(t, source, "env", append([]string{"CGO_ENABLED=0", "go"}, append(args, "./cmd/muster")...)...)
	return program
}

func runTool(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, said)
	}
}

// overlay has the files of the next version, by the place of those that they replace.
func overlay(t *testing.T) map[string]string {
	t.Helper()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	own := func(name string) string { return filepath.Join(here, "e2e/testdata/upgrade", name) }
	next := lastMigration(t, here) + 1
	replace := map[string]string{
		filepath.Join(here, fmt.Sprintf("migrations/%05d_both_names.sql", next)): own("expand.sql"),
		filepath.Join(here, fmt.Sprintf("migrations/%05d_one_name.sql", next+1)): own("contract.sql"),
	}
	edit := func(path string, pairs ...string) {
		t.Helper()
		path = filepath.Join(here, path)
		old := replace[path]
		if old == "" {
			old = path
		}
		text := string(read(t, old))
		for n := 0; n < len(pairs); n += 2 {
			if !strings.Contains(text, pairs[n]) {
				t.Fatalf("%s does not have %q", path, pairs[n])
			}
			text = strings.ReplaceAll(text, pairs[n], pairs[n+1])
		}
		replace[path] = fileWith(t, filepath.Base(path), text)
	}
	edit("internal/httpapi/sql/claim_key.sql", "claim, made,", "claim, makes,", "    made =", "    makes =", "excluded.made", "excluded.makes", "k.made", "k.makes", "RETURNING made", "RETURNING makes")
	for _, path := range thatRead(t, here, "report_history_v2") {
		edit(path, "report_history_v2", "report_history_v3")
	}
	edit("projections/history/projection.go", "Version = 2\n", "Version = 3\n")
	edit("projections/history/sql/schema.sql", "    ready_position   bigint      NOT NULL\n", "    ready_position   bigint      NOT NULL,\n"+
		"    requested_on     date        GENERATED ALWAYS AS ((created_at AT TIME ZONE 'UTC')::date) STORED\n")
	return replace
}

func lastMigration(t *testing.T, here string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(here, "migrations/*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	number, err := strconv.Atoi(filepath.Base(slices.Max(files))[:5])
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// thatRead are the sources of the program that name a schema of tables.
func thatRead(t *testing.T, here, schema string) (paths []string) {
	t.Helper()
	for _, folder := range []string{"commands", "handlers", "internal", "projections"} {
		err := filepath.WalkDir(filepath.Join(here, folder), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata"):
				return filepath.SkipDir
			case entry.IsDir() || strings.HasSuffix(path, "_test.go") || filepath.Ext(path) != ".go" && filepath.Ext(path) != ".sql":
				return nil
			}
			if strings.Contains(string(read(t, path)), schema) {
				relative, err := filepath.Rel(here, path)
				paths = append(paths, relative)
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}
