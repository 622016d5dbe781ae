package pdf_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/domain/report"
	"muster/internal/report/brief"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/snapshottest"
)

// TestABriefAgreesWithPageOne: the mail's verdict, its overdue findings and its first action, with the server, the
// owner and the date, are those that page 1 prints.
func TestABriefAgreesWithPageOne(t *testing.T) {
	t.Parallel()
	documents := map[string]snapshot.Document{}
	for _, name := range demoDocuments {
		documents["demo "+name] = demoDocument(t, name)
	}
	for _, kind := range []report.Kind{report.Security, report.InstanceScorecard, report.DataInventory} {
		documents["rich "+string(kind)] = snapshottest.Rich(kind)
	}
	r := renderer(t)
	for name, doc := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, ok := brief.Of(doc)
			if !ok || b.First == nil {
				t.Fatalf("no brief, or nothing to do first: %+v", b)
			}
			file, _ := render(t, r, doc)
			pages := words(t, file)
			page := pages[0]
			want := []string{b.Verdict, b.First.Instance}
			if b.Debt.Risks {
				said := blocks.Count(b.Debt.Overdue, "treatment is", "treatments are") + " overdue"
				if all := strings.Join(pages, " "); strings.Contains(all, said) != (b.Debt.Overdue > 0) {
					t.Errorf("%d treatments are overdue in the brief, and the register says otherwise", b.Debt.Overdue)
				}
			} else {
				want = append(want, cutAt(b.First.What, 36), b.First.Due.UTC().Format(time.DateOnly))
				if b.Debt.Overdue > 0 {
					want = append(want, "OVERDUE "+itoa(b.Debt.Overdue))
				}
				if b.First.Owner == "" {
					want = append(want, "no owner")
				}
			}
			if b.First.Overdue > 0 {
				want = append(want, itoa(b.First.Overdue)+" days overdue")
			}
			if strings.HasSuffix(name, string(report.InstanceScorecard)) || name == "demo scorecard" {
				want = without(want, "OVERDUE") // page 1 of a scorecard has it in its verdict
			}
			for _, w := range want {
				if !strings.Contains(page, w) {
					t.Errorf("no %q on page 1: %s", w, page)
				}
			}
		})
	}
}

func cutAt(text string, n int) string { return text[:min(n, len(text))] }

func without(all []string, prefix string) (rest []string) {
	for _, s := range all {
		if !strings.HasPrefix(s, prefix) {
			rest = append(rest, s)
		}
	}
	return rest
}

// TestABriefCountsAsTheReportDoes: new and closed findings by severity add up to those of report.ready, and so does
// what is overdue.
func TestABriefCountsAsTheReportDoes(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]snapshot.Document{
		"demo": demoDocument(t, "security"), "rich": snapshottest.Rich(report.Security),
	} {
		b, _ := brief.Of(doc)
		found := brief.Findings(doc)
		if found.Since == nil || b.Debt.New == nil || b.Debt.Closed == nil {
			t.Fatalf("%s: compared with nothing", name)
		}
		sum := func(n report.BySeverity) int { return n.Critical + n.High + n.Medium + n.Low }
		if sum(*b.Debt.New) != found.New || sum(*b.Debt.Closed) != found.Closed || b.Debt.Overdue != found.Looked.Overdue {
			t.Errorf("%s: %+v and %+v, beside %+v", name, b.Debt.New, b.Debt.Closed, found)
		}
	}
	doc := snapshottest.Rich(report.Security)
	doc.Previous.Findings, doc.Previous.Accepted = nil, nil // so that all are new
	b, _ := brief.Of(doc)
	if counts := analysis.CountBySeverity(analysis.Findings(doc)); b.Debt.New.Critical != counts[0] || b.Debt.New.Critical == 0 || b.Debt.New.High > counts[1] || b.Debt.New.High == 0 {
		t.Errorf("new are %+v of %v", b.Debt.New, counts)
	}
}

