package demo_test

import (
	"encoding/csv"
	"os"
	"regexp"
	"testing"
	"time"
)

// TestFault30TheDemoNamesBuildsAsTheFeedDoes: what the demo says of an outdated build of SQL Server, its update and the
// month of it, is what the product's own table says.
func TestFault30TheDemoNamesBuildsAsTheFeedDoes(t *testing.T) {
	t.Parallel()
	table, err := os.Open("../../assessment/feed/builds.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	rows, err := csv.NewReader(table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, row := range rows[1:] {
		published, err := time.Parse(time.DateOnly, row[5])
		if err != nil {
			t.Fatal(err)
		}
		said[row[3]] = row[4] + " of " + published.Format("January 2006")
	}
	text, err := os.ReadFile("inspected/assessments.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`check: MS-19, evidence: ([^,]+), objects: \[([0-9.]+)\]`).FindAllStringSubmatch(string(text), -1)
	if len(found) < 3 {
		t.Fatalf("the demo has %d outdated builds", len(found))
	}
	for _, f := range found {
		if said[f[2]] != f[1] {
			t.Errorf("the demo calls %s %q, the feed %q", f[2], f[1], said[f[2]])
		}
	}
}
