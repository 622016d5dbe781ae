package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/domain/alert"
	"muster/domain/exception"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/projections/audit"
)

const root = ".."

// testsThere are the names of all tests.
func testsThere(t *testing.T) map[string]bool {
	t.Helper()
	defined := map[string]bool{}
	test := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		for _, name := range test.FindAllStringSubmatch(string(source), -1) {
			defined[name[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return defined
}

// TestTestsNamedInSecurityExist: a table of requirements is worth as much as the
// tests that it names.
func TestTestsNamedInSecurityExist(t *testing.T) {
	t.Parallel()
	text := readText(t, "docs/security.md")
	defined := testsThere(t)
	cited := regexp.MustCompile("`(Test[A-Z]\\w+)`").FindAllStringSubmatch(text, -1)
	if len(cited) < 50 {
		t.Errorf("only %d tests are named", len(cited))
	}
	for _, name := range cited {
		if !defined[name[1]] {
			t.Errorf("docs/security.md names %s, which is not there", name[1])
		}
	}
	for _, path := range regexp.MustCompile("`((?:internal|cmd|docs|e2e)/[\\w/]+\\.\\w+)`").FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join(root, path[1])); err != nil {
			t.Errorf("docs/security.md names a file: %v", err)
		}
	}
	// Each requirement once.
	seen := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+\.\d+\.\d+[^|]*) \|`).FindAllStringSubmatch(text, -1) {
		if seen[row[1]] {
			t.Errorf("%s is answered twice", row[1])
		}
		seen[row[1]] = true
	}
}

// TestEveryAuditTypeIsExplained: what the list can show, docs/auditors.md and
// openapi.yaml name.
func TestEveryAuditTypeIsExplained(t *testing.T) {
	t.Parallel()
	wire := doneByMembers()
	for _, e := range report.Events() {
		wire = append(wire, report.Name(e))
	}
	for _, e := range organization.Events() {
		wire = append(wire, organization.Name(e))
	}
	for _, e := range exception.Events() {
		wire = append(wire, exception.Name(e))
	}
	var types []string
	for _, name := range wire {
		types = append(types, audit.TrailName(name))
	}
	constants, _, _ := strings.Cut(readText(t, "internal/accounts/security_log.go"), "// CommandLine")
	for _, name := range regexp.MustCompile(`(?m)^\t[A-Z]\w+ += "(\w+)"`).FindAllStringSubmatch(constants, -1) {
		types = append(types, name[1])
	}
	if len(types) < 44 {
		t.Errorf("only %d types are known: %v", len(types), types)
	}
	guide, contract := readText(t, "docs/auditors.md"), readText(t, "internal/httpapi/openapi.yaml")
	_, entry, _ := strings.Cut(contract, "    AuditEntry:")
	entry, _, _ = strings.Cut(entry, "subjectId:")
	for _, name := range types {
		if !strings.Contains(guide, "`"+name+"`") {
			t.Errorf("docs/auditors.md does not explain %s", name)
		}
		if !regexp.MustCompile(`[\[ ]` + name + `[,\]]`).MatchString(entry) {
			t.Errorf("openapi.yaml does not name %s", name)
		}
	}
}

// doneByMembers are the events of the fleet that a member can cause: databases
// come from feeds and agents alone, and most of an alert's life from its sender.
func doneByMembers() (types []string) {
	for _, e := range fleet.Events() {
		if _, assessed := e.(fleet.InstanceAssessed); assessed {
			continue // by the program, whoever asked for it
		}
		if name := fleet.Name(e); strings.HasPrefix(name, fleet.InstanceStream+".") {
			types = append(types, name)
		}
	}
	for _, e := range []alert.Event{alert.Acknowledged{}, alert.Muted{}, alert.MutedUntil{}, alert.Unmuted{}, alert.Resolved{}, alert.Noted{}} {
		types = append(types, alert.Name(e))
	}
	return types
}

// TestEveryRoomIsListed: docs/reference/rooms.md has every folder of code, and no other.
func TestEveryRoomIsListed(t *testing.T) {
	t.Parallel()
	listed, there := map[string]bool{}, map[string]bool{}
	for _, name := range regexp.MustCompile("(?m)`((?:internal/)?[a-z0-9]+)/?`").FindAllStringSubmatch(firstCells(readText(t, "docs/reference/rooms.md")), -1) {
		listed[name[1]] = true
	}
	for _, pattern := range []string{"*", "internal/*"} {
		folders, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range folders {
			direct, _ := filepath.Glob(folder + "/*.go")
			below, _ := filepath.Glob(folder + "/*/*.go")
			if name := strings.TrimPrefix(folder, root+"/"); len(direct)+len(below) > 0 && name[0] != '.' {
				there[name] = true
			}
		}
	}
	delete(there, "cmd") // has cmd/muster alone
	delete(there, "internal")
	for name := range there {
		if !listed[name] {
			t.Errorf("docs/reference/rooms.md does not list %s", name)
		}
	}
	for name := range listed {
		if !there[name] {
			t.Errorf("docs/reference/rooms.md lists %s, which is not there", name)
		}
	}
}

// mostFolders is how many folders internal has at most: their list is what a newcomer reads first.
const mostFolders = 25

// TestInternalHasFewFolders holds internal to groups: a new room goes into the one it belongs to.
func TestInternalHasFewFolders(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(filepath.Join(root, "internal"))
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, entry := range entries {
		if entry.IsDir() {
			folders = append(folders, entry.Name())
		}
	}
	if len(folders) > mostFolders || len(folders) < 10 {
		t.Errorf("internal has %d folders, at most %d: %v", len(folders), mostFolders, folders)
	}
}

// mostLines is how many lines of product code a package has at most.
const mostLines = 4000

// TestPackagesStaySmall counts the lines of each package: without tests, what only tests link,
// and generated code.
func TestPackagesStaySmall(t *testing.T) {
	t.Parallel()
	lines := map[string]int{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (path != root && strings.HasPrefix(entry.Name(), ".") || strings.HasSuffix(entry.Name(), "test") ||
			entry.Name() == "node_modules" || entry.Name() == "testdata" || entry.Name() == "testing"):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if !strings.HasPrefix(string(source), "// Code generated") && !strings.Contains(string(source), "\n// Code generated") {
			lines[strings.TrimPrefix(filepath.Dir(path), root+"/")] += strings.Count(string(source), "\n")
		}
		return err
	})
	if err != nil || len(lines) < 100 {
		t.Fatalf("%d packages, %v", len(lines), err)
	}
	for name, n := range lines {
		if n > mostLines {
			t.Errorf("%s has %d lines, at most %d: divide it along a seam", name, n, mostLines)
		}
	}
}

// TestTheGeneratedAPIStaysSmall: people read api.gen.go, too. Templates of our own write it
// (internal/httpapi/oapi-codegen), so they can write less where the API grows.
func TestTheGeneratedAPIStaysSmall(t *testing.T) {
	t.Parallel()
	const most = 8000
	if lines := strings.Count(readText(t, "internal/httpapi/api/api.gen.go"), "\n"); lines > most {
		t.Errorf("api.gen.go has %d lines, at most %d: let internal/httpapi/oapi-codegen write less for each operation", lines, most)
	}
}

// TestEveryFileOfAReportIsExplained, on the page of a report and to auditors.
func TestEveryFileOfAReportIsExplained(t *testing.T) {
	t.Parallel()
	names := []string{report.PDFFile, report.InputsFile, report.ProofFile}
	for _, kind := range report.Kinds() {
		names = append(names, report.Companions(kind)...)
	}
	page, docs := readText(t, "web/src/reports/statusFiles.tsx"), readText(t, "docs/auditors.md")
	for _, name := range names {
		if !strings.Contains(page, `  "`+name+`": "`) {
			t.Errorf("statusFiles.tsx does not say what %s is for", name)
		}
		if !strings.Contains(docs, "\n| `"+name+"` | ") {
			t.Errorf("docs/auditors.md does not say what %s is for", name)
		}
	}
}

