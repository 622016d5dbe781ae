package pdf_test

import (
	"fmt"
	"strings"
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
	"muster/internal/testing/longtest"
)

// Page 1 of a Security report is enough to decide upon, on every paper and for any
// number of instances.
func TestPageOneDecides(t *testing.T) {
	t.Parallel()
	rich := func(change func(*snapshot.Document)) snapshot.Document {
		doc := snapshottest.Rich(report.Security)
		change(&doc)
		return doc
	}
	r := renderer(t)
	always := []string{"Where the risk is", "Do these five first", " in “Remediation plan”; after these, ", "CONTENTS 1 Summary"}
	for name, tc := range map[string]struct {
		doc  snapshot.Document
		want []string
	}{
		"A4": {rich(func(*snapshot.Document) {}), append(always,
			"4 / 14", "9 checks not run elsewhere", "OUT OF SUPPORT 2 5 more within a year, 2 not known",
			"pg-billing-02 – – – 2 C – – Nov 2029 0 –", "pg-crm-01 – – – 4 H – – Nov 2026, over 3 + 1? 7.5", "mssql-finance-01 Muster has no collector for SQL Server yet – – –",
			"Since 2026-10-21 Critical and high: ", "Since 2026-08-22 no history before 2026-09-11",
			"after these, 0 critical and ", "days overdue",
		)},
		"Letter":       {rich(func(doc *snapshot.Document) { doc.Organization.PaperSize = "Letter" }), append(always, "4 instances not assessed: “Coverage and methodology” says why")},
		"60 instances": {rich(func(doc *snapshot.Document) { copied(doc, 60) }), append(always, "18 instances not assessed")},
		"no history":   {rich(func(doc *snapshot.Document) { doc.History = nil }), append(always, "This document has no history to compare with.")},
		"nothing assessed": {rich(func(doc *snapshot.Document) {
			for i := range doc.Instances {
				doc.Instances[i].Assessment, doc.Instances[i].Release, doc.Instances[i].CVEs = nil, nil, nil
			}
		}), []string{"14 / 14", "so nothing was checked", "Next steps", "CONTENTS 1 Summary"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, _ := render(t, r, tc.doc)
			page := words(t, file)[0]
			for _, want := range tc.want {
				if !strings.Contains(page, want) {
					t.Errorf("no %q on page 1: %s", want, page)
				}
			}
		})
	}
}

// A scorecard's first page says what to do first, too.
func TestPageOneOfAScorecard(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	for _, paper := range []string{"A4", "Letter"} {
		doc := snapshottest.Rich(report.InstanceScorecard)
		doc.Organization.PaperSize = paper
		file, _ := render(t, r, doc)
		if page := words(t, file)[0]; !strings.Contains(page, "Do these five first") || !strings.Contains(page, "CONTENTS 1 Overall health") {
			t.Errorf("%s: %s", paper, page)
		}
	}
}

// A Data Inventory's first page says which tables to treat first, and how.
func TestPageOneOfAnInventory(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.DataInventory)
	no := false
	for i := range doc.Instances {
		for j := range doc.Instances[i].Databases {
			if doc.Instances[i].Name == "pg-crm-01" {
				doc.Instances[i].Databases[j].Encrypted = &no
			}
		}
	}
	file, _ := render(t, renderer(t), doc)
	page := words(t, file)[0]
	for _, want := range []string{
		"NOT ENCRYPTED AT REST 3† 0 encrypted, 18 not known", "The tables to treat first of 21 in “Risk register”",
		"1 public.customers pg-billing-01 / crm 25 High 5 × 5 take access from PUBLIC, grant it by role require encrypted sign-in and strong secrets 2026-12-20",
		"CONTENTS 1 Summary",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q on page 1: %s", want, page)
		}
	}
}

// TestLongPageOneOfFiveHundred: as many as a fleet has.
func TestLongPageOneOfFiveHundred(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	copied(&doc, 500)
	file, _ := render(t, renderer(t), doc)
	if page := words(t, file)[0]; !strings.Contains(page, "335 instances more, with ") || !strings.Contains(page, "CONTENTS 1 Summary") {
		t.Error(page)
	}
}

// copied makes a document one of so many instances.
func copied(doc *snapshot.Document, instances int) {
	for i := range instances - len(doc.Instances) {
		in := doc.Instances[i%10]
		in.ID, in.Name = snapshottest.ID(5000+i), fmt.Sprintf("copy-%03d", i)
		doc.Instances = append(doc.Instances, in)
	}
}
