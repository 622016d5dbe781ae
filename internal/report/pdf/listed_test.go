package pdf

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/domain/report"
	"muster/internal/report/pdf/blocks"
)

// These tests compare what lists report kinds outside Go with report.Definitions. They are here,
// because the titles of sections are.

func listed(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// titles returns the titles of the kinds for which is says true.
func titles(is func(report.Definition) bool) (all []string) {
	for _, d := range report.Definitions() {
		if is(d) {
			all = append(all, d.Title)
		}
	}
	return all
}

func names() string {
	var all []string
	for _, kind := range report.Kinds() {
		all = append(all, string(kind))
	}
	return strings.Join(all, ", ")
}

// TestTheAPIHasTheReportKindsOfTheList: every enum of report kinds in its description is the list.
func TestTheAPIHasTheReportKindsOfTheList(t *testing.T) {
	t.Parallel()
	description := listed(t, "internal/httpapi/openapi.yaml")
	enums := regexp.MustCompile(`enum: \[([^\]]*\bDataInventory\b[^\]]*)\]`).FindAllStringSubmatch(description, -1)
	if len(enums) < 3 {
		t.Fatalf("the description has %d enums of report kinds", len(enums))
	}
	for _, e := range enums {
		if e[1] != names() {
			t.Errorf("the API has %s; the list has %s", e[1], names())
		}
	}
}

// TestThePagesHaveTheReportKindsOfTheList: their order, words, rules and sections.
func TestThePagesHaveTheReportKindsOfTheList(t *testing.T) {
	t.Parallel()
	index := listed(t, "web/src/reports/kinds/index.ts")
	var order []string
	for _, entry := range regexp.MustCompile(`(?m)^  ([A-Z]\w+): (\w+),$`).FindAllStringSubmatch(index, -1) {
		order = append(order, entry[1])
		d, err := report.Find(report.Kind(entry[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		comparePage(t, d, listed(t, "web/src/reports/kinds/"+entry[2]+".ts"))
	}
	if got := strings.Join(order, ", "); got != names() {
		t.Errorf("the pages have %s; the list has %s", got, names())
	}
}

func comparePage(t *testing.T, d report.Definition, page string) {
	t.Helper()
	window := "null"
	if d.Window > 0 {
		window = strconv.Itoa(int(d.Window / (24 * time.Hour)))
	}
	formats := `["PDF"]`
	if slices.ContainsFunc(d.Companions, func(name string) bool { return report.MediaTypeOf(name) == report.MediaTypeCSV }) {
		formats = `["PDF", "CSV"]`
	}
	for field, want := range map[string]string{
		"name": strconv.Quote(d.Title), "short": strconv.Quote(d.Short), "formats": formats, "windowDays": window,
		"oneInstance": fmt.Sprint(d.OneInstance), "database": fmt.Sprint(d.Database), "comparable": fmt.Sprint(d.Comparable),
	} {
		if !strings.Contains(page, " "+field+": "+want+",\n") {
			t.Errorf("the page of %s does not say %s: %s", d.Name, field, want)
		}
	}
	_, rest, _ := strings.Cut(page, "contents: [")
	rest, _, _ = strings.Cut(rest, "]")
	var shown []string
	for _, text := range regexp.MustCompile(`"([^"]*)"`).FindAllStringSubmatch(rest, -1) {
		title, _, _ := strings.Cut(text[1], ":") // what follows is what the section has
		shown = append(shown, title)
	}
	var printed []string
	for _, name := range d.Sections {
		printed = append(printed, knownSections(new(blocks.Builder))[name].title)
	}
	if !slices.Equal(shown, printed) {
		t.Errorf("the page of %s lists the sections %q; the report has %q", d.Name, shown, printed)
	}
}

// TestTheDocumentsHaveTheReportKindsOfTheList: README's first paragraph, the form of an attestation, the table of
// files, and the note on schedules.
func TestTheDocumentsHaveTheReportKindsOfTheList(t *testing.T) {
	t.Parallel()
	all := strings.Join(titles(func(report.Definition) bool { return true }), ", ")
	if want := "PDF reports (" + strings.ReplaceAll(all, " Report,", ",") + ")"; !strings.Contains(listed(t, "README.md"), want) {
		t.Errorf("README does not say %q", want)
	}
	auditors := listed(t, "docs/auditors.md")
	if want := "kind <" + names() + ">"; !strings.Contains(auditors, want) {
		t.Errorf("docs/auditors.md does not say %q", want)
	}
	for _, file := range []string{report.FindingsFile, report.CVEsFile, report.AccountsFile, report.InventoryFile, report.AlertsFile, report.SLAFile} {
		of := titles(func(d report.Definition) bool { return slices.Contains(d.Companions, file) })
		named := strings.TrimSuffix(strings.Join(of, ", "), " Report")
		named = strings.ReplaceAll(named, " Report,", ",")
		if want := "| `" + file + "` | " + named + ":"; !strings.Contains(auditors, want) {
			t.Errorf("docs/auditors.md does not say %q", want)
		}
	}
	without := titles(func(d report.Definition) bool { return !d.Comparable })
	if want := "Not for " + strings.Join(without, " and "); !strings.Contains(listed(t, "docs/administrators.md"), want) {
		t.Errorf("docs/administrators.md does not say %q", want)
	}
}