// firstCells are the first cells of the rows of all tables.
func firstCells(text string) (cells string) {
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(text, -1) {
		cells += row[1] + "\n"
	}
	return cells
}

// TestPlacesNamedInArchitectureExist: each row of "Where to change what", there and in the
// reference, names a file that has what to look for, or a folder with a file of that name.
func TestPlacesNamedInArchitectureExist(t *testing.T) {
	t.Parallel()
	_, main, _ := strings.Cut(readText(t, "ARCHITECTURE.md"), "## Where to change what\n")
	main, _, _ = strings.Cut(main, "\n## ")
	table := main + readText(t, "docs/reference/changes.md")
	rows := regexp.MustCompile("(?m)^\\| ([^|]+) \\| `([^`]+)` \\| `([^`]+)` \\|$").FindAllStringSubmatch(table, -1)
	if written := strings.Count(table, "\n| ") - strings.Count(table, "\n| To change |"); len(rows) < 50 || len(rows) != written {
		t.Errorf("%d rows of %d can be read", len(rows), written)
	}
	for _, row := range rows {
		what, place, sought := row[1], row[2], row[3]
		content := ""
		if files, err := os.ReadDir(filepath.Join(root, place)); err == nil {
			for _, file := range files {
				content += file.Name() + "\n"
			}
		} else {
			content = readText(t, place)
		}
		if !strings.Contains(content, sought) {
			t.Errorf("%s: there is no %s in %s", what, sought, place)
		}
	}
}

