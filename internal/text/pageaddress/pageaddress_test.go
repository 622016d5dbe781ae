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