// TestABriefIsGreenOnlyOverKnownAlerts: never while a critical alert is open, and never where nobody gathered alerts.
func TestABriefIsGreenOnlyOverKnownAlerts(t *testing.T) {
	t.Parallel()
	for _, kind := range []report.Kind{report.Security, report.DataInventory} {
		for name, test := range map[string]struct {
			alerts *snapshot.OpenAlerts
			green  bool
		}{
			"none open":     {&snapshot.OpenAlerts{}, true},
			"critical open": {&snapshot.OpenAlerts{Open: 1, Critical: 1}, false},
			"not gathered":  {nil, false},
		} {
			doc := faultless(kind)
			for i := range doc.Instances {
				doc.Instances[i].OpenAlerts = test.alerts
			}
			if b, ok := brief.Of(doc); !ok || b.Green != test.green {
				t.Errorf("%s, %s: green is %t of %+v", kind, name, b.Green, b)
			}
		}
	}
}

// TestABriefOfUnassessedServersCountsNothing: it never says that none is overdue.
func TestABriefOfUnassessedServersCountsNothing(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	doc.Previous = nil
	for i := range doc.Instances {
		doc.Instances[i].Assessment, doc.Instances[i].NotAssessed = nil, "it was never assessed"
	}
	b, _ := brief.Of(doc)
	said := b.Sentences()
	for _, want := range []string{"Overdue: not known: no server was assessed.", "Change: not known: there is no earlier report."} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q: %s", want, said)
		}
	}
	if b.Green || strings.Contains(said, "Overdue: no ") || strings.Contains(said, ": none") {
		t.Error(said)
	}
}
func itoa(n int) string { return strconv.Itoa(n) }

// TestABriefOfAnInventoryCountsRisks: overdue treatments as page 1 has them, the risks that are new by level, and those
// that only the previous register has. Nothing is compared without one, and nothing is known without a classification.
func TestABriefOfAnInventoryCountsRisks(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.DataInventory)
	doc.Previous = &snapshot.Previous{AsOf: doc.AsOf.AddDate(0, 0, -30), Risks: []snapshot.RiskScore{{ID: "R-GONE-1", Score: 20}, {ID: "R-GONE-2", Score: 9}, {ID: "R-GONE-3", Score: 2}}}
	var levels report.BySeverity
	overdue := 0
	for i, r := range analysis.Risks(doc) {
		if r.Due != nil && r.Due.At.Before(doc.AsOf.Truncate(24*time.Hour)) {
			overdue++
		}
		if i%2 == 0 { // the others are new
			doc.Previous.Risks = append(doc.Previous.Risks, snapshot.RiskScore{ID: r.ID, Score: r.Score})
			continue
		}
		switch r.Level() {
		case analysis.High:
			levels.High++
		case analysis.Medium:
			levels.Medium++
		case analysis.Low:
			levels.Low++
		}
	}
	b, ok := brief.Of(doc)
	if !ok || b.Debt == nil || !b.Debt.Risks || b.Debt.Overdue != overdue || overdue != 1 || levels == (report.BySeverity{}) {
		t.Fatalf("%+v, want %d overdue", b.Debt, overdue)
	}
	if *b.Debt.New != levels || *b.Debt.Closed != (report.BySeverity{High: 1, Medium: 1, Low: 1}) {
		t.Errorf("new %+v, want %+v; closed %+v", b.Debt.New, levels, b.Debt.Closed)
	}
	if facts := b.Facts(); facts[0].Words != "1 treatment of a risk" || facts[2].Words != "1 high, 1 medium, 1 low" {
		t.Errorf("the mail says %+v", facts)
	}
	doc.Previous.Risks = nil // a register without risks
	after, _ := brief.Of(doc)
	if n := after.Debt.New; n == nil || n.Critical+n.High+n.Medium+n.Low != len(analysis.Risks(doc)) || *after.Debt.Closed != (report.BySeverity{}) {
		t.Errorf("after a register without risks: %+v, %+v", after.Debt, after.Facts())
	}
	previous := doc.Previous
	doc.Previous = nil
	if b, _ := brief.Of(doc); b.Debt.New != nil || b.Facts()[1].Words != "not known: there is no earlier report" {
		t.Errorf("without a register before: %+v", b.Facts())
	}
	doc.Previous = previous
	for i := range doc.Instances {
		for k := range doc.Instances[i].Databases {
			doc.Instances[i].Databases[k].Classification = nil
		}
	}
	if b, _ := brief.Of(doc); b.Facts()[0].Words != "not known: no database was classified" {
		t.Errorf("without a classification: %+v", b.Facts())
	}
}
