package pageaddress_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/internal/text/pageaddress"
)

func TestLink(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"https://m.example/alerts/7":        pageaddress.Link("https://m.example/", pageaddress.Alert, "7"),
		"https://m.example/muster/exports":  pageaddress.Link("https://m.example/muster", pageaddress.Exports),
		"https://m.example/addresses/leave": pageaddress.Link("https://m.example", pageaddress.LeaveAlerts),
	} {
		if got != want {
			t.Errorf("the link is %s, want %s", got, want)
		}
	}
}

// TestIs: only an address of a page leads nowhere else, however a browser reads it.
func TestIs(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"/": true, "/?range=7d&tag=env%3Aprod": true, "/findings": true, "/findings?tag=env:prod": true,
		"/instances/0199f0d2-7a10-7c44-9b0e-2f6f1e6c1b01?range=24h": true, "/checks/PG-S17": true,

		"": false, "findings": false, "/nowhere": false, "/findings/": false, "/instances/a/b": false,
		"//evil.example": false, "//evil.example/findings": false, "https://evil.example/": false, "javascript:alert(1)": false,
		"/\\evil.example": false, "\\\\evil.example": false, "/reports/..": false, "/reports/%2e%2e": false, "/reports/.": false,
		"/instances/a\\..\\b": false, "/findings#x": false, "/findings?q=a#x": false, "/findings?q=%zz": false, "/findings?q=a b": false,
		"/:alertId": false, "/alerts/:alertId": false, "/Findings": false, " /findings": false, "/findings\n": false,
	} {
		if got := pageaddress.Is(address); got != want {
			t.Errorf("%q is an address of a page: %t", address, got)
		}
	}
}

// elsewhere are files in which a text begins like an address of a page and is something else.
var elsewhere = []string{
	"internal/intake/feed/",         // JSON pointers into what is sent
	"internal/httpapi/api/",         // generated: the API's own addresses
	"internal/assessment/catalogue", // folders of checks
	"internal/text/pageaddress/",
}

// TestAddressesOfPagesAreSpeltHereAlone finds texts in the program that begin like one.
func TestAddressesOfPagesAreSpeltHereAlone(t *testing.T) {
	t.Parallel()
	const house = "../../.."
	var heads []string
	for _, address := range pageaddress.All() {
		if head, _, _ := strings.Cut(strings.TrimPrefix(address, "/"), "/"); head != "" {
			heads = append(heads, head)
		}
	}
	seen := 0
	err := filepath.WalkDir(house, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".cache" || entry.Name() == ".git") {
			return fs.SkipDir
		}
		name, _ := filepath.Rel(house, path)
		isElsewhere := func(prefix string) bool { return strings.HasPrefix(filepath.ToSlash(name), prefix) }
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || slices.ContainsFunc(elsewhere, isElsewhere) {
			return nil
		}
		seen++
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING {
				return true
			}
			value, _ := strconv.Unquote(text.Value)
			rest, ok := strings.CutPrefix(value, "/")
			head := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("/?#", r) })
			if ok && len(head) > 0 && slices.Contains(heads, head[0]) {
				t.Errorf("%s spells an address of a page: %q", files.Position(text.Pos()), value)
			}
			return true
		})
		return nil
	})
	if err != nil || seen < 500 {
		t.Fatalf("%d files, %v", seen, err)
	}
}