// TestEachFaultOfAnEngineHasATest: the page of faults has each number once, and names tests that are there, or says why
// there is none.
func TestEachFaultOfAnEngineHasATest(t *testing.T) {
	t.Parallel()
	const faults = 53
	rows := regexp.MustCompile(`(?m)^\| F(\d+) \| [^|]+ \| ([^|]+) \|$`).FindAllStringSubmatch(readText(t, "docs/reference/engine-faults.md"), -1)
	if len(rows) != faults {
		t.Fatalf("%d rows", len(rows))
	}
	tests := testsThere(t)
	for i, row := range rows {
		if row[1] != strconv.Itoa(i+1) {
			t.Errorf("F%s is the row %d", row[1], i+1)
		}
		named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(row[2], -1)
		for _, one := range named {
			if !tests[one[1]] {
				t.Errorf("F%s: there is no %s", row[1], one[1])
			}
		}
		if len(named) == 0 && len(row[2]) < 60 {
			t.Errorf("F%s has no test, and %q is no reason", row[1], row[2])
		}
	}
}

// TestTheSizingMatchesTheMeasuredScale: the cores and memory in docs/operators.md are those of the row in
// docs/scale.md for as many servers, and its disk is the sum of that row's.
func TestTheSizingMatchesTheMeasuredScale(t *testing.T) {
	t.Parallel()
	measured := map[string][]string{}
	_, table, _ := strings.Cut(readText(t, "docs/scale.md"), "\n## On PostgreSQL\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for line := range strings.Lines(table) {
		if cells := strings.Split(strings.TrimSpace(line), " | "); len(cells) > 9 {
			measured[strings.TrimPrefix(cells[0], "| ")] = cells
		}
	}
	rows := regexp.MustCompile(`(?m)^\| ([\d,]+) \| ([\d.]+), (\d+ MiB) \| ([\d.]+), (\d+ MiB) \| 3 × ([\d,]+) × ([\d.]+ MB) = `).FindAllStringSubmatch(readText(t, "docs/operators.md"), -1)
	if len(rows) != 4 {
		t.Errorf("%d rows can be read", len(rows))
	}
	for _, row := range rows {
		of := measured[row[1]]
		if of == nil {
			t.Errorf("%s servers are not in docs/scale.md", row[1])
			continue
		}
		cores := strings.TrimSuffix(of[10], " |")
		if of[8] != row[3] || of[9] != row[5] || cores != row[2]+", "+row[4] || row[6] != row[1] || of[6] != row[7] {
			t.Errorf("of %s servers docs/operators.md says %q, docs/scale.md %q", row[1], row[2:], of)
		}
	}
}

// TestREADMEAgreesWithWhatItNames: the version of Node that the pages need, and the sections of docs/README.md in their
// order.
func TestREADMEAgreesWithWhatItNames(t *testing.T) {
	t.Parallel()
	readme := readText(t, "README.md")
	node := regexp.MustCompile(`"node": ">=([\d.]+)"`).FindStringSubmatch(readText(t, "web/package.json"))
	if node == nil || !strings.Contains(readme, "Node "+node[1]+" or newer") {
		t.Errorf("README does not name the Node of web/package.json, %v", node)
	}
	var sections []string
	for _, heading := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(readText(t, "docs/README.md"), -1) {
		sections = append(sections, strings.ToLower(heading[1]))
	}
	if want := "ordered by reader: " + strings.Join(sections, ", ") + "."; !strings.Contains(readme, want) {
		t.Errorf("README does not say %q", want)
	}
}

// TestLinksHaveATarget: to a file, and to a heading where they name one.
func TestLinksHaveATarget(t *testing.T) {
	t.Parallel()
	pages := []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		for _, path := range found {
			pages = append(pages, strings.TrimPrefix(path, root+"/"))
		}
	}
	link := regexp.MustCompile(`(?:\]\(|src=")([^):"]+)[)"]`)
	for _, page := range pages {
		for _, match := range link.FindAllStringSubmatch(readText(t, page), -1) {
			file, heading, _ := strings.Cut(match[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s leads to %s: %v", page, match[1], err)
				continue
			}
			if heading != "" && !slices.Contains(headings(readText(t, target)), heading) {
				t.Errorf("%s leads to %s, and there is no such heading", page, match[1])
			}
		}
	}
}

// headings are the anchors that a page's headings become.
func headings(text string) (anchors []string) {
	for _, match := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		plain := regexp.MustCompile(`[^\pL\pN -]`).ReplaceAllString(strings.ToLower(match[1]), "")
		anchors = append(anchors, strings.ReplaceAll(plain, " ", "-"))
	}
	return anchors
}

func readText(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
