package pdf_test

import (
	"fmt"
	"strings"
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

// Objects that a spreadsheet would execute stand in a document as they are, for nothing
// executes them there, and control characters show.
func TestObjectsThatDoSomethingElsewhere(t *testing.T) {
	t.Parallel()
	shown := []string{`=HYPERLINK("http://x","y")`, "=cmd|'/C calc'!A0", "+1+1", "@SUM(A1)", "-2+3", "a‹U+0000›b", "‹U+001B›]0;x‹U+0007›", "two‹U+000A›lines", "a‹U+0009›tab"}
	raw := strings.NewReplacer("‹U+0000›", "\x00", "‹U+001B›", "\x1b", "‹U+0007›", "\a", "‹U+000A›", "\n", "‹U+0009›", "\t")
	for _, object := range shown {
		doc := snapshottest.Rich(report.InstanceScorecard)
		eachResult(doc, func(r *snapshot.CheckResult) {
			for i := range r.Violations {
				r.Violations[i].Object = raw.Replace(object)
			}
		})
		file, _ := render(t, renderer(t), doc)
		if all := strings.Join(words(t, file), " "); !strings.Contains(all, object) {
			t.Errorf("no %q", object)
		}
	}
}

// Of 3,000 findings of one check, the card has the first, and says how many there are.
func TestThreeThousandFindingsOfOneCheck(t *testing.T) {
	t.Parallel()
	file, rendered := render(t, renderer(t), snapshottest.Huge(3000))
	pages := words(t, file)
	for _, want := range []string{"3,000 high findings should be closed within 30 days of their first sight.", "3,000 of 3,000 findings", "CONTENTS 1 Summary", fmt.Sprintf("Page 1 of %d", rendered.Pages)} {
		if !strings.Contains(pages[0], want) {
			t.Errorf("no %q on page 1: %s", want, pages[0])
		}
	}
	if all := strings.Join(pages, " "); !strings.Contains(all, "measurement_000000 and 499 more") || !strings.Contains(all, "3,000 findings on 1 server") {
		t.Errorf("the card does not count: %s", all)
	}
}

// If no server was assessed, a Security report counts no findings, not even zero, and still
// says what is known.
func TestAReportOfUnassessedServers(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	for i := range doc.Instances {
		doc.Instances[i].Assessment, doc.Instances[i].NotAssessed = nil, "no connection is registered"
	}
	file, _ := render(t, renderer(t), doc)
	all := strings.Join(words(t, file), " ")
	for _, want := range []string{
		"None of the 14 instances in scope could be assessed. 2 instances run a major version past its end of life: pg-crm-01, pg-legacy-01.",
		"CRITICAL AND HIGH – no instance was assessed OVERDUE – no instance was assessed NOT ASSESSED 14 / 14",
		"Not assessed: no instance could be checked, so there are no findings to count.",
		"Not assessed: no instance could be checked, so its accounts are not known.",
		"No check could be run, so the plan stands on the versions alone.",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, not := range []string{"No findings", "0 critical", "Clean"} {
		if strings.Contains(all, not) {
			t.Errorf("says %q", not)
		}
	}
}
