package pdf_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/domain/report"
	"muster/internal/report/brief"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/snapshottest"
)

// TestABriefSaysWhatPageOneSays: the mail's verdict, its overdue findings and its first action, with the server, the
// owner and the date, are those that page 1 prints.
func TestABriefSaysWhatPageOneSays(t *testing.T) {
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
			page := words(t, file)[0]
			want := []string{b.Verdict, b.First.Instance}
			if b.Debt != nil {
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

// TestABriefOfWhatNobodyAssessedCountsNothing: it never says that none is overdue.
func TestABriefOfWhatNobodyAssessedCountsNothing(t *testing.T) {
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
